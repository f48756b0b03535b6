"""The end of the curve of a composition in one direction: the chance of an infinite loss, and the
largest finite loss of all releases together.

*Exact*     δ(ε) falls to the chance of an infinite loss, 1 − Π(1 − δ)^k, and first reaches it at
            the sum of the largest finite losses. So at exactly this δ, 0 among them, ε is that sum,
            or 0 where the sum is negative; at a smaller δ no ε will do.
*Direction* The two directions end at different places. The largest loss of one release in one
            direction never adds to that of another in the other direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from ...exact.balls import ball, down, evaluate, up
from .loss_pairs import Between
from .pair_of_mechanism import Parts

_FACTORS = 64  # multiplied out


@dataclass(frozen=True, slots=True)
class CurveEnd:
    """Both numbers, from below and above; no largest loss if losses have no bound."""

    lost: Between
    largest: Between | None

    def epsilon(self, delta: Fraction) -> tuple[float, float] | None:
        """Bound ε, from below and above, at a δ that is at most the chance of an infinite loss;
        None for a larger δ.
        """
        if delta > self.lost[1]:
            return None
        most = math.inf if self.largest is None else max(0.0, up(self.largest[1]))
        if delta < self.lost[0]:
            return math.inf, math.inf
        if self.lost[0] == self.lost[1]:
            return (math.inf if self.largest is None else max(0.0, down(self.largest[0]))), most
        return 0.0, most if delta == self.lost[1] else math.inf


@lru_cache(maxsize=1024)
def end_of(parts: Parts, side: int) -> CurveEnd:
    """Return the end of a composition in one direction."""
    each = [(pair.largest[side], count) for pair, count in parts]
    if any(most is None for most, _ in each):
        return CurveEnd(_lost(parts, side), None)
    low, high = (
        sum((count * most[end] for most, count in each if most is not None), Fraction(0))
        for end in (0, 1)
    )
    return CurveEnd(_lost(parts, side), (low, high))


def _lost(parts: Parts, side: int) -> Between:
    """Return 1 − Π(1 − δ)^k, exact if few factors are not 1."""
    each = [(pair.lost[side], count) for pair, count in parts if pair.lost[side]]
    if sum(count for _, count in each) <= _FACTORS:
        exact = 1 - math.prod(((1 - lost) ** count for lost, count in each), start=Fraction(1))
        return exact, exact

    def formula() -> arb:
        return -sum((count * ball(-lost).log1p() for lost, count in each), arb(0)).expm1()

    if any(lost == 1 for lost, _ in each):
        return Fraction(1), Fraction(1)
    return Fraction(evaluate(formula, "down")), min(Fraction(1), Fraction(evaluate(formula, "up")))
