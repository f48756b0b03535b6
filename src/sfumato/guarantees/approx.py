"""Approximate differential privacy.

*Promise*   P(M(x) ∈ S) ≤ e^ε · P(M(x') ∈ S) + δ for all neighbours x, x' and every event S (Dwork,
            Kenthapadi, McSherry, Mironov & Naor 2006).
*Compose*   ε adds up, and δ adds up.
*Curve*     δ(t) = δ + (1 − δ)(e^ε − e^t)₊ / (1 + e^ε) (Kairouz, Oh & Viswanath 2015).
*Group*     kε and δ·(e^(kε) − 1)/(e^ε − 1) for k units.          *Sample*   ln(1 + q(e^ε − 1)) and
            q·δ under Poisson sampling.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar, Self

from attrs import field

from ..errors import Refused
from ..exact.balls import above, ball, short, up
from ..exact.numbers import SMALLEST, Number, non_negative, positive, probability, shown
from ..records import record
from .guarantee import (
    Guarantee,
    NoiseTarget,
    Relation,
    check_delta,
    check_epsilon,
    check_order,
    notion,
    reach,
    relation_of,
    sum_of_deltas,
    unit_of,
)
from .pure import Pure, amplify, renyi_of_pure
from .tradeoff_bounds import two_lines


@notion
@record(order=False)
class Approx(Guarantee):
    """(ε, δ)-differential privacy."""

    _epsilon: Fraction = field(alias="epsilon", converter=non_negative)
    _delta: Fraction = field(alias="delta", converter=probability)
    relation: Relation | None = field(default=None, kw_only=True, converter=relation_of)
    unit: str | None = field(default=None, kw_only=True, converter=unit_of)

    strength: ClassVar = 1
    symbols: ClassVar = {"epsilon": "ε", "delta": "δ"}
    theorem: ClassVar = "Σε ≤ ε and Σδ ≤ δ (Rogers, Roth, Ullman & Vadhan 2016)"
    registry_name: ClassVar = "Approximate DP"

    @property
    def parameters(self) -> dict[str, Fraction]:
        return {"epsilon": self._epsilon, "delta": self._delta}

    def delta(self, epsilon: Number) -> float:
        d, e = self._delta, check_epsilon(epsilon)
        rest = Fraction(Pure(self._epsilon).delta(e))
        return up(d + (1 - d) * rest)

    def epsilon(self, delta: Number | None = None) -> float:
        """The least ε such that (ε, δ)-DP follows, rounded up; without a δ, at this guarantee's
        own.
        """
        d = self._delta if delta is None else check_delta(delta)
        rest = (d - self._delta) / (1 - self._delta)
        return (
            math.inf if rest < 0 else Pure(self._epsilon).epsilon(rest if rest >= SMALLEST else 0)
        )

    def renyi(self, order: Number) -> float:
        a = check_order(order)
        return math.inf if self._delta else renyi_of_pure(self._epsilon, a)

    def tradeoff(self, alpha: Number) -> float:
        return two_lines(self._epsilon, self._delta, probability(alpha, "alpha", one=True))

    def _plus(self, addend: Self) -> Self:
        return type(self)(
            short(self._epsilon + addend._epsilon),
            sum_of_deltas(short(self._delta + addend._delta), lambda: f"{self} + {addend}"),
        )

    def _times(self, count: int) -> Self:
        return type(self)(
            count * self._epsilon,
            sum_of_deltas(count * self._delta, lambda: f"{shown(count)} * {self}"),
        )

    def _implied_by(self, premise: Guarantee) -> bool:
        exactly = reach(premise, Approx)  # where no rounding is needed
        if (
            exactly is not None
            and exactly._epsilon <= self._epsilon
            and exactly._delta <= self._delta
        ):
            return True
        delta = premise.delta(self._epsilon)
        # neither the double nor its shortest decimal text lies below the true δ
        return delta <= self._delta or Fraction(repr(delta)) <= self._delta

    def _meet(self, second: Self) -> Self:
        return min(self, second, key=lambda a: (a._delta, a._epsilon))

    def _group(self, size: int) -> Approx:
        e, d = self._epsilon, self._delta
        try:
            grown = (
                d * size
                if e == 0
                else above(lambda: ball(d) * ball(size * e).expm1() / ball(e).expm1())
            )
        except Refused:  # beyond all doubles
            grown = Fraction(1)
        return Approx(size * e, sum_of_deltas(grown, lambda: f"{self}.group({shown(size)})"))

    def _subsample(self, q: Fraction) -> Approx:
        return Approx(amplify(self._epsilon, q), q * self._delta)

    def _largest_epsilon(self, *, ranged: bool) -> Fraction:
        return positive(self._epsilon, "epsilon")

    def without_delta(self) -> Pure:
        return Pure(self._epsilon, relation=self.relation, unit=self.unit)

    @property
    def noise_target(self) -> NoiseTarget:
        return NoiseTarget(epsilon=self._epsilon, delta=self._delta or None)
