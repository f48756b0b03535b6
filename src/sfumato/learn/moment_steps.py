"""Measure the moments of numbers: the sums of all products of two columns, in one step.

*Row*         a = (S, u₁ … u_d), integers between −S and S, S = 2¹²; each column's bounds are ±S.
*Entries*     w·a_i·a_j for i < j, w·S² for the count, and squares w·(a_i² − S²/2) from their
              middle. Doubles add them exactly: a batch stays below 2⁵³.
*Norm*        of a row: the squares of its entries sum to at most S⁴·(1 + d + d(d − 1)/2 + d/4), as
              that is convex in each a_i² and so largest at a corner.
*Proof*       docs/proofs/models.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from ..mechanisms import Gaussian
from ..noise.law import Integers
from ..release import Step, Tables
from ..tables.plan.codes.coded_rows import CodedRows
from ..tables.plan.codes.column_codes import CellCode
from ..tables.plan.statements import EngineStatement
from . import learn_refusals as refusals
from .model_columns import ModelColumns
from .model_noise import sums_move
from .model_plan import TrainingSteps

Doubles = NDArray[np.float64]

SCALE = 1 << 12
"""S: what stands for half the distance between a column's bounds."""

CELL_BITS = 12


def code_numbers(columns: ModelColumns, names: Sequence[str]) -> CodedRows:
    """Code columns of numbers; rows without one of them are left out."""
    for name in names:
        kind = columns.rows.schema[name]
        if kind.kind not in ("integer", "float", "decimal", "bool"):
            raise refusals.NOT_A_NUMBER_COLUMN(column=name, type=kind)
    codes = [columns.cells(name, CELL_BITS) for name in names]
    return CodedRows.of(columns.rows, codes, range(len(codes)), packed=0)


def unit_values(
    code: CellCode, ends: tuple[Fraction, Fraction], scale: int = SCALE
) -> NDArray[np.int64]:
    """Return the integer between −scale and scale of each code; 0 for missing values, which no row
    has.
    """
    low, high = ends
    values = [round(scale * (2 * centre - low - high) / (high - low)) for centre in code.centres]
    return np.clip(np.array([*values, 0], dtype=np.int64), -scale, scale)


@dataclass(frozen=True, slots=True, eq=False)
class MomentTrainer:
    """One step: the noisy moments of columns between public bounds."""

    coded: CodedRows
    values: tuple[NDArray[np.int64], ...]  # of the codes of each column

    @property
    def text(self) -> str:
        size = len(self.values) + 1
        return f"moments: {size * (size + 1) // 2} sums of products"

    @property
    def move(self) -> int:
        """The squared sensitivity."""
        d = len(self.values)
        row_squared = (4 + 4 * d + 2 * d * (d - 1) + d) * SCALE**4 // 4
        return sums_move(self.coded.bounding, row_squared)

    def steps(self, statement: EngineStatement, noise: Sequence[Gaussian]) -> TrainingSteps:
        """Measure."""
        (sums,) = yield Step((statement,), self._add_products, noise[:1])
        return {"sums": [int(value) for value in sums]}

    def _add_products(self, tallies: Sequence[Tables]) -> list[Integers]:
        """Add up the entries of all rows, by their weights."""
        size = len(self.values) + 1
        # Python's integers: from 2^29 rows on, 64 bits would turn over at one row more
        total, count = np.zeros((size, size), dtype=object), 0
        for packs, weights in self.coded.batches(tallies[0][0]):
            rows = np.empty((size, len(packs[0])))
            rows[0] = SCALE
            for row, codes, values in zip(rows[1:], packs, self.values, strict=True):
                row[:] = values[codes]
            weighed = rows if weights is None else rows * weights
            total += (weighed @ rows.T).astype(np.int64).astype(object)
            count += int(weights.sum()) if weights is not None else len(packs[0])
        total[np.arange(1, size), np.arange(1, size)] -= count * (SCALE**2 // 2)
        return [total[np.triu_indices(size)]]


@dataclass(frozen=True, slots=True, eq=False)
class NoisyMoments:
    """Σ a·aᵀ over the rows, in units of one row and of half the bounds, and the noise in it."""

    matrix: Doubles
    sigma: float  # of each entry that was measured

    @classmethod
    def of(cls, sums: Sequence[float], sigma: float, row: int) -> NoisyMoments:
        """Read the measured entries: `row` is what a row weighs at most."""
        size = round((2 * len(sums)) ** 0.5 - 0.5)
        unit = float(row) * SCALE**2
        entries = np.asarray(sums, dtype=np.float64) / unit
        return cls(_nearest_moments(_symmetric(entries, size)), sigma / unit)

    @property
    def rows(self) -> float:
        """The noisy number of rows; at least its own noise."""
        return max(float(self.matrix[0, 0]), self.sigma, 1.0)

    def directions(self) -> list[Doubles]:
        """Return how the draw of each measured entry moves the matrix."""
        size = len(self.matrix)
        units = np.eye(size * (size + 1) // 2)
        return [_symmetric(unit, size) for unit in units]

    @property
    def means(self) -> Doubles:
        """The mean of each column."""
        return self.matrix[0, 1:] / self.rows

    @property
    def covariance(self) -> Doubles:
        """The covariance of the columns; variances are at least that of their noise."""
        covariance = self.matrix[1:, 1:] / self.rows - np.outer(self.means, self.means)
        np.fill_diagonal(covariance, np.maximum(covariance.diagonal(), self.sigma / self.rows))
        return covariance


def _nearest_moments(matrix: Doubles) -> Doubles:
    """Return the matrix without its negative directions: moments of rows have none."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _symmetric(entries: Doubles, size: int) -> Doubles:
    """Return the matrix of measured entries: squares get back the middle that was taken off."""
    matrix = np.zeros((size, size))
    for (i, j), entry in zip(combinations_with_replacement(range(size), 2), entries, strict=True):
        matrix[i, j] = matrix[j, i] = entry
    matrix[np.arange(1, size), np.arange(1, size)] += matrix[0, 0] / 2
    return matrix
