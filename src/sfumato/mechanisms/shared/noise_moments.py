"""Estimate moments from a released histogram, with a confidence interval.

*Steps*      Every row of a cell is taken for the cell's middle: E[x^p] ≈ Σ c̃_j·m_j^p / n. The
             interval goes from Σ c̃_j·min_j/n to Σ c̃_j·max_j/n, x^p being between min_j and max_j
             in cell j, and is widened by the noise of these sums and, where n is not public, of n.
*Error*      Of the noise of a sum, as its law bounds it: `linear_error`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...exact.balls import down, up
from ...exact.numbers import Number, interval_text, is_whole, probability
from ...templates.summary import Summarized, Summary
from ..gaussian import Gaussian
from ..laplace import Laplace
from . import mechanism_refusals as refusals
from .bins import Edges

if TYPE_CHECKING:
    from ..histogram import Histogram


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MomentEstimate(Summarized):
    """An estimated moment: its value, the variance of its noise, and an interval, all computed from
    the released counts.
    """

    noise: Laplace | Gaussian
    counts: tuple[int, ...]
    rows: int | None
    # of each cell: x^p in its middle, its least and its largest, each minus the centre
    weights: NDArray[np.float64]
    centre: float
    slack: float

    @property
    def divisor(self) -> int:
        """The number of rows, public or noisy."""
        return sum(self.counts) if self.rows is None else self.rows

    @property
    def value(self) -> float:
        """The estimate, clamped to the possible values of the moment."""
        least, largest = float(self.weights[1].min()), float(self.weights[2].max())
        return self.centre + min(max(float(self._total(0) / max(self.divisor, 1)), least), largest)

    def _summary(self) -> Summary:
        interval = interval_text(*self.interval())
        return Summary(title=f"private moment {self.value:.6g} · {interval} at 95 %")

    @property
    def noise_variance(self) -> float:
        """Var·Σw_j²/n²: of the noise in the numerator, for a public number of rows."""
        return float(
            self.noise.variance * np.square(self.weights[0]).sum() / max(self.divisor, 1) ** 2
        )

    @property
    def binning(self) -> float:
        """The largest error from replacing a row by the middle of its cell."""
        middle, low, high = self.weights
        return float(np.maximum(high - middle, middle - low).max())

    def interval(self, confidence: Number = 0.95) -> tuple[float, float]:
        """An interval that holds the moment of the counted values with this probability, noise and
        binning included.
        """
        missing = 1 - probability(confidence, "confidence", zero=False)
        share = missing if self.rows is not None else missing / 2
        unsure = (
            Fraction(0)
            if self.rows is not None
            else Fraction(self.noise.law.linear_error(np.ones(len(self.counts)), share))
        )
        least, most = self.divisor - unsure, self.divisor + unsure
        low, high = Fraction(self.weights[1].min()), Fraction(self.weights[2].max())
        if least >= 1:
            below, above = (
                Fraction(self.noise.law.linear_error(self.weights[side], share)) for side in (1, 2)
            )
            bottom = min((self._total(1) - below) / n for n in (least, most))
            top = max((self._total(2) + above) / n for n in (least, most))
            low, high = min(max(low, bottom), high), max(min(high, top), low)
        wider, centre = Fraction(self.slack), Fraction(self.centre)
        return down(centre + low - wider), up(centre + high + wider)

    def _total(self, which: int) -> Fraction:
        return sum(
            (
                Fraction(w) * c
                for w, c in zip(self.weights[which].tolist(), self.counts, strict=True)
            ),
            Fraction(0),
        )


def moment(
    histogram: Histogram, counts: NDArray[np.int64], powers: tuple[int, ...], rows: int | None
) -> MomentEstimate:
    """The moment of these powers, one for each axis."""
    if len(powers) != len(histogram.axes) or any(not is_whole(p, 0, 64) for p in powers):
        axes = len(histogram.axes)
        raise refusals.NOT_A_POWER(powers=powers, example=2 if axes == 1 else (1,) * axes)
    possible = tuple(
        p if isinstance(axis, Edges) else 0 for p, axis in zip(powers, histogram.axes, strict=True)
    )
    if powers != possible:
        raise refusals.POWER_OF_CATEGORIES(powers=powers, example=possible)
    if rows is not None and not is_whole(rows):
        raise refusals.ROWS_BELOW_ONE(rows=rows)
    middle, low, high = np.ones(()), np.ones(()), np.ones(())
    for axis, power in zip(histogram.axes, powers, strict=True):
        ones = np.ones(len(axis))
        m, a, b = axis.powers(power) if isinstance(axis, Edges) and power else (ones, ones, ones)
        products = [np.multiply.outer(x, y) for x in (low, high) for y in (a, b)]
        middle = np.multiply.outer(middle, m)
        low = np.min(products, axis=0)
        high = np.max(products, axis=0)
    # with a noisy divisor, distances from the middle of the range err least
    centre = 0.0 if rows is not None else float(low.min() / 2 + high.max() / 2)
    weights = np.stack([middle.ravel(), low.ravel(), high.ravel()]) - centre
    # the weights are doubles
    slack = math.ulp(float(np.abs([low, high]).max())) * (8 + 4 * len(powers) * max(powers))
    return MomentEstimate(
        histogram.noise, tuple(counts.ravel().tolist()), rows, weights, centre, slack
    )
