"""What the mechanisms on values of a public range share: values clipped to public ends and put on a
public grid, or labels of public categories.

NaN and infinity are refused, so a caller replaces them by a rule decided beforehand: these are
records for experts, as `perturb` is everywhere. A label that is no category counts for none.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import Refused
from ...exact.numbers import Number, exact, power_of_two, power_of_two_at_least
from .additive import known_grid
from .grid import integers, snap_integers, steps
from .mechanism import Mechanism


class Range:
    """Public ends and a public grid between them: about a million points where no grid is given."""

    __slots__ = ("exponent", "first", "grid", "high", "last", "low")

    def __init__(self, low: Number, high: Number, grid: Number | None) -> None:
        self.low, self.high = known_ends(low, high)
        self.grid = known_grid(grid) or power_of_two_at_least(self.high - self.low) / 2**20
        self.exponent = power_of_two(self.grid, "grid")
        self.first, self.last = math.ceil(self.low / self.grid), math.floor(self.high / self.grid)
        if self.first > self.last or max(abs(self.first), abs(self.last)) >= 2**61:
            raise Refused(
                "range.grid",
                f"low={low}, high={high}, grid={grid}",
                "no points, or too many, of the grid lie in the range",
                "a grid that fits the range",
            )

    def sorted_steps(self, values: ArrayLike) -> NDArray[np.int64]:
        """The values on the grid, clipped to the ends, smallest first."""
        whole = None if isinstance(values, list | tuple) else integers(np.asarray(values))
        found = steps(values, self.exponent) if whole is None else self._snap(whole)
        return np.sort(np.clip(found.ravel(), self.first, self.last))

    def value(self, step: int) -> Any:
        """A grid point as a user would write it."""
        return step * int(self.grid) if self.grid.denominator == 1 else float(step * self.grid)

    def _snap(self, whole: NDArray[Any]) -> NDArray[np.int64]:
        """Integers on the grid; clipped first to integers around the ends, which changes nothing
        and keeps shifts within 64 bits.
        """
        low, high = math.floor(self.low), math.ceil(self.high)
        if (
            whole.dtype == object
            or max(abs(low), abs(high)).bit_length() + max(0, -self.exponent) > 61
        ):
            return snap_integers(whole, self.exponent)
        near = np.clip(whole, low, high)
        shifted: NDArray[np.int64] = (
            near << -self.exponent
            if self.exponent <= 0
            else (near + (1 << self.exponent - 1)) >> self.exponent
        )
        return shifted


def known_ends(low: Number, high: Number) -> tuple[Fraction, Fraction]:
    """Public ends of a range that is not empty."""
    ends = exact(low, "low"), exact(high, "high")
    if not ends[0] < ends[1]:
        raise Refused(
            "range.ends", f"low={low}, high={high}", "the public range is empty", "low=0, high=1"
        )
    return ends


def known_range(place: str, low: Number | None, high: Number | None, grid: Number | None) -> Range:
    """The range of an order statistic, whose ends have to be given."""
    if low is None or high is None:
        raise Refused("range.ends", place, "an order statistic needs public ends", "low=0, high=1")
    return Range(low, high, grid)


def known_categories(place: str, values: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Public categories, each named once."""
    categories = tuple(values)
    if not categories or len(set(categories)) != len(categories):
        raise Refused(
            "statistic.categories",
            place,
            "the categories are public and each is named once",
            "categories=['a', 'b']",
        )
    return categories


def known_statistic(statistic: str, known: Sequence[str]) -> str:
    """One of the statistics whose distance or sensitivity has a closed form."""
    if statistic not in known:
        raise Refused(
            "statistic.unknown",
            f"{statistic!r:.60}",
            "how far this statistic is from changing is not known in closed form",
            f"one of {', '.join(known)}",
        )
    return statistic


def category_counts(data: Any, categories: tuple[Hashable, ...]) -> NDArray[np.int64]:
    """How many labels each category has."""
    place = {c: i for i, c in enumerate(categories)}
    labels = data.ravel().tolist() if isinstance(data, np.ndarray) else list(data)
    found = [place[v] for v in labels if isinstance(v, Hashable) and v in place]
    return np.bincount(np.array(found, dtype=np.int64), minlength=len(categories)).astype(np.int64)


def put_range(record: Mechanism, ends: Range | None) -> None:
    """The range of a record, with its ends and its grid, which the record shows."""
    for name, value in (
        ("_range", ends),
        ("low", ends and ends.low),
        ("high", ends and ends.high),
        ("grid", ends and ends.grid),
    ):
        object.__setattr__(record, name, value)
