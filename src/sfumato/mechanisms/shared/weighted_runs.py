"""Turn rows (group, point, weight) into runs of grid points that share a distance from the
quantile, for many groups in one pass.

*Steps*       Points are clipped to the range, rows sorted, equal points of a group merged, and the
              two ends of the range added to every group with weight 0. A group is then a point, a
              gap, a point, …, a point; gaps may be empty.
*Exactness*   With q = b/d a distance is hi + lo/d, 0 ≤ lo < d, two whole numbers: no product leaves
              64 bits while all weights together stay below 2^62, which public limits have to see
              to. Beyond that Python's integers take over, which are slow.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...noise.choice import Choice
from ...noise.choices import MOST
from ...noise.law import Integers
from . import mechanism_refusals as refusals
from .bounded_data import Range
from .grid import whole_numbers

FAR = 1 << 61
"""The largest public weight or shift."""

_FITS = 1 << 62
_BLOCK = 1 << 16  # points in a pass, so that it stays in the cache
_NEAR = 1 << 42  # below it hi·d + lo, d ≤ 2^20, is a 64-bit integer
_STEEP = Fraction(2) ** 64  # at this rate every distance but 0 is beyond e^(−800)


class GroupedPoints(NamedTuple):
    """Points with their weights, smallest first, group by group; group g is from begins[g] to
    begins[g + 1].
    """

    points: NDArray[np.int64]
    weights: Integers
    begins: NDArray[np.int64]


def group_points(
    groups: ArrayLike, points: ArrayLike, weights: ArrayLike, count: int, ends: Range
) -> GroupedPoints:
    """Sort and merge the rows of the groups 0 … count − 1. Only a wrong type is refused."""
    of = _integers(groups, "groups")
    at, weight = _integers(points, "points"), _integers(weights, "weights")
    if not len(of) == len(at) == len(weight):
        raise refusals.ROWS_OF_DIFFERENT_LENGTH()
    at = np.clip(at, ends.first, ends.last).astype(np.int64)
    weight = np.maximum(weight, 0)
    if weight.dtype != object or sum(weight) < _FITS:
        weight = weight.astype(np.int64 if weight.sum(dtype=np.float64) < 0.99 * _FITS else object)
    if not ((of >= 0) & (of < count)).all():
        valid = ((of >= 0) & (of < count)).astype(np.bool_)
        of, at, weight = of[valid], at[valid], weight[valid]
    of = of.astype(np.int64)
    if not ((of[1:] > of[:-1]) | ((of[1:] == of[:-1]) & (at[1:] >= at[:-1]))).all():
        order = _order(of, at, count, ends)
        of, at, weight = of[order], at[order], weight[order]
    return _merge(of, at, weight, count, ends)


def _integers(column: ArrayLike, name: str) -> Integers:
    numbers = whole_numbers(column)
    if numbers is None and np.size(column) == 0:  # an empty list has no type
        return np.empty(0, dtype=np.int64)
    if numbers is None or numbers.ndim != 1:
        raise refusals.NOT_A_ROW_OF_INTEGERS(name=name, type=np.asarray(column).dtype)
    return numbers


def _order(
    of: NDArray[np.int64], at: NDArray[np.int64], count: int, ends: Range
) -> NDArray[np.int64]:
    """Return the order by group and point; by one key if it fits 64 bits, which is faster."""
    span = ends.last - ends.first + 1
    return (
        np.lexsort((at, of)) if count * span >= _FITS else np.argsort(of * span + (at - ends.first))
    )


def _merge(
    of: NDArray[np.int64], at: NDArray[np.int64], weight: Integers, count: int, ends: Range
) -> GroupedPoints:
    """One row for each point, and the ends of the range in every group."""
    every = np.arange(count)
    places = np.stack(
        [of.searchsorted(every), of.searchsorted(every, side="right")], axis=1
    ).ravel()
    at = np.insert(at, places, np.tile([ends.first, ends.last], count))
    of, weight = np.insert(of, places, np.repeat(every, 2)), np.insert(weight, places, 0)
    fresh = np.flatnonzero(np.concatenate(([True], (at[1:] != at[:-1]) | (of[1:] != of[:-1]))))
    return GroupedPoints(
        at[fresh], np.add.reduceat(weight, fresh), of[fresh].searchsorted(np.arange(count + 1))
    )


def blocks(rows: GroupedPoints, count: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of groups to process at once."""
    first = 0
    while first < count:
        full = int(rows.begins.searchsorted(rows.begins[first] + _BLOCK, side="right")) - 1
        last = max(first + 1, min(full, first + MOST, count))
        yield first, last
        first = last


