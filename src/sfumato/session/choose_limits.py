"""Choose limits from noisy histograms. This post-processes and draws nothing: the same histograms
always give the same limits.

*Error*       A limit makes the expected squared error of a number least: that of its noise, which
              grows with the limit, and that of what the limit leaves out. `noisy_cells` estimates
              from cumulative counts how many units, or rows, lie beyond each candidate, and leans
              to the wide side.
*Rows*        With a limit k, σ the noise of a count in which a unit has one row, and n rows of a
              unit: k makes (k·σ)² + (Σ (n − k)⁺ / G)² least, the squared error of a count in one of
              G equal groups. Candidates are the powers of two.
*Bounds*      [low, high] makes σ²·(low² + high²) + (f·Σ d / G)² least, d the way from a value to
              the bounds: the squared error of a sum, for each row that a unit counts for. A unit
              weighs one in the histogram, and f in a sum, relative to a unit with k rows: the mean
              of min(n, k)/k where rows were learned as well, 1 otherwise. Candidates are 0 and the
              powers of two on both sides.
*Question*    G is the number of groups of the question that needs the limit: 1 for the whole table,
              the number of public keys, PRIVATE_GROUPS for private ones; 100 at most. σ is the
              deviation at its promise, an equal part for each block of cells that it measures.
              Bounds assume SUM_GROUPS private groups: those that are shown are large.
*Diluted*     A row that a limit leaves out lacks in a count as 1; in a sum as a mean value only,
              while the noise grows with the bounds: a quarter is assumed. A mean moves only as far
              as units with many rows differ from others: a thirtieth. Its noise is divided by what
              counts of all rows, so a low limit costs it little. Of several columns the most
              sensitive counts. Private groups: a tenth, unless `max_groups` is declared, as
              more people have to be in a group that is named the higher the limit is.
*Votes*       A limit of m groups by private keys, where only votes decide which groups show: m
              makes v(m)·Σ G / Σ min(G, m) least, the people that a group needs, v(m) = min(m, 2·√m)
              votes relative to m = 1. Where people of groups are counted: the rule of rows.
*Groups*      The other rule, whatever the question: σ for three parts, rows for one of 100 groups,
              bounds for a quarter of the table with f = 1, and no tail. It gives lower limits, with
              less noise in small groups.
*Beyond*      The share beyond a limit covers all cells up to the last inhabited one, and at least
              WINDOW cells beyond the limit. The record says where these end: further out the data
              cannot be told from the noise of many cells. The same noise chooses limit and end, so
              the stated error holds for all runs of cells at once, with probability 95 %.
*Default*     If no cell is inhabited: 1 row, bounds [0, 1].
*Proof*       docs/proofs/learning.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

from ..guarantees import Guarantee
from ..guarantees.largest_epsilon import largest_epsilon
from ..tables.declare.declaration import MOST_ROWS
from ..tables.declare.learned_limits import (
    Rest,
    Tails,
    round_share,
    round_share_down,
    round_share_up,
)
from ..tables.expr.types import Type
from .noisy_cells import NoisyHistogram, Outward
from .promises import share_of

PIECES = 3
ROW_GROUPS = 100
SUM_GROUPS = 4
PRIVATE_GROUPS = 10
"""The number of groups to assume where the groups of a question are not public."""
DILUTIONS = {"count": 1, "sum": 4, "mean": 30, "private": 10}
"""In what a question asks for, one in so many of the rows that a limit leaves out counts."""
WINDOW = 2
"""The share beyond a limit covers at least so many cells, inhabited or not."""

DEFAULT_ROWS = 1
DEFAULT_BOUNDS = (Fraction(0), Fraction(1))
FINEST, WIDEST = -32, 40
_FAR = 900
_DIGIT = math.log2(10)


@dataclass(frozen=True, slots=True)
class Aim:
    """The number whose expected error limits make least: the deviation of a count with one row per
    unit, the number of equal groups for rows and for bounds, whether to lean to the wide side, and
    whether all numbers are means.
    """

    noise: float
    row_groups: int = 1
    sum_groups: int = 1
    lean: bool = True
    mean: bool = False
    people: bool = True  # whether the people of groups are counted, and not only their votes

    @classmethod
    def for_question(
        cls,
        promise: Guarantee,
        *,
        parts: int = PIECES,
        row_groups: int = 1,
        sum_groups: int = 1,
        mean: bool = False,
        people: bool = True,
    ) -> Aim:
        """Aim at a question with this promise, so many noisy numbers, and so many groups."""
        rows, sums = (min(number, ROW_GROUPS) for number in (row_groups, sum_groups))
        return cls(count_noise(promise, parts), rows, sums, mean=mean, people=people)

    @classmethod
    def for_groups(cls, promise: Guarantee) -> Aim:
        """Aim at small groups, whatever the question."""
        return cls(count_noise(promise), ROW_GROUPS, SUM_GROUPS, lean=False)


@dataclass(frozen=True, slots=True)
class RowLimit:
    """The chosen number of rows, the shares beyond it, and its fill: the mean number of rows that a
    unit counts for, relative to the limit. No shares: a default.
    """

    rows: int
    rest: Rest | None
    fill: float = 1.0


def row_edges() -> tuple[int, ...]:
    """Edges 1 · 2 · 3–4 · 5–8 · …: at most 2^j rows are in one of the first j + 1 cells."""
    powers = [2**j for j in range(MOST_ROWS.bit_length())]
    return (1, *(power + 1 for power in powers), 2**62)


def group_limit(histogram: NoisyHistogram, aim: Aim) -> RowLimit:
    """Choose the limit of groups per unit. If the question counts the people of groups, as for
    rows; else that with which fewest people make a group show.
    """
    return row_limit(histogram, aim, by_votes=not aim.people)


def _votes_needed(groups: int) -> float:
    """Return how many votes a group needs, relative to a limit of one group: weighted votes need
    as many times more as there are groups; a threshold with Gaussian noise needs less from five
    groups on.
    """
    return min(groups, 2 * math.sqrt(groups))


def row_limit(histogram: NoisyHistogram, aim: Aim, *, by_votes: bool = False) -> RowLimit:
    """Choose the row limit per unit, and estimate the shares of units and of rows beyond it."""
    cells = Outward(histogram.counts, histogram.noise)
    start = next((i for doubt in cells.noise.doubts if (i := cells.seen_last(doubt)) >= 0), -1)
    if start < 0:
        return RowLimit(DEFAULT_ROWS, None)
    last = cells.last(start)
    beyond = [*cells.cumulative(last, lean=aim.lean), 0.0]
    # of the rows that a cell spans, a unit beyond it has all, and a unit in it has from one to all
    widths = _row_widths()
    rows = [
        farther * width + (here - farther) * (width + 1) / 2
        for width, (here, farther) in zip(widths, pairwise(beyond), strict=False)
    ]
    within = list(accumulate(rows))
    total = within[-1]

    def error(j: int) -> float:
        if by_votes:
            return _votes_needed(2**j) / within[j] if within[j] else math.inf
        noise = 2**j * aim.noise
        if aim.mean:  # the noise of a sum is divided by what counts of all rows
            noise *= total / within[j] if within[j] else math.inf
        return math.hypot(noise, (total - within[j]) / aim.row_groups)

    best = min(range(min(len(rows), MOST_ROWS.bit_length())), key=error)
    end = min(max(last + 1, best + 1 + WINDOW), len(histogram.counts))
    most = _most_rows_beyond(histogram, best, end)
    least = _least_rows_beyond(histogram, best, end)
    lost = round_share((total - within[best]) / total if total else 0.0)
    share, off = histogram.share_beyond(range(best + 1, end), range(best + 1))
    rest = (share, off, Fraction(row_edges()[end] - 1), max(min(lost, most), least), most, least)
    return RowLimit(2**best, rest, within[best] / (2**best * beyond[0]) if beyond[0] else 1.0)


def _row_widths() -> list[int]:
    """The numbers of rows that each cell spans. The last cell has no end: it counts as twice the
    one before.
    """
    return [1, *(2**j for j in range(MOST_ROWS.bit_length()))]


def _most_rows_beyond(histogram: NoisyHistogram, limit: int, end: int) -> Fraction:
    """Bound the share of rows beyond the limit, among units in cells before `end`: most units
    beyond each cell, with most rows, and fewest units within, with fewest rows.
    """
    if end == len(histogram.counts):
        return Fraction(1)  # the last cell has no end
    widths = _row_widths()
    totals = [histogram.total(range(i, end)) for i in range(end + 1)]
    beyond = sum(totals[i][2] * widths[i] for i in range(limit + 1, end))
    within = sum(totals[i + 1][0] * (widths[i] - 1) + totals[i][0] for i in range(limit + 1))
    return round_share_up(beyond / (beyond + within)) if beyond else Fraction(0)


def _least_rows_beyond(histogram: NoisyHistogram, limit: int, end: int) -> Fraction:
    """Bound the share of rows beyond the limit from below: fewest units beyond each cell, with
    fewest rows, and most units within, with most rows. Units in cells from `end` on only add to it.
    """
    widths = _row_widths()
    totals = [histogram.total(range(i, end)) for i in range(end + 1)]
    beyond = sum(totals[i + 1][0] * (widths[i] - 1) + totals[i][0] for i in range(limit + 1, end))
    within = sum(totals[i][2] * widths[i] for i in range(limit + 1))
    return round_share_down(beyond / (beyond + within)) if beyond else Fraction(0)


def value_edges(column: Type) -> tuple[Fraction, ...]:
    """Edges at 0 and ± powers of two: from 1, or the last digit, or 2^-32, to 2^40 or what the type
    holds. The last cell on each side holds everything further out.
    """
    limits = column.limits
    far = Fraction(2) ** _FAR if limits is None else -limits[0]
    finest = {"integer": 0, "decimal": -math.floor(column.scale * _DIGIT)}.get(column.kind, FINEST)
    sizes = [
        size for j in range(max(finest, FINEST), WIDEST + 1) if (size := Fraction(2) ** j) < far
    ] + [far]
    return (*(-size for size in reversed(sizes)), Fraction(0), *sizes)


def value_bounds(
    edges: Sequence[Fraction], histogram: NoisyHistogram, aim: Aim, fill: float = 1.0
) -> tuple[tuple[Fraction, Fraction], Tails | None]:
    """Choose the bounds of a column, and estimate the shares of rows below and above them."""
    zero, counts, noise = edges.index(Fraction(0)), histogram.counts, histogram.noise
    sides = Outward(counts[:zero][::-1], noise), Outward(counts[zero:], noise)
    last = [-1, -1]
    for doubt in noise.doubts:
        last = [side.seen_last(doubt) for side in sides]
        if max(last) >= 0:
            break
    size = max(last)
    if size < 0:
        return DEFAULT_BOUNDS, None
    for i in sorted(range(2), key=lambda i: -last[i]):  # the wider side first
        last[i] = sides[i].last(last[i], size)
        size = max(size, last[i])
    sizes = edges[zero:]
    # far beyond the widest bounds a value counts as if it were near them
    widths = [float(min(b - a, Fraction(2) ** WIDEST)) for a, b in pairwise(sizes)]
    lows, highs = (
        _clipped(side.cumulative(end, lean=aim.lean), sizes, widths)
        for side, end in zip(sides, last, strict=True)
    )

    ends = [float(size) for size in sizes]

    def error(low: int, high: int) -> float:
        lost = fill * (lows[low] + highs[high]) / aim.sum_groups
        return math.hypot(math.hypot(ends[low], ends[high]) * aim.noise, lost)

    errors = {
        (low, high): error(low, high)
        for low in range(len(lows))
        for high in range(len(highs))
        if low + high
    }
    least = min(errors.values(), default=0.0)
    best = [pair for pair, size in errors.items() if size == least]
    low, high = min(best, key=lambda pair: sizes[pair[0]] + sizes[pair[1]], default=(0, 1))
    # next to 0 the cells are tiny, and tell nothing
    farther = [
        min(max(end + 1, bound + (WINDOW if bound else 0)), len(side.counts))
        for side, end, bound in zip(sides, last, (low, high), strict=True)
    ]
    first, stop = zero - farther[0], zero + farther[1]
    left, right = (
        histogram.share_beyond(range(first, zero - low), range(zero - low, stop)),
        histogram.share_beyond(range(zero + high, stop), range(first, zero + high)),
    )
    tails = (left[0], right[0], max(left[1], right[1]), edges[first], edges[stop])
    return (edges[zero - low], edges[zero + high]), tails


def _clipped(beyond: list[float], sizes: Sequence[Fraction], widths: list[float]) -> list[float]:
    """Estimate, for a bound at each edge of one side, how much of all values lies beyond it. A
    value in a cell lies in its middle on average.
    """
    parts = [
        width * (here + farther) / 2
        for width, (here, farther) in zip(widths, pairwise([*beyond, 0.0]), strict=False)
    ]
    clipped = [*accumulate(reversed(parts), initial=0.0)][::-1]
    return [lost for lost, size in zip(clipped, sizes, strict=False) if size <= 2**WIDEST]


def count_noise(promise: Guarantee, parts: int = PIECES) -> float:
    """Return the standard deviation of a count with one row per unit, if the promise is split into
    so many equal parts.
    """
    target = promise.noise_target
    assert target is not None  # the plan refuses a promise that no noise keeps
    if target.mu_squared is not None:
        return math.sqrt(parts / float(target.mu_squared))
    return math.sqrt(2) * parts / float(largest_epsilon(promise.without_delta()))


def histogram_share(promise: Guarantee, share: Fraction) -> Guarantee:
    """Return a share of a promise for histograms, which need no δ."""
    return share_of(promise.without_delta(), share)
