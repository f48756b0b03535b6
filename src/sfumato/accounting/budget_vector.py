"""A guarantee as a vector of numbers that add up over releases. Filters compare these vectors
coordinate by coordinate, because implication between guarantees is not enough there.

A Rényi curve has one number per order, so curves are first brought to common orders.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from ..exact.numbers import text
from ..guarantees import GDP, ZCDP, Approx, Guarantee, Pure, Renyi
from ..guarantees.guarantee import sum_of_deltas
from . import accounting_refusals as refusals

Numbers = tuple[Fraction, ...]


class Coordinates(NamedTuple):
    """How to read the numbers of a notion, and how to build a guarantee from them. `make` also gets
    a guarantee of the same shape.
    """

    read: Callable[[Any], Numbers]
    make: Callable[[Any, Numbers], Guarantee]


def _lost(guarantee: Guarantee) -> Fraction:
    return Fraction(guarantee.parameters.get("delta", 0))


COORDINATES: dict[type[Guarantee], Coordinates] = {
    Pure: Coordinates(lambda a: (a.parameters["epsilon"],), lambda _, c: Pure(*c)),
    Approx: Coordinates(
        lambda a: (a.parameters["epsilon"], a.parameters["delta"]), lambda _, c: Approx(*c)
    ),
    GDP: Coordinates(lambda a: (a.mu_squared,), lambda _, c: GDP.from_square(*c)),
    ZCDP: Coordinates(lambda a: (a.rho, _lost(a)), lambda _, c: ZCDP(*c)),
    Renyi: Coordinates(
        lambda a: (*a.values, _lost(a)),
        lambda like, c: Renyi(dict(zip(like.orders, c[:-1], strict=True)), c[-1]),
    ),
}
"""ε · ε and δ · μ² · ρ and δ · the curve's values and δ. In a longer vector δ is the last."""


def to_vector(guarantee: Guarantee) -> Numbers:
    """Return the numbers of a guarantee."""
    return COORDINATES[type(guarantee)].read(guarantee)


def from_vector(like: Guarantee, numbers: Iterable[Fraction]) -> Guarantee:
    """Build a guarantee with these numbers, of the notion and orders of `like`."""
    vector = tuple(numbers)
    if len(vector) > 1:
        sum_of_deltas(vector[-1], lambda: f"{type(like).__name__}(…)")
    return COORDINATES[type(like)].make(like, vector)


def align_orders(guarantees: Sequence[Guarantee]) -> list[Guarantee]:
    """Bring Rényi curves to the orders that all of them bound; keep other guarantees."""
    curves = [g for g in guarantees if isinstance(g, Renyi)]
    if len({curve.orders for curve in curves}) < 2:
        return list(guarantees)
    orders = {order for curve in curves for order in curve.orders}
    for curve in curves:
        orders &= set(at_orders(curve, sorted(orders)).orders)
    return [at_orders(curve, sorted(orders)) for curve in curves]


def at_orders(guarantee: Guarantee, orders: Iterable[Fraction]) -> Renyi:
    """Return the Rényi curve that a guarantee implies, at those of the orders that it bounds.

    An order of the guarantee's own curve keeps its number; at any other order the best known bound
    is rounded up.
    """
    implied, wanted_orders = guarantee.to(Renyi), tuple(orders)
    bare = Renyi(implied.curve) if _lost(implied) else guarantee
    exact = implied.curve
    values = {a: exact[a] if a in exact else bare.renyi(a) for a in wanted_orders}
    curve = {a: Fraction(value) for a, value in values.items() if not math.isinf(value)}
    if not curve:
        raise refusals.NO_ORDER_BOUNDED(
            guarantee=guarantee, orders=", ".join(map(text, wanted_orders))
        )
    return Renyi(curve, _lost(implied), relation=guarantee.relation, unit=guarantee.unit)
