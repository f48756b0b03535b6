"""Dominating pairs, as exact records: what is known of a release beyond its numbers, and the law of
the loss that follows.

*Pair*       (P, Q) such that telling the release about one dataset from that about a neighbour is
             never easier than telling P from Q. Composition may be computed on pairs (Zhu, Dong &
             Wang 2022), so a total made of them is as tight as they are.
*Direction*  Under add-remove P is with the unit and Q without. A pair that is not symmetric has a
             second law, that of the exchanged roles. Whatever differs by direction is given twice:
             first for P against Q, then for Q against P.
*Sides*      Where the law of a pair is not computed in full, there is one law that loses no more
             than the pair and one that loses no less.
*Laplace*    Noise on several numbers that share an L1 sensitivity is dominated by noise on one that
             has it all (docs/proofs/certified-composition.md).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

from flint import arb

from ...errors import Refused
from ...exact.balls import ball, evaluate
from ...exact.numbers import is_whole, non_negative, positive, shown, text
from ...guarantees import GDP, Guarantee, Pure
from .loss_families import GaussianLaw, laplace_law
from .loss_laws import NO_ATOMS, Law, Points

ZERO = Fraction(0)
_APART = 2**16
"""A μ² beyond which everything is told: an upper bound takes that for granted, a lower one says
nothing.
"""
Outcomes = list[tuple[arb, arb]]
Between = tuple[Fraction, Fraction]
"""A number from below and from above; twice the same where it is rational."""


def _read(written: Any) -> str:
    return text(Fraction(written)) if isinstance(written, str) else str(written)


class Pair(ABC):
    """A dominating pair."""

    __slots__ = ()
    kind: ClassVar[str]

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee | None:
        """A promise of another notion that the pair keeps, where one is known."""

    @property
    def largest(self) -> tuple[Between | None, Between | None]:
        """The least number that no finite loss exceeds, in either direction; None where finite
        losses have no bound.
        """
        return None, None

    @property
    def lost(self) -> tuple[Fraction, Fraction]:
        """The mass of infinite loss, in either direction."""
        return ZERO, ZERO

    @property
    def tight(self) -> Guarantee | None:
        """The guarantee that says exactly that this pair dominates, where there is one."""
        return None

    @property
    def worst_of(self) -> Fraction | None:
        """The ε of which this is the worst pair, or worse; None where it is not one."""
        return None

    @property
    def symmetric(self) -> bool:
        return True

    @abstractmethod
    def law(self) -> Law:
        """The law of the loss, in doubles; one that loses no less where it is not computed in
        full.
        """

    def laws(self) -> tuple[Law, Law]:
        """A law that loses no more than the pair, and one that loses no less; the same one twice
        where the law is computed in full.
        """
        law = self.law()
        return law, law

    def top(self, side: int) -> tuple[Fraction, Fraction]:
        """The largest loss and its probability, both from below."""
        raise NotImplementedError(self.kind)

    def likely(self, side: int, count: int) -> tuple[Fraction, Fraction]:
        """A loss that is exceeded, and with which probability, both from below: in all of `count`
        uses not rarely, where that can be.
        """
        return self.top(side)

    def nearer(self, most: int) -> Pair | None:
        """A pair that this one dominates, with losses that are not much above `most`, where one is
        known.
        """
        raise NotImplementedError(self.kind)

    @abstractmethod
    def numbers(self) -> dict[str, Any]:
        """What is stored: names to texts."""

    @property
    def finite(self) -> bool:
        """Whether there are finitely many outcomes, and not many."""
        return False

    def outcomes(self) -> Outcomes | None:
        """The probabilities of each outcome by either law, as balls at the precision that is set;
        None where there are not finitely many.
        """
        return None

    def within(self, other: Pair) -> bool:
        """Whether the other pair is known to dominate this one."""
        return self == other

    def group(self, size: int) -> Pair:
        """A pair for `size` units at once."""
        raise Refused(
            "guarantee.group",
            f"{self}.group({size})",
            "what several units lose is not known from the pair about one",
            "the mechanism for them all",
        )

    def __repr__(self) -> str:
        return f"{self.kind.capitalize()}({', '.join(f'{name}={_read(value)}' for name, value in self.numbers().items() if value != '0')})"


@dataclass(frozen=True, slots=True, repr=False)
class GaussianPair(Pair):
    """N(0, 1) and N(μ, 1)."""

    mu_squared: Fraction
    kind = "gaussian"

    def __post_init__(self) -> None:
        non_negative(self.mu_squared, "mu_squared")

    @property
    def guarantee(self) -> GDP:
        return GDP.from_square(self.mu_squared)

    @property
    def tight(self) -> GDP:
        return self.guarantee

    def nearer(self, most: int) -> GaussianPair:
        return GaussianPair(min(self.mu_squared, Fraction(most)))

    def law(self) -> Law:
        if self.mu_squared > _APART:
            return Points(NO_ATOMS, 0.0, 0.0, symmetric=True, unseen=1.0)
        return GaussianLaw(evaluate(lambda: ball(self.mu_squared).sqrt()))

    def numbers(self) -> dict[str, str]:
        return {"mu_squared": str(self.mu_squared)}

    def within(self, other: Pair) -> bool:
        return isinstance(other, GaussianPair) and self.mu_squared <= other.mu_squared

    def group(self, size: int) -> GaussianPair:
        return GaussianPair(size * size * self.mu_squared)


@dataclass(frozen=True, slots=True, repr=False)
class LaplacePair(Pair):
    """Two-sided geometric noise, shifted by `steps` steps that come to a loss of ε; without steps,
    continuous Laplace noise.
    """

    epsilon: Fraction
    steps: int | None = None
    kind = "laplace"

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")
        if self.steps is not None:
            whole(self.steps, "steps")

    @property
    def guarantee(self) -> Pure:
        return Pure(self.epsilon)

    @property
    def largest(self) -> tuple[Between, Between]:
        return (self.epsilon, self.epsilon), (self.epsilon, self.epsilon)

    def top(self, side: int) -> tuple[Fraction, Fraction]:
        """Noise that is not positive: 1/(1 + e^(−c)) for the loss c of a step, one half without
        steps.
        """
        steps = self.steps
        return self.epsilon, Fraction(1, 2) if steps is None else Fraction(
            evaluate(lambda: 1 / (1 + (-ball(self.epsilon / steps)).exp()), "down")
        )

    def likely(self, side: int, count: int) -> tuple[Fraction, Fraction]:
        """Noise of a loss up to x has a probability of at least 1 − e^(−x), and leaves ε − 2x; here
        e^(−x) ≤ 1/(4·count), as ln 2 < 7/10.
        """
        return self.epsilon - Fraction(7, 5) * (4 * count).bit_length(), 1 - Fraction(1, 4 * count)

    def nearer(self, most: int) -> LaplacePair:
        return LaplacePair(min(self.epsilon, Fraction(most)), self.steps)

    def law(self) -> Law:
        return laplace_law(
            float(self.epsilon), math.inf if self.steps is None else float(self.steps)
        )

    @property
    def finite(self) -> bool:
        return self.steps is not None and self.steps <= 8

    def outcomes(self) -> Outcomes | None:
        if self.steps is None or not self.finite:
            return None
        r = (-ball(self.epsilon / self.steps)).exp()
        p = [
            1 / (1 + r),
            *((1 - r) / (1 + r) * r**z for z in range(1, self.steps)),
            r**self.steps / (1 + r),
        ]
        return list(zip(p, reversed(p), strict=True))

    def numbers(self) -> dict[str, str]:
        return {"epsilon": str(self.epsilon)} | (
            {} if self.steps is None else {"steps": str(self.steps)}
        )

    def within(self, other: Pair) -> bool:
        """Wider noise is narrower noise and more; every pair of ε-DP is within randomized
        response.
        """
        if other.worst_of is not None:
            return self.epsilon <= other.worst_of
        return (
            isinstance(other, LaplacePair)
            and self.steps == other.steps
            and self.epsilon <= other.epsilon
        )

    def group(self, size: int) -> LaplacePair:
        return LaplacePair(size * self.epsilon, None if self.steps is None else size * self.steps)


def whole(value: object, name: str, least: int = 1) -> int:
    """A whole number that a pair is made of, and that a double can hold."""
    if not is_whole(value, least, 2**53):
        raise Refused(
            "loss.number",
            f"{name}={shown(value)}",
            f"{name} is a whole number from {least} to 2^53",
            f"{name}={least}",
        )
    return value


@lru_cache(maxsize=32)
def laws_of(pair: Pair) -> tuple[Law, Law]:
    """The laws of a pair from below and from above, kept for a while."""
    return pair.laws()
