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

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..exact.balls import up
from ..exact.exact_ratios import Integers
from ..tables.aggregates.count_tree import CountTree
from ..tables.aggregates.tree_noise import half_widths
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
    step, slack = float(numbers["step"]), float(numbers.get("slack", 0))
    # a leaf of one exact point is that point; others are crossed where a straight line would be
    inside = (tree.points - 1) * step + 2 * slack
    parts = _crossing(below, first, target) + _crossing(below, last, target)
    middle = (
        float(numbers["low"]) - slack + tree.points * step * (first + last) / 2 + inside * parts / 2
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
    lower, upper = _leaf_ends(
        tree, numbers["low"], numbers["high"], numbers["step"], numbers.get("slack", Fraction(0))
    )
    return lower[np.minimum(first, last)], upper[np.maximum(first, last)]


@lru_cache(maxsize=64)
def _leaf_ends(
    tree: CountTree, low: Fraction, high: Fraction, step: Fraction, slack: Fraction
) -> tuple[Doubles, Doubles]:
    """Return where every leaf begins and ends, rounded outward. Cached: all columns and levels
    share the ends, and the exact arithmetic is slow.
    """
    ends = [low + step * leaf * tree.points for leaf in range(tree.leaves + 1)]
    return np.array([-up(-max(low, end - slack)) for end in ends[:-1]]), np.array(
        [up(min(high, end - step + slack)) for end in ends[1:]]
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