class PointRuns:
    """The runs of the groups first … last − 1. They hold data."""

    __slots__ = ("_denominator", "_hi", "_lo", "firsts", "sizes", "starts")

    def __init__(self, rows: GroupedPoints, first: int, last: int, q: Fraction, shift: int) -> None:
        begins = rows.begins[first : last + 1]
        points, weights = rows.points[begins[0] : begins[-1]], rows.weights[begins[0] : begins[-1]]
        begins = begins - begins[0]
        groups = np.arange(last - first)
        group = np.repeat(groups, np.diff(begins))
        place = 2 * np.arange(len(points)) - group  # of each point among the runs
        inner = np.delete(np.arange(len(points)), begins[1:] - 1)  # points with a gap behind them
        gap = place[inner] + 1
        self.starts = 2 * begins[:-1] - groups
        self.firsts = np.empty(2 * len(points) - len(groups), dtype=np.int64)
        self.firsts[place], self.firsts[gap] = points, points[inner] + 1
        self.sizes = np.ones_like(self.firsts)
        self.sizes[gap] = points[inner + 1] - points[inner] - 1
        sums = np.cumsum(weights, dtype=weights.dtype)
        before = (sums - weights)[begins[:-1]]
        upto_point = sums - before[group]
        less, upto = (np.empty(len(self.firsts), dtype=weights.dtype) for _ in range(2))
        less[place], upto[place] = upto_point - weights, upto_point
        less[gap] = upto[gap] = upto_point[inner]
        self._measure(less, upto, sums[begins[1:] - 1] - before, q, shift)

    def _measure(
        self, less: Integers, upto: Integers, total: Integers, q: Fraction, shift: int
    ) -> None:
        """max(W_< − q·W + t, q·W − W_≤ − t, 0) = hi + lo/d. The two are never both above 0: their
        sum is minus the weight of the point.
        """
        b, d = q.numerator, q.denominator
        self._denominator = d
        counts = np.diff(self.starts, append=len(self.firsts))
        aim = b * (total // d) + b * (total % d) // d - shift  # ⌊q·W⌋ − t, without leaving 64 bits
        rest = b * (total % d) % d
        hi, lo = less - np.repeat(aim + (rest > 0), counts), np.repeat((d - rest) % d, counts)
        above = (hi >= 0).astype(np.bool_)
        above[self.starts] = False
        missing = np.repeat(aim, counts) - upto
        under = (missing >= 0).astype(np.bool_) & ~above
        under[self.starts + counts - 1] = False
        self._hi = np.where(above, hi, np.where(under, missing, 0))
        self._lo = np.where(above, lo, np.where(under, np.repeat(rest, counts), 0))

    def exponents(self, rate: Fraction) -> NDArray[np.float64]:
        """−rate·distance, to 2^-50 of itself; each group has a run of distance 0."""
        hi, lo, d = self._hi, self._lo, self._denominator
        slope = float(min(rate, _STEEP))
        if hi.dtype == object:
            return np.array(
                [
                    -float(min(rate * Fraction(int(h) * d + int(k), d), Fraction(10_000)))
                    for h, k in zip(hi, lo, strict=True)
                ]
            )
        near = (np.minimum(hi, _NEAR) * d + lo) / d
        if hi.max() < _NEAR:
            return near * -slope
        return np.where(hi < _NEAR, near, hi + lo / d) * -slope

    def choice(self, group: int, rate: Fraction) -> Choice:
        """The exact law of a group's choice among its runs."""
        start = int(self.starts[group])
        stop = int(self.starts[group + 1]) if group + 1 < len(self.starts) else len(self.firsts)
        hi, lo, d = self._hi[start:stop], self._lo[start:stop], self._denominator
        scores: list[int] | NDArray[np.int64] = (
            -(hi * d + lo)
            if hi.dtype != object and hi.max() < _NEAR
            else [-(int(h) * d + int(k)) for h, k in zip(hi, lo, strict=True)]
        )
        return Choice(scores, rate=rate / d, prior=self.sizes[start:stop])
