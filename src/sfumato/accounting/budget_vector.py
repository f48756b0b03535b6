"""The numbers of a guarantee that add up over releases, and that are compared one by one where an
implication is not enough.

A curve has one for each of its orders, so curves are first brought to the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from ..errors import Refused
from ..exact.numbers import text
from ..guarantees import GDP, ZCDP, Approx, Guarantee, Pure, Renyi
from ..guarantees.guarantee import sum_of_deltas

Numbers = tuple[Fraction, ...]


class Coordinates(NamedTuple):
    """How the numbers of a notion are read off, and how a guarantee is made of them; the second is
    also given a guarantee of the same shape.
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
"""ε · ε and δ · μ² · ρ and δ · the curve's values and δ. Where there are several, δ is the last."""


def read(guarantee: Guarantee) -> Numbers:
    """The numbers of a guarantee."""
    return COORDINATES[type(guarantee)].read(guarantee)


def make(like: Guarantee, numbers: Iterable[Fraction]) -> Guarantee:
    """The guarantee of the same notion, and at the same orders, with these numbers."""
    given = tuple(numbers)
    if len(given) > 1:
        sum_of_deltas(given[-1], lambda: f"{type(like).__name__}(…)")
    return COORDINATES[type(like)].make(like, given)


def aligned(guarantees: Sequence[Guarantee]) -> list[Guarantee]:
    """Guarantees of one notion; curves, at all orders at which each of them says something."""
    curves = [g for g in guarantees if isinstance(g, Renyi)]
    if len({curve.orders for curve in curves}) < 2:
        return list(guarantees)
    orders = {order for curve in curves for order in curve.orders}
    for curve in curves:
        orders &= set(at_orders(curve, sorted(orders)).orders)
    return [at_orders(curve, sorted(orders)) for curve in curves]


def at_orders(guarantee: Guarantee, orders: Iterable[Fraction]) -> Renyi:
    """The Rényi statement that a guarantee implies, at those of the orders at which it implies one.

    Where the guarantee's own curve has the order its number is taken as it is; elsewhere the best
    bound known there is rounded up.
    """
    whole, wanted = guarantee.to(Renyi), tuple(orders)
    bare = Renyi(whole.curve) if _lost(whole) else guarantee
    exact = whole.curve
    found = {a: exact[a] if a in exact else bare.renyi(a) for a in wanted}
    curve = {a: Fraction(value) for a, value in found.items() if not math.isinf(value)}
    if not curve:
        place = f"{guarantee} at {', '.join(map(text, wanted))}"
        raise Refused(
            "guarantee.order",
            place,
            "it says nothing at these orders",
            "a curve that has them, or larger ones",
        )
    return Renyi(curve, _lost(whole), relation=guarantee.relation, unit=guarantee.unit)
