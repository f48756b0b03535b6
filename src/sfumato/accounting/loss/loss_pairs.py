"""Dominating pairs as exact records, and the laws of their privacy loss.

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
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from flint import arb

from ...exact.balls import ball, evaluate
from ...exact.numbers import is_whole, non_negative, positive, shown, text
from ...guarantees import GDP, Guarantee, Pure
from ...guarantees.guarantee import reach
from .. import accounting_refusals as refusals
from .loss_families import GaussianLaw, laplace_law
from .loss_laws import NO_ATOMS, Law, PointLaw

ZERO = Fraction(0)
_APART = 2**16
"""A larger μ² reveals everything: an upper bound assumes that, a lower bound is zero."""
Outcomes = list[tuple[arb, arb]]
Between = tuple[Fraction, Fraction]
"""A number from below and above; the same number twice if it is rational."""


def _show(stored: object) -> str:
    return text(Fraction(stored)) if isinstance(stored, str) else str(stored)


class DominatingPair(ABC):
    """A dominating pair."""

    __slots__ = ()
    kind: ClassVar[str]

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee | None:
        """A guarantee of another notion that the pair keeps, if one is known."""

    def states(self, notion: type[Guarantee]) -> Guarantee | None:
        """Return the statement of a notion that the pair keeps; None if none is known."""
        return None if self.guarantee is None else reach(self.guarantee, notion)

    def renyi(self, order: Fraction) -> float:
        """Return a bound on the Rényi divergence of this order, rounded up."""
        return math.inf if self.guarantee is None else self.guarantee.renyi(order)

    @property
    def largest(self) -> tuple[Between | None, Between | None]:
        """The largest finite loss in either direction; None if finite losses have no bound."""
        return None, None

    @property
    def lost(self) -> tuple[Fraction, Fraction]:
        """The mass of infinite loss, in either direction."""
        return ZERO, ZERO

    @property
    def tight(self) -> Guarantee | None:
        """The guarantee that is equivalent to "this pair dominates", if there is one."""
        return None

    @property
    def worst_of(self) -> Fraction | None:
        """An ε such that this pair dominates every ε-DP pair; None if there is none."""
        return None

    @property
    def symmetric(self) -> bool:
        return True

    @abstractmethod
    def law(self) -> Law:
        """Return the law of the loss in doubles; a dominating law if it is not computed in full."""

    def laws(self) -> tuple[Law, Law]:
        """Return a law that the pair dominates and one that dominates the pair; the same law twice
        if it is computed in full.
        """
        law = self.law()
        return law, law

    def top(self, side: int) -> tuple[Fraction, Fraction] | None:
        """Return lower bounds on the largest loss and on its probability; None if none are
        known.
        """
        return None

    def likely(self, side: int, count: int) -> tuple[Fraction, Fraction] | None:
        """Return a loss and a lower bound on the probability of at least that loss, chosen so that
        all of `count` uses reach it with a fair chance, if possible.
        """
        return self.top(side)

    def nearer(self, most: int) -> DominatingPair | None:
        """Return a pair that this one dominates, with losses not much above `most`; None if none is
        known.
        """
        return None

    @abstractmethod
    def numbers(self) -> Mapping[str, object]:
        """Return the stored numbers, as texts by name."""

    @property
    def finite(self) -> bool:
        """Whether the pair has few outcomes."""
        return False

    def outcomes(self) -> Outcomes | None:
        """Return the probabilities of each outcome under either law, as balls at the current
        precision; None if there are infinitely many outcomes.
        """
        return None

    def within(self, outer: DominatingPair) -> bool:
        """Whether `outer` is known to dominate this pair."""
        return self == outer

    def group(self, size: int) -> DominatingPair:
        """Return a pair for `size` units at once."""
        raise refusals.PAIR_WITHOUT_GROUP(pair=self, size=size)

    def __repr__(self) -> str:
        shown = [f"{name}={_show(value)}" for name, value in self.numbers().items() if value != "0"]
        return f"{self.kind.capitalize()}({', '.join(shown)})"


@dataclass(frozen=True, slots=True, repr=False)
class GaussianPair(DominatingPair):
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
            return PointLaw(NO_ATOMS, 0.0, 0.0, symmetric=True, unseen=1.0)
        return GaussianLaw(evaluate(lambda: ball(self.mu_squared).sqrt()))

    def numbers(self) -> dict[str, str]:
        return {"mu_squared": str(self.mu_squared)}

    def within(self, outer: DominatingPair) -> bool:
        return isinstance(outer, GaussianPair) and self.mu_squared <= outer.mu_squared

    def group(self, size: int) -> GaussianPair:
        return GaussianPair(size * size * self.mu_squared)


@dataclass(frozen=True, slots=True, repr=False)
class LaplacePair(DominatingPair):
    """Two-sided geometric noise, shifted by `steps` steps that come to a loss of ε; without steps,
    continuous Laplace noise.
    """

    epsilon: Fraction
    steps: int | None = None
    kind = "laplace"

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")
        if self.steps is not None:
            check_whole(self.steps, "steps")

    @property
    def guarantee(self) -> Pure:
        return Pure(self.epsilon)

    @property
    def largest(self) -> tuple[Between, Between]:
        return (self.epsilon, self.epsilon), (self.epsilon, self.epsilon)

    def top(self, side: int) -> tuple[Fraction, Fraction]:
        """The event of noise ≤ 0: 1/(1 + e^(−c)) for the loss c of a step, ½ without steps."""
        steps = self.steps
        return self.epsilon, Fraction(1, 2) if steps is None else Fraction(
            evaluate(lambda: 1 / (1 + (-ball(self.epsilon / steps)).exp()), "down")
        )

    def likely(self, side: int, count: int) -> tuple[Fraction, Fraction]:
        """With probability at least 1 − e^(−x) the loss is at least ε − 2x; here e^(−x) ≤
        1/(4·count), as ln 2 < 7/10.
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

    def within(self, outer: DominatingPair) -> bool:
        """Wider noise is narrower noise plus more noise; randomized response dominates every ε-DP
        pair.
        """
        if outer.worst_of is not None:
            return self.epsilon <= outer.worst_of
        return (
            isinstance(outer, LaplacePair)
            and self.steps == outer.steps
            and self.epsilon <= outer.epsilon
        )

    def group(self, size: int) -> LaplacePair:
        return LaplacePair(size * self.epsilon, None if self.steps is None else size * self.steps)


def check_whole(value: object, name: str, least: int = 1) -> int:
    """Check a whole number of a pair that a double can hold."""
    if not is_whole(value, least, 2**53):
        raise refusals.PAIR_NUMBER_NOT_WHOLE(name=name, value=shown(value), least=least)
    return value


@lru_cache(maxsize=32)
def laws_of(pair: DominatingPair) -> tuple[Law, Law]:
    """Return the laws of a pair from below and above, cached."""
    return pair.laws()
