"""Choose limits from noisy histograms. This post-processes and draws nothing: the same histogram
always gives the same limit.

*Seen*        A cell counts as surely inhabited if its noisy count exceeds what noise alone reaches
              in any cell with probability 1 in 10,000: a false cell far out would ruin the choice.
              From those outward, the next cells count as inhabited as long as each exceeds what
              noise alone reaches there with probability 5 %: a false cell next to true ones costs
              little. All other cells count as empty.
*Rows*        With a limit k, σ the noise of a count in which a unit has one row, and c_j units of
              about m_j rows: k makes (k·σ)² + (Σ c_j·(m_j − k)⁺ / 100)² least. That is the squared
              error of a count in one of 100 equal groups: its noise, and the rows that the limit
              leaves out of it.
*Bounds*      [low, high] makes (σ·max(|low|, |high|))² + (Σ c_j·d_j / 4)² least, d_j the way from
              the middle of a cell to the bounds: the squared error of a sum over a quarter of the
              table. The quarter is larger than the group above because clipped values bias means,
              while dropped rows shrink sums and counts alike.
*Reference*   σ is the standard deviation at the promise of the release that follows, a third of it
              for each part: count, sum and choice of groups.
*Beyond*      The share beyond a limit covers all cells up to the last inhabited one, and at least
              WINDOW cells beyond the limit. The record says where these end: further out the data
              cannot be told from the noise of many cells. The same noise chooses limit and end, so
              the stated error holds for all runs of cells at once, with probability 95 %.
*Default*     If no cell is inhabited: 1 row, bounds [0, 1].
*Proof*       docs/proofs/learning.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from ..exact.balls import up
from ..guarantees import Guarantee
from ..guarantees.largest_epsilon import largest_epsilon
from ..noise.weighted_sums import Spread, sum_bound
from ..tables.declare.declaration import MOST_ROWS
from ..tables.declare.learned_limits import Rest, Tails, round_share, round_share_up
from ..tables.expr.types import Type
from .promises import share_of

PIECES = 3
ROW_GROUPS = 100
SUM_GROUPS = 4
SURE, NEXT = Fraction(1, 10_000), Fraction(1, 20)
MISSED = Fraction(1, 20)
"""The chance that the stated share beyond a limit is wrong."""

WINDOW = 2
"""The share beyond a limit covers at least so many cells, inhabited or not."""

DEFAULT_ROWS = 1
DEFAULT_BOUNDS = (Fraction(0), Fraction(1))
FINEST, WIDEST = -32, 40
_FAR = 900
_DIGIT = math.log2(10)


@dataclass(frozen=True, slots=True)
class NoisyHistogram:
    """A noisy histogram and its thresholds: a count above `sure` marks a cell as inhabited, a count
    above `near` does so next to an inhabited cell.

    `noise_bound` gives how far the noise of a run of so many cells may be off: for all runs at
    once, with probability 95 %.
    """

    counts: tuple[float, ...]
    sure: float
    near: float
    noise_bound: Callable[[int], float]

    @property
    def cells(self) -> range:
        """The cells that count as inhabited, without a gap; an empty range if there is none."""
        surely = [i for i, count in enumerate(self.counts) if count > self.sure]
        if not surely:
            return range(0)
        first, last = surely[0], surely[-1]
        while first > 0 and self.counts[first - 1] > self.near:
            first -= 1
        while last + 1 < len(self.counts) and self.counts[last + 1] > self.near:
            last += 1
        return range(first, last + 1)

    def share_beyond(self, beyond: range, within: range) -> tuple[Fraction, Fraction]:
        """Estimate which share of both runs of cells lies in `beyond`, and its error at 95 %. The
        share is least with the fewest beyond and the most within.
        """
        fewest_beyond, count_beyond, most_beyond = self._total(beyond)
        fewest_within, count_within, most_within = self._total(within)
        low, high = (
            a / (a + b) if a + b else end
            for a, b, end in ((fewest_beyond, most_within, 0.0), (most_beyond, fewest_within, 1.0))
        )
        total = count_beyond + count_within
        share = round_share(count_beyond / total if total else (low + high) / 2)
        return share, round_share_up(max(high - share, share - low))

    def _total(self, cells: range) -> tuple[float, float, float]:
        """Sum a run of cells: at least, about and at most, never below 0."""
        total = sum(self.counts[i] for i in cells)
        error = self.noise_bound(len(cells)) if cells else 0.0
        return max(total - error, 0.0), max(total, 0.0), max(total + error, 0.0)


def noise_bound(law: Spread, length: int, cells: int) -> float:
    """Bound the noise of a run of this length, for all runs of a histogram at once, except with
    probability MISSED. Runs of length n may miss MISSED/(n·(n + 1)) together, which adds up to no
    more than MISSED over all n; each of the cells − n + 1 runs gets an equal part.
    """
    return up(
        sum_bound(
            ((law, Fraction(1), length),), MISSED / (length * (length + 1) * (cells - length + 1))
        )
    )


def row_edges() -> tuple[int, ...]:
    """Edges 1 · 2 · 3–4 · 5–8 · …: at most 2^j rows are in one of the first j + 1 cells."""
    powers = [2**j for j in range(MOST_ROWS.bit_length())]
    return (1, *(power + 1 for power in powers), 2**62)


def row_limit(histogram: NoisyHistogram, noise: float) -> tuple[int, Rest | None]:
    """Choose the row limit per unit, and estimate the share of units with more rows."""
    cells = histogram.cells
    if not cells:
        return DEFAULT_ROWS, None
    middle = [1.0, *(0.75 * 2**j + 0.5 for j in range(1, MOST_ROWS.bit_length())), 1.5 * MOST_ROWS]

    def error(j: int) -> float:
        lost = sum(max(histogram.counts[i], 0.0) * max(middle[i] - 2**j, 0.0) for i in cells)
        return float((2**j * noise) ** 2 + (lost / ROW_GROUPS) ** 2)

    best = min(range(min(cells.stop, MOST_ROWS.bit_length())), key=error)
    end = min(max(cells.stop, best + 1 + WINDOW), len(histogram.counts))
    return 2**best, (
        *histogram.share_beyond(range(best + 1, end), range(best + 1)),
        Fraction(row_edges()[end] - 1),
    )


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
    edges: Sequence[Fraction], histogram: NoisyHistogram, noise: float
) -> tuple[tuple[Fraction, Fraction], Tails | None]:
    """Choose the bounds of a column, and estimate the shares of rows below and above them."""
    cells = histogram.cells
    if not cells:
        return DEFAULT_BOUNDS, None
    widest = Fraction(2) ** WIDEST
    middle = [
        float(max(min((low + high) / 2, widest * 3 / 2), widest * -3 / 2))
        for low, high in pairwise(edges)
    ]
    ends = [edge for edge in edges[cells.start : cells.stop + 1] if abs(edge) <= widest]

    def clipped(distances: Sequence[float]) -> float:
        return sum(max(histogram.counts[i], 0.0) * max(distances[i], 0.0) for i in cells)

    zero = Fraction(0)
    lows = {
        low: clipped([float(low) - x for x in middle])
        for low in [zero, *(e for e in ends if e < 0)]
    }
    highs = {
        high: clipped([x - float(high) for x in middle])
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
    # next to 0 the cells are tiny, and tell nothing
    down, more = (WINDOW if end else 0 for end in (low, high))
    first, last = (
        max(min(cells.start, below - down), 0),
        min(max(cells.stop, above + more), len(histogram.counts)),
    )
    left, right = (
        histogram.share_beyond(range(first, below), range(below, last)),
        histogram.share_beyond(range(above, last), range(first, above)),
    )
    return (low, high), (left[0], right[0], max(left[1], right[1]), edges[first], edges[last])


def count_noise(promise: Guarantee) -> float:
    """Return the standard deviation of a count with one row per unit, if the promise is split three
    ways.
    """
    target = promise.noise_target
    assert target is not None  # the plan refuses a promise that no noise keeps
    if target.mu_squared is not None:
        return math.sqrt(PIECES / float(target.mu_squared))
    return math.sqrt(2) * PIECES / float(largest_epsilon(promise.without_delta()))


def histogram_share(promise: Guarantee, share: Fraction) -> Guarantee:
    """Return a share of a promise for histograms, which need no δ."""
    return share_of(promise.without_delta(), share)
