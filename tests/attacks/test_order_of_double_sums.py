"""B2, order: a sum of doubles depends on the order of the rows, which is no distance at all."""

from __future__ import annotations

from itertools import permutations

import sfumato as sf

from .tables import tally

BASE = 2.0**52
ONE = [BASE + d for d in (1, 1, 1, 0, 0, 0, 1, 0)]
OTHER = [BASE + d for d in (1, 1, 0, 1, 0, 0, 0, 1)]


def added(values: list[float]) -> float:
    total = 0.0
    for value in values:
        total += value
    return total


def test_attack_B2_tells_two_orders_of_the_same_rows_apart() -> None:
    assert sorted(ONE) == sorted(OTHER)
    assert abs(added(ONE) - added(OTHER)) == 8
    assert added([2.0**53, 1, -(2.0**53)]) != added([2.0**53, -(2.0**53), 1])


def test_attack_B2_ours_are_the_same_bits() -> None:
    for about in ({}, {"table_rows": 2**10}, {"unit": "u", "max_rows": 2}):
        orders = [ONE, OTHER, sorted(ONE), sorted(ONE, reverse=True)]
        result = [
            tally(
                {"x": v, "u": list(range(8))},
                lambda t: t.aggregate(m=sf.mean("x", low=2**52, high=2**52 + 8)),
                **about,
            )
            for v in orders
        ]
        assert len({str(success.pieces[0].values.tolist()) for success in result}) == 1


def test_attack_B2_cancelling_values_in_every_order() -> None:
    def ask(t: object) -> object:
        return t.aggregate(s=sf.sum("x", low=-(2**53), high=2**53))

    result = {
        str(tally({"x": list(order)}, ask).pieces[0].values.tolist())
        for order in permutations((2.0**53, 1.0, -(2.0**53), 0.5))
    }
    assert len(result) == 1
