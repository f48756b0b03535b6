"""Oracles for a number: each value is rounded to a public grid, and the mean score of its report is
a straight line in the grid step.

*Steps*      A value is clamped to [`low`, `high`] and rounded to a grid of a power of two, as
             everywhere: the nearest step, halves upward. Steps are counted from 0; the ends are
             moved outward to the grid. Every value has a step: a value that is no number, NaN too,
             gets the lower end, an infinity the nearer end.
*Law*        `OneBit` and `Piecewise`: the score r of a report is a whole number with E[r | i] =
             base + slope·i, exactly, i the step of the value. So (mean of scores − base)/slope is
             an unbiased estimate of the mean step; of the values themselves it is off by half a
             step at most.
*Error*      Var(r | i) is an exact rational, too. `variance(n, value)` is that of the coins if
             everyone has that value; without a value the largest, which no data exceed. About a
             population from which people are drawn, the variance of their values over n comes on
             top, as in any survey.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sized
from fractions import Fraction
from typing import ClassVar, Unpack

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ...exact.balls import up
from ...exact.numbers import (
    Number,
    double_above,
    double_below,
    exact,
    positive,
    power_of_two,
)
from ...guarantees import Relation
from ...guarantees.guarantee import unit_of
from ...keywords import spell_out
from ...mechanisms.randomized_response import check_reported_relation
from ...mechanisms.shared.grid import snap_each
from ...mechanisms.stated.audit_example import AuditExample
from ...noise.bits import SYSTEM, Bits
from ...records import record
from .. import client
from .. import local_refusals as refusals
from ..client import Question
from ..frequency_estimate import ReportTotals
from ..lib.audit_inputs import number_example
from ..lib.biased_coins import Bytes
from ..oracle import UnitOptions, ValueOracle, check_report_count
from ..wire_reports import Reports
from .mean_estimate import MeanEstimate

STEPS = 1 << 10
"""Least number of steps of a default grid; it has less than twice as many."""


@record(kw_only=True, init=False)
class NumberOracle(ValueOracle):
    """An oracle for the mean of a number between public ends."""

    most_steps: ClassVar[int]
    low: Fraction
    high: Fraction
    grid: int  # the exponent of a power of two
    epsilon: Fraction = field(converter=positive)
    relation: Relation | None = field(default=None, converter=check_reported_relation)
    unit: str | None = field(default=None, converter=unit_of)

    @spell_out(UnitOptions)
    def __init__(
        self,
        *,
        epsilon: Number,
        low: Number,
        high: Number,
        grid: Number | None = None,
        **about: Unpack[UnitOptions],
    ) -> None:
        ends = exact(low, "low"), exact(high, "high")
        if not ends[0] < ends[1]:
            raise refusals.LOW_NOT_BELOW_HIGH(low=low, high=high)
        exponent = _fine(ends[1] - ends[0]) if grid is None else power_of_two(grid, "grid")
        first, last = (end / Fraction(2) ** exponent for end in ends)
        steps = math.ceil(last) - math.floor(first)
        if not 1 <= steps <= self.most_steps or max(abs(first), abs(last)) >= 1 << 52:
            raise refusals.GRID_OUT_OF_RANGE(grid=grid, most=self.most_steps)
        self.__attrs_init__(low=ends[0], high=ends[1], grid=exponent, epsilon=epsilon, **about)

    @property
    @abstractmethod
    def base(self) -> Fraction:
        """E[score | step 0]."""

    @property
    @abstractmethod
    def slope(self) -> Fraction:
        """The increase of the mean score per step."""

    @property
    @abstractmethod
    def top(self) -> int:
        """The largest score; the least is 0."""

    @abstractmethod
    def _score_variance(self, step: int) -> Fraction:
        """Var(score | step)."""

    @property
    @abstractmethod
    def _worst(self) -> Fraction:
        """The largest variance of a score over all steps."""

    @abstractmethod
    def _scores(self, payload: Bytes) -> NDArray[np.int64]:
        """Return the scores of payloads."""

    @property
    def unit_step(self) -> Fraction:
        """The size of a step."""
        return Fraction(2) ** self.grid

    @property
    def first(self) -> int:
        """The number of the lowest step, counted from 0."""
        return math.floor(self.low / self.unit_step)

    @property
    def steps(self) -> int:
        """The number of steps from the lower end to the upper."""
        return math.ceil(self.high / self.unit_step) - self.first

    def arguments(self) -> Question:
        return {
            "epsilon": str(self.epsilon),
            "low": str(self.low),
            "high": str(self.high),
            "grid": str(self.unit_step),
        }

    def _shape(self) -> Question:
        """Return what a client needs to round a number to the grid."""
        return {"grid": self.grid, "first": self.first, "steps": self.steps}

    def _codes(self, values: object, bits: Bits = SYSTEM) -> NDArray[np.int64]:
        return np.clip(snap_each(to_doubles(values), self.grid) - self.first, 0, self.steps)

    def _tally(self, payload: Bytes) -> NDArray[np.int64]:
        """Sum the scores and their squares."""
        scores = self._scores(payload)
        return np.array([scores.sum(), (scores * scores).sum()], dtype=np.int64)

    def estimate(self, reports: Reports | ReportTotals | bytes | Iterable[bytes]) -> MeanEstimate:
        counted = self._aggregate_some(reports)
        return MeanEstimate(self, counted.counts, counted.reports)

    def count_outside(self, values: Iterable[object]) -> int:
        return count_beyond(self.low, self.high, values)

    def variance(self, n: int, value: Number | None = None) -> float:
        """Return the exact variance of the estimated mean over the coins, rounded up: if everyone
        has this value, or the largest for any values.
        """
        score_variance = (
            self._worst
            if value is None
            else self._score_variance(int(self._codes([float(exact(value, "value"))])[0]))
        )
        return up(score_variance * self.scale**2 / check_report_count(n))

    def mse(self, values: object) -> float:
        """Return E(estimated mean − mean of these people's values on the grid)² over the coins,
        rounded up.
        """
        steps, counts = np.unique(self._codes(values), return_counts=True)
        n = check_report_count(int(counts.sum()))
        total = sum(
            (int(c) * self._score_variance(int(i)) for i, c in zip(steps, counts, strict=True)),
            Fraction(0),
        )
        return up(total * self.scale**2 / n**2)

    def influence(self, fakes: int, n: int) -> float:
        """Return how far `fakes` invented reports among n can move the estimated mean, compared
        with any reports in their place.
        """
        return up(
            Fraction(check_report_count(fakes), check_report_count(n)) * self.top * self.scale
        )

    @property
    def scale(self) -> Fraction:
        """The increase of a single report's estimate per point of its score."""
        return self.unit_step / self.slope

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        return [number_example(cls)]


def count_beyond(low: Fraction, high: Fraction, values: Iterable[object]) -> int:
    """Count the values that are no number, or lie beyond the ends."""
    numbers = to_doubles(list(values))
    inside = (numbers >= double_above(low)) & (numbers <= double_below(high))
    return int(numbers.size - np.count_nonzero(inside))


def to_doubles(values: object) -> NDArray[np.float64]:
    """Convert any values to finite doubles, by the client's rule: a value that is no number, NaN
    too, lies below all others, and infinities at the ends of the doubles.
    """
    try:
        array = np.asarray(values)
        listed = array if array.dtype.kind in "biuf" else np.asarray(values, dtype=object)
    except (TypeError, ValueError):  # rows of different lengths: a person each
        people = len(values) if isinstance(values, Sized) else 1
        listed = np.full(people, None, dtype=object)
    if listed.dtype == object:
        return np.array([float(client.number(value)) for value in listed.ravel()], dtype=np.float64)
    with np.errstate(over="ignore"):  # longer doubles than ours
        return np.nan_to_num(
            listed.ravel().astype(np.float64),
            nan=-client.FAR,
            posinf=client.FAR,
            neginf=-client.FAR,
        )


def _fine(width: Fraction) -> int:
    """Return the exponent of the largest power of two with at least STEPS steps in the width."""
    share = width / STEPS
    exponent = share.numerator.bit_length() - share.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= share else exponent - 1
