"""The numbers that add up: read off, put back, added as the notions add."""

from __future__ import annotations

from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.accounting.budget_vector import (
    COORDINATES,
    align_orders,
    at_orders,
    from_vector,
    to_vector,
)

from ..refusing import refusing

EXAMPLES = [
    sf.Pure("0.1"),
    sf.Approx("0.1", "1e-6"),
    sf.GDP.from_square(2),
    sf.ZCDP("0.1"),
    sf.ZCDP("0.1", "1e-6"),
    sf.Renyi({2: "0.1", 8: 1}, "1e-9"),
]


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_round_trip_and_sum(example: sf.Guarantee) -> None:
    assert from_vector(example, to_vector(example)) == example
    assert to_vector(example + 2 * example) == tuple(3 * number for number in to_vector(example))
    assert type(example) in COORDINATES


def test_deltas_that_come_to_one() -> None:
    with refusing("guarantee.no-promise"):
        from_vector(sf.Approx(1, "0.5"), (Fraction(1), Fraction(1)))


def test_curves_at_chosen_orders() -> None:
    orders = [Fraction(2), Fraction(3), Fraction(64)]
    curve = at_orders(sf.ZCDP("0.1", relation="replace"), orders)
    assert curve == sf.Renyi(
        {2: "0.2", 3: "0.3", 64: "6.4"}, relation="replace"
    )  # on the public grid: exactly
    for cost in (sf.Pure(1), sf.GDP(1), sf.Pure("0.5") + sf.ZCDP("0.1")):
        assert all(
            value >= Fraction(cost.renyi(a)) * (1 - Fraction(1, 2**50))
            for a, value in at_orders(cost, orders).curve.items()
        )
    with_delta = at_orders(sf.Approx(1, "1e-6"), [Fraction(5, 2), Fraction("2.51")])
    assert with_delta.parameters["delta"] == Fraction("1e-6")
    assert sf.Pure(1).renyi("2.51") <= with_delta.curve[Fraction("2.51")] <= sf.Pure(1).renyi("2.6")
    assert at_orders(sf.Renyi({2: 1}), orders).orders == (
        2,
    )  # nothing is said above the last order
    with refusing("guarantee.order"):
        at_orders(sf.Renyi({2: 1}), orders[1:])
    with refusing("guarantee.does-not-follow"):
        at_orders(sf.RandomDP(sf.Pure(1), "0.1", over="uniform records"), orders)


def test_aligned() -> None:
    same = [sf.Pure(1), sf.Pure(2)]
    assert align_orders(same) == same
    left, right = align_orders([sf.Renyi({2: 1, 8: 4}), sf.Renyi({4: 3})])
    assert left.orders == right.orders == (2, 4)  # type: ignore[attr-defined]  # Rényi curves
