"""Groups of people who look alike: how many share each combination of values, and which columns
tell them apart.

*Cell*     All rows with the same values in some columns. Missing values are equal to each other.
*Search*   Sets of columns, level by level: by one column, by two, … More columns never join two
           cells, so fewer never tell more people apart. Hence the search ends at the first level at
           which a set tells enough people apart; a column without which all others do not is in
           every set; and a set is not tried where cells of its first columns, times values of its
           last, are too few.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from .owner_table import Columns

Integers = NDArray[np.int64]
_ROOM = 1 << 26  # numbers of cells that are kept for the next level: half a gigabyte


class CodedColumns:
    """Columns as dense codes, and a cache of the cells of their combinations."""

    def __init__(self, rows: Columns, names: Sequence[str]) -> None:
        self.n = rows.n
        self.names = tuple(names)
        self.codes = {name: rows.codes(name) for name in names}
        self.counts = {name: int(codes.max()) + 1 for name, codes in self.codes.items()}
        self._cached: dict[tuple[str, ...], Integers] = {}

    def cells(self, names: Sequence[str]) -> Integers:
        """Number the cell of each row, densely from 0."""
        key = tuple(names)
        if len(key) == 1:
            return self.codes[key[0]]
        if key in self._cached:
            return self._cached[key]
        # the first columns are most often of the level before, and kept
        cells = pair_codes(self.cells(key[:-1]), self.codes[key[-1]])
        if len(self._cached) * self.n < _ROOM:
            self._cached[key] = cells
        return cells

    def sizes(self, names: Sequence[str]) -> Integers:
        """Count the rows of each cell."""
        return np.bincount(self.cells(names)).astype(np.int64)

    def alone(self, names: Sequence[str]) -> int:
        """Count the rows that are the only one of their cell."""
        return int((self.sizes(names) == 1).sum())

    def smallest(self, least: int) -> tuple[tuple[str, ...], ...]:
        """Find the smallest sets of columns by which at least so many rows are alone; most alone
        first. Empty where even all columns do not suffice.
        """
        if self.alone(self.names) < least:
            return ()
        needed = {
            name
            for name in self.names
            if len(self.names) > 1
            and self.alone([column for column in self.names if column != name]) < least
        }
        for size in range(max(1, len(needed)), len(self.names) + 1):
            self._cached = {
                key: cells for key, cells in self._cached.items() if len(key) == size - 1
            }  # the level needs no other
            sets = (chosen for chosen in combinations(self.names, size) if needed <= set(chosen))
            enough = {
                chosen: alone
                for chosen in sets
                if (alone := self._alone_at_least(chosen, least)) is not None
            }
            if enough:
                return tuple(sorted(enough, key=lambda chosen: -enough[chosen]))
        return ()

    def _alone_at_least(self, names: tuple[str, ...], least: int) -> int | None:
        if prod(self.counts[name] for name in names) < least:
            return None
        front = self._cached.get(names[:-1])
        if front is not None and (int(front.max()) + 1) * self.counts[names[-1]] < least:
            return None
        alone = self.alone(names)
        return alone if alone >= least else None


def pair_codes(front: Integers, back: Integers) -> Integers:
    """Code pairs densely: by a table of all pairs where that is small, else by sorting."""
    width = int(back.max()) + 1
    pairs = front * width + back  # below 2^63: both are below the number of rows
    possible = (int(front.max()) + 1) * width
    if possible > 8 * len(pairs) + 1024:
        return np.asarray(np.unique(pairs, return_inverse=True)[1], dtype=np.int64)
    there = np.zeros(possible, dtype=bool)
    there[pairs] = True
    numbers: Integers = np.cumsum(there, dtype=np.int64)[pairs] - 1
    return numbers
