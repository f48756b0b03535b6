"""From noisy tables to tables that agree: no negative count, one total, equal sums by each column.

*Sums*     The counts of a column are the average, by precision, of its own table and of the sums of
           all tables that contain it; then the nearest counts without negative ones.
*Tables*   Each table is shifted to these sums and made non-negative, in turns; then scaled to them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .choose_tables import Pair
from .merge_cells import Doubles, nearest_with_sum

_TURNS, _SCALINGS, _LEAST = 10, 5, 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class NoisyTable:
    """Noisy counts with the variance of each."""

    counts: Doubles
    variance: float


@dataclass(frozen=True, slots=True, eq=False)
class FittedTables:
    """Tables that agree: one of each column, and those of several columns that were measured."""

    total: float
    columns: tuple[Doubles, ...]
    tables: Mapping[Pair, Doubles]

    def independent(self, pair: Pair) -> Doubles:
        """Return the table of columns as if they were independent."""
        first, second = pair
        return np.outer(self.columns[first], self.columns[second]) / self.total


def fit_tables(
    total: float, columns: Sequence[NoisyTable], tables: Mapping[Pair, NoisyTable]
) -> FittedTables:
    """Return tables near the noisy ones, which agree."""
    sums = tuple(
        nearest_with_sum(_average_sums(i, table, tables), total) for i, table in enumerate(columns)
    )
    return FittedTables(
        total, sums, {pair: _fit(pair, table.counts, sums, total) for pair, table in tables.items()}
    )


def _average_sums(column: int, table: NoisyTable, tables: Mapping[Pair, NoisyTable]) -> Doubles:
    weighted, weight = table.counts / table.variance, 1 / table.variance
    for pair, noisy in tables.items():
        if column in pair:
            axis = pair.index(column)
            beyond = tuple(i for i in range(len(pair)) if i != axis)
            cells = math.prod(noisy.counts.shape[i] for i in beyond)
            precision = 1 / (noisy.variance * cells)
            weighted = weighted + precision * noisy.counts.sum(axis=beyond)
            weight += precision
    return np.asarray(weighted / weight)


def _fit(pair: Pair, noisy: Doubles, sums: Sequence[Doubles], total: float) -> Doubles:
    table = noisy.copy()
    axes = [tuple(i for i in range(table.ndim) if i != axis) for axis in range(table.ndim)]
    for _ in range(_TURNS):
        for axis, beyond in enumerate(axes):
            gap = sums[pair[axis]] - table.sum(axis=beyond)
            table += np.expand_dims(gap / (table.size / len(gap)), beyond)
        table = nearest_with_sum(table, total)
    for _ in range(_SCALINGS):
        for axis, beyond in enumerate(axes):
            ratio = sums[pair[axis]] / np.maximum(table.sum(axis=beyond), _LEAST)
            table = table * np.expand_dims(ratio, beyond)
    fitted: NDArray[np.float64] = table * (total / max(float(table.sum()), _LEAST))
    return fitted
