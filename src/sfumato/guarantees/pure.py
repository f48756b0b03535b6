"""Pure differential privacy.

*Promise*   P(M(x) ∈ S) ≤ e^ε · P(M(x') ∈ S) for all neighbours x, x' and every event S (Dwork,
            McSherry, Nissim & Smith 2006).
*Compose*   ε adds up.
*Curve*     δ(t) = (e^ε − e^t)₊ / (1 + e^ε): every such pair of laws is a processing of randomized
            response (Kairouz, Oh & Viswanath 2015).
*Rényi*     D_α ≤ ln((e^(αε) + e^((1−α)ε)) / (1 + e^ε)) / (α − 1), and ε·tanh(ε/2) at α = 1, for the
            same reason.
*Group*     kε for k units.          *Sample*   ln(1 + q(e^ε − 1)) under Poisson sampling.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Self

from attrs import field
from flint import arb

from ..exact.balls import above, ball, evaluate, short, up
from ..exact.numbers import Number, non_negative, positive, probability
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
    unit_of,
)
from .tradeoff_bounds import two_lines


@notion
@record(order=False)
class Pure(Guarantee):
    """ε-differential privacy."""

    _epsilon: Fraction = field(alias="epsilon", converter=non_negative)
    relation: Relation | None = field(default=None, kw_only=True, converter=relation_of)
    unit: str | None = field(default=None, kw_only=True, converter=unit_of)

    strength: ClassVar = 0
    symbols: ClassVar = {"epsilon": "ε"}
    theorem: ClassVar = "Σε ≤ ε (Rogers, Roth, Ullman & Vadhan 2016)"
    registry_name: ClassVar = "Pure DP"

    @property
    def parameters(self) -> dict[str, Fraction]:
        return {"epsilon": self._epsilon}

    def delta(self, epsilon: Number) -> float:
        promised, e = self._epsilon, check_epsilon(epsilon)
        return (
            evaluate(lambda: -ball(e - promised).expm1() / (1 + ball(-promised).exp()), "up")
            if e < promised
            else 0.0
        )

    def epsilon(self, delta: Number = 0) -> float:
        """The inverse of the curve, ln(e^ε − δ(1 + e^ε)), where that is above zero."""
        promised, d = self._epsilon, check_delta(delta)
        if self.delta(0) <= d:
            return 0.0
        if d == 0:
            return up(promised)
        return evaluate(
            lambda: ball(promised) + (-ball(d) * (1 + ball(-promised).exp())).log1p(), "up"
        )

    def renyi(self, order: Number) -> float:
        return renyi_of_pure(self._epsilon, check_order(order))

    def tradeoff(self, alpha: Number) -> float:
        return two_lines(self._epsilon, Fraction(0), probability(alpha, "alpha", one=True))

    def _plus(self, addend: Self) -> Self:
        return type(self)(short(self._epsilon + addend._epsilon))

    def _times(self, count: int) -> Self:
        return type(self)(count * self._epsilon)

    def _implied_by(self, premise: Guarantee) -> bool:
        weaker = reach(premise, Pure)
        return weaker is not None and weaker._epsilon <= self._epsilon

    def _meet(self, second: Self) -> Self:
        return self if self._epsilon <= second._epsilon else second

    def _group(self, size: int) -> Pure:
        return Pure(size * self._epsilon)

    def _subsample(self, q: Fraction) -> Pure:
        return Pure(amplify(self._epsilon, q))

    def _largest_epsilon(self, *, ranged: bool) -> Fraction:
        return positive(self._epsilon, "epsilon")

    @property
    def noise_target(self) -> NoiseTarget:
        return NoiseTarget(epsilon=self._epsilon)


@lru_cache(maxsize=4096)
def renyi_of_pure(epsilon: Fraction, order: Fraction) -> float:
    """The Rényi divergence of randomized response, rounded up."""
    if epsilon == 0:
        return 0.0
    if order == 1:
        return evaluate(lambda: ball(epsilon) * ball(epsilon / 2).tanh(), "up")

    def formula() -> arb:
        # factoring out e^(αε) avoids overflow: αε/(α−1) + ln((1 + e^((1−2α)ε)) / (1 + e^ε)) / (α−1)
        rest = ball((1 - 2 * order) * epsilon).exp().log1p() - ball(-epsilon).exp().log1p()
        return ball(epsilon) + rest / ball(order - 1)

    return evaluate(formula, "up")


def amplify(epsilon: Fraction, q: Fraction) -> Fraction:
    """ln(1 + q(e^ε − 1)), rounded up (Balle, Barthe & Gaboardi 2018)."""
    return (
        above(lambda: (ball(q) * ball(epsilon).expm1()).log1p()) if epsilon and q else Fraction(0)
    )
