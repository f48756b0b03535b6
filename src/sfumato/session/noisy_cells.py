"""Read a noisy histogram: how far its cells are inhabited, and how many lie at or beyond each cell.

*Runs*        A run of 1, 2, 4 or 8 neighbouring cells shows people if its noisy sum exceeds what
              noise alone reaches. So a tail that is thin in every cell shows in their sum.
*Sure*        Anywhere, a run counts if noise alone reaches its sum in any run of the histogram with
              probability 1 in 10,000: a false run far out would ruin the choice of a limit. If
              nobody shows, the same with 1 in 1,000, then 1 in 100, then 1 in 20: weak evidence is
              better than none.
*Near*        From the last inhabited cell outward a run counts if noise alone reaches its sum with
              probability 2 % in the next cell, and an eighth of that for every cell in between. A
              false cell doubles a limit, so false cells cost little on average; and one thin cell
              does not end the search.
*Cumulative*  The noisy number of people at or beyond a cell is the sum of its cell and all further
              ones, up to the last inhabited one. It never rises outward: where noise makes it rise,
              the larger number counts, which leans to the wide side.
*Tail*        Two more cells get the number of people expected there: five ways to thin out from
              cell to cell (to nothing, or to 1/16, 1/8, 1/4 or 1/2 of the people), weighed by how
              well each of them fits the noisy counts.
*Proof*       docs/proofs/learning.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from ..exact.balls import up
from ..guarantees.stored_guarantee import ratio
from ..noise.geometric import Geometric
from ..noise.law import SummableLaw
from ..noise.rounded_normal import RoundedNormal
from ..noise.weighted_sums import sum_bound
from ..tables.declare.learned_limits import round_share, round_share_up

SURE, NEXT = Fraction(1, 10_000), Fraction(1, 50)
DOUBTS = (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 20))
"""Probabilities to try after SURE if nobody shows: a limit from weak evidence beats a default."""
MISSED = Fraction(1, 20)
"""The chance that the stated share beyond a limit is wrong."""

RUNS = (1, 2, 4, 8)
"""The lengths of runs of cells whose sums may show people."""
FARTHER = 8
"""A run one cell farther out may be a false one with a probability smaller by this factor."""
SEARCHED = 8
"""The search looks so many cells beyond the last inhabited one."""
TAIL = 2
"""The cells beyond the last inhabited one that get an expected number of people."""
THINNING = ((0.0, 6.0), (1 / 16, 1.0), (1 / 8, 1.0), (1 / 4, 1.0), (1 / 2, 1.0))
"""The share of people that is left one cell farther out, with its weight before the counts."""
MOST_CELLS = 4096
"""A stored histogram has no more cells."""
SOLID = Fraction(1, 1000)
"""A count that noise alone reaches so seldom is what a tail thins out from."""


@dataclass(frozen=True, slots=True)
class HistogramNoise:
    """The noise of a histogram: the law of each cell's integer, the value of one integer, the
    number of cells, and how often noise may be taken for people.
    """

    law: SummableLaw
    step: float
    cells: int
    sure: Fraction = SURE
    near: Fraction = NEXT

    @property
    def doubts(self) -> tuple[Fraction, ...]:
        """How often noise alone may pass for people anywhere, in the order in which to try."""
        return (self.sure, *(doubt for doubt in DOUBTS if doubt > self.sure))

    def exceeded(self, length: int, chance: Fraction) -> float:
        """Return a number that the noise of a run of cells exceeds with at most this probability.
        The law is symmetric: half of what exceeds it in absolute value does so upward.
        """
        return up(sum_bound(((self.law, Fraction(1), length),), 2 * chance)) * self.step

    def run_bound(self, length: int) -> float:
        """Bound the noise of a run of this length, for all runs of the histogram at once, except
        with probability MISSED. Runs of length n may miss MISSED/(n·(n + 1)) together, which adds
        up to no more than MISSED over all n; each of the cells − n + 1 runs gets an equal part.
        """
        missed = MISSED / (length * (length + 1) * (self.cells - length + 1))
        return up(sum_bound(((self.law, Fraction(1), length),), missed)) * self.step

    def likelihood(self, distances: Sequence[float]) -> float:
        """Return the logarithm of how likely it is that the noises of several cells go so far."""
        steps = np.maximum(np.abs(distances) / self.step, 1.0)
        return float(np.log(np.maximum(self.law.rough_tails(steps), 1e-300)).sum())


LAWS: dict[str, tuple[str, Callable[[Fraction], SummableLaw]]] = {
    "geometric": ("scale", lambda scale: Geometric(scale=scale)),
    "rounded normal": ("sigma", lambda sigma: RoundedNormal(sigma=sigma)),
}
"""The name of a law → its parameter, and the law."""


@dataclass(frozen=True, slots=True)
class StoredHistogram:
    """A noisy histogram as a ledger stores it: its counts, the law of their noise, and the value of
    one integer.
    """

    counts: tuple[float, ...]
    law: SummableLaw
    step: float

    def to_record(self) -> dict[str, object]:
        name = "geometric" if isinstance(self.law, Geometric) else "rounded normal"
        parameter = getattr(self.law, LAWS[name][0])
        return {
            "counts": list(self.counts),
            "law": name,
            "parameter": str(parameter),
            "step": self.step,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> StoredHistogram:
        """Read a record; raises LookupError, TypeError or ValueError for a damaged one."""
        counts, step = record["counts"], record["step"]
        numbers = [step, *counts]
        if (
            set(record) != {"counts", "law", "parameter", "step"}
            or not 1 <= len(counts) <= MOST_CELLS
            or not all(type(number) is float and math.isfinite(number) for number in numbers)
            or not 0 < step <= 1
        ):
            raise ValueError(record)
        _, law = LAWS[record["law"]]
        return cls(tuple(counts), law(ratio(record["parameter"])), step)


@dataclass(frozen=True, slots=True)
class NoisyHistogram:
    """The noisy counts of a histogram, and their noise."""

    counts: tuple[float, ...]
    noise: HistogramNoise

    def total(self, cells: range) -> tuple[float, float, float]:
        """Sum a run of cells: at least, about and at most, never below 0. At least and at most hold
        for all runs at once, with probability 95 %.
        """
        total = sum(self.counts[i] for i in cells)
        error = self.noise.run_bound(len(cells)) if cells else 0.0
        return max(total - error, 0.0), max(total, 0.0), max(total + error, 0.0)

    def share_beyond(self, beyond: range, within: range) -> tuple[Fraction, Fraction]:
        """Estimate which share of both runs of cells lies in `beyond`, and its error at 95 %. The
        share is least with the fewest beyond and the most within.
        """
        fewest_beyond, count_beyond, most_beyond = self.total(beyond)
        fewest_within, count_within, most_within = self.total(within)
        low, high = (
            a / (a + b) if a + b else end
            for a, b, end in ((fewest_beyond, most_within, 0.0), (most_beyond, fewest_within, 1.0))
        )
        total = count_beyond + count_within
        share = round_share(count_beyond / total if total else (low + high) / 2)
        return share, round_share_up(max(high - share, share - low))


@dataclass(frozen=True, slots=True)
class Outward:
    """The cells of a histogram from its start, or from 0 to one side, outward."""

    counts: tuple[float, ...]
    noise: HistogramNoise

    def seen_last(self, chance: Fraction) -> int:
        """Return the outermost cell at or beyond which people show, or -1. In all cells of the
        histogram noise alone passes for people with at most this probability.
        """
        each = chance / (self.noise.cells * len(RUNS))
        limits = self._limits(each)
        return max((i for i in range(len(self.counts)) if self._shows(i, limits)), default=-1)

    def last(self, start: int, size: int = 0) -> int:
        """Search outward from the cell `start`, or from 0 if it is -1, and return the outermost
        inhabited cell. Cells up to `size` do not widen a limit, and share the probability of a
        false one.
        """
        last, limits = start, cache(self._limits)
        while True:
            origin = last if last >= 0 else size
            farthest = min(len(self.counts), max(origin, size) + 1 + SEARCHED)
            shown = [
                i
                for i in range(last + 1, farthest)
                if self._shows(i, limits(self._chance(i, origin, size) / len(RUNS)))
            ]
            if not shown:
                return last
            last = shown[-1]

    def cumulative(self, last: int, *, lean: bool) -> list[float]:
        """Estimate how many lie at or beyond each cell, up to the last inhabited one and, if `lean`
        is true, in the tail.
        """
        tail = self._tail(last) if lean and last >= 0 else []
        beyond, total, most = [], 0.0, 0.0
        for count in reversed([*self.counts[: last + 1], *tail]):
            total += count
            most = max(most, total)
            beyond.append(most)
        return beyond[::-1]

    def _limits(self, chance: Fraction) -> dict[int, float]:
        """Bound the noise of a run of each length that fits into the histogram."""
        return {
            length: self.noise.exceeded(length, chance)
            for length in RUNS
            if length <= len(self.counts)
        }

    def _shows(self, start: int, limits: Mapping[int, float]) -> bool:
        """Whether a run from this cell on exceeds what noise alone reaches."""
        return any(
            sum(self.counts[start : start + length]) > limit
            for length, limit in limits.items()
            if start + length <= len(self.counts)
        )

    def _chance(self, cell: int, origin: int, size: int) -> Fraction:
        """How often noise alone may be taken for people at a cell."""
        outward = self.noise.near / FARTHER ** (cell - origin - 1) if cell > origin else Fraction(0)
        return max(outward, self.noise.near / (size + 1)) if cell <= size else outward

    def _tail(self, last: int) -> list[float]:
        """Estimate the numbers of people in the next cells beyond the last inhabited one."""
        solid = self.noise.exceeded(1, SOLID)
        start = max((i for i in range(last + 1) if self.counts[i] > solid), default=last)
        first, rest = max(self.counts[start], 0.0), self.counts[start + 1 : start + 1 + SEARCHED]
        cells = [i for i in range(last + 1, last + 1 + TAIL) if i < len(self.counts)]
        fits = [
            math.log(weight)
            + self.noise.likelihood([y - first * left ** (t + 1) for t, y in enumerate(rest)])
            for left, weight in THINNING
        ]
        weights = [math.exp(fit - max(fits)) for fit in fits]
        return [
            first
            * math.fsum(
                weight * left ** (i - start)
                for weight, (left, _) in zip(weights, THINNING, strict=True)
            )
            / math.fsum(weights)
            for i in cells
        ]
