"""Trade-off curves: how small a type-II error a test between two neighbours can have at a given type-I error.

Every (ε, δ)-statement confines the errors by two lines, 1 − δ − e^ε·α and e^(−ε)·(1 − δ − α) (Wasserman & Zhou 2010; Kairouz, Oh & Viswanath 2015);
a curve δ(ε) by all of them at once. Results are rounded down: no test does better than is said.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from ..exact.balls import ball, evaluate

if TYPE_CHECKING:
    from .base import Guarantee

_STEPS = 48
_LARGEST = 700.0  # e^ε beyond it says nothing about errors that a double can hold


def two_lines(epsilon: Fraction, delta: Fraction, alpha: Fraction) -> float:
    """max(0, 1 − δ − e^ε·α, e^(−ε)·(1 − δ − α)), rounded down."""
    first = evaluate(lambda: 1 - ball(delta) - ball(epsilon).exp() * ball(alpha), "down")
    second = evaluate(lambda: ball(-epsilon).exp() * ball(1 - delta - alpha), "down")
    return max(0.0, first, second)


def from_curve(guarantee: Guarantee, alpha: Fraction) -> float:
    """The largest of the two lines over ε. Any ε gives a valid bound, so it is only searched for, by golden sections."""
    curve = guarantee._quick()

    def bound(epsilon: float) -> float:
        e = Fraction(epsilon)
        return two_lines(e, Fraction(curve.delta(e)), alpha)

    low, high = 0.0, min(_LARGEST, 2.0 * curve.epsilon(Fraction(1, 10**9)) + 1.0)
    if math.isinf(high):
        return bound(0.0)
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    left, right = high - ratio * high, ratio * high
    best, at_left, at_right = bound(0.0), bound(left), bound(right)
    for _ in range(_STEPS):
        best = max(best, at_left, at_right)
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = bound(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = bound(right)
    return max(best, at_left, at_right)
