"""The strategies that measure the cells between public edges for their cumulative counts, and the
noise of what is read from them.

*Strategy*  A tree with weighted levels, for Gaussian noise also the square root of the prefixes;
            for few cells the cells themselves. Few whole numbers describe each, so that a stored
            answer keeps them.
*Error*     That of each prefix, from the weights of the draws in it.
*Proof*     docs/proofs/linear-queries.md
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...exact.exact_ratios import Integers
from ...mechanisms.linear.answer_errors import answer_error, answer_errors
from ...mechanisms.linear.axis_strategies import (
    AxisStrategy,
    CellStrategy,
    RootStrategy,
    TreeStrategy,
)
from ...mechanisms.linear.choose_strategy import structured_strategy
from ...mechanisms.linear.query_blocks import PrefixBlock
from ...mechanisms.shared.better_law import Norm
from ...noise.geometric import Geometric
from ...noise.rounded_normal import RoundedNormal
from ...noise.weighted_sums import Spread

Numbers = Mapping[str, Fraction]
Doubles = NDArray[np.float64]

_ERROR = 2.0**-36
_FEW = 24  # prefixes whose bounds are computed one by one, and are less wide


@dataclass(frozen=True, slots=True)
class PrefixStrategies:
    """The strategies of the prefixes of so many cells, for noise of each norm."""

    cells: int

    def of(self, norm: Norm) -> AxisStrategy:
        """Return the strategy for noise of a norm."""
        return _prefix_strategy(self.cells, norm)

    @property
    def measured(self) -> int:
        """The most noisy numbers of a group."""
        return max(self.of("L1").measured, self.of("L2").measured)

    def numbers(self, norm: Norm) -> Numbers:
        """Return the public numbers that restore the strategy from a stored answer."""
        strategy = self.of(norm)
        if isinstance(strategy, TreeStrategy):
            weights = {f"weight_{i}": Fraction(w) for i, w in enumerate(strategy.weights)}
            return {"branching": Fraction(strategy.branching), **weights}
        return {"root": Fraction(1)} if isinstance(strategy, RootStrategy) else {}


def restore_strategy(cells: int, numbers: Numbers) -> AxisStrategy:
    """Return the strategy that a column's numbers describe."""
    weights = [int(v) for name, v in numbers.items() if name.startswith("weight_")]
    return _restored(cells, int(numbers.get("branching", 0)), tuple(weights), "root" in numbers)


@lru_cache(maxsize=64)
def _restored(cells: int, branching: int, weights: tuple[int, ...], is_root: bool) -> AxisStrategy:
    if branching:
        return TreeStrategy(cells, branching, weights)
    return RootStrategy(cells) if is_root else CellStrategy(cells)


@lru_cache(maxsize=64)
def _prefix_strategy(cells: int, norm: Norm) -> AxisStrategy:
    return structured_strategy(((1.0, PrefixBlock(cells)),), norm)


def mean_square(strategy: AxisStrategy) -> float:
    """Return the mean variance of all prefixes, in units of that of one draw."""
    block = PrefixBlock(strategy.cells)
    return strategy.total(block) / block.queries


@lru_cache(maxsize=64)
def prefix_bounds(
    strategy: AxisStrategy, law: Geometric | RoundedNormal, missing: Fraction
) -> NDArray[np.float64]:
    """Return a bound for each prefix that its noise exceeds with at most this probability."""
    parts = (strategy.spread(part) for part in PrefixBlock(strategy.cells).parts())
    if strategy.cells <= _FEW:
        return np.array([answer_error(law, row, missing) for part in parts for row in part])
    return np.concatenate([answer_errors(law, part, missing) for part in parts])


@lru_cache(maxsize=64)
def largest_weight(strategy: AxisStrategy) -> float:
    """Return the largest weight of a draw in a prefix."""
    parts = PrefixBlock(strategy.cells).parts()
    return max(float(np.abs(strategy.spread(part)).max()) for part in parts)


def read_prefixes(strategy: AxisStrategy, measured: Integers, step: Fraction) -> Doubles:
    """Return the cumulative counts of each group: the prefixes of the least-squares cells. They are
    unbiased, and may fall.
    """
    cells = strategy.solve(measured.astype(np.float64))
    return np.asarray(np.cumsum(cells, axis=1) * float(step))


def prefix_interval(
    strategy: AxisStrategy, measured: Integers, step: Fraction, law: Spread, missing: Fraction
) -> tuple[Doubles, Doubles]:
    """Return interval ends of the cumulative counts; each interval misses with a chance of at most
    `missing`. They are widened by more than the sums of doubles can err: 2^−36 of the sum of the
    sizes of what is added.
    """
    assert isinstance(law, Geometric | RoundedNormal)
    halves = prefix_bounds(strategy, law, missing) * float(step)
    sizes = np.abs(measured.astype(np.float64)).sum(axis=1, keepdims=True)
    halves = halves + sizes * (largest_weight(strategy) * float(step) * _ERROR)
    middle = read_prefixes(strategy, measured, step)
    return middle - halves, middle + halves
