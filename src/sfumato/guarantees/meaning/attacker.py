"""The best attack of an adversary who sees one answer and decides which of two inputs it came from.

*Test*     Neyman & Pearson 1933: say "x′" exactly where the answer is more likely under x′ than
           under x. No test has a smaller sum of errors, which is 1 − TV, and 1 − δ(0) if δ is taken
           over both directions.
*Curve*    The least type-II error at each type-I error. For finitely many answers it is a polygon;
           its corners are the tests that accept an initial piece of the answers in the order of
           their likelihood ratio, and between corners the test tosses a coin.
*Bound*    (ε, δ)-DP keeps the sum of errors at 2(1 − δ)/(1 + e^ε) or more (Wasserman & Zhou 2010;
           Kairouz, Oh & Viswanath 2015).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from ...exact.numbers import Number, probability
from ..finite.finite_laws import Weights, steps


@dataclass(frozen=True, slots=True)
class Attacker:
    """The likelihood-ratio test of H₀: the input was x, against H₁: it was x′."""

    outputs: tuple[Hashable, ...]
    null: Weights  # the law of the answer under x
    alternative: Weights  # and under x′

    @property
    def test(self) -> dict[Hashable, bool]:
        """For each answer, whether the attacker says x′."""
        return {y: q > p for y, p, q in zip(self.outputs, self.null, self.alternative, strict=True)}

    @property
    def type_one(self) -> Fraction:
        """The chance to say x′ when it was x."""
        return sum(
            (p for p, q in zip(self.null, self.alternative, strict=True) if q > p), Fraction(0)
        )

    @property
    def type_two(self) -> Fraction:
        """The chance to say x when it was x′."""
        return sum(
            (q for p, q in zip(self.null, self.alternative, strict=True) if q <= p), Fraction(0)
        )

    @property
    def total_error(self) -> Fraction:
        """The sum of both errors: 1 for an attacker who learns nothing, 0 for one who is never
        wrong.
        """
        return self.type_one + self.type_two

    @property
    def advantage(self) -> Fraction:
        """1 minus the sum of errors: the total variation distance of the two laws."""
        return 1 - self.total_error

    @property
    def corners(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The (type-I, type-II) errors at the corners of the trade-off curve, from type-I error 0
        to 1.
        """
        points = [(Fraction(0), Fraction(1))]
        for step in steps(self.alternative, self.null):
            if step.infinite:
                points.clear()  # these answers betray x′ at no risk
            alpha, beta = points[-1] if points else (Fraction(0), Fraction(1))
            points.append((alpha + step.q, beta - step.p))
        return tuple(points)

    def tradeoff(self, alpha: Number) -> Fraction:
        """The least type-II error of any test with type-I error at most α, exactly."""
        a = probability(alpha, "alpha", one=True)
        (left, high), (right, low) = next(
            edge for edge in pairwise(self.corners) if a <= edge[1][0]
        )
        return high + (low - high) * (a - left) / (right - left)
