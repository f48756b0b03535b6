"""B10, the clipped copy that is not used: values are clipped into a new column, and the old one is
added up.
"""

from __future__ import annotations

import pytest

import sfumato as sf

from .tables import distances, tally

PLAIN = [1.0, 2.0, 3.0]


def test_attack_B10_moves_an_unclipped_sum_by_a_billion() -> None:
    clipped = [max(0.0, min(10.0, x)) for x in [*PLAIN, 1e9]]  # made, and then forgotten
    assert sum([*PLAIN, 1e9]) - sum(PLAIN) == 1e9
    assert sum(clipped) - sum(PLAIN) == 10


@pytest.mark.parametrize(
    "far", [1e9, -1e9, float("inf"), float("-inf"), float("nan"), 1e308, 5e-324]
)
@pytest.mark.parametrize("column", ["x", "y"])
def test_attack_B10_moves_ours_by_its_bound(far: float, column: str) -> None:
    def ask(t: object) -> object:
        rows = t.mutate(y=sf.col("x") * 1)
        return rows.aggregate(
            a=sf.sum(column),
            b=sf.mean(column),
            c=sf.var(column),
            d=sf.sum(column).filter(sf.col(column) > 0),
        )

    first, second = (
        tally({"x": values}, ask, bounds={"x": (0, 10)}) for values in ([*PLAIN, far], PLAIN)
    )
    cells = distances(first, second)
    assert len(cells) == len(first.calls) > 0
    assert all(moved <= declared for moved, declared in cells)
