"""Compute a quantile and its interval from noisy weights between knots.

*Bracket*   Two points are chosen privately, about `AWAY` scales of their noise below and above the
            quantile: it is most likely between them.
*Knots*     Eleven evenly spread over the bracket, and three on each side at half, two and twelve
            times its length. They cut the grid into 18 bins. They depend on released points alone.
*Noise*     The weight of each bin gets noise. The bins of a group are disjoint, so one unit moves
            all of them by at most its whole weight.
*Value*     Where W_< − q·W crosses 0 on a straight line between two knots, after the noisy numbers
            are sorted: the exact ones increase.
*Ends*      Where a quantile z lies in a bin, W_< − q·W is at most 0 where the bin begins and at
            least 0 where it ends. So the first bin at whose end the noisy number is not below −h is
            not above z, and the last one at whose beginning it is not above h is not below z: each
            but for half of what may be missed. The noise at two fixed knots decides.
*Proof*     docs/proofs/weighted-quantile.md, "Ends from noisy weights"
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .count_tree import CountTree, Integers
from .tree_noise import HasHalfWidth, half_widths

Points = NDArray[np.int64]
Doubles = NDArray[np.float64]

BRACKET, WEIGHTS = Fraction(1, 10), Fraction(4, 5)
"""The parts of a quantile's promise that pay for each point of the bracket, and for the bins."""
AWAY = 3
_INNER, _BEYOND = 11, ((1, 2), (2, 1), (12, 1))
BIN_OF_BRACKET = 1 / (_INNER - 1)
KNOTS = _INNER + 2 * len(_BEYOND)
BINS = CountTree(KNOTS + 1, KNOTS + 1, 1)
"""The bins, as a tree with one level."""

_ERROR = 2.0**-36  # of the sum of all weights: more than sums in doubles err


def place_knots(chosen: Points, low: int, high: int) -> Points:
    """Return where the bins of each group begin, but for the first one. A row of `chosen` has three
    points of a group, in any order.
    """
    first, last = chosen.min(axis=1), chosen.max(axis=1) + 1
    wanting = np.maximum(_INNER - 1 - (last - first), 0)
    first, last = first - wanting // 2, last + (wanting + 1) // 2
    length = last - first
    knots = [first + length * i // (_INNER - 1) for i in range(_INNER)]
    for top, bottom in _BEYOND:
        knots += [first - length * top // bottom, last + length * top // bottom]
    placed: Points = np.clip(np.sort(np.stack(knots, axis=1), axis=1), low, high + 1)
    return placed


def weigh_bins(groups: Points, points: Points, weights: Integers, knots: Points) -> Integers:
    """Return the exact weight of every bin of each group. Points beyond the ends of the grid lie in
    the first or the last bin.
    """
    bins = np.zeros(len(points), dtype=np.int64)
    for column in knots.T:
        bins += column[groups] <= points
    sums = np.zeros((len(knots), KNOTS + 1), dtype=weights.dtype)
    np.add.at(sums, (groups, bins), weights)
    return sums


@dataclass(frozen=True, slots=True)
class QuantileBins:
    """Noisy weights of the bins of one quantile in each group, with the knots between them."""

    q: Fraction
    low: int
    high: int
    knots: Points
    noisy: Integers
    law: HasHalfWidth

    def values(self) -> Points:
        """Return the quantile of each group."""
        rows, excess = np.arange(len(self.knots)), self._excess
        inner = np.sort(excess[:, 1:-1], axis=1)
        bins = (inner < 0).sum(axis=1)
        ordered = np.concatenate([excess[:, :1], inner, excess[:, -1:]], axis=1)
        start, end = ordered[rows, bins], ordered[rows, bins + 1]
        rises = end > start
        parts = np.where(rises, -start / np.where(rises, end - start, 1.0), 0.5)
        first, last = self._begins[rows, bins], self._ends[rows, bins]
        steps = np.rint(np.clip(parts, 0.0, 1.0) * (last - first)).astype(np.int64)
        values: Points = np.clip(first + steps, self.low, self.high)
        return values

    def interval(self, missing: Fraction) -> tuple[Points, Points]:
        """Return the ends of the interval of each group: each holds but for a chance `missing`."""
        excess, rows = self._excess, np.arange(len(self.knots))
        margin = np.abs(self.noisy.astype(np.float64)).sum(axis=1, keepdims=True) * _ERROR
        widths = half_widths(self.law, BINS, self.q, missing)
        is_first = widths.within(excess + margin)[:, 1:]
        is_last = widths.within(margin - excess)[:, :-1]
        # nothing lies beyond the ends of the grid
        is_first[:, -1], is_last[:, 0] = True, True
        first, last = is_first.argmax(axis=1), KNOTS - is_last[:, ::-1].argmax(axis=1)
        return (
            self._begins[rows, np.minimum(first, last)],
            self._ends[rows, np.maximum(first, last)],
        )

    @property
    def _excess(self) -> Doubles:
        """Return noisy W_< − q·W at the ends of the grid and at all knots."""
        below = np.zeros((len(self.noisy), KNOTS + 2))
        np.cumsum(self.noisy.astype(np.float64), axis=1, out=below[:, 1:])
        excess: Doubles = below - float(self.q) * below[:, -1:]
        return excess

    @property
    def _begins(self) -> Points:
        return np.minimum(np.insert(self.knots, 0, self.low, axis=1), self.high)

    @property
    def _ends(self) -> Points:
        """Return the last point of each bin; of an empty bin the point at which it begins."""
        ends = np.insert(self.knots, KNOTS, self.high + 1, axis=1) - 1
        return np.maximum(ends, self._begins)


def middle_square(q: Fraction) -> float:
    """Return the variance of W_< − q·W at the middle knot, where a bin's noise has variance 1."""
    half = (KNOTS + 1) // 2
    return float(half * (1 - q) ** 2 + (KNOTS + 1 - half) * q**2)


def expected_half_width(law: HasHalfWidth, q: Fraction, missing: Fraction, shift: int) -> float:
    """Return the weight in half of an interval where values are dense: the bound of the noise in
    the middle, and half a bin of the bracket between the points chosen at −shift and shift.
    """
    middle = np.array([(KNOTS + 1) // 2])
    noise = half_widths(law, BINS, q, missing).at(middle)[0]
    return float(noise) + abs(shift) * BIN_OF_BRACKET
