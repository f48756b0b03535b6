"""Split marginal tables into parts that can be estimated one by one: means and deviations.

*Cells*     The attributes span a table of all their combinations. A marginal is the sum over the
            attributes outside a set B.
*Parts*     For every set A of attributes, the part s_A is the A-marginal less what smaller
            marginals explain: it sums to 0 along each attribute of A. A marginal is the sum
            x_B = Σ_{A⊆B} s_A/N(B∖A), N the number of cells of a set.
*Measured*  A noisy marginal B of variance v for each cell measures s_A for every A ⊆ B with
            covariance v·N(B∖A)·P_A, P_A the projection onto deviations; different parts of it have
            uncorrelated noise. So each part is a problem of its own, with one number as variance.
*Proof*     docs/proofs/census.md
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from math import prod

import numpy as np
from numpy.typing import NDArray

from .spine import N, Values

Subset = tuple[int, ...]
"""A set of attributes, by their places in ascending order."""


def subsets(count: int) -> Iterator[Subset]:
    """Yield all sets of attributes, small ones first."""
    for size in range(count + 1):
        yield from itertools.combinations(range(count), size)


def cells_of(shape: tuple[int, ...], subset: Subset) -> int:
    """Return N: the number of cells of the marginal over a set of attributes."""
    return prod(shape[i] for i in subset)


def rest(table: Subset, part: Subset) -> Subset:
    """Return the attributes of a marginal that are not in a part."""
    return tuple(i for i in table if i not in part)


def part_variances(
    shape: tuple[int, ...], part: Subset, measured: Mapping[Subset, float]
) -> dict[Subset, float]:
    """Return the variance with which each measured marginal (with its variance per cell) measures
    a part.
    """
    return {
        table: variance * cells_of(shape, rest(table, part))
        for table, variance in measured.items()
        if set(part) <= set(table)
    }


def take_part(values: Values, shape: tuple[int, ...], table: Subset, part: Subset) -> Values:
    """Compute a part of marginals: sum over the attributes outside the part, then subtract the mean
    along each attribute of the part. `values` are places × cells; so is the result.
    """
    cube = values.reshape((len(values), *(shape[i] for i in table)))
    for i in reversed(rest(table, part)):
        cube = cube.sum(axis=1 + table.index(i), keepdims=True)
    for i in part:
        cube = cube - cube.mean(axis=1 + table.index(i), keepdims=True)
    return cube.reshape(len(values), cells_of(shape, part))


def add_part(cells: Values, values: Values, shape: tuple[int, ...], part: Subset) -> None:
    """Add a part to tables of all cells, in place: each cell gets an equal share."""
    every = tuple(range(len(shape)))
    wide = tuple(shape[i] if i in part else 1 for i in every)
    cube = cells.reshape((len(cells), *shape))
    cube += values.reshape((len(values), *wide)) / cells_of(shape, rest(every, part))


def sum_marginal(cells: NDArray[N], shape: tuple[int, ...], table: Subset) -> NDArray[N]:
    """Sum tables of all cells to a marginal: places × cells of the marginal."""
    axes = tuple(1 + i for i in range(len(shape)) if i not in table)
    cube = cells.reshape((len(cells), *shape)).sum(axis=axes)
    sums: NDArray[N] = cube.reshape(len(cells), cells_of(shape, table))
    return sums


def marginal_variance(
    shape: tuple[int, ...], table: Subset, variances: Mapping[Subset, Values]
) -> Values:
    """Return the variance of each cell of a marginal at each place, from those of the parts."""
    total: Values = sum(
        (
            variances[part]
            * float(prod(1 - 1 / shape[i] for i in part) / cells_of(shape, rest(table, part)) ** 2)
            for part in variances
            if set(part) <= set(table)
        ),
        np.zeros(1),
    )
    return total
