"""Learn an additive model: noisy counts of all cells, then noisy gradients, each a group-by sum.

*Score*       of a row: an integer, the sum of the public weights of its bins, in steps of 2⁻¹⁰.
*Residual*    prediction − target, an integer between −R and R, R = 2¹⁰ (for a quantile the slope of
              its loss): read from public tables of the score and of the difference, so it depends
              on the row alone, on no order and no platform.
*Gradient*    for each bin the sum of the residuals of its rows, by their weights. A row is in one
              bin of each of k features: its vector has norm R·√k at most, and nothing is clipped.
*Proof*       docs/proofs/models.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import is_whole
from ..mechanisms import Gaussian
from ..noise.law import Integers
from ..release import Step, Tables
from ..tables.plan.codes.coded_rows import CodedRows, add_by_code
from ..tables.plan.statements import EngineStatement
from . import learn_refusals as refusals
from .merged_cells import MergedCells, merge_cells
from .model_noise import counts_move, sums_move
from .noisy_descent import Descent, Iterate

if TYPE_CHECKING:
    from .model_plan import TrainingSteps

Doubles = NDArray[np.float64]

ONE = 1 << 10
"""R: what stands for 1 in scores and residuals."""

COUNTS_SHARE = Fraction(1, 10)
"""The share of the cost that the counts of cells take; the gradients divide the rest."""

MOST_STEPS = 100

_FARTHEST = 16 * ONE  # scores beyond are as good as there


def read_steps(steps: int) -> int:
    """Return the number of gradients, or refuse it."""
    if not is_whole(steps, 1, MOST_STEPS):
        raise refusals.OPTION_OUT_OF_RANGE(
            name="steps", value=steps, range=f"from 1 to {MOST_STEPS}", example=8
        )
    return steps


def logistic_link() -> NDArray[np.int64]:
    """Return the probability of the second class for each score, in units of 1/R."""
    scores = np.arange(-_FARTHEST, _FARTHEST + 1) / ONE
    return np.rint(ONE / (1.0 + np.exp(-scores))).astype(np.int64)


def linear_link() -> NDArray[np.int64]:
    """Return the prediction for each score: the score, between −R and R."""
    return np.clip(np.arange(-_FARTHEST, _FARTHEST + 1), -ONE, ONE).astype(np.int64)


def clamped_residuals() -> NDArray[np.int64]:
    """Return the residual of each difference from −2R to 2R: the difference, between −R and R."""
    return np.clip(np.arange(-2 * ONE, 2 * ONE + 1), -ONE, ONE).astype(np.int64)


def quantile_residuals(quantile: Fraction, width: int) -> NDArray[np.int64]:
    """Return the slope of the quantile loss for each difference from −2R to 2R: −q far below 0, 1 −
    q far above, in units of 1/R, and a straight line between −width and width.
    """
    above = (np.arange(-2 * ONE, 2 * ONE + 1) + width) * ONE // (2 * width)
    slope = np.clip(above, 0, ONE) - round(ONE * quantile)
    return np.asarray(slope, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveTrainer:
    """Steps for a target whose codes have public values between −R and R."""

    coded: CodedRows  # the features, and the target as the last column
    values: NDArray[np.int64]  # of the codes of the target
    link: NDArray[np.int64]
    residuals: NDArray[np.int64]  # of each difference between prediction and target
    loss: str
    curvature: float
    count: int  # of gradients

    @property
    def features(self) -> int:
        """The number of features."""
        return len(self.coded.codes) - 1

    @property
    def text(self) -> str:
        return f"additive: counts of cells, then {self.count} gradients of {self.loss}"

    @property
    def largest(self) -> int:
        """The largest residual: the table has no other ones."""
        return int(np.abs(self.residuals).max())

    @property
    def moves(self) -> list[tuple[int, Fraction]]:
        """The squared sensitivity and the share of each step."""
        bounding, features = self.coded.bounding, self.features
        gradient = (1 - COUNTS_SHARE) / self.count
        return [
            (counts_move(bounding, features), COUNTS_SHARE),
            *[(sums_move(bounding, features * self.largest**2), gradient)] * self.count,
        ]

    def steps(self, statement: EngineStatement, noise: Sequence[Gaussian]) -> TrainingSteps:
        """Count cells, merge them, and descend."""
        row = float(1 << self.coded.bounding.bits)
        (counted,) = yield Step((statement,), self._count_cells, noise[:1])
        deviation = float(noise[0].sigma) / row
        cells = self._merge(counted.astype(np.float64) / row, deviation)
        descent = Descent.of(self.curvature, cells, float(noise[1].sigma) / (row * ONE))
        iterate, last, rate = descent.start(), None, descent.rate
        for step, gaussian in enumerate(noise[1:]):
            add = partial(self._add_residuals, cells, _as_integers(iterate))
            (summed,) = yield Step((), add, (gaussian,))
            gradient = descent.read(summed.astype(np.float64) / (row * ONE))
            if last is not None and gradient.size > descent.limit(last[1]):
                rate, (iterate, gradient) = rate / 2, last
            last = iterate, gradient
            iterate = descent.move(iterate, gradient, min(rate, 2 / (step + 2)))
        weights, intercept = _as_integers(iterate)
        return {
            "intercept": intercept,
            "intercept_deviation": iterate.intercept_variance**0.5,
            "weights": descent.split(weights),
            "deviations": descent.split(np.sqrt(iterate.variance)),
            "counts": [merged.counts.tolist() for merged in cells],
            "bins": [merged.bins.tolist() for merged in cells],
            "rows": descent.rows,
        }

    def _merge(self, counts: Doubles, deviation: float) -> list[MergedCells]:
        ends = np.cumsum([code.size for code in self.coded.codes[:-1]])
        parts = np.split(counts, ends[:-1])
        return [
            merge_cells(code, part, deviation)
            for code, part in zip(self.coded.codes[:-1], parts, strict=True)
        ]

    def _count_cells(self, tallies: Sequence[Tables]) -> list[Integers]:
        """Count the rows of each code of each feature, by their weights."""
        packed = [np.zeros(size, dtype=np.int64) for size in self._packed_sizes()]
        for packs, weights in self.coded.batches(tallies[0][0]):
            for at, sums in enumerate(packed):
                packed[at] = sums + add_by_code(packs[at], weights, len(sums))
        by_place = self._unpack(packed)
        return [np.concatenate(by_place)]

    def _add_residuals(
        self,
        cells: Sequence[MergedCells],
        model: tuple[NDArray[np.int64], int],
        tallies: Sequence[Tables],
    ) -> list[Integers]:
        """Add up the residuals of the rows of each bin, by their weights."""
        tables = self._score_tables(cells, *model)
        packed = [np.zeros(len(table), dtype=np.int64) for table in tables]
        for packs, weights in self.coded.batches(tallies[0][0]):
            score = tables[0][packs[0]]
            for table, codes in zip(tables[1:], packs[1:], strict=False):
                score = score + table[codes]
            at = np.clip(score, -_FARTHEST, _FARTHEST) + _FARTHEST
            residual = self.residuals[self.link[at] - self.values[packs[-1]] + 2 * ONE]
            if weights is not None:
                residual = residual * weights
            for place, sums in enumerate(packed):
                packed[place] = sums + add_by_code(packs[place], residual, len(sums))
        return [
            np.concatenate(
                [
                    _sum_bins(merged, sums)
                    for merged, sums in zip(cells, self._unpack(packed), strict=True)
                ]
            )
        ]

    def _score_tables(
        self, cells: Sequence[MergedCells], weights: NDArray[np.int64], intercept: int
    ) -> list[NDArray[np.int64]]:
        """Return what each combination of a pack's codes adds to the score."""
        parts = np.split(weights, np.cumsum([merged.size for merged in cells])[:-1])
        tables = []
        for at, pack in enumerate(self.coded.packs[:-1]):
            table = np.full(self.coded.shape(at), 0 if at else intercept, dtype=np.int64)
            for axis, place in enumerate(pack):
                shape = [1] * len(pack)
                shape[axis] = -1
                table = table + parts[place][cells[place].bins].reshape(shape)
            tables.append(table.ravel())
        return tables

    def _packed_sizes(self) -> list[int]:
        return [int(np.prod(self.coded.shape(at))) for at in range(len(self.coded.packs) - 1)]

    def _unpack(self, packed: Sequence[NDArray[np.int64]]) -> list[Integers]:
        """Return the sums of each feature by its codes, in the order of features."""
        by_place = dict(
            part for at, sums in enumerate(packed) for part in self.coded.split(at, sums)
        )
        return [by_place[place] for place in range(self.features)]


def _as_integers(iterate: Iterate) -> tuple[NDArray[np.int64], int]:
    """Return weights and intercept as integers."""
    return np.rint(iterate.weights * ONE).astype(np.int64), round(iterate.intercept * ONE)


def _sum_bins(merged: MergedCells, sums: Integers) -> Integers:
    """Add up the integers of the codes of each bin."""
    totals = np.zeros(merged.size, dtype=np.int64)
    np.add.at(totals, merged.bins, sums)
    return totals
