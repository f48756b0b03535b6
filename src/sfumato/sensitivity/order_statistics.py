"""Sensitivity of order statistics of n values in [low, high], one of which may be replaced: how far
the r-th smallest can move, and how many values must change to move it.

*Local*      x_(r) can move to x_(r−1) or x_(r+1), with x_(i) = low for i < 1 and high for i > n.
*Distance k* the largest local sensitivity among datasets that differ in at most k values: A(k) =
             max over 0 ≤ t ≤ k + 1 of x_(r+t) − x_(r+t−k−1) (Nissim, Raskhodnikova & Smith 2007). A
             neighbour's A(k) is at most A(k + 1).
*Smooth*     S = max over k of e^(−βk)·A(k): never below the local sensitivity, and within a factor
             e^β of a neighbour's.
*Inverse*    the number of values that must change for the r-th smallest to be z: (#{x < z} − (r −
             1))₊ + (#{x > z} − (n − r))₊. Values are integers (grid steps), sorted and clipped to
             [low, high] by the caller.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Sorted = NDArray[np.int64]


def rank_of(q: Fraction, n: int) -> int:
    """Return the rank of the q-quantile of n values: ⌈q·n⌉, at least 1. For even n the median is
    the lower of the two middle values.
    """
    return min(n, max(1, math.ceil(q * n)))


def local(x: Sorted, r: int, low: int, high: int) -> int:
    """Return the local sensitivity of the r-th smallest."""
    return at_distance(x, r, 0, low, high)


def at_distance(x: Sorted, r: int, k: int, low: int, high: int) -> int:
    """Return A(k), the largest local sensitivity at distance k."""
    t = np.arange(k + 2)
    return int((_at(x, r + t, low, high) - _at(x, r + t - k - 1, low, high)).max())


def distance_of_sum(x: Sorted, ranks: tuple[int, ...], bound: int, low: int, high: int) -> int:
    """Return the least k at which the A(k) of these ranks add up to more than the bound; n if there
    is none. For one rank this is the distance to a dataset whose local sensitivity exceeds the
    bound; for a sum or difference of several it is a lower bound on that distance. It moves by at
    most 1 between neighbours.
    """

    def exceeds(k: int) -> bool:
        return sum(at_distance(x, r, k, low, high) for r in ranks) > bound

    first, last = 0, len(x)  # A increases with k
    while first < last:
        middle = (first + last) // 2
        first, last = (first, middle) if exceeds(middle) else (middle + 1, last)
    return first


def smooth(
    x: Sorted, r: int, beta: float, low: int, high: int, least: float = 0.0
) -> tuple[int, int]:
    """Return the k and A(k) at which e^(−βk)·A(k) is largest, to a relative 2^-33; (0, 0) if it
    stays below `least` everywhere.

    e^(−βk)·A(k) is the largest (x_(j) − x_(i))·e^(−β(j − i − 1)) with i ≤ r ≤ j and j − i − 1 = k.
    The best j does not fall as i grows, so halving the rows i halves the columns j: n·log n steps
    (Nissim, Raskhodnikova & Smith 2007).
    """
    reach = len(x) + 1
    if least > 0.0:  # beyond it even the whole range is too little
        reach = min(reach, max(0, math.ceil(math.log(max(1.0, (high - low) / least)) / beta)) + 1)
    first, last = max(0, r - reach), min(len(x) + 1, r + reach)
    row = _at(x, np.arange(first, r + 1), low, high)
    column = _at(x, np.arange(r, last + 1), low, high)
    best, at = least, (0, 0)
    waiting = [(0, len(row), 0, len(column))]
    while waiting:
        top, bottom, left, right = waiting.pop()
        if top >= bottom:
            continue
        i = (top + bottom) // 2
        apart = np.arange(left, right) + (len(row) - 1 - i)  # j − i
        products = (column[left:right] - row[i]) * np.exp(-beta * (apart - 1))
        place = int(np.argmax(products))
        if apart[place] > 0 and products[place] > best:
            best = float(products[place])
            at = (int(apart[place]) - 1, int(column[left + place] - row[i]))
        waiting += [(top, i, left, left + place + 1), (i + 1, bottom, left + place, right)]
    return at


def changes_needed(x: Sorted, r: int, z: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for each z, how many values must change for the r-th smallest to be z."""
    less = np.searchsorted(x, z, side="left")
    more = len(x) - np.searchsorted(x, z, side="right")
    return np.maximum(less - (r - 1), 0) + np.maximum(more - (len(x) - r), 0)


def _at(x: Sorted, i: NDArray[np.int64], low: int, high: int) -> NDArray[np.int64]:
    """Return x_(i), with low and high beyond the data."""
    values = x[np.clip(i, 1, len(x)) - 1]
    return np.where(i < 1, low, np.where(i > len(x), high, values))
