"""Merge cells of a column that are too rare to be told from noise, and spread merged cells again.

*Merge*    Keys with a noisy count below a multiple of the deviation become one cell. In an ordered
           column neighbours are merged until their count is clear; a spike keeps its cell.
*Spread*   A merged cell is divided among its cells in proportion to their non-negative noisy counts
           plus half a deviation. Missing values get no such half: they are shown only where their
           count is clear.
*Public*   All of it follows from noisy counts (docs/proofs/synthetic.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Places = NDArray[np.int64]

CLEAR = 2.0
"""How many deviations make a noisy count clear."""
_HALF = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class MergedColumn:
    """The coarse cell of each cell, and the share of each cell in its coarse cell."""

    cell_of: Places
    shares: Doubles

    @property
    def count(self) -> int:
        """The number of coarse cells."""
        return int(self.cell_of.max()) + 1

    def sum_up(self, counts: Doubles) -> Doubles:
        """Sum the counts of cells to those of coarse cells."""
        sums: Doubles = np.bincount(self.cell_of, counts, minlength=self.count).astype(np.float64)
        return sums


def merge_cells(noisy: Doubles, deviation: float, *, ordered: bool) -> MergedColumn:
    """Merge the cells of a column by their noisy counts; the last cell has no value."""
    clear = noisy > CLEAR * deviation
    cell_of = (
        np.append(_merge_neighbours(noisy[:-1], clear[:-1], deviation), 0)
        if ordered
        else np.zeros(len(noisy), dtype=np.int64)
    )
    if ordered:
        cell_of[-1] = cell_of[:-1].max(initial=-1) + 1 if clear[-1] else cell_of[-2]
    else:
        cell_of[clear] = np.arange(clear.sum())
        cell_of[~clear] = clear.sum()
    parts = nearest_with_sum(noisy, max(float(noisy.sum()), 1.0)) + _HALF * deviation
    if not clear[-1]:
        parts[-1] = 0.0
    merged = np.bincount(cell_of, parts)[cell_of]
    often = np.bincount(cell_of)[cell_of]
    return MergedColumn(
        cell_of, np.where(merged > 0, parts / np.where(merged > 0, merged, 1), 1 / often)
    )


def _merge_neighbours(noisy: Doubles, clear: NDArray[np.bool_], deviation: float) -> Places:
    """Return the coarse cell of each cell of an ordered column."""
    cell_of = np.zeros(len(noisy), dtype=np.int64)
    cell, total, length = -1, 0.0, 0
    for i, count in enumerate(noisy.tolist()):
        if clear[i]:
            cell, length = cell + 1, 0
        elif length == 0 or total > CLEAR * deviation * length**0.5:
            cell, total, length = cell + 1, count, 1
        else:
            total, length = total + count, length + 1
        cell_of[i] = cell
    return cell_of


def nearest_with_sum(values: Doubles, total: float) -> Doubles:
    """Return the nearest array without negative entries and with this sum above 0."""
    ordered = np.sort(values.ravel())[::-1]
    excess = np.cumsum(ordered) - total
    last = np.nonzero(ordered > excess / np.arange(1, len(ordered) + 1))[0][-1]
    nearest: Doubles = np.maximum(values - excess[last] / (last + 1), 0.0)
    return nearest


def merge_all(
    noisy: Sequence[Doubles], deviation: float, ordered: Sequence[bool]
) -> tuple[MergedColumn, ...]:
    """Merge the cells of every column."""
    return tuple(
        merge_cells(counts, deviation, ordered=each)
        for counts, each in zip(noisy, ordered, strict=True)
    )
