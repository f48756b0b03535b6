"""Compute quantiles from a noisy tree of counts: values, and intervals at any level.

*Below*     How much weight lies below a leaf is a sum of nodes; W_≤z − q·W is one, too, with noise
            of a law that is known.
*Value*     The middle between the first leaf at or below which a part q of the weight seems to lie
            and the last one below which not more than that does. Both grow with q, so a larger q
            never has a smaller value.
*Interval*  At a quantile z, W_≤z ≥ q·W and W_<z ≤ q·W. With probability c the noise there stays
            within h, on the side that matters for each: then the first leaf with W_≤ − q·W ≥ −h,
            noise and all, is not above z, and the last one with W_< − q·W ≤ h is not below it. One
            fixed leaf decides, so no union over leaves is paid for.
*Doubles*   Sums are of doubles; h is widened by more than they can err.
*Proof*     docs/proofs/percentiles.md
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..exact.balls import up
from ..exact.exact_ratios import Integers
from ..noise.law import SummableLaw
from ..noise.weighted_sums import Spread, sum_bound
from ..tables.aggregates.count_tree import CountTree
from .answer_records import Column, Noisy

Doubles = NDArray[np.float64]
_ERROR = 2.0**-40


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
    width = numbers["step"] * tree.points
    middle = (
        float(numbers["low"])
        + float(width) * (first + last) / 2
        + float((width - numbers["step"]) / 2)
    )
    low, high = float(numbers["low"]), float(numbers["high"])
    return np.where(total > 0, np.clip(middle, low, high), (low + high) / 2)


def interval(column: Column, piece: Noisy, level: Fraction, rows: slice) -> tuple[Doubles, Doubles]:
    """Compute interval ends for each group; each interval holds with probability `level`."""
    tree, numbers = tree_of(column), column.numbers
    below, total = _weight_below(piece.values[rows], tree)
    size = np.abs(piece.values[rows].astype(np.float64)).sum(axis=1)
    half = _noise_half_width(piece.law, tree, numbers["q"], 1 - level) + size * _ERROR
    target = float(numbers["q"]) * total
    first, last = (
        _first_true(below[:, 1:] >= (target - half)[:, None]),
        _last_true(below[:, :-1] <= (target + half)[:, None]),
    )
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
    """Return the noisy weight below each leaf and below the last end, and the total."""
    counts = cells.astype(np.float64)
    below = np.zeros((len(counts), tree.leaves + 1))
    leaves = np.arange(tree.leaves)
    starts = tree.starts
    for level in range(1, tree.levels + 1):
        nodes = counts[:, starts[level - 1] : starts[level]].reshape(
            len(counts), -1, tree.branching
        )
        before = (np.cumsum(nodes, axis=2) - nodes).reshape(len(counts), -1)
        below[:, :-1] += before[:, leaves // tree.branching ** (tree.levels - level)]
    total = counts[:, : tree.branching].sum(axis=1)
    below[:, -1] = total
    return below, total


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


@lru_cache(maxsize=1024)
def _noise_half_width(law: Spread, tree: CountTree, q: Fraction, missing: Fraction) -> float:
    """Bound the noise of W_≤z − q·W at any leaf, but for a probability of `missing`."""
    weights = tree.added(q)
    if isinstance(law, SummableLaw):
        return law.linear_error(weights, missing)
    return up(
        sum_bound(
            (
                (law, max(q, 1 - q), tree.branching),
                (law, Fraction(1), len(weights) - tree.branching),
            ),
            missing,
        )
    )
