"""Estimate a mean from local reports: unbiased, with valid intervals.

*Steps*      The mean of the scores, less base, over slope: the mean step; times the grid, from the
             lower end on.
*Interval*   "exact": Clopper & Pearson 1934, where a score is one bit; holds for the population.
             "bounded": the smaller of two half-widths, both known before any report arrives:
             Hoeffding's from the range of a score, and Bernstein's from its largest variance, by
             coins and people together; it holds for the population and for these people. "normal":
             ± z standard errors; approximate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...exact.balls import ball, down, evaluate, up
from ...exact.numbers import Number, probability
from ...mechanisms.shared.response_estimate import limit
from .. import local_refusals as refusals
from ..estimate_views import EstimateViews, Row
from ..frequency_estimate import estimate_header

if TYPE_CHECKING:
    from .number_oracle import NumberOracle

Way = Literal["exact", "bounded", "normal"]
WAYS: tuple[Way, ...] = ("exact", "bounded", "normal")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MeanEstimate(EstimateViews):
    """Sums of report scores, and the mean of the values estimated from them."""

    oracle: NumberOracle
    sums: NDArray[np.int64]
    reports: int
    value_name: ClassVar[str] = "mean"

    @property
    def mean(self) -> float:
        """The mean, unbiased for the values on the grid; it may lie beyond the ends."""
        return float(self._at(self._share))

    @property
    def standard_error(self) -> float:
        """The standard error from the spread of the scores: people and coins together."""
        n, (total, squares) = self.reports, self.sums.tolist()
        spread = Fraction(squares, n) - Fraction(total, n) ** 2
        return float(self.oracle.scale) * math.sqrt(spread / max(n - 1, 1))

    def interval(
        self, confidence: Number = 0.95, *, method: Way | None = None
    ) -> tuple[float, float]:
        """Return a lower and an upper end for the mean; without a method, exact if scores are bits,
        else bounded.
        """
        bit = self.oracle.top == 1
        chosen: Way = method or ("exact" if bit else "bounded")
        if chosen not in WAYS:
            raise refusals.UNKNOWN_INTERVAL_METHOD(
                method=method, methods=", ".join(WAYS), example="bounded"
            )
        if chosen == "exact" and not bit:
            raise refusals.EXACT_INTERVAL_NEEDS_BITS()
        missing = 1 - probability(confidence, "confidence", zero=False)
        if chosen == "exact":
            count = int(self.sums[0])
            low, high = (
                self._at(limit(count, self.reports, missing / 2, upper=upper))
                for upper in (False, True)
            )
        elif chosen == "bounded":
            half = Fraction(half_width(self.oracle, self.reports, missing))
            low, high = (self._at(self._share) + sign * half for sign in (-1, 1))
        else:
            from scipy.special import ndtri

            wide = Fraction(-float(ndtri(float(missing) / 2)) * self.standard_error)
            low, high = (self._at(self._share) + sign * wide for sign in (-1, 1))
        least = self.oracle.unit_step * self.oracle.first
        most = self.oracle.unit_step * (self.oracle.first + self.oracle.steps)
        low, high = (min(max(end, least), most) for end in (low, high))
        return down(low), up(high)

    @property
    def _share(self) -> Fraction:
        return Fraction(int(self.sums[0]), self.reports)

    def _at(self, score: Fraction) -> Fraction:
        """Return the mean of the values at which this mean score is expected."""
        return (
            self.oracle.unit_step * self.oracle.first
            + (score - self.oracle.base) * self.oracle.scale
        )

    def rows(self, confidence: Number = 0.95, *, simultaneous: bool = False) -> list[Row]:
        """Return the one row: the mean and its interval."""
        low, high = self.interval(confidence)
        return [{"mean": self.mean, "low": low, "high": high}]

    def record(self) -> dict[str, object]:
        """Return the public record of the estimate, for JSON."""
        return {
            **estimate_header(self.oracle, self.reports),
            "mean": self.mean,
            "standard_error": self.standard_error,
            "interval": list(self.interval()),
        }


def half_width(oracle: NumberOracle, n: int, missing: Fraction) -> float:
    """Return the smaller of Hoeffding's and Bernstein's half-width, in units of the values, rounded
    up. The variance of a score is at most that of its coins plus that of the straight line over all
    steps, and never more than a quarter of the squared range.
    """
    top, line = oracle.top, oracle.slope * oracle.steps
    size = min(oracle._worst + line * line / 4, Fraction(top * top, 4))

    def hoeffding() -> arb:
        return top * (ball(2 / missing).log() / (2 * n)).sqrt() * ball(oracle.scale)

    def bernstein() -> arb:
        chance = ball(2 / missing).log()
        reach = top * chance / 3
        return (
            (reach + (reach * reach + 2 * n * ball(size) * chance).sqrt()) / n * ball(oracle.scale)
        )

    return min(evaluate(hoeffding, "up"), evaluate(bernstein, "up"))
