"""What follows from a Rényi divergence, on all events and on three laws."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import Refused
from sfumato.guarantees.finite.divergence_bounds import (
    preservation_bound,
    triangle_bound,
    triangle_orders,
)
from sfumato.guarantees.finite.divergences import renyi

some = st.lists(st.integers(1, 9), min_size=4, max_size=4).map(
    lambda w: tuple(F(x, sum(w)) for x in w)
)
orders = st.sampled_from([F(11, 10), F(3, 2), F(2), F(5), F(50)])


@given(some, some, st.one_of(orders, st.just(math.inf)))
def test_no_event_is_more_likely_than_the_bound(
    p: tuple[F, ...], q: tuple[F, ...], order: F | float
) -> None:
    divergence = F(
        renyi(p, q, order, rounding="up")
    )  # as the rational it is: its shortest text may be less
    for chosen in product((0, 1), repeat=4):
        P, Q = (sum((w for w, c in zip(law, chosen, strict=True) if c), F(0)) for law in (p, q))
        assert preservation_bound(order, divergence, Q) >= P


def test_the_exponent_as_printed_is_wrong() -> None:
    """α − 1/α, without the bracket: for this pair and event it claims less than P(B)."""
    p, q = (F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))
    order = 3
    base = math.exp(renyi(p, q, order)) * 0.25
    assert (
        base ** (order - 1 / order)
        < 0.75
        <= preservation_bound(order, F(renyi(p, q, order, rounding="up")), F(1, 4))
    )


@given(some, some, some, orders, st.sampled_from([F(11, 10), F(3, 2), F(2), F(7)]))
def test_a_third_law_costs_at_most_this(
    p: tuple[F, ...], r: tuple[F, ...], q: tuple[F, ...], order: F, conjugate: F
) -> None:
    first_order, second_order = triangle_orders(order, conjugate)
    bound = triangle_bound(
        order,
        conjugate,
        F(renyi(p, r, first_order, rounding="up")),
        F(renyi(r, q, second_order, rounding="up")),
    )
    assert renyi(p, q, order, rounding="down") <= bound


def test_there_is_no_plain_triangle_inequality() -> None:
    p, r, q = (F(9, 10), F(1, 10)), (F(1, 2), F(1, 2)), (F(1, 10), F(9, 10))
    assert renyi(p, q, 2) > renyi(p, r, 2) + renyi(r, q, 2)


def test_numbers() -> None:
    assert triangle_orders(2, 2) == (4, 3)
    assert triangle_bound(2, 2, F(1, 2), F(3, 8)) == 1.125
    assert preservation_bound(2, 0, 0) == 0.0
    assert preservation_bound(2, 100, F(1, 2)) == 1.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: preservation_bound(1, 1, 0.5),
        lambda: triangle_orders(1, 2),
        lambda: triangle_bound(2, 1, 1, 1),
    ],
)
def test_only_above_one(call: object) -> None:
    with pytest.raises(Refused) as caught:
        call()  # type: ignore[operator]  # cases are objects
    assert caught.value.code == "divergence.order"
