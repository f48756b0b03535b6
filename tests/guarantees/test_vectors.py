"""The numbers that add up: read off, put back, added as the notions add."""

from __future__ import annotations

from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.guarantees.guarantee import currencies
from sfumato.guarantees.renyi import align_orders, at_orders

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
    assert example.from_vector(example.vector) == example
    assert (example + 2 * example).vector == tuple(3 * number for number in example.vector)
    assert example.scaled(Fraction(1, 3)) + example.scaled(Fraction(2, 3)) == example
    assert len(example.vector_names) == len(example.vector)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_a_part_is_about_the_same_neighbours(example: sf.Guarantee) -> None:
    """A guarantee without a relation mixes with any: the check of relations would be lost."""
    labelled = sf.Guarantee._bind(example, "replace", "person")
    for part in (labelled.scaled("1/2"), labelled.without_delta()):
        assert (part.relation, part.unit) == ("replace", "person")
    for wrong in ("half", None, 0, -1):
        with pytest.raises(sf.Refused):
            example.scaled(wrong)  # type: ignore[arg-type]  # no share


def test_every_currency_has_numbers_that_add_up() -> None:
    assert {type(example) for example in EXAMPLES} == set(currencies())


@pytest.mark.parametrize("guarantee", [sf.Pure(1) + sf.GDP(1), sf.compose([sf.Pure(1)])], ids=str)
def test_what_is_no_currency_has_no_numbers(guarantee: sf.Guarantee) -> None:
    with pytest.raises(sf.Refused) as caught:
        guarantee.vector  # noqa: B018  # reading it raises
    assert caught.value.code == "filter.currency"
    assert len(eval(caught.value.rewrite, {"sf": sf, "guarantee": guarantee})) == 2, "it pastes"


def test_deltas_that_come_to_one() -> None:
    with refusing("guarantee.no-promise"):
        sf.Approx(1, "0.5").from_vector((Fraction(1), Fraction(1)))


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
