"""Quantiles out of a noisy tree of counts: values, and intervals at any level.

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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exact.balls import up
from ..mechanisms.shared.noise_moments import linear_error
from ..tables.plan.count_tree import Tree
from .answer_records import Column, Noisy, Spread
from .noise_sums import ALIKE, within

Doubles = NDArray[np.float64]
_ERROR = 2.0**-40


def tree_of(column: Column) -> Tree:
    """The tree that a column is read from."""
    leaves, branching, levels, shift = (
        int(column.numbers[name]) for name in ("leaves", "branching", "levels", "shift")
    )
    return Tree(leaves, branching, levels, shift)


def values(column: Column, piece: Noisy, rows: slice) -> Doubles:
    """One for each of these groups; the middle of the bounds where no weight is seen."""
    tree, numbers = tree_of(column), column.numbers
    below, total = _below(piece.values[rows], tree)
    wanted = float(numbers["q"]) * total
    first, last = _first(below[:, 1:] >= wanted[:, None]), _last(below[:, :-1] <= wanted[:, None])
    width = numbers["step"] * tree.points
    middle = (
        float(numbers["low"])
        + float(width) * (first + last) / 2
        + float((width - numbers["step"]) / 2)
    )
    low, high = float(numbers["low"]), float(numbers["high"])
    return np.where(total > 0, np.clip(middle, low, high), (low + high) / 2)


def interval(column: Column, piece: Noisy, level: Fraction, rows: slice) -> tuple[Doubles, Doubles]:
    """The ends for each of these groups, each of which holds its quantile with this probability."""
    tree, numbers = tree_of(column), column.numbers
    below, total = _below(piece.values[rows], tree)
    size = np.abs(piece.values[rows].astype(np.float64)).sum(axis=1)
    half = _half(piece.law, tree, numbers["q"], 1 - level) + size * _ERROR
    wanted = float(numbers["q"]) * total
    first, last = (
        _first(below[:, 1:] >= (wanted - half)[:, None]),
        _last(below[:, :-1] <= (wanted + half)[:, None]),
    )
    lower, upper = _ends(
        tree, numbers["low"], numbers["high"], numbers["step"], numbers.get("slack", Fraction(0))
    )
    return lower[np.minimum(first, last)], upper[np.maximum(first, last)]


@lru_cache(maxsize=64)
def _ends(
    tree: Tree, low: Fraction, high: Fraction, step: Fraction, slack: Fraction
) -> tuple[Doubles, Doubles]:
    """Where every leaf begins and ends, rounded outward. The same for all columns and levels, and
    exact, which takes a while.
    """
    ends = [low + step * leaf * tree.points for leaf in range(tree.leaves + 1)]
    return np.array([-up(-max(low, end - slack)) for end in ends[:-1]]), np.array(
        [up(min(high, end - step + slack)) for end in ends[1:]]
    )


def _below(cells: NDArray[Any], tree: Tree) -> tuple[Doubles, Doubles]:
    """What lies below each leaf, and below the end of all; and the total."""
    counts = cells.astype(np.float64)
    found = np.zeros((len(counts), tree.leaves + 1))
    leaves = np.arange(tree.leaves)
    starts = tree.starts
    for level in range(1, tree.levels + 1):
        nodes = counts[:, starts[level - 1] : starts[level]].reshape(
            len(counts), -1, tree.branching
        )
        before = (np.cumsum(nodes, axis=2) - nodes).reshape(len(counts), -1)
        found[:, :-1] += before[:, leaves // tree.branching ** (tree.levels - level)]
    total = counts[:, : tree.branching].sum(axis=1)
    found[:, -1] = total
    return found, total


def _first(holds: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The first leaf for which it holds; the last one of all where there is none."""
    found: NDArray[np.int64] = np.where(holds.any(axis=1), holds.argmax(axis=1), holds.shape[1] - 1)
    return found


def _last(holds: NDArray[np.bool_]) -> NDArray[np.int64]:
    found: NDArray[np.int64] = np.where(
        holds.any(axis=1), holds.shape[1] - 1 - holds[:, ::-1].argmax(axis=1), 0
    )
    return found


@lru_cache(maxsize=1024)
def _half(law: Spread, tree: Tree, q: Fraction, missing: Fraction) -> float:
    """What the noise of W_≤z − q·W stays within but for this chance, whatever the leaf."""
    weights = tree.added(q)
    if type(law) in ALIKE:
        return linear_error(ALIKE[type(law)](law), weights, missing)
    return up(
        within(
            (
                (law, max(q, 1 - q), tree.branching),
                (law, Fraction(1), len(weights) - tree.branching),
            ),
            missing,
        )
    )
