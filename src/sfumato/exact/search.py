"""Searches for the first whole number with a property, and for the minimum of a function.
(`balls.least` is the first search for real numbers.)
"""

from __future__ import annotations

import math
from collections.abc import Callable

_RATIO = (math.sqrt(5.0) - 1.0) / 2.0


def first(holds: Callable[[int], bool], *, near: int = 0, least: int | None = None) -> int:
    """Find the least integer with a property that stays true once it is true. The search begins at
    `near` and tries nothing below `least`.
    """
    start, step = near if least is None else max(near, least), 1
    if holds(start):
        high, low = start, start - 1
        while (least is None or low >= least) and holds(low):
            high, step = low, 2 * step
            low -= step
        low = low if least is None else max(low, least - 1)
    else:
        low, high = start, start + 1
        while not holds(high):
            low, step = high, 2 * step
            high += step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def lowest(function: Callable[[float], float], low: float, high: float, *, steps: int) -> float:
    """Locate the minimum of a function that falls and then rises, strictly between two ends, by so
    many golden sections. An infinite value counts as rising.
    """
    left, right = high - _RATIO * (high - low), low + _RATIO * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(steps):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _RATIO * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _RATIO * (high - low)
            at_right = function(right)
    return left if at_left <= at_right else right
