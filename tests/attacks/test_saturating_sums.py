"""B5, saturation: a sum that stops at the end of its type depends on the order of the rows."""

from __future__ import annotations

from itertools import permutations

import pyarrow as pa

import sfumato as sf

from .tables import tally

VALUES = (100, 100, -100, -100)


def saturating(values: tuple[int, ...]) -> int:
    total = 0
    for value in values:
        total = max(-128, min(127, total + value))
    return total


def test_attack_B5_tells_orders_apart() -> None:
    assert [
        saturating(order) for order in (VALUES, (100, -100, 100, -100), (-100, -100, 100, 100))
    ] == [-73, 0, 72]


def test_attack_B5_ours_never_saturate() -> None:
    for order in set(permutations(VALUES)):
        through = tally(
            pa.table({"x": pa.array(order, pa.int8())}),
            lambda t: t.aggregate(s=sf.sum("x", low=-100, high=100)),
        )
        assert through.pieces[0].values.tolist() == [[0]]
