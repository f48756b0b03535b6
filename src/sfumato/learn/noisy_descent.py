"""Gradient descent on noisy gradients of an additive model. All of it is post-processing.

*Step*        Each bin moves by its gradient over its own curvature, noise included; the average of
              all moves the intercept. Where the noisy gradients grow, the last step is taken back
              and halved. Numbers that decide this are noisy.
*Deviation*   of a weight's noise, by the same recursion with the curvature of each bin alone.
*Proof*       docs/proofs/models.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .merged_cells import MergedCells

Doubles = NDArray[np.float64]

MOST_WEIGHT = 8.0
_RATE, _RIDGE = 0.6, 2.5


@dataclass(frozen=True, slots=True, eq=False)
class Iterate:
    """A model on its way: the weight of each bin, the intercept, and the deviation of both."""

    weights: Doubles
    intercept: float
    variance: Doubles
    intercept_variance: float


@dataclass(frozen=True, slots=True, eq=False)
class Gradient:
    """A noisy gradient: centred by feature, its mean over features, and its size."""

    centred: Doubles
    total: float
    size: float


@dataclass(frozen=True, slots=True, eq=False)
class Descent:
    """Gradient descent on noisy gradients: all of it post-processing."""

    curvature: float
    sizes: NDArray[np.int64]  # bins of each feature
    counts: Doubles  # of each bin
    rows: float
    sigma: float  # of each number of a gradient
    scale: Doubles  # the curvature of each bin, with a ridge for the noise

    @classmethod
    def of(cls, curvature: float, cells: Sequence[MergedCells], sigma: float) -> Descent:
        sizes = np.array([merged.size for merged in cells])
        totals = np.array([merged.counts.sum() for merged in cells])
        rows = max(float(np.average(totals, weights=1.0 / sizes)), 1.0)
        counts = np.concatenate([merged.counts for merged in cells])
        scale = curvature * counts + _RIDGE * sigma
        return cls(curvature, sizes, counts, rows, sigma, scale)

    @property
    def rate(self) -> float:
        """The first rate: smaller for many features, which may all say the same."""
        return min(_RATE, 2.0 / math.sqrt(len(self.sizes)))

    def start(self) -> Iterate:
        zeros = np.zeros(len(self.counts))
        return Iterate(zeros, 0.0, zeros, 0.0)

    @property
    def _starts(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])

    @property
    def _total_deviation(self) -> float:
        """The deviation of the total of all residuals, as the features tell it together."""
        return self.sigma / math.sqrt((1.0 / self.sizes).sum())

    def read(self, sums: Doubles) -> Gradient:
        """Return a gradient from noisy sums: every feature tells the same total."""
        totals = np.add.reduceat(sums, self._starts)
        total = float((totals / self.sizes).sum() / (1.0 / self.sizes).sum())
        of_feature = np.add.reduceat(self.counts, self._starts)
        centred = sums - self.counts / np.repeat(of_feature, self.sizes) * total
        return Gradient(centred, total, float((sums**2 / self.scale).sum()))

    def limit(self, gradient: Gradient) -> float:
        """Return the size beyond which a gradient has grown, and not by noise."""
        noise = self.sigma**2 / self.scale
        spread = 2.0 * float((noise**2).sum()) + 4.0 * float(noise.max()) * gradient.size
        return gradient.size + 2.0 * math.sqrt(spread)

    def move(self, iterate: Iterate, gradient: Gradient, rate: float) -> Iterate:
        """Step against a gradient."""
        curvature = self.curvature
        stay = 1.0 - rate * curvature * self.counts / self.scale
        first = min(1.0, 2.0 * rate)
        slope = curvature * self.rows + self._total_deviation
        weights = iterate.weights - rate * gradient.centred / self.scale
        return Iterate(
            np.clip(weights, -MOST_WEIGHT, MOST_WEIGHT),
            float(np.clip(iterate.intercept - first * gradient.total / slope, -8.0, 8.0)),
            stay**2 * iterate.variance + (rate * self.sigma / self.scale) ** 2,
            (1.0 - first * curvature * self.rows / slope) ** 2 * iterate.intercept_variance
            + (first * self._total_deviation / slope) ** 2,
        )

    def split(self, values: NDArray[np.generic]) -> list[list[float]]:
        """Return the numbers of each feature."""
        return [part.tolist() for part in np.split(values, np.cumsum(self.sizes)[:-1])]
