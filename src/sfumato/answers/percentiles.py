"""Compute quantiles from a noisy tree of counts: values, and intervals at any level.

*Below*     How much weight lies below a leaf is estimated by least squares from all levels of the
            tree; so is W_≤z − q·W, whose noise is a sum of known weights and laws (`tree_noise`).
*Value*     The middle between the first point at or below which a part q of the weight seems to lie
            and the last one below which not more than that does. Inside a leaf of several points
            weight counts as spread evenly. Both grow with q, so a larger q never has a smaller
            value.
*Interval*  At a quantile z, W_≤z ≥ q·W and W_<z ≤ q·W. With probability c the noise there stays
            within h, on the side that matters for each: then the first leaf with W_≤ − q·W ≥ −h,
            noise and all, is not above z, and the last one with W_< − q·W ≤ h is not below it. One
            fixed leaf decides, so no union over leaves is paid for, and h may differ by leaf.
*Doubles*   Sums are of doubles; h is widened by more than they can err.
*Proof*     docs/proofs/percentiles.md
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..exact.balls import up
from ..exact.exact_ratios import Integers
from ..tables.aggregates.count_tree import CountTree
from ..tables.aggregates.tree_noise import half_widths
from ..tables.expr.grids import Grid
from .answer_records import Column, Noisy

Doubles = NDArray[np.float64]
_ERROR = 2.0**-36


def tree_of(column: Column) -> CountTree:
    """Return the tree of counts that a column is computed from."""
    leaves, branching, levels, shift = (
        int(column.numbers[name]) for name in ("leaves", "branching", "levels", "shift")
    )
    return CountTree(leaves, branching, levels, shift)


def values(column: Column, piece: Noisy, rows: slice) -> Doubles:
    """Compute a quantile for each group; the middle of the bounds if the noisy total is ≤ 0."""
    tree, numbers = tree_of(column), column.numbers
    below, total = _weight_below(piece.values[rows], tree)
    target = float(numbers["q"]) * total
    first, last = (
        _first_true(below[:, 1:] >= target[:, None]),
        _last_true(below[:, :-1] <= target[:, None]),
    )
    # a leaf of one exact point is that point; others are crossed where a straight line would be
    starts, ends = _leaf_ends(tree, LeafGrid.of(numbers))
    middle = (
        sum(
            starts[leaf] + (ends[leaf] - starts[leaf]) * _crossing(below, leaf, target)
            for leaf in (first, last)
        )
        / 2
    )
    low, high = float(numbers["low"]), float(numbers["high"])
    return np.where(total > 0, np.clip(middle, low, high), (low + high) / 2)


def _crossing(below: Doubles, leaf: NDArray[np.int64], target: Doubles) -> Doubles:
    """Return the part of a leaf at whose end the target lies, if the weight is spread evenly."""
    rows = np.arange(len(leaf))
    start, weight = below[rows, leaf], below[rows, leaf + 1] - below[rows, leaf]
    parts: Doubles = np.where(weight > 0, (target - start) / np.where(weight > 0, weight, 1.0), 0.5)
    return np.clip(parts, 0.0, 1.0)


def interval(column: Column, piece: Noisy, level: Fraction, rows: slice) -> tuple[Doubles, Doubles]:
    """Compute interval ends for each group; each interval holds with probability `level`."""
    tree, numbers = tree_of(column), column.numbers
    below, total = _weight_below(piece.values[rows], tree)
    size = np.abs(piece.values[rows].astype(np.float64)).sum(axis=1)
    widths = half_widths(piece.law, tree, numbers["q"], 1 - level)
    excess = below - (float(numbers["q"]) * total)[:, None]
    margin = (size * _ERROR)[:, None]
    first = _first_true(widths.within(excess + margin)[:, 1:])
    last = _last_true(widths.within(margin - excess)[:, :-1])
    lower, upper = _leaf_ends(tree, LeafGrid.of(numbers))
    return lower[np.minimum(first, last)], upper[np.maximum(first, last)]


@dataclass(frozen=True, slots=True)
class LeafGrid:
    """The grid whose marks the leaves of a tree count, and how far rounding to it moves a value."""

    low: Fraction
    high: Fraction
    step: Fraction
    slack: Fraction
    digits: int

    @classmethod
    def of(cls, numbers: Mapping[str, Fraction]) -> LeafGrid:
        """Return the grid that the numbers of a column state."""
        low, high, step = (numbers[name] for name in ("low", "high", "step"))
        slack = numbers.get("slack", Fraction(0))
        return cls(low, high, step, slack, int(numbers.get("digits", 0)))

    @property
    def grid(self) -> Grid:
        low, high = (int(end / self.step) for end in (self.low, self.high))
        return Grid(low, high, self.step, floating=True, digits=self.digits)


@lru_cache(maxsize=64)
def _leaf_ends(tree: CountTree, of: LeafGrid) -> tuple[Doubles, Doubles]:
    """Return where every leaf begins and ends, rounded outward. Cached: all columns and levels
    share the ends, and the exact arithmetic is slow.
    """
    grid = of.grid
    first = np.arange(tree.leaves, dtype=np.int64) * tree.points
    last = np.minimum(first + tree.points, grid.count_marks) - 1
    starts, ends = grid.at_marks(first)[1].tolist(), grid.at_marks(last)[2].tolist()
    return (
        np.array([-up(-max(of.low, start * of.step - of.slack)) for start in starts]),
        np.array([up(min(of.high, end * of.step + of.slack)) for end in ends]),
    )


def _weight_below(cells: Integers, tree: CountTree) -> tuple[Doubles, Doubles]:
    """Return the weight below each leaf and below the last end, and the total, by least squares
    from all levels.
    """
    counts, b = cells.astype(np.float64), tree.branching
    paths = np.zeros((len(counts), b**tree.levels))  # of each leaf, the sum of the nodes above it
    for first, last in pairwise(tree.starts):
        paths.reshape(len(counts), last - first, -1)[...] += counts[:, first:last, None]
    leaves, strength = paths.copy(), 1
    for level in range(1, tree.levels):
        stronger = strength + b**level
        blocks = leaves.reshape(len(counts), -1, b**level)
        means = paths.reshape(blocks.shape).mean(axis=2, keepdims=True)
        blocks += means * (1 / stronger - 1 / strength)
        strength = stronger
    below = np.zeros((len(counts), tree.leaves + 1))
    np.cumsum(leaves[:, : tree.leaves], axis=1, out=below[:, 1:])
    return below, leaves.sum(axis=1)


def _first_true(holds: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the first leaf that is True in each row; the last leaf if none is."""
    places: NDArray[np.int64] = np.where(
        holds.any(axis=1), holds.argmax(axis=1), holds.shape[1] - 1
    )
    return places


def _last_true(holds: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the last leaf that is True in each row; the first leaf if none is."""
    places: NDArray[np.int64] = np.where(
        holds.any(axis=1), holds.shape[1] - 1 - holds[:, ::-1].argmax(axis=1), 0
    )
    return places
