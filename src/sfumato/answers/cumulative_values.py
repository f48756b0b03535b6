"""Compute cumulative counts from the noisy measurements of cells: values, and intervals of each.

*Value*     The prefixes of the least-squares cells: unbiased, and possibly falling.
*Interval*  The noise of a prefix is a sum of known weights and laws (`prefix_noise`).
*Doubles*   Sums are of doubles; a half-width is widened by more than they can err:
            2^−36 of the sum of the sizes of what is added.
*Proof*     docs/proofs/linear-queries.md
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..exact.exact_ratios import Integers
from ..mechanisms.linear.axis_strategies import AxisStrategy
from ..mechanisms.linear.linear_queries import rising as never_falling
from ..noise.geometric import Geometric
from ..noise.rounded_normal import RoundedNormal
from ..tables.aggregates.prefix_noise import largest_weight, prefix_bounds, restore_strategy
from .answer_records import Column, Noisy

Doubles = NDArray[np.float64]
_ERROR = 2.0**-36


def strategy_of(column: Column) -> AxisStrategy:
    """Return the strategy that measured a column's cells."""
    return restore_strategy(len(column.edges) - 1, column.numbers)


def values(column: Column, piece: Noisy, rows: slice) -> Doubles:
    """Compute the cumulative counts of each group."""
    return np.cumsum(_cells(column, piece.values[rows]), axis=1) * float(piece.step)


def interval(
    column: Column, piece: Noisy, missing: Fraction, rows: slice
) -> tuple[Doubles, Doubles]:
    """Compute interval ends; each interval misses with a chance of at most `missing`."""
    assert isinstance(piece.law, Geometric | RoundedNormal)
    step, measured, strategy = float(piece.step), piece.values[rows], strategy_of(column)
    halves = prefix_bounds(strategy, piece.law, missing) * step
    sizes = np.abs(measured.astype(np.float64)).sum(axis=1, keepdims=True)
    halves = halves + sizes * (largest_weight(strategy) * step * _ERROR)
    middle = values(column, piece, rows)
    return middle - halves, middle + halves


def rising(cumulative: Doubles) -> Doubles:
    """Return the nearest counts that never fall and are not below 0, for each group."""
    return np.array([never_falling(row) for row in cumulative]).reshape(cumulative.shape)


def _cells(column: Column, measured: Integers) -> Doubles:
    return strategy_of(column).solve(measured.astype(np.float64))
