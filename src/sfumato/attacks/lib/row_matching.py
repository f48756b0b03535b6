"""Match rows of two tables: equal in some columns, near in others.

*Steps*   Rows are put into cells by the columns that have to be equal. In a cell the rows of the
          second table are ordered by the first column with a tolerance; what is near lies together,
          and the other tolerances are looked at there only.
*Missing* A missing value agrees with a missing value, and with nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import Refused
from ...exact.numbers import Number, non_negative
from .. import attack_refusals as refusals
from .look_alikes import pair_codes
from .owner_table import Columns

if TYPE_CHECKING:
    import pyarrow as pa

Integers = NDArray[np.int64]
Real = NDArray[np.float64]
_MOST = 20_000_000  # pairs of matching rows that are kept


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """All pairs of rows that agree, by the row of the first table."""

    left: Integers
    right: Integers
    rows: int  # of the first table

    @property
    def many(self) -> Integers:
        """How many matches each row of the first table has."""
        return np.bincount(self.left, minlength=self.rows).astype(np.int64)

    @property
    def single(self) -> Integers:
        """The match of each row that has exactly one, and -1 for the other rows."""
        last_match = np.full(self.rows, -1, dtype=np.int64)
        last_match[self.left] = self.right
        return np.where(self.many == 1, last_match, -1)


def match_rows(a: Columns, b: Columns, tolerance: Mapping[str, Number]) -> Matches:
    """Find the matching rows of two tables with the same columns."""
    allowed = {
        name: float(non_negative(value, f"tolerance of {name}"))
        for name, value in tolerance.items()
    }
    for name in allowed:
        if name not in a:
            raise refusals.TOLERANCE_OF_UNMATCHED_COLUMN(column=name)
    cells_a, cells_b = _cells(a, b, [name for name in a if name not in allowed])
    near = [(a.numbers(name), b.numbers(name), reach) for name, reach in allowed.items()]
    key_a, key_b, reach = near[0] if near else (np.zeros(a.n), np.zeros(b.n), 0.0)
    order = np.lexsort((key_b, cells_b))  # NaN comes last in its cell
    starts = np.searchsorted(cells_b[order], np.arange(int(max(cells_a.max(), cells_b.max())) + 2))
    first, last = (
        _window(key_a, key_b[order], starts[cells_a], starts[cells_a + 1], reach)
        if near
        else (starts[cells_a], starts[cells_a + 1])
    )
    lengths = last - first
    if int(lengths.sum()) > _MOST:
        raise refusals.TOO_MANY_MATCHES(most=_MOST)
    left = np.repeat(np.arange(a.n), lengths)
    right = order[
        np.arange(int(lengths.sum()))
        - np.repeat(np.cumsum(lengths) - lengths, lengths)
        + np.repeat(first, lengths)
    ]
    for values_a, values_b, reach in near[1:]:
        agree = (np.abs(values_a[left] - values_b[right]) <= reach) | (
            np.isnan(values_a[left]) & np.isnan(values_b[right])
        )
        left, right = left[agree], right[agree]
    return Matches(left.astype(np.int64), right.astype(np.int64), a.n)


def _window(
    keys: Real, ordered: Real, first: Integers, last: Integers, reach: float
) -> tuple[Integers, Integers]:
    """For each key, find where the values of its cell within reach begin and end."""
    lows, highs = np.empty(len(keys), dtype=np.int64), np.empty(len(keys), dtype=np.int64)
    for row, value in enumerate(keys.tolist()):
        start, here = int(first[row]), ordered[first[row] : last[row]]
        # behind them the missing ones
        present = start + int(np.searchsorted(here, np.inf, side="right"))
        missing = value != value
        lows[row] = (
            present if missing else start + int(np.searchsorted(here, value - reach, side="left"))
        )
        highs[row] = (
            last[row]
            if missing
            else min(present, start + int(np.searchsorted(here, value + reach, side="right")))
        )
    return lows, highs


def _cells(a: Columns, b: Columns, names: list[str]) -> tuple[Integers, Integers]:
    """Number the cells of the rows of both tables, by the columns that must be equal."""
    cells = np.zeros(a.n + b.n, dtype=np.int64)
    for name in names:
        cells = pair_codes(cells, np.concatenate(shared_codes(a, b, name)))
    return cells[: a.n], cells[a.n :]


def shared_codes(a: Columns, b: Columns, name: str) -> tuple[Integers, Integers]:
    """Code a column of both tables with equal codes for equal values. Columns of different types
    are compared as numbers, else as text.
    """
    import pyarrow as pa

    columns: list[pa.ChunkedArray] = [table.arrow.column(name) for table in (a, b)]
    if columns[0].type != columns[1].type:
        try:
            columns = [
                pa.chunked_array([pa.array(table.numbers(name), from_pandas=True)])
                for table in (a, b)
            ]
        except Refused:
            columns = [
                pa.chunked_array(
                    [pa.array([None if cell is None else str(cell) for cell in column.to_pylist()])]
                )
                for column in columns
            ]
    both = pa.chunked_array(
        [chunk for column in columns for chunk in column.chunks], columns[0].type
    )
    codes = Columns(a.n + b.n, pa.table({name: both})).codes(name)
    return codes[: a.n], codes[a.n :]
