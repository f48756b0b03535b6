"""Dominating pairs on finitely many outcomes: randomized response, which is the worst of (ε, δ)-DP, and any two laws that are given."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from ..exact.balls import above, ball, evaluate
from ..guarantees import Approx, Pure
from .loss_families import response_law
from .loss_laws import FUNCTION, UNIT, Atoms, Law, Points
from .pairs import ZERO, Outcomes, Pair


@dataclass(frozen=True, slots=True, repr=False)
class ResponsePair(Pair):
    """Randomized response among some categories, but for a chance of δ of telling all; with two, the worst (ε, δ)-DP pair (Kairouz, Oh & Viswanath 2015)."""

    epsilon: Fraction
    delta: Fraction = ZERO
    categories: int = 2
    kind = "response"

    @property
    def guarantee(self) -> Pure | Approx:
        return Approx(self.epsilon, self.delta) if self.delta else Pure(self.epsilon)

    @property
    def largest(self) -> Fraction:
        return self.epsilon

    @property
    def lost(self) -> tuple[Fraction, Fraction]:
        return self.delta, self.delta

    def law(self) -> Law:
        return response_law(float(self.epsilon), self.categories, float(self.delta))

    @property
    def finite(self) -> bool:
        return True

    def outcomes(self) -> Outcomes:
        e, left = ball(-self.epsilon).exp(), ball(1 - self.delta)
        truth = left / (1 + (self.categories - 1) * e)
        rest = (self.categories - 2) * e * truth
        found = [(truth, e * truth), (e * truth, truth)] + ([(rest, rest)] if self.categories > 2 else [])
        return found + ([(ball(self.delta), arb(0)), (arb(0), ball(self.delta))] if self.delta else [])

    def numbers(self) -> dict[str, str]:
        return {"epsilon": str(self.epsilon), "delta": str(self.delta), "categories": str(self.categories)}

    @property
    def tight(self) -> Approx | None:
        return Approx(self.epsilon, self.delta) if self.categories == 2 else None

    @property
    def worst_of(self) -> Fraction | None:
        return self.epsilon if self.categories == 2 else None

    def within(self, other: Pair) -> bool:
        if not isinstance(other, ResponsePair) or self.epsilon > other.epsilon or self.delta > other.delta:
            return False
        return other.categories == 2 or other == self

    def group(self, size: int) -> ResponsePair:
        whole = Approx(self.epsilon, self.delta).group(size)
        return ResponsePair(size * self.epsilon, Fraction(whole.parameters["delta"]))


@dataclass(frozen=True, slots=True, repr=False)
class FinitePair(Pair):
    """Two laws on finitely many outcomes."""

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]
    kind = "finite"

    @property
    def guarantee(self) -> Pure | None:
        return None if any(self.lost) else Pure(self.largest)

    @property
    def largest(self) -> Fraction:
        ratio = max((max(a / b, b / a) for a, b in zip(self.p, self.q, strict=True) if a and b), default=Fraction(1))
        return above(lambda: ball(ratio).log()) if ratio > 1 else ZERO

    @property
    def lost(self) -> tuple[Fraction, Fraction]:
        both = list(zip(self.p, self.q, strict=True))
        return sum((a for a, b in both if not b), ZERO), sum((b for a, b in both if not a), ZERO)

    @property
    def symmetric(self) -> bool:
        outcomes = sorted((a, b) for a, b in zip(self.p, self.q, strict=True) if a or b)
        return outcomes == sorted((b, a) for a, b in outcomes)

    def law(self) -> Law:
        both = [(evaluate(lambda a=a, b=b: ball(a / b).log()) if a != b else 0.0, float(a), float(b)) for a, b in zip(self.p, self.q, strict=True) if a and b]  # type: ignore[misc]
        loss, p, q = (np.array(column) for column in zip(*sorted(both), strict=True)) if both else (np.zeros(0),) * 3
        slack = 2 * UNIT * float(np.abs(loss).max(initial=0.0))
        only_p, only_q = map(float, self.lost)
        return Points(Atoms(loss, p, q), FUNCTION + 2 * UNIT * loss.size, slack, only_p, only_q, self.symmetric)

    @property
    def finite(self) -> bool:
        return len(self.p) <= 16

    def outcomes(self) -> Outcomes:
        return [(ball(a), ball(b)) for a, b in zip(self.p, self.q, strict=True) if a or b]

    def numbers(self) -> dict[str, Any]:
        return {"p": [str(a) for a in self.p], "q": [str(b) for b in self.q]}

    def __repr__(self) -> str:
        return f"Finite({len(self.p)} outcomes)"
