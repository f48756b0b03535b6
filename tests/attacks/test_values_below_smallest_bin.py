"""C5, extremes below the smallest bin: a binning that has no place for a value raises, and only
with the odd row.
"""

from __future__ import annotations

import math

import pytest

import sfumato as sf

from .tables import distances, tally

PLAIN = [1.0, 10.0, 100.0]
ODD = [0.0, -0.0, 5e-324, -5e-324, 1e-310, -1.0, 1e308, -1e308, math.inf, -math.inf, math.nan, None]


def test_attack_C5_breaks_bins_by_logarithm() -> None:
    def place(value: float) -> int:
        return math.floor(math.log2(value))

    assert [place(value) for value in PLAIN] == [0, 3, 6]
    for odd in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises((ValueError, OverflowError)):
            place(odd)


@pytest.mark.parametrize("odd", ODD)
def test_attack_C5_ours_has_a_place_for_everything(odd: float | None) -> None:
    def ask(t: object) -> object:
        edges = [0, *(2**i for i in range(12))]
        return t.aggregate(
            h=sf.histogram("x", edges=edges),
            q=sf.quantile("x", "0.9", low=1, high=2**11),
            m=sf.mean("x", low=1, high=2**11),
        )

    first, second = (tally({"x": values}, ask) for values in ([*PLAIN, odd], PLAIN))
    cells = distances(first, second)
    assert len(cells) == len([call for call in first.calls if len(call.integers) == 1]) > 1
    assert all(moved <= declared for moved, declared in cells)
    assert [len(call.integers) for call in first.calls] == [
        len(call.integers) for call in second.calls
    ]
