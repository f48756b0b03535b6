"""Data of a public range or of public categories, shared by the mechanisms that need them: values
are clipped to the range and put on a public grid.

NaN and infinity are refused: the caller replaces them by a rule fixed beforehand. A label that is
no category counts for none.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from ...exact.numbers import Number, exact, power_of_two, power_of_two_at_least, probability
from ...guarantees.guarantee import unit_of
from ...noise.bits import SYSTEM
from ...noise.choice import Choice
from ...noise.law import Integers
from ...noise.uniform import integer_below_each
from . import mechanism_refusals as refusals
from .additive import check_grid
from .grid import integers, snap_integers, steps

ORDERED = ("median", "quantile", "iqr", "kth-largest")
"""The statistics that have a rank."""


class OrderOptions(TypedDict, total=False):
    """The keywords of all mechanisms for order statistics."""

    grid: Number | None
    q: Number
    unit: str | None


class StatisticOptions(OrderOptions, total=False):
    """The keywords of the mechanisms for order statistics and for the mode."""

    low: Number | None
    high: Number | None
    categories: Sequence[Hashable]


class StatisticFields(TypedDict):
    """The fields of the mechanisms for order statistics and for the mode."""

    statistic: str
    q: Fraction | None
    unit: str | None
    range: Range | None
    low: Fraction | None
    high: Fraction | None
    grid: Fraction | None
    categories: tuple[Hashable, ...]


class Range:
    """Public ends and a public grid between them; about a million points by default."""

    __slots__ = ("exponent", "first", "grid", "high", "last", "low")

    def __init__(self, low: Number, high: Number, grid: Number | None) -> None:
        self.low, self.high = check_ends(low, high)
        self.grid = check_grid(grid) or power_of_two_at_least(self.high - self.low) / 2**20
        self.exponent = power_of_two(self.grid, "grid")
        self.first, self.last = math.ceil(self.low / self.grid), math.floor(self.high / self.grid)
        if self.first > self.last:
            refusal = refusals.GRID_WITHOUT_POINTS
        elif max(abs(self.first), abs(self.last)) >= 2**61:
            refusal = refusals.GRID_TOO_FINE
        else:
            return
        fine = power_of_two_at_least(self.high - self.low) / 2**20
        coarse = power_of_two_at_least(max(abs(self.low), abs(self.high))) / 2**60
        exponent = power_of_two(max(fine, coarse), "grid")
        raise refusal(low=low, high=high, grid=grid, exponent=exponent)

    def sorted_steps(self, values: object) -> NDArray[np.int64]:
        """The values on the grid, clipped to the ends, smallest first."""
        exact_values = None if isinstance(values, list | tuple) else integers(np.asarray(values))
        on_grid = steps(values, self.exponent) if exact_values is None else self._snap(exact_values)
        return np.sort(np.clip(on_grid.ravel(), self.first, self.last))

    def value(self, step: int) -> int | float:
        """A grid point as a user would write it."""
        return step * int(self.grid) if self.grid.denominator == 1 else float(step * self.grid)

    def _snap(self, values: Integers) -> NDArray[np.int64]:
        """Put integers on the grid. They are first clipped to integers around the ends, which
        changes no result and keeps shifts within 64 bits.
        """
        low, high = math.floor(self.low), math.ceil(self.high)
        if (
            values.dtype == object
            or max(abs(low), abs(high)).bit_length() + max(0, -self.exponent) > 61
        ):
            return snap_integers(values, self.exponent)
        near = np.clip(values, low, high)
        shifted: NDArray[np.int64] = (
            near << -self.exponent
            if self.exponent <= 0
            else (near + (1 << self.exponent - 1)) >> self.exponent
        )
        return shifted


def check_ends(low: Number, high: Number) -> tuple[Fraction, Fraction]:
    """Check the public ends of a range that is not empty."""
    ends = exact(low, "low"), exact(high, "high")
    if not ends[0] < ends[1]:
        raise refusals.EMPTY_RANGE(low=low, high=high)
    return ends


def check_q(value: Number) -> Fraction:
    """Check the q of a quantile, whose scores are multiples of 1/denominator."""
    q = probability(value, "q", one=True)
    if q.denominator > 2**20:
        raise refusals.Q_TOO_LONG(q=value, shorter=q.limit_denominator(2**20))
    return q


def check_range(
    mechanism: str, low: Number | None, high: Number | None, grid: Number | None
) -> Range:
    """Build the range of an order statistic, which needs both ends."""
    if low is None or high is None:
        raise refusals.ENDS_MISSING(mechanism=mechanism)
    return Range(low, high, grid)


def check_categories(mechanism: str, values: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Check public categories, each named once."""
    categories = tuple(values)
    if not categories or len(set(categories)) != len(categories):
        raise refusals.MODE_WITHOUT_CATEGORIES(mechanism=mechanism)
    return categories


def check_statistic(statistic: str, names: Sequence[str]) -> str:
    """Check that a statistic's distance or sensitivity has a closed form."""
    if statistic not in names:
        raise refusals.UNKNOWN_STATISTIC(
            statistic=statistic, statistics=", ".join(names), example=names[0]
        )
    return statistic


def category_counts(data: Iterable[object], categories: tuple[Hashable, ...]) -> NDArray[np.int64]:
    """Count the labels of each category."""
    place = {c: i for i, c in enumerate(categories)}
    labels = data.ravel().tolist() if isinstance(data, np.ndarray) else list(data)
    codes = [place[v] for v in labels if isinstance(v, Hashable) and v in place]
    return np.bincount(np.array(codes, dtype=np.int64), minlength=len(categories)).astype(np.int64)


def statistic_q(statistic: str, options: OrderOptions) -> Fraction | None:
    """Return the q of the median and of the quantile."""
    if statistic == "quantile":
        return probability(options.get("q", "1/2"), "q", one=True)
    return Fraction(1, 2) if statistic == "median" else None


def statistic_fields(mechanism: str, statistic: str, options: StatisticOptions) -> StatisticFields:
    """Return the fields that the mechanisms for one statistic share: an order statistic has a
    range, the mode has categories.
    """
    place, q = f"{mechanism}({statistic!r})", statistic_q(statistic, options)
    unit = unit_of(options.get("unit"))
    limits = options.get("low"), options.get("high"), options.get("grid")
    ends = check_range(place, *limits) if statistic in ORDERED else None
    categories = options.get("categories", ())
    return {
        "statistic": statistic,
        "q": q,
        "unit": unit,
        "range": ends,
        "low": None if ends is None else ends.low,
        "high": None if ends is None else ends.high,
        "grid": None if ends is None else ends.grid,
        "categories": check_categories(place, categories) if statistic == "mode" else (),
    }


def draw_points(
    grid: Fraction, starts: NDArray[np.int64], sizes: NDArray[np.int64], law: Choice, n: int
) -> NDArray[np.generic]:
    """Draw n points: each a run of points by the law, then a uniform point of the run."""
    chosen = law.sample(n)
    steps = starts[chosen] + integer_below_each(sizes[chosen], SYSTEM)
    return steps * (int(grid) if grid.denominator == 1 else float(grid))  # a power of two: exact
