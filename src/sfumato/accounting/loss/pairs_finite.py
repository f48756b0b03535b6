"""Dominating pairs on finitely many outcomes: randomized response, which is the worst (ε, δ)-DP
pair, and any two stated laws.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from ...exact.balls import ball, evaluate
from ...exact.numbers import non_negative, probability
from ...guarantees import Approx, Pure
from ...guarantees.finite.finite_laws import weights
from .. import accounting_refusals as refusals
from .loss_families import response_law
from .loss_laws import FUNCTION, UNIT, Atoms, Law, PointLaw
from .loss_pairs import ZERO, Between, DominatingPair, Outcomes, check_whole

_LONGEST = 13_000
"""The most bits of a denominator: stored text has at most 8000 digits."""


@dataclass(frozen=True, slots=True, repr=False)
class ResponsePair(DominatingPair):
    """Randomized response among categories, with a chance δ of telling all. With two categories it
    is the worst (ε, δ)-DP pair (Kairouz, Oh & Viswanath 2015).
    """

    epsilon: Fraction
    delta: Fraction = ZERO
    categories: int = 2
    kind = "response"

    def __post_init__(self) -> None:
        non_negative(self.epsilon, "epsilon")
        probability(self.delta, "delta")
        check_whole(self.categories, "categories", 2)

    @property
    def guarantee(self) -> Pure | Approx:
        return Approx(self.epsilon, self.delta) if self.delta else Pure(self.epsilon)

    @property
    def largest(self) -> tuple[Between, Between]:
        return (self.epsilon, self.epsilon), (self.epsilon, self.epsilon)

    @property
    def lost(self) -> tuple[Fraction, Fraction]:
        return self.delta, self.delta

    def top(self, side: int) -> tuple[Fraction, Fraction]:
        return self.epsilon, Fraction(
            evaluate(
                lambda: (
                    ball(1 - self.delta) / (1 + (self.categories - 1) * ball(-self.epsilon).exp())
                ),
                "down",
            )
        )

    def nearer(self, most: int) -> ResponsePair:
        return ResponsePair(min(self.epsilon, Fraction(most)), self.delta, self.categories)

    def law(self) -> Law:
        return response_law(float(self.epsilon), self.categories, float(self.delta))

    finite = True

    def outcomes(self) -> Outcomes:
        e, left = ball(-self.epsilon).exp(), ball(1 - self.delta)
        truth = left / (1 + (self.categories - 1) * e)
        rest = (self.categories - 2) * e * truth
        answers = [(truth, e * truth), (e * truth, truth)] + (
            [(rest, rest)] if self.categories > 2 else []
        )
        return answers + (
            [(ball(self.delta), arb(0)), (arb(0), ball(self.delta))] if self.delta else []
        )

    def numbers(self) -> dict[str, str]:
        return {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "categories": str(self.categories),
        }

    @property
    def tight(self) -> Approx | None:
        return Approx(self.epsilon, self.delta) if self.categories == 2 else None

    @property
    def worst_of(self) -> Fraction | None:
        return self.epsilon if self.categories == 2 else None

    def within(self, outer: DominatingPair) -> bool:
        if (
            not isinstance(outer, ResponsePair)
            or self.epsilon > outer.epsilon
            or self.delta > outer.delta
        ):
            return False
        return outer.categories == 2 or outer == self

    def group(self, size: int) -> ResponsePair:
        promise = Approx(self.epsilon, self.delta).group(size)
        return ResponsePair(size * self.epsilon, Fraction(promise.parameters["delta"]))


@dataclass(frozen=True, slots=True, repr=False)
class FinitePair(DominatingPair):
    """Two laws on finitely many outcomes."""

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]
    kind = "finite"

    def __post_init__(self) -> None:
        for name, law in (("p", self.p), ("q", self.q)):
            if weights(law, name) != law or max(a.denominator.bit_length() for a in law) > _LONGEST:
                raise refusals.LAW_NOT_EXACT(law=name, outcomes=len(law))
        if len(self.p) != len(self.q):
            raise refusals.LAWS_OF_DIFFERENT_LENGTH(first=len(self.p), second=len(self.q))

    @property
    def guarantee(self) -> Pure | None:
        return None if any(self.lost) else Pure(max(high for _, high in self.largest))

    @property
    def largest(self) -> tuple[Between, Between]:
        """ln max p/q and ln max q/p. Both may be negative if a law has outcomes of infinite loss;
        if it has no other outcomes, the value does not matter.
        """
        return _between(self._ratio(0)), _between(self._ratio(1))

    def top(self, side: int) -> tuple[Fraction, Fraction]:
        ratio = self._ratio(side)
        return _between(ratio)[0], sum(
            (a for a, b in self._sides(side) if b and a / b == ratio), ZERO
        )

    def nearer(self, most: int) -> FinitePair | None:
        """Mix both laws with the uniform law until the ratios are small enough: mixing is
        post-processing.
        """
        share = Fraction(1, 2 ** (most * 3 // 2))
        if (
            max(a.denominator.bit_length() for a in (*self.p, *self.q))
            + 2 * share.denominator.bit_length()
            > _LONGEST
        ):
            return None
        p, q = (tuple((1 - share) * a + share / len(law) for a in law) for law in (self.p, self.q))
        return FinitePair(p, q)

    def _sides(self, side: int) -> Iterable[tuple[Fraction, Fraction]]:
        return zip(*((self.p, self.q) if side == 0 else (self.q, self.p)), strict=True)

    def _ratio(self, side: int) -> Fraction:
        return max((a / b for a, b in self._sides(side) if a and b), default=Fraction(1))

    @property
    def lost(self) -> tuple[Fraction, Fraction]:
        both = list(zip(self.p, self.q, strict=True))
        return sum((a for a, b in both if not b), ZERO), sum((b for a, b in both if not a), ZERO)

    @property
    def symmetric(self) -> bool:
        outcomes = sorted((a, b) for a, b in zip(self.p, self.q, strict=True) if a or b)
        return outcomes == sorted((b, a) for a, b in outcomes)

    def law(self) -> Law:
        both = [
            (_log_ratio(a, b), float(a), float(b))
            for a, b in zip(self.p, self.q, strict=True)
            if a and b
        ]
        loss, p, q = (
            (np.array(column) for column in zip(*sorted(both), strict=True))
            if both
            else (np.zeros(0),) * 3
        )
        slack = 2 * UNIT * float(np.abs(loss).max(initial=0.0))
        only_p, only_q = map(float, self.lost)
        return PointLaw(
            Atoms(loss, p, q),
            FUNCTION + 2 * UNIT * loss.size,
            slack,
            only_p,
            only_q,
            self.symmetric,
        )

    @property
    def finite(self) -> bool:
        return len(self.p) <= 16

    def outcomes(self) -> Outcomes:
        return [(ball(a), ball(b)) for a, b in zip(self.p, self.q, strict=True) if a or b]

    def numbers(self) -> Mapping[str, object]:
        return {"p": [str(a) for a in self.p], "q": [str(b) for b in self.q]}

    def __repr__(self) -> str:
        return f"Finite({len(self.p)} outcomes)"


def _log_ratio(a: Fraction, b: Fraction) -> float:
    """Return ln(a/b) as the nearest double."""
    return evaluate(lambda: ball(a / b).log()) if a != b else 0.0


def _between(ratio: Fraction) -> Between:
    """Return ln(ratio) from below and from above."""
    if ratio == 1:
        return ZERO, ZERO
    return Fraction(evaluate(lambda: ball(ratio).log(), "down")), Fraction(
        evaluate(lambda: ball(ratio).log(), "up")
    )
