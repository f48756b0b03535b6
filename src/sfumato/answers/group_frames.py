"""Compute columns across released groups: sums, means and neighbours over ranges of groups.

*Frame*     For each row of a column, a range in an order of the released groups. All of SQL's
            windows, and the aggregates of an outer SELECT, are such ranges.
*Missing*   A group without a value is left out, as in SQL; an empty range has no value.
*Stored*    A frame keeps the order and the ranges, not the values that they follow from, so a
            stored answer computes the same column again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """Ranges of released groups: `order` lists the groups; row i sees those from `start[i]` up to
    `end[i]`, exclusive.

    `is_chosen` is true if noisy values decided which groups a range has. `ranks` are the numbers of
    a rank, and `at` the group that each rank belongs to.
    """

    order: Places
    start: Places
    end: Places
    is_chosen: bool = False
    ranks: Places | None = None
    at: Places | None = None

    def __post_init__(self) -> None:
        groups = len(self.order)
        lists = [self.start, self.end, *(x for x in (self.ranks, self.at) if x is not None)]
        if (
            any(len(part) != len(self.start) for part in lists)
            or not np.array_equal(np.sort(self.order), np.arange(groups))
            or ((self.start < 0) | (self.start > self.end) | (self.end > groups)).any()
            or (self.ranks is None) != (self.at is None)
            or (self.at is not None and ((self.at < 0) | (self.at >= groups)).any())
        ):
            raise ValueError(groups)

    @classmethod
    def single(cls, at: Places, groups: int) -> Frames:
        """Return frames of one group each."""
        return cls(np.arange(groups), at, at + 1)

    @property
    def sizes(self) -> Places:
        return self.end - self.start

    def rows(self, at: Places) -> Frames:
        """Return the frames of the rows at these places."""
        ranks, groups = (None if x is None else x[at] for x in (self.ranks, self.at))
        return Frames(self.order, self.start[at], self.end[at], self.is_chosen, ranks, groups)


def sums_over(values: Doubles, frames: Frames) -> Doubles:
    """Add the values of each range; NaN where a range has none."""
    counts = counts_over(values, frames)
    total = _between(np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf), frames)
    return np.where(counts > 0, total, np.nan)


def counts_over(values: Doubles | None, frames: Frames) -> Doubles:
    """Count the values of each range; without values, its groups."""
    if values is None:
        return frames.sizes.astype(np.float64)
    return _between((~np.isnan(values)).astype(np.float64), frames)


def means_over(values: Doubles, frames: Frames) -> Doubles:
    """Return the mean of each range."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return sums_over(values, frames) / counts_over(values, frames)


def picked(values: Doubles, frames: Frames) -> Doubles:
    """Return the first value of each range."""
    if not len(frames.order):
        return np.full(len(frames.start), np.nan)
    first = values[frames.order[np.minimum(frames.start, len(frames.order) - 1)]]
    return np.where(frames.sizes > 0, first, np.nan)


def extremes_over(
    choose: Callable[[Doubles], np.float64],
) -> Callable[[Doubles, Frames], Doubles]:
    """Lift the least or the largest of several numbers to ranges."""

    def extremes(values: Doubles, frames: Frames) -> Doubles:
        ordered = values[frames.order]
        results: dict[tuple[int, int], float] = {}
        for start, end in zip(frames.start.tolist(), frames.end.tolist(), strict=True):
            if (start, end) not in results:
                part = ordered[start:end]
                part = part[~np.isnan(part)]
                results[start, end] = float(choose(part)) if part.size else np.nan
        pairs = zip(frames.start.tolist(), frames.end.tolist(), strict=True)
        return np.array([results[pair] for pair in pairs], dtype=np.float64)

    return extremes


def ranks_of(_: Doubles | None, frames: Frames) -> Doubles:
    """Return the ranks, which were counted when the frames were made."""
    assert frames.ranks is not None
    return frames.ranks.astype(np.float64)


def _between(values: Doubles, frames: Frames) -> Doubles:
    """Add the values of each range, by differences of running sums."""
    finite = np.isfinite(values)
    running = np.concatenate([[0.0], np.cumsum(np.where(finite, values, 0.0)[frames.order])])
    total = np.asarray(running[frames.end] - running[frames.start])
    if finite.all():
        return total
    for infinite in (np.inf, -np.inf):
        marks = np.concatenate([[0], np.cumsum((values == infinite)[frames.order])])
        total = np.where(marks[frames.end] > marks[frames.start], infinite, total)
    return total


FRAME_OPERATIONS: dict[str, Callable[..., Doubles]] = {
    "sum_over": sums_over,
    "mean_over": means_over,
    "count_over": counts_over,
    "min_over": extremes_over(np.min),
    "max_over": extremes_over(np.max),
    "pick": picked,
    "row_number": ranks_of,
    "rank": ranks_of,
    "dense_rank": ranks_of,
    "ntile": ranks_of,
}
"""Every operation across groups, by name: how it acts on the values of its ranges."""

RANKS = ("row_number", "rank", "dense_rank", "ntile")
