"""Strategies for the cells of one axis: integer matrices A whose noisy rows answer all queries.

*Measure*  A·x in whole numbers. The sensitivity is the largest length of a column, exactly.
*Solve*    The least-squares cells A⁺y; a query w has the answer w·A⁺y = w·x + Σ v·Z, with the
           weights v = (A⁺)ᵀw (`spread`). No unbiased linear estimate has less variance.
*Replace*  A replaced unit moves two columns. Where no two columns have a negative product, the
           squared move is at most twice a column's; a dense matrix compares all pairs.
*Proof*    docs/proofs/linear-queries.md
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from flint import fmpz_poly
from numpy.typing import NDArray

from ...guarantees import Relation
from ...noise.law import Integers
from ..prefix_sums import inverse_coefficients, root_coefficients
from .query_blocks import Doubles, PrefixBlock, QueryBlock, RangeBlock

SCALE_BITS = 20
"""Strategies of real numbers are scaled by 2^20 and rounded."""
_FINE = 200  # bits of `inverse_coefficients`
_NARROW = 1 << 62


@dataclass(frozen=True, eq=False, repr=False)
class AxisStrategy(ABC):
    """An integer matrix over the cells of one axis, and its least-squares inverse."""

    cells: int

    @property
    @abstractmethod
    def name(self) -> str:
        """The name in plans."""

    @property
    @abstractmethod
    def measured(self) -> int:
        """The number of rows of the matrix."""

    @property
    @abstractmethod
    def column_l1(self) -> int:
        """The largest sum of sizes in a column."""

    @property
    @abstractmethod
    def column_l2_squared(self) -> int:
        """The largest sum of squares in a column."""

    @property
    @abstractmethod
    def most(self) -> int:
        """The largest sum of sizes in a row: how much a measurement grows."""

    @abstractmethod
    def measure(self, counts: Integers) -> Integers:
        """Multiply the last axis by the matrix, exactly; the integers fit their type."""

    @abstractmethod
    def solve(self, measured: Doubles) -> Doubles:
        """Return the least-squares cells, along the last axis."""

    @abstractmethod
    def spread(self, queries: Doubles) -> Doubles:
        """Return the weights of the measurements in the answers of queries, one a row."""

    def spans(self, queries: Doubles) -> bool:
        """Tell whether the matrix determines the answers to queries, one a row."""
        return True

    @property
    def keeps_signs(self) -> bool:
        """Whether no two columns have a negative product."""
        return True

    def moved_l1(self, relation: Relation) -> int:
        """Return how far a unit moves the measurements in the L1 norm."""
        return self.column_l1 * (1 if relation == "add-remove" else 2)

    def moved_l2_squared(self, relation: Relation) -> int:
        """Return the square of how far a unit moves them in the L2 norm."""
        return self.column_l2_squared * (1 if relation == "add-remove" else 2)

    def total(self, block: QueryBlock) -> float:
        """Return the sum of the variances of a block, in units of that of one draw."""
        return block.total(self.spread)

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False, repr=False)
class CellStrategy(AxisStrategy):
    """The cells themselves."""

    name = "identity"
    column_l1 = column_l2_squared = most = 1

    @property
    def measured(self) -> int:
        return self.cells

    def measure(self, counts: Integers) -> Integers:
        return counts

    def solve(self, measured: Doubles) -> Doubles:
        return measured

    def spread(self, queries: Doubles) -> Doubles:
        return queries

    def total(self, block: QueryBlock) -> float:
        return block.energy(1)


@dataclass(frozen=True, eq=False, repr=False)
class TreeStrategy(AxisStrategy):
    """Blocks of 1, b, b², … cells, each level with a weight; empty cells at the end fill the tree.
    A level of weight 0 is not measured.
    """

    branching: int
    weights: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"tree of {self.branching}"

    @property
    def levels(self) -> int:
        """The number of levels, the cells and the total included."""
        return len(self.weights)

    @property
    def filled(self) -> int:
        """The number of cells with the empty ones at the end."""
        return int(self.branching ** (self.levels - 1))

    @property
    def measured(self) -> int:
        return sum(self.filled // self.branching**d for d, w in enumerate(self.weights) if w)

    @property
    def column_l1(self) -> int:
        return sum(self.weights)

    @property
    def column_l2_squared(self) -> int:
        return sum(w * w for w in self.weights)

    @property
    def most(self) -> int:
        return max(w * min(int(self.branching**d), self.cells) for d, w in enumerate(self.weights))

    @cached_property
    def eigenvalues(self) -> tuple[int, ...]:
        """Those of AᵀA, for the averages of each level less those of the next."""
        sums, values = 0, []
        for depth, weight in enumerate(self.weights):
            sums += weight * weight * self.branching**depth
            values.append(sums)
        return tuple(values)

    def moved_l1(self, relation: Relation) -> int:
        """A replaced row leaves the total as it is, or leaves the cells altogether."""
        if relation == "add-remove":
            return self.column_l1
        return max(2 * (self.column_l1 - self.weights[-1]), self.column_l1)

    def moved_l2_squared(self, relation: Relation) -> int:
        if relation == "add-remove":
            return self.column_l2_squared
        return max(2 * (self.column_l2_squared - self.weights[-1] ** 2), self.column_l2_squared)

    def measure(self, counts: Integers) -> Integers:
        return np.concatenate(self._blocks(self._fill(counts)), axis=-1)

    def solve(self, measured: Doubles) -> Doubles:
        sums, start = np.zeros((*measured.shape[:-1], self.filled)), 0
        for depth, weight in enumerate(self.weights):
            if weight:
                run = self.branching**depth
                level = measured[..., start : start + self.filled // run]
                sums += weight * np.repeat(level, run, axis=-1)
                start += level.shape[-1]
        return self._divide(sums)[..., : self.cells]

    def spread(self, queries: Doubles) -> Doubles:
        return np.concatenate(self._blocks(self._divide(self._fill(queries))), axis=-1)

    def total(self, block: QueryBlock) -> float:
        """By energies: Σ (E_ℓ − E_{ℓ+1})/λ_ℓ."""
        energies = tree_energies(block, self.branching, self.levels)
        return float(sum(energies / np.array(self.eigenvalues, dtype=np.float64)))

    def _fill(self, cells: NDArray[np.generic]) -> Integers:
        empty = np.zeros((*cells.shape[:-1], self.filled - self.cells), dtype=cells.dtype)
        return np.concatenate([cells, empty], axis=-1)  # Python integers stay what they are

    def _blocks(self, cells: Integers) -> list[Integers]:
        blocks = []
        for depth, weight in enumerate(self.weights):
            if depth:
                cells = cells.reshape(*cells.shape[:-1], -1, self.branching).sum(axis=-1)
            if weight:
                blocks.append(cells * weight)
        return blocks

    def _divide(self, cells: Doubles) -> Doubles:
        """Apply (AᵀA)⁻¹: each part of the cells divided by its eigenvalue."""
        solution: Doubles = np.zeros_like(cells)
        here = cells
        for depth, eigenvalue in enumerate(self.eigenvalues):
            last = depth + 1 == self.levels
            above = np.zeros_like(cells) if last else _average(cells, self.branching ** (depth + 1))
            solution += (here - above) / eigenvalue
            here = above
        return solution


@dataclass(frozen=True, eq=False, repr=False)
class RootStrategy(AxisStrategy):
    """The square root of the matrix of prefixes: a lower triangular Toeplitz matrix."""

    name = "square root"

    @property
    def measured(self) -> int:
        return self.cells

    @property
    def column_l1(self) -> int:
        return sum(self._series)

    @property
    def column_l2_squared(self) -> int:
        return sum(r * r for r in self._series)

    @property
    def most(self) -> int:
        return sum(self._series)

    def measure(self, counts: Integers) -> Integers:
        series = fmpz_poly(list(self._series))
        rows = counts.reshape(-1, self.cells)
        measured = np.empty(rows.shape, dtype=counts.dtype)
        for place, row in enumerate(rows):
            product = series * fmpz_poly([int(v) for v in row])
            measured[place] = [int(product[j]) for j in range(self.cells)]
        return measured.reshape(counts.shape)

    def solve(self, measured: Doubles) -> Doubles:
        return _convolve(measured, self._inverse)

    def spread(self, queries: Doubles) -> Doubles:
        return _convolve(queries[..., ::-1], self._inverse)[..., ::-1]

    def total(self, block: QueryBlock) -> float:
        if not isinstance(block, PrefixBlock | RangeBlock):
            return block.total(self.spread)
        prefixes = float(np.cumsum(self._prefix_series**2).sum())
        if isinstance(block, PrefixBlock):
            return prefixes
        together = np.cumsum(self._prefix_series)  # Σ of the prefixes' weights, turned round
        return float((self.cells + 1) * prefixes - (together**2).sum())

    @property
    def _series(self) -> tuple[int, ...]:
        return root_coefficients(self.cells, SCALE_BITS)

    @property
    def _prefix_series(self) -> Doubles:
        """The weights of the draws in the last prefix, turned round."""
        return _root_inverses(self.cells)[1]

    @property
    def _inverse(self) -> Doubles:
        return _root_inverses(self.cells)[0]


@dataclass(frozen=True, eq=False, repr=False)
class DenseStrategy(AxisStrategy):
    """A matrix that is written out, with an inverse that answers the queries it was made for."""

    kind: str
    matrix: NDArray[np.int64]
    inverse: Doubles

    @property
    def name(self) -> str:
        return self.kind

    @property
    def measured(self) -> int:
        return len(self.matrix)

    @cached_property
    def column_l1(self) -> int:
        return int(np.abs(self.matrix).sum(axis=0).max())

    @cached_property
    def column_l2_squared(self) -> int:
        return int((self.matrix**2).sum(axis=0).max())

    @cached_property
    def most(self) -> int:
        return int(np.abs(self.matrix).sum(axis=1).max())

    @cached_property
    def keeps_signs(self) -> bool:
        return bool((self._products >= 0).all())

    def moved_l2_squared(self, relation: Relation) -> int:
        """Compare all pairs of columns."""
        if relation == "add-remove":
            return self.column_l2_squared
        squares = self._products.diagonal()
        moves = squares[:, None] + squares[None, :] - 2 * self._products
        return max(int(moves.max()), self.column_l2_squared)

    def measure(self, counts: Integers) -> Integers:
        return np.asarray(counts @ self.matrix.T)

    def solve(self, measured: Doubles) -> Doubles:
        return np.asarray(measured @ self.inverse.T)

    def spread(self, queries: Doubles) -> Doubles:
        return np.asarray(queries @ self.inverse)

    def spans(self, queries: Doubles) -> bool:
        if self.kind == "optimised" and len(self.matrix) >= self.cells:
            return True  # its columns are independent
        away = self.spread(queries) @ self.matrix - queries
        return bool(np.abs(away).max() <= 1e-7 * max(1.0, float(np.abs(queries).max())))

    @cached_property
    def _products(self) -> NDArray[np.int64]:
        """AᵀA, exactly: entries below 2^21 in at most 2^17 rows."""
        assert np.abs(self.matrix).max() < 1 << 22
        assert len(self.matrix) <= 1 << 17
        return _exact_gram(self.matrix)


@dataclass(frozen=True, eq=False, repr=False)
class MergedStrategy(AxisStrategy):
    """A strategy over groups of cells that no query tells apart; a cell that no query counts is in
    group −1, and not measured. The cells of a group share its estimate evenly.
    """

    inner: AxisStrategy
    groups: NDArray[np.int64]

    @property
    def name(self) -> str:
        return f"{self.inner.name} of {self.inner.cells} groups of cells"

    @property
    def measured(self) -> int:
        return self.inner.measured

    @property
    def column_l1(self) -> int:
        return self.inner.column_l1

    @property
    def column_l2_squared(self) -> int:
        return self.inner.column_l2_squared

    @property
    def most(self) -> int:
        return self.inner.most * self.cells

    @property
    def keeps_signs(self) -> bool:
        return self.inner.keeps_signs

    def moved_l1(self, relation: Relation) -> int:
        return self.inner.moved_l1(relation)

    def moved_l2_squared(self, relation: Relation) -> int:
        return self.inner.moved_l2_squared(relation)

    def measure(self, counts: Integers) -> Integers:
        return self.inner.measure(np.asarray(counts @ self._members.astype(np.int64)))

    def solve(self, measured: Doubles) -> Doubles:
        shared = self.inner.solve(measured) / self._members.sum(axis=0)
        return np.asarray(shared @ self._members.T)

    def spread(self, queries: Doubles) -> Doubles:
        return self.inner.spread(self._merge(queries))

    def spans(self, queries: Doubles) -> bool:
        merged = self._merge(queries)
        away = float(np.abs(merged @ self._members.T - queries).max())
        return away <= 1e-7 * float(np.abs(queries).max()) and self.inner.spans(merged)

    def _merge(self, queries: Doubles) -> Doubles:
        return np.asarray(queries @ self._members / self._members.sum(axis=0))

    @property
    def _members(self) -> NDArray[np.bool_]:
        """Which cells are in which group."""
        return np.asarray(self.groups[:, None] == np.arange(self.inner.cells))


def tree_energies(block: QueryBlock, branching: int, levels: int) -> Doubles:
    """Return Σ|P_ℓ w|² over the queries, for each level of a tree."""
    sums = [block.energy(branching**depth) for depth in range(levels)]
    return np.asarray(np.maximum(np.array(sums) - np.array([*sums[1:], 0.0]), 0.0))


def measure_axes(
    strategies: Sequence[AxisStrategy], counts: Integers, largest: int | None = None
) -> Integers:
    """Multiply the last axes of counts by the matrices, exactly: int64, or Python integers where
    one might not fit. `largest` is a public limit of the counts, if there is one.
    """
    growth = math.prod(strategy.most for strategy in strategies)
    if largest is None:
        largest = max(abs(int(counts.max())), abs(int(counts.min()))) if counts.size else 0
    exact = counts if largest * growth < _NARROW else counts.astype(object)
    first = counts.ndim - len(strategies)
    for axis, strategy in enumerate(strategies, first):
        exact = np.moveaxis(strategy.measure(np.moveaxis(exact, axis, -1)), -1, axis)
    return exact


def solve_axes(strategies: Sequence[AxisStrategy], measured: Doubles) -> Doubles:
    """Return the least-squares cells of the last axes."""
    first = measured.ndim - len(strategies)
    for axis, strategy in enumerate(strategies, first):
        measured = np.moveaxis(strategy.solve(np.moveaxis(measured, axis, -1)), -1, axis)
    return measured


def spread_axes(strategies: Sequence[AxisStrategy], query: Doubles) -> Doubles:
    """Return the weights of the measurements in the answer of a query over all axes."""
    for axis, strategy in enumerate(strategies):
        moved = np.moveaxis(query, axis, -1)
        rows = strategy.spread(moved.reshape(-1, moved.shape[-1]))
        query = np.moveaxis(rows.reshape(*moved.shape[:-1], -1), -1, axis)
    return query


def moved_by_unit(strategies: Sequence[AxisStrategy], relation: Relation) -> tuple[int, int]:
    """Return the L1 and the squared L2 sensitivity of all axes together."""
    if len(strategies) == 1:
        return strategies[0].moved_l1(relation), strategies[0].moved_l2_squared(relation)
    l1 = math.prod(strategy.column_l1 for strategy in strategies)
    square = math.prod(strategy.column_l2_squared for strategy in strategies)
    if relation == "add-remove":
        return l1, square
    signed = all(strategy.keeps_signs for strategy in strategies)
    return 2 * l1, square * (2 if signed else 4)


def _exact_gram(matrix: NDArray[np.int64]) -> NDArray[np.int64]:
    """AᵀA in doubles that hold every sum: high and low halves apart."""
    high, low = (matrix >> 11).astype(np.float64), (matrix & 2047).astype(np.float64)
    cross = high.T @ low
    parts = [(high.T @ high, 22), (cross + cross.T, 11), (low.T @ low, 0)]
    total = np.zeros((matrix.shape[1], matrix.shape[1]), dtype=np.int64)
    for part, shift in parts:
        total += part.astype(np.int64) << shift
    return total


@lru_cache(maxsize=16)
def _root_inverses(cells: int) -> tuple[Doubles, Doubles]:
    """Return the series of the inverse of the integer square root, and its running sums."""
    prefixes = inverse_coefficients(cells, SCALE_BITS)
    steps = [b - a for a, b in zip((0, *prefixes), prefixes, strict=False)]
    unit = 1 << (_FINE + SCALE_BITS)
    inverse, sums = (
        np.array([float(Fraction(v, unit)) for v in values]) for values in (steps, prefixes)
    )
    return inverse, sums


def _convolve(rows: Doubles, series: Doubles) -> Doubles:
    """Return the first n numbers of the convolution of each row with the series."""
    cells = rows.shape[-1]
    size = 1 << (2 * cells - 1).bit_length()
    product = np.fft.rfft(rows, size) * np.fft.rfft(series, size)
    return np.asarray(np.fft.irfft(product, size)[..., :cells])


def _average(cells: Doubles, run: int) -> Doubles:
    means = cells.reshape(*cells.shape[:-1], -1, run).mean(axis=-1)
    return np.repeat(means, run, axis=-1)
