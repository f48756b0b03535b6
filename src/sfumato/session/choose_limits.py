"""Limits chosen from noisy histograms: post-processing, without any draw, so that the same
histogram always gives the same limit.

*Seen*        A cell is surely inhabited where its noisy count exceeds what noise alone reaches in
              any cell with probability 1 in 10,000: a false one far out would ruin the choice. From
              those outward the next cells are taken as long as each exceeds what noise alone
              reaches there with probability 5 %: a false one beside them costs little. Nothing else
              is believed to be there.
*Rows*        With a limit k, σ the noise of a count in which a unit has one row, and c_j units of
              about m_j rows: k makes (k·σ)² + (Σ c_j·(m_j − k)⁺ / 100)² least. That is the squared
              error of a count in one of 100 equal groups: its noise, and the rows that the limit
              leaves out of it.
*Bounds*      [low, high] makes (σ·max(|low|, |high|))² + (Σ c_j·d_j / 4)² least, d_j the way from
              the middle of a cell to the bounds: the squared error of a sum over a quarter of the
              table. The quarter is larger than the group above because clipped values bend means,
              while rows that are left out thin out sums and counts alike.
*Reference*   σ is the standard deviation at the promise of the release that follows, a third of it
              for each part: count, sum and choice of groups.
*Beyond*      What lies beyond a limit is told of all cells up to the last seen one, and of WINDOW
              cells beyond a limit at least: where these end is said, as what lies further out
              cannot be told from the noise of many cells. Limit and end are chosen by the same
              noise, so the error is one that all runs of cells keep at once, with probability 95 %.
*Default*     Where no cell is seen there is nothing to choose by: 1 row, bounds [0, 1].
*Proof*       docs/proofs/learning.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from ..answers.answer_records import Spread
from ..answers.noise_sums import within
from ..exact.balls import up
from ..guarantees import GDP, ZCDP, Approx, Guarantee, Pure
from ..tables.declare.declaration import MOST_ROWS
from ..tables.declare.learned_limits import Rest, Tails, rounded, rounded_up
from ..tables.expr.types import Type
from .promises import shared, without_delta

PIECES = 3
ROW_GROUPS = 100
SUM_GROUPS = 4
SURE, NEXT = Fraction(1, 10_000), Fraction(1, 20)
MISSED = Fraction(1, 20)
"""What is said of cells beyond a limit holds but for this chance."""

WINDOW = 2
"""Of so many cells beyond a limit something is said, whether anybody was seen in them or not."""

DEFAULT_ROWS = 1
DEFAULT_BOUNDS = (Fraction(0), Fraction(1))
FINEST, WIDEST = -32, 40
_FAR = 900
_DIGIT = math.log2(10)


@dataclass(frozen=True, slots=True)
class Seen:
    """A noisy histogram: its counts, what a cell has to exceed to be surely there, and to be there
    beside such a one.

    `off` is how far the noise of a run of so many cells may be off: of all runs at once, with
    probability 95 %.
    """

    counts: tuple[float, ...]
    sure: float
    near: float
    off: Callable[[int], float]

    @property
    def cells(self) -> range:
        """The cells that are believed to be inhabited, without a gap; empty where none is."""
        surely = [i for i, count in enumerate(self.counts) if count > self.sure]
        if not surely:
            return range(0)
        first, last = surely[0], surely[-1]
        while first > 0 and self.counts[first - 1] > self.near:
            first -= 1
        while last + 1 < len(self.counts) and self.counts[last + 1] > self.near:
            last += 1
        return range(first, last + 1)

    def rest(self, beyond: range, others: range) -> tuple[Fraction, Fraction]:
        """About which share of what is in both runs of cells lies in the first, and how far that
        may be off, at 95 %: least with the fewest of these, and the most of the others.
        """
        fewest, there, most = self._between(beyond)
        few, near, many = self._between(others)
        low, high = (
            a / (a + b) if a + b else end for a, b, end in ((fewest, many, 0.0), (most, few, 1.0))
        )
        share = rounded(there / (there + near) if there + near else (low + high) / 2)
        return share, rounded_up(max(high - share, share - low))

    def _between(self, cells: range) -> tuple[float, float, float]:
        """How much is in a run of cells, at least, about and at most: never less than nothing."""
        found, error = sum(self.counts[i] for i in cells), self.off(len(cells)) if cells else 0.0
        return max(found - error, 0.0), max(found, 0.0), max(found + error, 0.0)


def off(law: Spread, length: int, cells: int) -> float:
    """What the noise of a run of this length stays within, of all runs of a histogram at once, but
    for the chance of MISSED: runs of length n may miss MISSED/(n·(n + 1)) together, which adds up
    to no more than MISSED over all n, and each of the cells − n + 1 of them an equal part.
    """
    return up(
        within(
            ((law, Fraction(1), length),), MISSED / (length * (length + 1) * (cells - length + 1))
        )
    )


def row_edges() -> tuple[int, ...]:
    """1 · 2 · 3–4 · 5–8 · …: whoever has at most 2^j rows is in one of the first j + 1 cells."""
    powers = [2**j for j in range(MOST_ROWS.bit_length())]
    return (1, *(power + 1 for power in powers), 2**62)


def row_limit(seen: Seen, noise: float) -> tuple[int, Rest | None]:
    """How many rows a unit should count for, and which share of units has more."""
    cells = seen.cells
    if not cells:
        return DEFAULT_ROWS, None
    middle = [1.0, *(0.75 * 2**j + 0.5 for j in range(1, MOST_ROWS.bit_length())), 1.5 * MOST_ROWS]

    def error(j: int) -> float:
        lost = sum(max(seen.counts[i], 0.0) * max(middle[i] - 2**j, 0.0) for i in cells)
        return float((2**j * noise) ** 2 + (lost / ROW_GROUPS) ** 2)

    best = min(range(min(cells.stop, MOST_ROWS.bit_length())), key=error)
    end = min(max(cells.stop, best + 1 + WINDOW), len(seen.counts))
    return 2**best, (
        *seen.rest(range(best + 1, end), range(best + 1)),
        Fraction(row_edges()[end] - 1),
    )


def value_edges(known: Type) -> tuple[Fraction, ...]:
    """± powers of two and 0: from 1, or the last digit, or 2^-32, to 2^40 or what the type holds;
    the last cell on each side has all that lies further.
    """
    limits = known.limits
    far = Fraction(2) ** _FAR if limits is None else -limits[0]
    finest = {"integer": 0, "decimal": -math.floor(known.scale * _DIGIT)}.get(known.kind, FINEST)
    sizes = [
        size for j in range(max(finest, FINEST), WIDEST + 1) if (size := Fraction(2) ** j) < far
    ] + [far]
    return (*(-size for size in reversed(sizes)), Fraction(0), *sizes)


def value_bounds(
    edges: Sequence[Fraction], seen: Seen, noise: float
) -> tuple[tuple[Fraction, Fraction], Tails | None]:
    """Between which ends a column should be taken, and which share of rows lies below and above
    them.
    """
    cells = seen.cells
    if not cells:
        return DEFAULT_BOUNDS, None
    widest = Fraction(2) ** WIDEST
    middle = [
        float(max(min((low + high) / 2, widest * 3 / 2), widest * -3 / 2))
        for low, high in pairwise(edges)
    ]
    ends = [edge for edge in edges[cells.start : cells.stop + 1] if abs(edge) <= widest]

    def clipped(way: Callable[[float], float]) -> float:
        return sum(max(seen.counts[i], 0.0) * max(way(middle[i]), 0.0) for i in cells)

    zero = Fraction(0)
    lows = {
        low: clipped(lambda x, low=low: float(low) - x)  # type: ignore[misc]
        for low in [zero, *(e for e in ends if e < 0)]
    }
    highs = {
        high: clipped(lambda x, high=high: x - float(high))  # type: ignore[misc]
        for high in [zero, *(e for e in ends if e > 0)]
    }

    def error(pair: tuple[Fraction, Fraction]) -> tuple[float, Fraction]:
        low, high = pair
        size = float(max(-low, high))
        return (size * noise) ** 2 + ((lows[low] + highs[high]) / SUM_GROUPS) ** 2, high - low

    low, high = min(
        ((low, high) for low in lows for high in highs if low < high),
        key=error,
        default=(zero, min(e for e in edges if e > 0)),
    )
    below, above = edges.index(low), edges.index(high)
    down, more = (
        WINDOW if end else 0 for end in (low, high)
    )  # beside 0 the next cells are tiny, and tell nothing
    first, last = (
        max(min(cells.start, below - down), 0),
        min(max(cells.stop, above + more), len(seen.counts)),
    )
    left, right = (
        seen.rest(range(first, below), range(below, last)),
        seen.rest(range(above, last), range(first, above)),
    )
    return (low, high), (left[0], right[0], max(left[1], right[1]), edges[first], edges[last])


NOISE: dict[type[Guarantee], Callable[[Guarantee], float]] = {
    Pure: lambda promise: math.sqrt(2) * PIECES / float(promise.parameters["epsilon"]),
    Approx: lambda promise: math.sqrt(2) * PIECES / float(promise.parameters["epsilon"]),
    ZCDP: lambda promise: math.sqrt(PIECES / (2 * float(promise.parameters["rho"]))),
    GDP: lambda promise: math.sqrt(PIECES / float(promise.mu_squared)),  # type: ignore[attr-defined]
}
"""Deviation of the noise of a count in which a unit has one row, if a promise has three parts."""


def part(promise: Guarantee, share: Fraction) -> Guarantee:
    """A share of a promise, for histograms: they need no δ."""
    return shared(without_delta(promise), share)
