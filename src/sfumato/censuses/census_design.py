"""The public part of a census: places, cells, measured tables, variances, limits; and from noisy
tables to estimates and whole numbers. Nothing here sees data.

*Linear*   Each part of the marginals is a tree of its own (marginal_parts, tree_estimates): the
           estimates are the best linear unbiased ones, with exact variances, known before data are.
*Whole*    Totals first, then cells, from the top down (whole_tables).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..tables.declare.place_hierarchy import PlaceHierarchy
from ..tables.declare.public_keys import Key
from ..tables.plan.place_counts import TableKey
from .marginal_parts import (
    Subset,
    add_part,
    marginal_variance,
    part_variances,
    subsets,
    sum_marginal,
    take_part,
)
from .spine import Indices, N, Spine, Values
from .tree_estimates import TreeWeights
from .whole_tables import TotalLimits, whole_tables, whole_totals

Attribute = tuple[str, tuple[Key, ...]]
"""The name of an attribute and its public keys."""


@dataclass(frozen=True, eq=False)
class CensusDesign:
    """Where and what is counted, with which noise, and what is public about the counts."""

    geography: PlaceHierarchy
    spine: Spine
    attributes: tuple[Attribute, ...]
    variances: Mapping[TableKey, float]  # of each number of a measured table
    limits: TotalLimits
    possible: NDArray[np.bool_]  # of each cell of all attributes
    finest: float  # the least σ of a measured table, in steps of its integers

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of keys of each attribute."""
        return tuple(len(keys) for _, keys in self.attributes)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return tuple(name for name, _ in self.attributes)

    @cached_property
    def weights(self) -> dict[Subset, TreeWeights]:
        """How the estimates of each part weigh measurements."""
        return {part: self._weights_of(part) for part in subsets(len(self.shape))}

    def _weights_of(self, part: Subset) -> TreeWeights:
        measured = [
            np.full(self.spine.sizes[level], _combined(self._measured(level, part)))
            for level in range(self.spine.depth)
        ]
        if not part:
            for level, variance in enumerate(measured):
                variance[self.fixed(level)] = 0.0
        return TreeWeights.of(self.spine, measured)

    def fixed(self, level: int) -> Indices:
        """Return the places of a level whose total is public."""
        return np.flatnonzero(self.limits.least[level] == self.limits.most[level])

    def variance(self, level: int, table: Subset) -> Values:
        """Return the variance of the linear estimate of each cell of a marginal, by place."""
        parts = {part: weights.variances[level] for part, weights in self.weights.items()}
        return marginal_variance(self.shape, table, parts)

    def variance_of_area(self, weights: Sequence[Values], table: Subset) -> float:
        """Return the variance of the estimated cells of a marginal, in a weighted sum of places."""
        parts = {
            part: np.array([tree.variance_of_sum(weights)]) for part, tree in self.weights.items()
        }
        return float(marginal_variance(self.shape, table, parts)[0])

    def estimate(self, noisy: Mapping[TableKey, NDArray[np.generic]]) -> list[Values]:
        """Estimate the tables of all cells, level by level, from the noisy tables."""
        cells = prod(self.shape)
        estimates = [np.zeros((size, cells)) for size in self.spine.sizes]
        for part, tree in self.weights.items():
            measured = [self._measure(level, part, noisy) for level in range(self.spine.depth)]
            for level, values in enumerate(tree.estimate(measured)):
                add_part(estimates[level], values, self.shape, part)
        return estimates

    def _measure(
        self, level: int, part: Subset, noisy: Mapping[TableKey, NDArray[np.generic]]
    ) -> Values:
        """Combine what all tables of a level say about a part, weighted by their variances."""
        variances = self._measured(level, part)
        total = np.zeros((self.spine.sizes[level], prod(self.shape[i] for i in part)))
        combined = _combined(variances)
        for table, variance in variances.items():
            values = np.asarray(noisy[level, table], dtype=np.float64)
            total += take_part(values, self.shape, table, part) * (combined / variance)
        if not part:
            at = self.fixed(level)
            total[at, 0] = self.limits.least[level][at]
        return total

    def _measured(self, level: int, part: Subset) -> dict[Subset, float]:
        tables = {table: v for (at, table), v in self.variances.items() if at == level}
        return part_variances(self.shape, part, tables)

    def make_whole(self, estimates: Sequence[Values]) -> Indices:
        """Round estimates to whole, non-negative tables that add up; return those of the smallest
        places. The tables of all others are their sums.
        """
        totals = whole_totals(
            self.spine,
            [values.sum(axis=1) for values in estimates],
            [self.variance(level, ()) for level in range(self.spine.depth)],
            self.limits,
        )
        return whole_tables(self.spine, estimates, totals, np.flatnonzero(self.possible))

    def sum_table(self, cells: NDArray[N], table: Subset) -> NDArray[N]:
        """Sum tables of all cells to a marginal."""
        return sum_marginal(cells, self.shape, table)


def _combined(variances: Mapping[Subset, float]) -> float:
    """Return the variance of independent measurements together; infinite if there is none."""
    precision = sum(1 / variance for variance in variances.values())
    return 1 / precision if precision else np.inf
