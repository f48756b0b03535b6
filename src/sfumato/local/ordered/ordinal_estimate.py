"""Estimate a distribution over ordered buckets from local reports.

*Fit*        `frequencies`: expectation–maximisation from equal frequencies on, until a step adds
             less than 0.1 to the log-likelihood of all reports: further ones would fit the noise.
             None below 0 and of sum 1; biased towards equal. `fit(smooth=True)` averages neighbours
             (1, 2, 1)/4 after each step, as in Li et al. 2020: better from a hundred buckets on,
             worse for few.
*Unbiased*   With T the public matrix of the chances of cells given buckets, any W with W·T = 1
             gives the unbiased frequencies W·(shares of cells). W is that of weighted least
             squares, (TᵀD⁻¹T)⁻¹TᵀD⁻¹, D the cells' chances if all buckets are equally frequent. T
             has full rank: docs/proofs/local-numbers.md.
*Interval*   For shares of all values up to a bucket, or for single buckets: Bernstein's inequality
             with the largest second moment of a score over all buckets and its range; both are
             public, and it holds for the population and for these people. Sums in double precision:
             the reports are public.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ...exact.numbers import Number, probability
from .. import local_refusals as refusals
from ..estimate_views import EstimateViews, Row
from ..frequency_estimate import bernstein_widths, estimate_header
from ..lib.consistency import Floats
from ..numeric.window_law import cell_chances

if TYPE_CHECKING:
    from .ordinal import Ordinal

_ROUNDS = 5000
_GAIN = 0.1  # of the log-likelihood of all reports: a step that adds less follows the noise


@lru_cache(maxsize=8)
def chances(oracle: Ordinal) -> Floats:
    """Return the probability of each cell given each bucket: a row for each cell."""
    a, b = (float(chance) for chance in cell_chances(oracle.own, oracle.steps, oracle.window))
    beyond = np.arange(oracle.cells)[:, None] - np.arange(oracle.k)[None, :]
    return np.where((beyond >= 0) & (beyond < oracle.window), a, b)


@lru_cache(maxsize=8)
def weights(oracle: Ordinal) -> Floats:
    """Return W: a row for each bucket."""
    design = chances(oracle)
    scaled = design.T / design.mean(axis=1)
    solution: Floats = np.linalg.solve(scaled @ design, scaled)
    return solution


def cumulative_scores(oracle: Ordinal) -> Floats:
    """Return what each cell adds to the share of values up to each bucket but the last (1)."""
    return np.cumsum(weights(oracle), axis=0)[:-1]


def worst_variances(oracle: Ordinal, scores: Floats) -> Floats:
    """Return the largest variance of each score over all buckets of a person."""
    means, squares = scores @ chances(oracle), scores**2 @ chances(oracle)
    variances: Floats = (squares - means**2).max(axis=1)
    return variances


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Distribution(EstimateViews):
    """The number of reports per cell, and the distribution over the buckets estimated from it."""

    oracle: Ordinal
    counts: NDArray[np.int64]
    reports: int
    value_name: ClassVar[str] = "up to here"

    @property
    def categories(self) -> tuple[Hashable, ...]:
        return self.oracle.categories

    @property
    def frequencies(self) -> Floats:
        """The fitted distribution of `fit()`: not negative, of sum 1."""
        return self.fit()

    def fit(self, *, smooth: bool = False) -> Floats:
        """Fit a likely distribution; `smooth` averages neighbours after each step, for many buckets
        of a smooth curve.
        """
        design, shares = chances(self.oracle), self.counts / self.reports
        frequencies, likely = np.full(self.oracle.k, 1.0 / self.oracle.k), -math.inf
        for _ in range(_ROUNDS):
            new = frequencies * (design.T @ (shares / (design @ frequencies)))
            if smooth:
                wide = np.concatenate((new[:1], new, new[-1:]))
                new = (wide[:-2] + 2 * wide[1:-1] + wide[2:]) / 4
            frequencies = new / new.sum()
            before, likely = likely, self.reports * float(shares @ np.log(design @ frequencies))
            if abs(likely - before) < _GAIN:
                break
        return frequencies

    @property
    def unbiased(self) -> Floats:
        """The unbiased frequencies, of sum 1; they may lie below 0."""
        frequencies: Floats = weights(self.oracle) @ (self.counts / self.reports)
        return frequencies

    @property
    def cumulative(self) -> Floats:
        """The share of all values up to each bucket, unbiased; the last is 1."""
        return np.append(cumulative_scores(self.oracle) @ (self.counts / self.reports), 1.0)

    def interval(
        self,
        confidence: Number = 0.95,
        *,
        of: Literal["cumulative", "frequencies"] = "cumulative",
        simultaneous: bool = False,
    ) -> Floats:
        """Return a lower and an upper end for each cumulative share, or each frequency; with
        `simultaneous`, all intervals hold together.
        """
        if of not in ("cumulative", "frequencies"):
            raise refusals.UNKNOWN_SHARES(of=of)
        scores = cumulative_scores(self.oracle) if of == "cumulative" else weights(self.oracle)
        missing = float(1 - probability(confidence, "confidence", zero=False)) / (
            len(scores) if simultaneous else 1
        )
        middle = scores @ (self.counts / self.reports)
        reach = scores.max(axis=1) - scores.min(axis=1)
        size = worst_variances(self.oracle, scores) + 0.25  # and of a share of people itself
        half = bernstein_widths(reach, size, self.reports, missing)
        ends = np.clip(np.stack([middle - half, middle + half], axis=1), 0.0, 1.0)
        return np.concatenate((ends, [[1.0, 1.0]])) if of == "cumulative" else ends

    def quantile(self, q: Number) -> Hashable:
        """Return the first bucket up to which the fitted distribution has a share of q."""
        at = int(np.searchsorted(np.cumsum(self.frequencies), float(probability(q, "q")) - 1e-12))
        return self.categories[min(at, self.oracle.k - 1)]

    def quantile_interval(self, q: Number, confidence: Number = 0.95) -> tuple[Hashable, Hashable]:
        """Return the first and the last bucket in which the quantile may lie, from simultaneous
        intervals of the cumulative shares.
        """
        share, ends = float(probability(q, "q")), self.interval(confidence, simultaneous=True)
        first, last = int(np.argmax(ends[:, 1] >= share)), int(np.argmax(ends[:, 0] >= share))
        return self.categories[first], self.categories[last]

    def rows(self, confidence: Number = 0.95, *, simultaneous: bool = False) -> list[Row]:
        """Return a row for each bucket: its frequency, the share of values up to it, and the
        interval of this share.
        """
        ends = self.interval(confidence, simultaneous=simultaneous).tolist()
        shares = self.cumulative.tolist()
        cells = zip(self.categories, self.frequencies.tolist(), shares, ends, strict=True)
        return [
            {"bucket": name, "frequency": value, "up to here": share, "low": low, "high": high}
            for name, value, share, (low, high) in cells
        ]

    def record(self) -> dict[str, object]:
        """Return the public record of the estimate, for JSON."""
        return {
            **estimate_header(self.oracle, self.reports),
            "categories": list(self.categories),
            "frequencies": self.frequencies.tolist(),
            "cumulative": self.cumulative.tolist(),
            "interval": self.interval().tolist(),
        }
