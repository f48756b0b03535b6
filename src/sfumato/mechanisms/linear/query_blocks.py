"""Blocks of linear queries over the cells of one axis: each is a matrix W with a column for each
cell, most of them never written out.

*Energy*   Σ over the queries of |Q w|², Q the averages over runs of equally many cells: with it, a
           tree knows its error without any matrix. `energy(1)` is Σ|w|².
*Ranges*   The query of cells a, …, b − 1 is the difference of two prefixes. So Σ over all ranges of
           |p_b − p_a|² is (n + 1)·Σ|p|² − |Σp|², over the n + 1 prefixes from the empty one on.
*Nuclear*  The sum of the singular values of W. No strategy whose columns have length 1 has a sum
           of variances below its square over n (Li & Miklau 2013).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...exact.numbers import Number, exact, is_whole
from ..shared import mechanism_refusals as refusals

Doubles = NDArray[np.float64]
Spread = Callable[[Doubles], Doubles]
"""Maps queries, one a row, to the weights of the noise draws in their answers."""

MOST_CELLS = 1 << 16
"""The most cells of an axis."""
_CHUNK = 1 << 21  # numbers of a part of a matrix that is written out
_MOST_SINGULAR = 1024  # rows or columns of a matrix whose singular values are computed
_LARGEST = 1 << 30  # of a whole-number matrix


@dataclass(frozen=True, slots=True)
class QueryBlock(ABC):
    """Queries over the cells of one axis."""

    cells: int
    name: ClassVar[str]

    @property
    @abstractmethod
    def queries(self) -> int:
        """The number of queries."""

    @abstractmethod
    def answers(self, cells: Doubles) -> Doubles:
        """Apply the queries to the last axis."""

    @abstractmethod
    def rows(self, start: int, stop: int) -> Doubles:
        """Write out some of the queries."""

    @abstractmethod
    def energy(self, run: int) -> float:
        """Return Σ over the queries of |Q w|², Q the averages over runs of `run` cells."""

    def gram(self) -> Doubles:
        """Return WᵀW."""
        total: Doubles = np.zeros((self.cells, self.cells))
        for part in self.parts():
            total += part.T @ part
        return total

    def nuclear(self) -> float | None:
        """Return the sum of the singular values, if a formula knows it."""
        return None

    def parts(self) -> Iterator[Doubles]:
        """Write out the queries, a part at a time."""
        step = max(1, _CHUNK // self.cells)
        for start in range(0, self.queries, step):
            yield self.rows(start, min(start + step, self.queries))

    def variances(self, spread: Spread) -> Doubles:
        """Return the variance of every answer, in units of that of one draw."""
        return np.concatenate([(spread(part) ** 2).sum(axis=1) for part in self.parts()])

    def total(self, spread: Spread) -> float:
        """Return the sum of these variances."""
        return float(self.variances(spread).sum())

    def __repr__(self) -> str:
        return f"{self.name}({self.cells})"


@dataclass(frozen=True, slots=True, repr=False)
class IdentityBlock(QueryBlock):
    """The count of each cell."""

    name = "identity"

    @property
    def queries(self) -> int:
        return self.cells

    def answers(self, cells: Doubles) -> Doubles:
        return cells

    def rows(self, start: int, stop: int) -> Doubles:
        rows = np.zeros((stop - start, self.cells))
        rows[np.arange(stop - start), np.arange(start, stop)] = 1.0
        return rows

    def energy(self, run: int) -> float:
        return self.cells / run

    def nuclear(self) -> float:
        return float(self.cells)


@dataclass(frozen=True, slots=True, repr=False)
class TotalBlock(QueryBlock):
    """The count of all cells together."""

    name = "total"

    @property
    def queries(self) -> int:
        return 1

    def answers(self, cells: Doubles) -> Doubles:
        return np.asarray(cells.sum(axis=-1, keepdims=True))

    def rows(self, start: int, stop: int) -> Doubles:
        return np.ones((1, self.cells))

    def energy(self, run: int) -> float:
        return float(_prefix_energies(self.cells, run)[-1])

    def nuclear(self) -> float:
        return float(np.sqrt(self.cells))


@dataclass(frozen=True, slots=True, repr=False)
class PrefixBlock(QueryBlock):
    """The counts of the first 1, 2, …, n cells."""

    name = "prefixes"

    @property
    def queries(self) -> int:
        return self.cells

    def answers(self, cells: Doubles) -> Doubles:
        return np.cumsum(cells, axis=-1)

    def rows(self, start: int, stop: int) -> Doubles:
        return np.asarray(
            np.arange(self.cells) <= np.arange(start, stop)[:, None], dtype=np.float64
        )

    def energy(self, run: int) -> float:
        return float(_prefix_energies(self.cells, run).sum())

    def gram(self) -> Doubles:
        at = np.arange(self.cells)
        return (self.cells - np.maximum.outer(at, at)).astype(np.float64)

    def nuclear(self) -> float:
        angles = (2 * np.arange(1, self.cells + 1) - 1) * np.pi / (4 * self.cells + 2)
        return float((1 / (2 * np.sin(angles))).sum())


@dataclass(frozen=True, slots=True, repr=False)
class RangeBlock(QueryBlock):
    """The counts of all runs of cells, in the order of (0, 1), (0, 2), …, (1, 2), …: from a cell
    to before another.
    """

    name = "all_ranges"

    @property
    def queries(self) -> int:
        return self.cells * (self.cells + 1) // 2

    def place(self, start: int, stop: int) -> int:
        """Return the place of the cells start, …, stop − 1 among the queries."""
        return start * self.cells - start * (start - 1) // 2 + stop - start - 1

    def answers(self, cells: Doubles) -> Doubles:
        ends = _with_zero(np.cumsum(cells, axis=-1))
        starts, stops = np.triu_indices(self.cells + 1, 1)
        difference: Doubles = ends[..., stops] - ends[..., starts]
        return difference

    def rows(self, start: int, stop: int) -> Doubles:
        starts, stops = (ends[start:stop, None] for ends in np.triu_indices(self.cells + 1, 1))
        at = np.arange(self.cells)
        return np.asarray((starts <= at) & (at < stops), dtype=np.float64)

    def energy(self, run: int) -> float:
        prefixes = _prefix_energies(self.cells, run).sum()
        return float((self.cells + 1) * prefixes - _run_energy(self._prefix_sum, run))

    def gram(self) -> Doubles:
        at = np.arange(self.cells)
        first, last = np.minimum.outer(at, at), np.maximum.outer(at, at)
        return np.asarray((first + 1.0) * (self.cells - last))

    def nuclear(self) -> float:
        angles = np.arange(1, self.cells + 1) * np.pi / (2 * (self.cells + 1))
        return float(np.sqrt(self.cells + 1) * (1 / (2 * np.sin(angles))).sum())

    def variances(self, spread: Spread) -> Doubles:
        """By the prefixes: |p_b − p_a|² = |p_b|² + |p_a|² − 2·p_b·p_a."""
        starts, stops = np.triu_indices(self.cells + 1, 1)
        ends = np.concatenate([spread(part) for part in PrefixBlock(self.cells).parts()])
        ends = np.concatenate([np.zeros((1, ends.shape[1])), ends])
        products = ends @ ends.T
        squares = np.diag(products)
        return np.asarray(squares[starts] + squares[stops] - 2 * products[starts, stops])

    def total(self, spread: Spread) -> float:
        prefixes = PrefixBlock(self.cells).total(spread)
        together = spread(self._prefix_sum[None, :])
        return float((self.cells + 1) * prefixes - (together**2).sum())

    @property
    def _prefix_sum(self) -> Doubles:
        return np.arange(self.cells, 0, -1, dtype=np.float64)


@dataclass(frozen=True, slots=True, repr=False)
class MatrixBlock(QueryBlock):
    """Queries given as a matrix of whole numbers, over a common denominator."""

    name = "matrix"
    integers: tuple[tuple[int, ...], ...]
    denominator: int = 1

    @property
    def queries(self) -> int:
        return len(self.integers)

    def answers(self, cells: Doubles) -> Doubles:
        return np.asarray(cells @ self.matrix.T)

    def rows(self, start: int, stop: int) -> Doubles:
        return self.matrix[start:stop]

    def energy(self, run: int) -> float:
        return _run_energy(self.matrix, run)

    def nuclear(self) -> float | None:
        if min(self.queries, self.cells) > _MOST_SINGULAR:
            return None
        return float(np.linalg.svd(self.matrix, compute_uv=False).sum())

    @property
    def matrix(self) -> Doubles:
        """The queries as doubles."""
        return _doubles_of(self)

    def __repr__(self) -> str:
        shown = [
            [float(Fraction(v, self.denominator)) if self.denominator > 1 else v for v in row[:8]]
            for row in self.integers[:4]
        ]
        if len(self.integers) <= 4 and self.cells <= 8:
            return f"matrix({shown})"
        return f"matrix({self.queries} queries over {self.cells} cells)"


def matrix_block(rows: object) -> MatrixBlock:
    """Build a block from rows of whole or rational numbers."""
    listed = [list(row) for row in _rows_of(rows)]
    if not listed or not listed[0] or len({len(row) for row in listed}) != 1:
        raise refusals.QUERIES_NOT_A_MATRIX()
    numbers = [[exact(value, "query") for value in row] for row in listed]
    denominator = lcm(*(value.denominator for row in numbers for value in row))
    integers = tuple(tuple(int(value * denominator) for value in row) for row in numbers)
    if max(denominator, *(abs(v) for row in integers for v in row)) >= _LARGEST:
        raise refusals.QUERIES_TOO_FINE(most=_LARGEST)
    return MatrixBlock(cells_of(len(listed[0])), integers, denominator)


def cells_of(value: int) -> int:
    """Check the number of cells of an axis."""
    if not is_whole(value, 1, MOST_CELLS):
        raise refusals.AXIS_CELLS_OUT_OF_RANGE(cells=value, most=MOST_CELLS)
    return value


def _rows_of(rows: object) -> list[list[Number]]:
    if isinstance(rows, np.ndarray):
        rows = rows.tolist()
    if not isinstance(rows, list | tuple) or not all(
        isinstance(row, list | tuple | np.ndarray | range) for row in rows
    ):
        raise refusals.QUERIES_NOT_A_MATRIX()
    return [row.tolist() if isinstance(row, np.ndarray) else list(row) for row in rows]


@lru_cache(maxsize=16)
def _doubles_of(block: MatrixBlock) -> Doubles:
    matrix = np.array(block.integers, dtype=np.float64) / block.denominator
    matrix.flags.writeable = False
    return matrix


def _prefix_energies(cells: int, run: int) -> Doubles:
    """Return |Q p|² of the prefixes of 1, …, n cells: whole runs, and a part of the next."""
    lengths = np.arange(1, cells + 1)
    return np.asarray(lengths // run * float(run) + (lengths % run) ** 2 / run)


def _run_energy(rows: Doubles, run: int) -> float:
    """Return Σ|Q w|² of the rows w, or of one."""
    sums = np.add.reduceat(rows, np.arange(0, rows.shape[-1], run), axis=-1)
    return float((sums**2).sum() / run)


def _with_zero(ends: Doubles) -> Doubles:
    return np.concatenate([np.zeros((*ends.shape[:-1], 1)), ends], axis=-1)
