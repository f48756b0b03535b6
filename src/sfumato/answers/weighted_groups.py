"""Weighted sums of released cells, row by row, with the exact law of their noise.

*Ranges*    A row adds up, with one weight each, some ranges of groups in a common order: its own
            group, all groups, the last three. So a row takes a few numbers, however long its ranges
            are, and rows with equal patterns of weights share one bound.
*Many*      A long range counts as one of the next larger lengths on a coarse scale: more
            independent draws of the same symmetric noise are never within a bound more often.
*Rounding*  Sums are added in doubles; the bound is widened by more than their errors.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from ..exact.balls import up
from ..noise.weighted_sums import Spread, sum_bound
from .answer_records import Column, Noisy, law_of
from .formula import Ends
from .group_frames import Doubles, Frames, Places, sums_over
from .quotient_intervals import NoiseTerm, quotients_without_limits

_ROUNDING = 2.0**-40


@dataclass(frozen=True, slots=True, eq=False)
class GroupRange:
    """A range of groups for every row, and the weight of a released column there. A range without
    an order is of one group or of all, so any order fits.
    """

    column: Column
    piece: Noisy
    order: Places | None
    start: Places
    end: Places
    weight: Doubles

    @property
    def groups(self) -> int:
        return len(self.piece.values)

    @property
    def space(self) -> tuple[int, Fraction]:
        """What tells the groups of one table from those of another: parts add up within one."""
        return self.groups, self.column.numbers.get("space", Fraction(0))

    def within(self, order: Places) -> tuple[Places, Places]:
        """Return the ranges in an order that fits."""
        if self.order is not None or (self.end - self.start == self.groups).all():
            return self.start, self.end
        position = np.empty(len(order), dtype=np.int64)
        position[order] = np.arange(len(order))
        at = position[np.minimum(self.start, len(order) - 1)]
        return at, at + (self.end - self.start)


@dataclass(frozen=True, slots=True, eq=False)
class WeightedGroups:
    """A constant plus weighted sums of released cells over ranges of groups, for every row."""

    constant: Doubles
    parts: tuple[GroupRange, ...] = ()
    centre: Doubles | float = 0.0  # the released value of the sums, without the constant
    size: Doubles | float = 0.0  # the sum of the absolute values

    count = 1

    @classmethod
    def of(cls, column: Column, piece: Noisy, values: Doubles) -> WeightedGroups:
        """Return the cells of a column themselves."""
        at = np.arange(len(values))
        part = GroupRange(column, piece, None, at, at + 1, np.ones(len(values)))
        return cls(np.zeros(len(values)), (part,), values, np.abs(values))

    @classmethod
    def fixed(cls, value: Doubles | float) -> WeightedGroups:
        """Return a number without noise."""
        return cls(np.asarray(value, dtype=np.float64))

    @property
    def is_fixed(self) -> bool:
        return not self.parts

    @property
    def value(self) -> Doubles:
        return np.asarray(self.constant + self.centre)

    @property
    def order(self) -> Places | None:
        """The order of the ranges; None if any order fits."""
        return next((part.order for part in self.parts if part.order is not None), None)

    def can_join(self, second: WeightedGroups) -> bool:
        """Tell whether the ranges of two sums fit one order, and their groups are the same."""
        mine, yours = self.order, second.order
        spaces = {part.space for part in (*self.parts, *second.parts)}
        return len(spaces) <= 1 and (mine is None or yours is None or np.array_equal(mine, yours))

    def plus(self, second: WeightedGroups) -> WeightedGroups | None:
        """Add two sums; None if their ranges fit no common order."""
        if not self.can_join(second):
            return None
        return WeightedGroups(
            self.constant + second.constant,
            (*self.parts, *second.parts),
            self.centre + second.centre,
            self.size + second.size,
        )

    def times(self, factor: Doubles | float) -> WeightedGroups:
        """Multiply by numbers without noise."""
        weight = np.asarray(factor, dtype=np.float64)
        return WeightedGroups(
            self.constant * weight,
            tuple(replace(part, weight=part.weight * weight) for part in self.parts),
            self.centre * weight,
            self.size * np.abs(weight),
        )

    def picked(self, frames: Frames, empty: Fraction | None) -> WeightedGroups:
        """Return the rows that frames of one row name; `empty` is the value where there is none."""
        is_empty = frames.sizes == 0
        at = frames.order[np.minimum(frames.start, len(frames.order) - 1)]
        rows = [
            replace(
                part,
                start=part.start[at],
                end=part.end[at],
                weight=np.where(is_empty, 0.0, part.weight[at]),
            )
            for part in self.parts
        ]
        near = np.nan if empty is None else float(empty)
        groups = len(frames.order)
        return WeightedGroups(
            np.where(is_empty, near, np.broadcast_to(self.constant, groups)[at]),
            tuple(rows),
            np.where(is_empty, 0.0, np.broadcast_to(self.centre, groups)[at]),
            np.where(is_empty, 0.0, np.broadcast_to(self.size, groups)[at]),
        )

    def over(self, frames: Frames, *, is_mean: bool) -> WeightedGroups | None:
        """Add the cells of ranges; None if they are no ranges of cells again."""
        ranges = [_ranges_over(part, frames) for part in self.parts]
        joined = [each for each in ranges if each is not None]
        if not joined or len(joined) < len(ranges):
            return None
        groups = len(frames.order)
        if not groups:
            return WeightedGroups.fixed(np.full(len(frames.start), np.nan))
        with np.errstate(divide="ignore"):
            share = np.where(frames.sizes > 0, 1 / frames.sizes, np.nan) if is_mean else 1.0
        is_empty = frames.sizes == 0
        scale = np.where(is_empty, 0.0, share) * np.ones(len(frames.start))
        parts = tuple(
            replace(
                part,
                order=None if (end - start == part.groups).all() else order,
                start=start,
                end=end,
                weight=part.weight[0] * scale,
            )
            for part, (order, start, end) in zip(self.parts, joined, strict=True)
        )
        constant, centre, size = (
            np.nan_to_num(sums_over(np.broadcast_to(x, groups), frames)) * scale
            for x in (self.constant, self.centre, self.size)
        )
        return WeightedGroups(np.where(is_empty, np.nan, constant), parts, centre, size)

    def ends(self, missing: Fraction, cells: int) -> Ends:
        """Return the ends of every row, of so many cells together."""
        if self.is_fixed:
            near = np.asarray(self.constant)
            return near, near
        rounding = self.size * (self.parts[0].groups + 16) * 2.0**-52
        rounding = rounding + np.abs(self.value) * 2.0**-50
        reach = self._bounds(missing / cells) * (1 + _ROUNDING) + rounding
        return self.value - reach, self.value + reach

    def _bounds(self, missing: Fraction) -> Doubles:
        listed = patterns_of(self, None)
        bounds: dict[Pattern, float] = {}
        for pattern in set(listed):
            terms = tuple((law, abs(a), n) for law, a, _, n in _terms(pattern, self.parts) if a)
            bounds[pattern] = up(sum_bound(terms, missing))
        return np.array([bounds[pattern] for pattern in listed])


Pattern = tuple[tuple[tuple[float, ...], int], ...]
"""For kinds of groups: the weight of each part there, and the number of groups."""


def patterns_of(top: WeightedGroups, bottom: WeightedGroups | None) -> list[Pattern]:
    """Return for every row how many groups have which weights in the parts of one sum or two."""
    parts = (*top.parts, *(() if bottom is None else bottom.parts))
    order = top.order if top.order is not None or bottom is None else bottom.order
    if order is None:
        order = np.arange(parts[0].groups)
    ranges = [part.within(order) for part in parts]
    starts, ends, weights = (
        np.stack(np.broadcast_arrays(*lists), axis=1)
        for lists in (
            [start for start, _ in ranges],
            [end for _, end in ranges],
            [part.weight for part in parts],
        )
    )
    return [
        _pattern(start, end, weight)
        for start, end, weight in zip(starts.tolist(), ends.tolist(), weights.tolist(), strict=True)
    ]


def _pattern(start: list[int], end: list[int], weight: list[float]) -> Pattern:
    edges = sorted({*start, *end})
    counts: Counter[tuple[float, ...]] = Counter()
    for first, last in pairwise(edges):
        here = tuple(
            w if a <= first and last <= b and not np.isnan(w) else 0.0
            for a, b, w in zip(start, end, weight, strict=True)
        )
        if any(here):
            counts[here] += last - first
    return tuple(sorted((here, _coarse(count)) for here, count in counts.items()))


def _coarse(count: int) -> int:
    """Round a number of draws above 128 up, by at most a sixty-fourth. Such sums are bounded kind
    by kind (`weighted_sums.SEVERAL`).
    """
    unit = 1 << max(0, count.bit_length() - 7)
    return -(-count // unit) * unit


def _terms(
    pattern: Pattern, parts: tuple[GroupRange, ...], tops: int | None = None
) -> list[NoiseTerm]:
    """Return the draws of a pattern: law, weight in the sum of the first `tops` parts and in that
    of the rest, and how many.
    """
    tops = len(parts) if tops is None else tops
    terms: list[NoiseTerm] = []
    for weights, count in pattern:
        draws: dict[str, list[Fraction]] = {}
        laws: dict[str, Spread] = {}
        for i, (part, weight) in enumerate(zip(parts, weights, strict=True)):
            for draw in part.piece.draws if weight else ():
                law = law_of(draw.mechanism)
                assert law is not None
                laws[draw.name] = law
                pair = draws.setdefault(draw.name, [Fraction(0), Fraction(0)])
                pair[i >= tops] += Fraction(weight) * draw.weight * part.piece.step
        terms += [
            (laws[name], top, bottom, count)
            for name, (top, bottom) in draws.items()
            if top or bottom
        ]
    return terms


def _ranges_over(part: GroupRange, frames: Frames) -> tuple[Places, Places, Places] | None:
    """Return the order and the ranges of the cells that frames add up: those of the groups
    themselves, or ranges side by side. None if there are no such ranges, or their weights differ.
    """
    if len(part.start) != len(frames.order) or not (part.weight == part.weight[:1]).all():
        return None
    rows = np.arange(part.groups)
    if part.order is None and np.array_equal(part.start, rows):
        are_single = np.array_equal(part.end, part.start + 1)
        return (frames.order, frames.start, frames.end) if are_single else None
    if part.order is None:
        return None
    joined: dict[tuple[int, int], tuple[int, int]] = {}
    pairs = list(zip(frames.start.tolist(), frames.end.tolist(), strict=True))
    for first, last in set(pairs):
        places = frames.order[first:last]
        starts, ends = np.sort(part.start[places]), np.sort(part.end[places])
        if not np.array_equal(starts[1:], ends[:-1]):
            return None
        joined[first, last] = (int(starts[0]), int(ends[-1])) if len(places) else (0, 0)
    start, end = np.array([joined[pair] for pair in pairs], dtype=np.int64).reshape(-1, 2).T
    return part.order, start, end


def quotient_of_groups(top: WeightedGroups, bottom: WeightedGroups, missing: Fraction) -> Ends:
    """Return the ends of S/N of two sums, row by row; rows with equal patterns at once."""
    parts = (*top.parts, *bottom.parts)
    listed = patterns_of(top, bottom)
    rows: dict[Pattern, list[int]] = {}
    for i, pattern in enumerate(listed):
        rows.setdefault(pattern, []).append(i)
    above, below = (np.broadcast_to(x.value, len(listed)) for x in (top, bottom))
    low, high = np.full(len(listed), -np.inf), np.full(len(listed), np.inf)
    for pattern, places in rows.items():
        terms = _terms(pattern, parts, len(top.parts))
        if any(term[2] for term in terms):
            low[places], high[places] = quotients_without_limits(
                above[places], below[places], terms, missing
            )
    return low, high
