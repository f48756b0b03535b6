"""Learn a logistic regression: noisy counts of cells, then noisy gradients, a number for each term.

*Terms*       the intercept; of a number u, an integer between −S and S, S = 2¹⁰; of a category one
              term for each key, S for the rows that have it.
*Gradient*    Σ w·r·(S, terms), r the residual, an integer between −R and R: a row has k + 1 terms
              of at most S, so its squared norm is at most R²·S²·(k + 1), and nothing is clipped.
*Exact*       The sums of residuals by code are those of an additive model; a term is a public
              combination of them.
*Proof*       docs/proofs/models.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..mechanisms import Gaussian
from ..noise.law import Integers
from ..release import Step, Tables
from ..tables.plan.statements import EngineStatement
from .additive_steps import ONE, AdditiveTrainer
from .merged_cells import MergedCells
from .model_noise import sums_move
from .model_plan import TrainingSteps

Doubles = NDArray[np.float64]

SCALE = 1 << 10
_RATE, _RIDGE, _CURVATURE = 0.6, 1.0, 0.16
_MOST_SLOPE = 16.0


@dataclass(frozen=True, slots=True, eq=False)
class LogisticTrainer:
    """Gradients of terms, from the residuals that an additive trainer sums by code."""

    base: AdditiveTrainer
    designs: tuple[NDArray[np.int64], ...]  # of each feature: codes × terms, between −S and S

    @property
    def text(self) -> str:
        return f"logistic regression: counts of cells, then {self.base.count} gradients"

    @property
    def moves(self) -> list[tuple[int, Fraction]]:
        """The squared sensitivity and the share of each step."""
        (counts, share), (_, gradient), *_ = self.base.moves
        row_squared = (len(self.designs) + 1) * (ONE * SCALE) ** 2
        moved = sums_move(self.base.coded.bounding, row_squared)
        return [(counts, share), *[(moved, gradient)] * self.base.count]

    def steps(self, statement: EngineStatement, noise: Sequence[Gaussian]) -> TrainingSteps:
        """Count cells, and descend along the terms."""
        row = float(1 << self.base.coded.bounding.bits)
        (counted,) = yield Step((statement,), self.base._count_cells, noise[:1])
        means, spreads, rows = self._moments(counted.astype(np.float64) / row)
        sigma = float(noise[1].sigma) / (row * ONE * SCALE)
        slopes, intercept = np.zeros(len(means)), 0.0
        scale = _CURVATURE * rows * spreads + _RIDGE * sigma
        rate, last = min(_RATE, 2.0 / len(self.designs) ** 0.5), None
        for step, gaussian in enumerate(noise[1:]):
            add = partial(self._add_terms, slopes, intercept)
            (summed,) = yield Step((), add, (gaussian,))
            gradient = summed.astype(np.float64) / (row * ONE * SCALE)
            centred = gradient[1:] - means * gradient[0]
            size = float((centred**2 / scale).sum())
            noise_size = float((sigma**2 / scale).sum())
            if last is not None and size > last[0] + 4.0 * noise_size:
                rate, (size, slopes, intercept, centred, gradient) = rate / 2.0, last
            last = size, slopes, intercept, centred, gradient
            step_rate = min(rate, 2.0 / (step + 2))
            moved = np.clip(slopes - step_rate * centred / scale, -_MOST_SLOPE, _MOST_SLOPE)
            total = gradient[0] / (_CURVATURE * rows + sigma)
            shift = float(means @ (moved - slopes))  # the mean row keeps its score
            intercept = intercept - shift - min(1.0, 2.0 * step_rate) * float(total)
            slopes = moved
        return {"slopes": slopes.tolist(), "intercept": intercept, "rows": rows}

    def _moments(self, counts: Doubles) -> tuple[Doubles, Doubles, float]:
        """Return the mean and the variance of each term, and the number of rows, from noisy
        counts: in units of S.
        """
        parts = np.split(counts, np.cumsum([len(design) for design in self.designs])[:-1])
        sizes = np.array([len(part) for part in parts])
        rows = max(float(np.average([part.sum() for part in parts], weights=1.0 / sizes)), 1.0)
        shares = [np.maximum(part, 0.0) / max(float(part.clip(0).sum()), 1.0) for part in parts]
        units = [design / SCALE for design in self.designs]
        means = [unit.T @ share for unit, share in zip(units, shares, strict=True)]
        squares = [(unit**2).T @ share for unit, share in zip(units, shares, strict=True)]
        mean, square = np.concatenate(means), np.concatenate(squares)
        return mean, np.maximum(square - mean**2, 1e-4), rows

    def _add_terms(
        self, slopes: Doubles, intercept: float, tallies: Sequence[Tables]
    ) -> list[Integers]:
        """Add up the residuals of all rows times their terms, by their weights."""
        cells = [MergedCells(np.arange(len(each)), np.ones(len(each))) for each in self.designs]
        parts = np.split(slopes, np.cumsum([each.shape[1] for each in self.designs])[:-1])
        scores = [
            np.rint(design @ part * (ONE / SCALE)).astype(np.int64)
            for design, part in zip(self.designs, parts, strict=True)
        ]
        model = np.concatenate(scores), round(float(np.clip(intercept, -64, 64)) * ONE)
        (sums,) = self.base._add_residuals(cells, model, tallies)
        by_code = np.split(sums, np.cumsum([len(each) for each in self.designs])[:-1])
        terms = [each.T @ part for each, part in zip(self.designs, by_code, strict=True)]
        return [np.concatenate([[SCALE * int(by_code[0].sum())], *terms]).astype(np.int64)]
