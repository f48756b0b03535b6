"""Make whole, non-negative tables that add up, from the top down, in two passes.

*Totals*   First the totals of places: those of a place's children get the sum that the place has.
           Public totals and public lower limits hold.
*Tables*   Then each place's cells are dealt to its children, whose totals are known: a table of
           children × cells with both margins given. First come real numbers, near the estimates
           and not negative. Then the children are halved again and again: what the first half gets
           of each cell lies between 0 and the cell, and sums to the totals of that half. So every
           step is a problem of one dimension, which always has a whole solution, and all places of
           a level take the step at once.
*Bias*     Numbers that may not be negative are too large on average where the truth is near 0. The
           unbiased estimates stay beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .spine import Indices, Spine, Values
from .whole_numbers import round_groups

_PROJECTIONS, _SCALINGS = 60, 20
_TINY = 1e-9


NO_LIMIT = 1 << 52
"""The largest total of a place without a public limit."""


@dataclass(frozen=True, slots=True, eq=False)
class TotalLimits:
    """The least and the largest total of each place, by level. Both ends agree with those of the
    places below: see `of`.
    """

    least: tuple[Indices, ...]
    most: tuple[Indices, ...]

    @classmethod
    def of(cls, spine: Spine, least: Sequence[Indices], most: Sequence[Indices]) -> TotalLimits:
        """Narrow public limits to what the limits of the places below allow."""
        low, high = [least[-1]], [most[-1]]
        for level in range(spine.depth - 2, -1, -1):
            low.insert(0, np.maximum(least[level], spine.sum_children(level, low[0])))
            sums = spine.sum_children(level, high[0].astype(np.float64))  # too large for integers
            high.insert(0, np.minimum(most[level], np.minimum(sums, NO_LIMIT).astype(np.int64)))
        return cls(tuple(low), tuple(high))

    @classmethod
    def none(cls, spine: Spine) -> TotalLimits:
        """Return the limits of totals of which nothing is public."""
        return cls(
            tuple(np.zeros(size, dtype=np.int64) for size in spine.sizes),
            tuple(np.full(size, NO_LIMIT) for size in spine.sizes),
        )

    def conflicts(self, level: int) -> Indices:
        """Return the places of a level whose limits leave no total."""
        return np.flatnonzero(self.least[level] > self.most[level])


def whole_totals(
    spine: Spine, estimates: Sequence[Values], variances: Sequence[Values], limits: TotalLimits
) -> list[Indices]:
    """Round the estimated totals of all places: each whole, and the sum of those below it."""
    near = np.clip(estimates[0], limits.least[0], limits.most[0])
    totals = [np.rint(near).astype(np.int64)]
    for level in range(1, spine.depth):
        above = spine.parents[level - 1]
        ends = (limits.least[level], np.minimum(limits.most[level], totals[-1][above]))
        weights = np.where(variances[level] > 0, variances[level], 1.0)
        totals.append(round_groups(estimates[level], weights, ends, above, totals[-1]))
    return totals


def whole_tables(
    spine: Spine, estimates: Sequence[Values], totals: Sequence[Indices], cells: Indices
) -> Indices:
    """Round the estimated cells of the last level's places, given the whole totals of all places.
    `cells` are the places of cells that may hold anything.
    """
    count = estimates[0].shape[1]
    groups = np.repeat(np.arange(spine.sizes[0]), len(cells))
    goals = estimates[0][:, cells].ravel()
    ends = (np.zeros(len(groups), dtype=np.int64), totals[0][groups])
    first = round_groups(goals, np.ones(len(groups)), ends, groups, totals[0])
    held = first > 0
    dealt = Dealt(groups[held], np.tile(cells, spine.sizes[0])[held], first[held])
    for level in range(1, spine.depth):
        dealt = _deal(spine, level, dealt, estimates[level], totals[level])
    out = np.zeros((spine.sizes[-1], count), dtype=np.int64)
    out[dealt.places, dealt.cells] = dealt.counts
    return out


@dataclass(frozen=True, slots=True, eq=False)
class Dealt:
    """The counts above 0 of places, or of runs of places: sorted by place."""

    places: Indices
    cells: Indices
    counts: Indices


def _deal(spine: Spine, level: int, above: Dealt, estimate: Values, totals: Indices) -> Dealt:
    """Deal the counts of all places of a level to their children, by halving the children."""
    sums = np.concatenate([[0], np.cumsum(totals)])
    running = np.zeros((len(estimate) + 1, estimate.shape[1]))
    np.cumsum(_near(spine, level, above, estimate, totals), axis=0, out=running[1:])
    start, end = spine.starts[level - 1], spine.ends(level - 1)
    runs = above
    while (end - start > 1).any():
        middle = (start + end + 1) // 2  # a run of one place has all of it in its first half
        at, cell = runs.places, runs.cells
        left = running[middle[at], cell] - running[start[at], cell]
        both = running[end[at], cell] - running[start[at], cell]
        part = ((middle - start) / (end - start))[at]
        np.divide(left, both, out=part, where=both > _TINY)
        ends = (np.zeros(len(at), dtype=np.int64), runs.counts)
        goal = sums[middle] - sums[start]
        first = round_groups(np.asarray(runs.counts * part), np.ones(len(at)), ends, at, goal)
        start, end, numbers = _halves(start, middle, end)
        runs = _split(runs, first, numbers)
    return runs


def _near(spine: Spine, level: int, above: Dealt, estimate: Values, totals: Indices) -> Values:
    """Return tables of children × cells near the estimates, not negative, with sums near both
    margins: by projections in turn, then by scaling. Only what both margins allow is above 0.
    """
    first, end = spine.starts[level - 1], spine.ends(level - 1)
    often = (end - first)[above.places]
    column = np.repeat(np.arange(len(often)), often)
    inside = np.arange(len(column)) - np.repeat(np.cumsum(often) - often, often)
    row = first[above.places][column] + inside
    open_rows = totals[row] > 0
    row, column = row[open_rows], column[open_rows]
    cell = above.cells[column]
    near = estimate[row, cell]
    rows, columns = len(totals), len(often)
    row_size = np.maximum(np.bincount(row, minlength=rows), 1)
    column_size = np.maximum(np.bincount(column, minlength=columns), 1)
    for _ in range(_PROJECTIONS):
        near += ((totals - np.bincount(row, near, rows)) / row_size)[row]
        near += ((above.counts - np.bincount(column, near, columns)) / column_size)[column]
        np.maximum(near, 0.0, out=near)
    for _ in range(_SCALINGS):
        near *= (totals / np.maximum(np.bincount(row, near, rows), _TINY))[row]
        near *= (above.counts / np.maximum(np.bincount(column, near, columns), _TINY))[column]
    out = np.zeros_like(estimate)
    out[row, cell] = near
    return out


def _halves(
    start: Indices, middle: Indices, end: Indices
) -> tuple[Indices, Indices, tuple[Indices, Indices]]:
    """Return the ends of the halves of all runs, and the numbers that both halves get. The second
    half of a run of one place is empty and gets the number −1.
    """
    two = middle < end
    first = np.arange(len(start)) + np.concatenate([[0], np.cumsum(two)[:-1]])
    starts = np.empty(len(start) + int(two.sum()), dtype=np.int64)
    ends = np.empty_like(starts)
    starts[first], ends[first] = start, middle
    starts[first[two] + 1], ends[first[two] + 1] = middle[two], end[two]
    return starts, ends, (first, np.where(two, first + 1, -1))


def _split(runs: Dealt, first: Indices, numbers: tuple[Indices, Indices]) -> Dealt:
    """Give the counts of runs to their halves: `first` to the first half, the rest to the other."""
    places = np.concatenate([numbers[0][runs.places], numbers[1][runs.places]])
    cells = np.concatenate([runs.cells, runs.cells])
    counts = np.concatenate([first, runs.counts - first])
    held = counts > 0
    order = np.argsort(places[held], kind="stable")
    return Dealt(places[held][order], cells[held][order], counts[held][order])
