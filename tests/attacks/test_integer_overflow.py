"""B4, wrapping: integer sums that leave 32 or 64 bits jump from one end of the range to the
other.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf

from .tables import distance, tally


def test_attack_B4_wraps_in_numpy() -> None:
    with np.errstate(over="ignore"):
        assert np.array([2**31 - 1, 1], dtype=np.int32).sum(dtype=np.int32) == -(2**31)
        assert np.array([2**62, 2**62]).sum() == -(2**63)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.int32(), [2**31 - 1, 1]),
        (pa.int64(), [2**62, 2**62]),
        (pa.int8(), [127] * 300),
        (pa.int64(), [2**63 - 1] * 9),
    ],
)
@pytest.mark.parametrize("about", [{}, {"unit": "u", "max_rows": 2}, {"table_rows": 2**48}])
def test_attack_B4_ours_add_up(
    kind: pa.DataType, values: list[int], about: dict[str, object]
) -> None:
    high = 2 ** (kind.bit_width - 1) - 1
    columns = pa.table({"x": pa.array(values, kind), "u": pa.array(range(len(values)))})
    through = tally(columns, lambda t: t.aggregate(s=sf.sum("x", low=0, high=high)), **about)
    piece = through.pieces[0]
    exact = sum(values)
    assert (
        abs(int(piece.values[0, 0]) * piece.step - exact) <= exact * 2**-20
    )  # the grid's rounding, where there is one
    without = tally(
        columns.slice(1), lambda t: t.aggregate(s=sf.sum("x", low=0, high=high)), **about
    )
    moved, declared = distance(through, without)
    assert moved <= declared
