"""Zero-concentrated differential privacy, with an optional additive δ.

*Promise*   D_α(M(x) ‖ M(x')) ≤ ρ·α for all orders α ≥ 1 and all neighbours (Bun & Steinke 2016);
            with δ > 0, both laws are mixtures that satisfy this with probability 1 − δ and are
            anything with probability δ.
*Compose*   ρ adds up, and δ adds up.
*Curve*     the best over all orders of `rdp_to_dp`. Every order gives a valid bound, so it is found
            in double precision and evaluated rigorously.
*Group*     k²ρ for k units.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar, Self

from attrs import field

from ..exact.balls import least, short, up
from ..exact.numbers import Number, non_negative, positive, probability, shown
from ..records import record
from . import guarantee_refusals as refusals
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
from .largest_epsilon import lower_until, root_down, solve
from .pure import renyi_of_pure
from .rdp_to_dp import best_order, delta_at, pinsker


@notion
@record(order=False)
class ZCDP(Guarantee):
    """ρ-zero-concentrated differential privacy."""

    rho: Fraction = field(converter=non_negative)
    _delta: Fraction = field(alias="delta", default=Fraction(0), converter=probability)
    relation: Relation | None = field(default=None, kw_only=True, converter=relation_of)
    unit: str | None = field(default=None, kw_only=True, converter=unit_of)

    strength: ClassVar = 3
    symbols: ClassVar = {"rho": "ρ", "delta": "δ"}
    theorem: ClassVar = (
        "Σρ ≤ ρ and Σδ ≤ δ (Feldman & Zrnic 2021 at every order; Whitehouse, Ramdas, Rogers "
        "& Wu 2023 with δ)"
    )
    registry_name: ClassVar = "Zero-concentrated DP"

    @property
    def parameters(self) -> dict[str, Fraction]:
        return {"rho": self.rho, "delta": self._delta} if self._delta else {"rho": self.rho}

    def delta(self, epsilon: Number) -> float:
        e, d = check_epsilon(epsilon), self._delta
        rest = Fraction(0)
        if self.rho:
            a = best_order(self.rho, e)
            rest = Fraction(min(1.0, delta_at(a, a * self.rho, e), pinsker(self.rho)))
        return up(d + (1 - d) * rest)

    def epsilon(self, delta: Number = 0) -> float:
        d = check_delta(delta)
        if d < self._delta or (d == self._delta and self.rho):
            return math.inf
        return (
            0.0
            if not self.rho or self.delta(0) <= d
            else float(least(lambda e: self.delta(e) <= d))
        )

    def renyi(self, order: Number) -> float:
        a = check_order(order)
        return math.inf if self._delta else up(a * self.rho)

    def _plus(self, addend: Self) -> Self:
        return type(self)(
            short(self.rho + addend.rho),
            sum_of_deltas(short(self._delta + addend._delta), lambda: f"{self} + {addend}"),
        )

    def _times(self, count: int) -> Self:
        return type(self)(
            count * self.rho, sum_of_deltas(count * self._delta, lambda: f"{shown(count)} * {self}")
        )

    def _implied_by(self, premise: Guarantee) -> bool:
        weaker = reach(premise, ZCDP)
        return weaker is not None and weaker.rho <= self.rho and weaker._delta <= self._delta

    def _meet(self, second: Self) -> Self:
        return min(self, second, key=lambda a: (a._delta, a.rho))

    def _group(self, size: int) -> ZCDP:
        if self._delta:
            raise refusals.ZCDP_GROUP_WITH_DELTA(guarantee=self, size=shown(size))
        return ZCDP(size * size * self.rho)

    def _largest_epsilon(self, *, ranged: bool) -> Fraction:
        rho = positive(self.rho, "rho")
        guess = solve(lambda e: e * math.tanh(e / 2), float(rho))
        epsilon = lower_until(guess, lambda e: Fraction(renyi_of_pure(e, Fraction(1))) <= rho)
        return max(epsilon, root_down(8 * rho)) if ranged else epsilon

    def without_delta(self) -> ZCDP:
        return ZCDP(self.rho, relation=self.relation, unit=self.unit)

    def cost_of(self, amount: Fraction, delta: Fraction) -> ZCDP:
        return ZCDP(amount, delta)

    @property
    def noise_target(self) -> NoiseTarget:
        return NoiseTarget(mu_squared=2 * self.rho)
