"""B7, a sensitivity that is rounded down: halves of odd numbers are lost when a map divides
integers.
"""

from __future__ import annotations

from itertools import product

import pytest

from sfumato.tables.aggregates.component import Component
from sfumato.tables.plan.bounding import Bounding

ENDS = [(low, high) for low, high in product(range(-4, 4), range(-3, 5)) if low < high]


def farthest(low: int, high: int, rows: int) -> int:
    """How far one unit can move a sum when it is exchanged: it may also have no row."""
    sums = {
        sum(chosen) for count in range(rows + 1) for chosen in product((low, high), repeat=count)
    }
    return max(a - b for a in sums for b in sums)


def test_attack_B7_finds_a_map_that_divides_integers() -> None:
    """A unit of one row exchanged for another, by the usual formula d·(high − low)/2 with d = 2 −
    and d = 1: half a unit is lost.
    """
    assert any((high - low) // 2 * 2 < high - low for low, high in ENDS)


@pytest.mark.parametrize(("low", "high"), ENDS)
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_attack_B7_ours_is_what_can_happen_exactly(low: int, high: int, rows: int) -> None:
    bounding = Bounding(("u",), rows, rows, "replace", False, "L1", True, 2**40)
    assert bounding.l1(Component("x", "value", low, high)) == farthest(low, high, rows)
    alone = Bounding(("u",), rows, rows, "add-remove", False, "L1", True, 2**40)
    assert alone.l1(Component("x", "value", low, high)) == rows * max(abs(low), abs(high))
