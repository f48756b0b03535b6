"""Combinations of values that cannot occur: declared by the owner, never read from the data.

*Declared*  `impossible=[{"age": "0-17", "vote": True}]`; and the paths of a declared hierarchy, as
            no other places exist.
*Repair*    After rows are arranged, each row in an impossible cell takes the values of these
            columns from a possible row, one with the same first value if there is one. The
            certificate is measured afterwards.
*Promise*   What is declared is public, and repairs use synthetic rows alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..tables.plan.row_codes import CodedColumn
from ..tables.query.stages import Rows
from . import synth_refusals as refusals
from .arrange_rows import Codes
from .scatter import Places, Scatter

MOST_CELLS = 10_000_000
_ROUNDS = 10


@dataclass(frozen=True, slots=True, eq=False)
class PossibleCells:
    """Which cells of some columns together can occur."""

    columns: tuple[int, ...]
    possible: NDArray[np.bool_]  # one axis for each column

    def holds(self, rows: Codes) -> NDArray[np.bool_]:
        """Tell which rows are possible."""
        return np.asarray(self.possible[tuple(rows[:, i] for i in self.columns)])


def read_possible(
    rows: Rows, columns: Sequence[CodedColumn], impossible: object
) -> tuple[PossibleCells, ...]:
    """Return what is declared of combinations: by `impossible`, and by hierarchies."""
    if isinstance(impossible, str | Mapping) or not isinstance(impossible, Iterable):
        raise refusals.IMPOSSIBLE_UNKNOWN(cells=impossible, column=columns[0].name)
    declared = [_read_cell(cell, columns) for cell in impossible]
    return (*declared, *_of_hierarchies(rows, columns))


def _read_cell(cell: object, columns: Sequence[CodedColumn]) -> PossibleCells:
    names = [column.name for column in columns]
    if not isinstance(cell, Mapping) or len(cell) < 2 or not set(cell) <= set(names):
        raise refusals.IMPOSSIBLE_UNKNOWN(cells=cell, column=names[0])
    places = tuple(sorted(names.index(name) for name in cell))
    codes = []
    for place in places:
        column, value = columns[place], cell[names[place]]
        if value is not None and value not in column.keys:
            raise refusals.IMPOSSIBLE_UNKNOWN(cells=cell, column=names[0])
        codes.append(column.cells - 1 if value is None else column.keys.index(value))
    possible = _all_cells(columns, places, cell)
    possible[tuple(codes)] = False
    return PossibleCells(places, possible)


def _all_cells(
    columns: Sequence[CodedColumn], places: Sequence[int], cell: object
) -> NDArray[np.bool_]:
    shape = [columns[place].cells for place in places]
    if prod(shape) > MOST_CELLS:
        raise refusals.IMPOSSIBLE_UNKNOWN(cells=cell, column=columns[0].name)
    return np.ones(shape, dtype=np.bool_)


def _of_hierarchies(rows: Rows, columns: Sequence[CodedColumn]) -> list[PossibleCells]:
    """Return the paths of declared hierarchies, where columns have at least two of their levels."""
    original = {rows.facts.original(column.name): i for i, column in enumerate(columns)}
    out = []
    for hierarchy in rows.facts.hierarchies:
        levels = [level for level in hierarchy.levels if level in original]
        places = tuple(original[level] for level in levels)
        if len(levels) < 2 or not all(columns[place].keys for place in places):
            continue
        possible = ~_all_cells(columns, places, levels)
        possible[(-1,) * len(places)] = True  # a place that is not listed has no level
        for path in hierarchy.project(levels):
            codes = [_code(columns[place], key) for place, key in zip(places, path, strict=True)]
            if None not in codes:
                possible[tuple(codes)] = True
        out.append(PossibleCells(places, possible))
    return out


def _code(column: CodedColumn, key: object) -> int | None:
    if key is None:
        return column.cells - 1
    return column.keys.index(key) if key in column.keys else None


def repair_rows(rows: Codes, declared: Sequence[PossibleCells], scatter: Scatter) -> Codes:
    """Return rows of which none is impossible, as far as possible ones exist."""
    rows = rows.copy()
    for _ in range(_ROUNDS):
        before = rows.copy()
        for each in declared:
            _take_from_possible(rows, each, scatter)
        if np.array_equal(before, rows):
            return rows
    fine = np.all([each.holds(rows) for each in declared], axis=0)
    if fine.any() and not fine.all():  # repairs undo each other: whole rows are copied
        donors = np.flatnonzero(fine)
        rows[~fine] = rows[donors[_draw(len(donors), int((~fine).sum()), scatter)]]
    return rows


def _take_from_possible(rows: Codes, each: PossibleCells, scatter: Scatter) -> None:
    fine, columns = each.holds(rows), np.array(each.columns)
    wrong, donors = np.flatnonzero(~fine), np.flatnonzero(fine)
    if not len(wrong):
        return
    if not len(donors):  # no row is possible: cells evenly
        cells = np.argwhere(each.possible)
        if len(cells):
            rows[np.ix_(wrong, columns)] = cells[_draw(len(cells), len(wrong), scatter)]
        return
    first = each.columns[0]
    donors = donors[np.argsort(rows[donors, first], kind="stable")]
    values = rows[donors, first]
    start = np.searchsorted(values, rows[wrong, first], side="left")
    count = np.searchsorted(values, rows[wrong, first], side="right") - start
    part = scatter.uniform(len(wrong))
    near = start + (part * count).astype(np.int64)
    at = np.where(count > 0, near, (part * len(donors)).astype(np.int64))
    rows[np.ix_(wrong, columns)] = rows[np.ix_(donors[at], columns)]


def _draw(among: int, count: int, scatter: Scatter) -> Places:
    drawn: Places = (scatter.uniform(count) * among).astype(np.int64)
    return drawn
