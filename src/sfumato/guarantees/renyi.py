"""Rényi differential privacy: a bound on the Rényi divergence at each order of a public grid, with
an optional additive δ.

*Promise*   D_α(M(x) ‖ M(x')) ≤ curve(α) for all neighbours and every α of the grid (Mironov 2017);
            with δ > 0, both laws are mixtures that satisfy this with probability 1 − δ and are
            anything with probability δ.
*Compose*   curves add up order by order, and δ adds up.
*Between*   (α − 1)·D_α is convex and D_α increases with α: between two orders of the grid the chord
            bounds it, and so does the next order above.
*Curve*     the best over the grid of `rdp_to_dp`.
*Group*     for 2^c units (α/2^c, 3^c·curve(α)), α ≥ 2^(c+1) (Mironov 2017, Proposition 2).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Self

from flint import arb

from ..exact.balls import above, ball, short, up
from ..exact.numbers import SMALLEST, Number, non_negative, positive, probability, shown, text
from . import guarantee_refusals as refusals
from .guarantee import (
    Guarantee,
    NoiseTarget,
    Numbers,
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
from .largest_epsilon import largest_epsilon, lower_until, root_down, solve
from .pure import renyi_of_pure
from .rdp_to_dp import clamp_to_double, delta_at, epsilon_at, log_delta, pinsker
from .stored_guarantee import StoredFields, ratio

ORDERS: tuple[Fraction, ...] = (
    *(Fraction(n, 100) for n in (101, 102, 105)),
    *(Fraction(n, 10) for n in range(11, 110)),
    *map(Fraction, [*range(11, 65), 80, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096]),
)
"""The public grid of orders at which curves of other notions are evaluated."""

_MOST = 4096
_ROUNDING = 2.0**-40  # of the terms of ln δ: more than the errors of a few operations
_WHOLE_ORDERS = tuple(a for a in ORDERS if a.denominator == 1 and a <= 256)


@notion
@dataclass(frozen=True, slots=True, repr=False)
class Renyi(Guarantee):
    """Rényi differential privacy with the bounds `values` at the orders `orders`."""

    orders: tuple[Fraction, ...]
    values: tuple[Fraction, ...]
    _delta: Fraction
    relation: Relation | None
    unit: str | None

    strength: ClassVar = 4
    theorem: ClassVar = (
        "Σ curve(α) ≤ curve(α) at every order α of the budget, and Σδ ≤ δ (Feldman & Zrnic 2021)"
    )
    registry_name: ClassVar = "Renyi DP"

    def __init__(
        self,
        curve: Mapping[Any, Number] | Callable[[Fraction], Number],
        delta: Number = 0,
        *,
        relation: str | None = None,
        unit: str | None = None,
    ) -> None:
        pairs = curve.items() if isinstance(curve, Mapping) else ((a, curve(a)) for a in ORDERS)
        points = {check_order(a): non_negative(v, f"curve({a})") for a, v in pairs}
        if not points or min(points) <= 1:
            raise refusals.NO_ORDER_ABOVE_ONE()
        if len(points) > _MOST:
            raise refusals.TOO_MANY_ORDERS(count=len(points), most=_MOST)
        for order, after in pairwise(sorted(points, reverse=True)):
            # D_α increases with α: a bound at a larger order holds here too
            points[after] = min(points[after], points[order])
        orders = tuple(sorted(points))
        object.__setattr__(self, "orders", orders)
        object.__setattr__(self, "values", tuple(points[a] for a in orders))
        object.__setattr__(self, "_delta", probability(delta, "delta"))
        object.__setattr__(self, "relation", relation_of(relation))
        object.__setattr__(self, "unit", unit_of(unit))

    @property
    def curve(self) -> dict[Fraction, Fraction]:
        """The bound at each order of the grid."""
        return dict(zip(self.orders, self.values, strict=True))

    @property
    def parameters(self) -> dict[str, Any]:
        return {"curve": self.curve, "delta": self._delta} if self._delta else {"curve": self.curve}

    def delta(self, epsilon: Number) -> float:
        e, d = check_epsilon(epsilon), self._delta
        order, value = min(self._near_best(e), key=lambda p: log_delta(p[0], p[1], e))
        rest = Fraction(min(1.0, delta_at(order, value, e), pinsker(min(self.values))))
        return up(d + (1 - d) * rest)

    def _near_best(self, epsilon: Fraction) -> list[tuple[Fraction, Fraction]]:
        """Return the orders, with their bounds, of which one has the least `log_delta`. Differences
        of doubles, which are quicker than exact ones, rule out the others.
        """
        e, lowest, highest = clamp_to_double(epsilon), [], []
        for order, value in zip(self.orders, self.values, strict=True):
            a, v = clamp_to_double(order), clamp_to_double(value)
            rough = (a - 1.0) * (v - e) + a * math.log1p(-1.0 / a) - math.log(a - 1.0)
            rounding = _ROUNDING * ((a - 1.0) * (v + e) + a + 64.0)
            lowest.append(rough - rounding)
            highest.append(rough + rounding)
        least = min(highest)
        pairs = zip(self.orders, self.values, lowest, strict=True)
        return [(order, value) for order, value, low in pairs if low <= least]

    def epsilon(self, delta: Number = 0) -> float:
        d = check_delta(delta)
        if d <= self._delta:
            return 0.0 if d == self._delta and not any(self.values) else math.inf
        if self.delta(0) <= d:
            return 0.0
        rest = (d - self._delta) / (1 - self._delta)
        log_rest = math.log(max(rest, SMALLEST))
        order, value = min(
            self.curve.items(),
            key=lambda p: (
                clamp_to_double(p[1])
                + math.log1p(-1 / p[0])
                - (log_rest + math.log(p[0])) / float(p[0] - 1)
            ),
        )
        return epsilon_at(order, value, rest)

    def renyi(self, order: Number) -> float:
        a = check_order(order)
        bound = None if self._delta else self._at(a)
        return math.inf if bound is None else up(bound)

    def _at(self, order: Fraction) -> Fraction | None:
        """The bound at any order, without the δ; None beyond the grid."""
        if not self.values[0]:
            return Fraction(0)  # a divergence of 0 at one order: the laws are equal
        at = bisect_left(self.orders, order)
        if at == len(self.orders):
            return None
        next_above = self.values[at]
        if self.orders[at] == order or at == 0:
            return next_above
        low, high = self.orders[at - 1], self.orders[at]
        chord = (
            (
                (high - order) * (low - 1) * self.values[at - 1]
                + (order - low) * (high - 1) * next_above
            )
            / (high - low)
            / (order - 1)
        )
        return min(next_above, chord)

    def _plus(self, addend: Self) -> Self:
        theirs = addend.curve
        shared = {a: short(v + theirs[a]) for a, v in self.curve.items() if a in theirs}
        if not shared:
            raise refusals.NO_COMMON_ORDER(a=self, b=addend)
        return type(self)(
            shared, sum_of_deltas(self._delta + addend._delta, lambda: f"{self} + {addend}")
        )

    def _times(self, count: int) -> Self:
        return type(self)(
            {a: count * v for a, v in self.curve.items()},
            sum_of_deltas(count * self._delta, lambda: f"{shown(count)} * {self}"),
        )

    def _implied_by(self, premise: Guarantee) -> bool:
        weaker = reach(premise, Renyi)
        if weaker is None or weaker._delta > self._delta:
            return False
        bare = premise.without_delta()
        return all(
            _below(weaker._at(a), value) or _below(_finite(bare.renyi(a)), value)
            for a, value in self.curve.items()
        )

    def _meet(self, second: Self) -> Self:
        if self._delta != second._delta:
            return min(self, second, key=lambda a: a._delta)
        theirs = second.curve
        # the two may exclude different events: their better parts cannot be combined
        if self._delta:
            return (
                second
                if all(a in theirs and theirs[a] <= v for a, v in self.curve.items())
                else self
            )
        return type(self)({a: min(v, theirs.get(a, v)) for a, v in self.curve.items()}, self._delta)

    def _group(self, size: int) -> Renyi:
        steps = (size - 1).bit_length()
        curve = {a / 2**steps: 3**steps * v for a, v in self.curve.items() if a >= 2 ** (steps + 1)}
        if self._delta:
            raise refusals.RENYI_GROUP_WITH_DELTA(guarantee=self, size=shown(size))
        if not curve:
            raise refusals.RENYI_GROUP_ORDERS_TOO_SMALL(
                guarantee=self,
                size=shown(size),
                order=shown(2 ** (steps + 1)),
                largest=text(max(self.orders)),
            )
        return Renyi(curve)

    def _largest_epsilon(self, *, ranged: bool) -> Fraction:
        curve = {order: positive(value, f"curve({order})") for order, value in self.curve.items()}

        def cost(a: float) -> Callable[[float], float]:
            return lambda e: (
                e + (math.log1p(math.exp((1 - 2 * a) * e)) - math.log1p(math.exp(-e))) / (a - 1)
            )

        guess = min(solve(cost(float(order)), float(value)) for order, value in curve.items())
        epsilon = lower_until(
            guess, lambda e: all(Fraction(renyi_of_pure(e, a)) <= v for a, v in curve.items())
        )
        return max(epsilon, root_down(8 * self.line)) if ranged else epsilon

    def without_delta(self) -> Renyi:
        return Renyi(self.curve, relation=self.relation, unit=self.unit)

    @property
    def noise_target(self) -> NoiseTarget:
        """The μ² of Gaussian noise, whose curve is α·μ²/2, and the ε of Laplace noise: the smaller
        noise keeps the promise.
        """
        return NoiseTarget(epsilon=largest_epsilon(self.without_delta()), mu_squared=2 * self.line)

    @property
    def divisible(self) -> Guarantee:
        """The line under the curve, which is zCDP: shares of a pure ε would add up to more."""
        from .zcdp import ZCDP

        return ZCDP(self.line, self._delta, relation=self.relation, unit=self.unit)

    @property
    def line(self) -> Fraction:
        """The largest ρ whose line ρ·α stays within the curve."""
        return min(value / order for order, value in self.curve.items())

    def _stored(self) -> dict[str, object]:
        curve = {str(a): str(v) for a, v in self.curve.items()}
        return {"curve": curve, "delta": str(self._delta)}

    @classmethod
    def _restored(cls, stored: StoredFields, relation: str | None, unit: str | None) -> Self:
        curve = {ratio(a): ratio(v) for a, v in stored["curve"].items()}
        return cls(curve, ratio(stored.get("delta", "0")), relation=relation, unit=unit)

    @property
    def vector(self) -> Numbers:
        return (*self.values, self._delta)

    @property
    def vector_names(self) -> tuple[str, ...]:
        return (*(f"D at α = {text(order)}" for order in self.orders), "δ")

    def _from_vector(self, numbers: Numbers) -> Self:
        return type(self)(dict(zip(self.orders, numbers[:-1], strict=True)), numbers[-1])

    def worth_showing(self, spent: Numbers) -> list[int]:
        """Return the order nearest its limit, and δ if it is not zero."""
        nearest = max(
            range(len(self.orders)),
            key=lambda i: spent[i] / self.values[i] if self.values[i] else Fraction(0),
        )
        return [nearest, len(self.orders)] if self._delta else [nearest]

    def price(self, cost: Guarantee) -> Renyi:
        """Convert a cost to the orders of this budget."""
        priced = at_orders(cost, self.orders)
        if priced.orders != self.orders:
            raise refusals.COST_WITHOUT_BOUND_AT_ORDERS(cost=cost)
        return priced

    def __repr__(self) -> str:
        points = [f"{text(a)}: {text(v)}" for a, v in self.curve.items()]
        listed = (
            points
            if len(points) <= 6
            else [*points[:2], f"… {len(points) - 4} orders …", *points[-2:]]
        )
        rest = [text(self._delta)] if self._delta else []
        curve = "{" + ", ".join(listed) + "}"
        return f"Renyi({', '.join([curve, *rest, *self._about()])})"


def _finite(value: float) -> Fraction | None:
    return None if math.isinf(value) else Fraction(value)


def _below(bound: Fraction | None, value: Fraction) -> bool:
    return bound is not None and bound <= value


def at_orders(guarantee: Guarantee, orders: Iterable[Fraction]) -> Renyi:
    """Return the Rényi curve that a guarantee implies, at those of the orders that it bounds.

    An order of the guarantee's own curve keeps its number; at any other order the best known bound
    is rounded up.
    """
    implied, wanted_orders = guarantee.to(Renyi), tuple(orders)
    bare, chords = guarantee.without_delta(), Renyi(implied.curve)
    exact = implied.curve
    values = {
        a: exact[a] if a in exact else min(bare.renyi(a), chords.renyi(a)) for a in wanted_orders
    }
    curve = {a: Fraction(value) for a, value in values.items() if not math.isinf(value)}
    if not curve:
        raise refusals.NO_ORDER_BOUNDED(
            guarantee=guarantee, orders=", ".join(map(text, wanted_orders))
        )
    return Renyi(curve, implied._delta, relation=guarantee.relation, unit=guarantee.unit)


def align_orders(guarantees: Sequence[Guarantee]) -> list[Guarantee]:
    """Bring Rényi curves to the orders that all of them bound; keep other guarantees."""
    curves = [g for g in guarantees if isinstance(g, Renyi)]
    if len({curve.orders for curve in curves}) < 2:
        return list(guarantees)
    orders = {order for curve in curves for order in curve.orders}
    for curve in curves:
        orders &= set(at_orders(curve, sorted(orders)).orders)
    return [at_orders(curve, sorted(orders)) for curve in curves]


def subsampled_gaussian(q: Fraction, mu_squared: Fraction) -> Renyi:
    """Poisson sampling at rate q before a Gaussian of μ² = (Δ/σ)²: ln Σ_i C(α, i)(1 − q)^(α−i) q^i
    e^(i(i−1)μ²/2) / (α − 1) at whole orders, both directions of add-remove (Mironov, Talwar & Zhang
    2019).
    """
    if q == 0 or mu_squared == 0:
        return Renyi(dict.fromkeys(_WHOLE_ORDERS, 0))

    def bound(order: int) -> Fraction:
        def formula() -> arb:
            # the terms i = 0 and 1, and the 1 of the others, add up to 1: what is left is small and
            # positive
            q_, rest = ball(q), ball(1 - q)
            terms = (
                math.comb(order, i)
                * rest ** (order - i)
                * q_**i
                * ball(Fraction(i * (i - 1), 2) * mu_squared).expm1()
                for i in range(2, order + 1)
            )
            return sum(terms, arb(0)).log1p() / (order - 1)

        return above(formula)

    return Renyi({a: bound(int(a)) for a in _WHOLE_ORDERS})
