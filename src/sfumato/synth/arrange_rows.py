"""Rows whose tables are near fitted ones: first along a tree of pairs, then moved until all fit.

*Tree*     Pairs by falling score, without cycles: each column is drawn from its table with the
           column before it, in whole numbers.
*Moves*    For each table in turn, rows in cells with too many rows are offered cells with too few,
           changing one column where that is enough. A row moves if that brings all tables together
           nearer, in squares. (Proposals after Zhang et al. 2021; the rule is ours.)
*Public*   The rows follow from noisy tables alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .choose_tables import Pair
from .fit_tables import FittedTables
from .merge_cells import Doubles
from .scatter import Places, Scatter

Codes = NDArray[np.uint16]
"""Rows × columns."""

ROUNDS = 25
_FALL, _LEAST_STEP = 0.93, 0.05


def arrange_rows(
    fitted: FittedTables, order: Sequence[Pair], count: int, scatter: Scatter
) -> Codes:
    """Return `count` rows of codes; `order` has the pairs of the tree, the best first."""
    rows = _start(fitted, order, count, scatter)
    mover = _Mover.of(rows, fitted, scatter)
    pairs, step = list(fitted.tables), 1.0
    for number in range(ROUNDS):
        for at in scatter.order(len(pairs)):
            mover.move(pairs[at], step, number)
        step = max(step * _FALL, _LEAST_STEP)
    return rows


def _start(fitted: FittedTables, order: Sequence[Pair], count: int, scatter: Scatter) -> Codes:
    """Draw all columns along a forest of pairs."""
    width = len(fitted.columns)
    neighbours = _forest(width, order)
    rows = np.zeros((count, width), dtype=np.uint16, order="F")
    reached: set[int] = set()
    for root in range(width):
        if root in reached:
            continue
        rows[:, root] = _draw(fitted.columns[root], count, scatter)
        reached.add(root)
        waiting = [root]
        while waiting:
            at = waiting.pop()
            for column in neighbours[at]:
                if column not in reached:
                    table = fitted.tables.get((at, column))
                    table = fitted.tables[column, at].T if table is None else table
                    _draw_along(rows, at, column, table, scatter)
                    reached.add(column)
                    waiting.append(column)
    return rows


def _forest(width: int, order: Sequence[Pair]) -> dict[int, list[int]]:
    root = list(range(width))
    neighbours: dict[int, list[int]] = {i: [] for i in range(width)}

    def top(i: int) -> int:
        while root[i] != i:
            i = root[i]
        return i

    for first, second in (pair for pair in order if len(pair) == 2):
        if top(first) != top(second):
            root[top(first)] = top(second)
            neighbours[first].append(second)
            neighbours[second].append(first)
    return neighbours


def _draw(weights: Doubles, count: int, scatter: Scatter) -> Codes:
    codes = np.repeat(np.arange(len(weights)), scatter.apportion(weights, count))
    return codes[scatter.order(count)].astype(np.uint16)


def _draw_along(rows: Codes, at: int, column: int, table: Doubles, scatter: Scatter) -> None:
    """Draw a column for the rows of each cell of the column before it."""
    order = np.argsort(rows[:, at], kind="stable")
    start = 0
    for weights, count in zip(
        table, np.bincount(rows[:, at], minlength=len(table)).tolist(), strict=True
    ):
        if count:
            likely = weights if weights.sum() > 0 else table.sum(axis=0)
            rows[order[start : start + count], column] = _draw(likely, count, scatter)
            start += count


@dataclass(frozen=True, slots=True, eq=False)
class _Mover:
    """Rows, and for each table how many rows its cells lack."""

    rows: Codes
    shapes: Mapping[Pair, tuple[int, ...]]
    gaps: Mapping[Pair, Doubles]  # goal − count, changed as rows move
    near: Mapping[Pair, Sequence[Pair]]  # the tables that share a column
    scatter: Scatter

    @classmethod
    def of(cls, rows: Codes, fitted: FittedTables, scatter: Scatter) -> _Mover:
        scale = len(rows) / fitted.total
        shapes = {pair: table.shape for pair, table in fitted.tables.items()}
        gaps = {
            pair: table.ravel() * scale
            - np.bincount(_cells(rows, pair, shapes[pair]), minlength=table.size)
            for pair, table in fitted.tables.items()
        }
        near = {pair: [each for each in shapes if set(each) & set(pair)] for pair in shapes}
        return cls(rows, shapes, gaps, near, scatter)

    def move(self, pair: Pair, step: float, number: int) -> None:
        """Move rows towards one table, a `step` of the way; `number` chooses the loose column."""
        shape, loose = self.shapes[pair], number % len(pair)
        cell = _cells(self.rows, pair, shape)
        leaving, to = self._propose(cell, self.gaps[pair], step)
        # both in the order of all columns but one: then most rows change that one alone
        leaving = leaving[np.argsort(_without(cell[leaving], shape, loose), kind="stable")]
        to = to[np.argsort(_without(to, shape, loose), kind="stable")]
        codes = dict(zip(pair, np.unravel_index(to, shape), strict=True))
        gain, changes = np.zeros(len(to)), []
        for table in self.near[pair]:
            before = _cells(self.rows, table, self.shapes[table], leaving)
            after = _cells(self.rows, table, self.shapes[table], leaving, codes)
            gap = self.gaps[table]
            gain += np.where(before == after, 0.0, gap[after] - gap[before] - 1.0)
            changes.append((gap, before, after))
        better = gain > 0
        for gap, before, after in changes:
            np.add.at(gap, before[better], 1.0)
            np.add.at(gap, after[better], -1.0)
        for column, code in codes.items():
            self.rows[leaving[better], column] = code[better]

    def _propose(self, cell: Places, gap: Doubles, step: float) -> tuple[Places, Places]:
        """Return rows of cells with too many, and as many places in cells with too few."""
        added = np.floor(step * np.maximum(gap, 0) + 0.5).astype(np.int64)
        removed = np.floor(step * np.maximum(-gap, 0) + 0.5)
        crowded = np.flatnonzero((removed > 0)[cell])
        cells = cell[crowded]
        shares = removed / np.maximum(np.bincount(cells, minlength=len(gap)), 1)
        leaving = crowded[self.scatter.uniform(len(cells)) < shares[cells]]
        to = np.repeat(np.arange(len(gap)), added)
        moves = min(len(leaving), len(to))
        return (
            leaving[self.scatter.order(len(leaving))[:moves]],
            to[self.scatter.order(len(to))[:moves]],
        )


def _cells(
    rows: Codes,
    pair: Pair,
    shape: Sequence[int],
    at: Places | slice = slice(None),
    codes: Mapping[int, Places] | None = None,
) -> Places:
    """Return the cell of rows in a table; of columns in `codes` with those codes instead."""
    cell: Places = np.zeros(1, dtype=np.int64)
    for column, size in zip(pair, shape, strict=True):
        code = codes[column] if codes and column in codes else rows[at, column]
        cell = cell * size + code.astype(np.int64)
    return cell


def _without(cell: Places, shape: tuple[int, ...], loose: int) -> Places:
    """Return the cells by all columns but one."""
    codes = list(np.unravel_index(cell, shape))
    codes[loose] = np.zeros_like(codes[loose])
    return np.asarray(np.ravel_multi_index(codes, shape))
