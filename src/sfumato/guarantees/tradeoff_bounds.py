"""Trade-off curves: how small a type-II error a test between two neighbours can have at a given
type-I error.

Every (ε, δ)-statement confines the errors by two lines, 1 − δ − e^ε·α and e^(−ε)·(1 − δ − α)
(Wasserman & Zhou 2010; Kairouz, Oh & Viswanath 2015); a curve δ(ε) confines them by all such lines
at once. Results are rounded down: no test has a smaller error than the result.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ..exact.balls import ball, evaluate
from ..exact.search import lowest

if TYPE_CHECKING:
    from .guarantee import Guarantee

_STEPS = 48
_LARGEST = 700.0  # a larger ε bounds no error that a double can hold


def two_lines(epsilon: Fraction, delta: Fraction, alpha: Fraction) -> float:
    """max(0, 1 − δ − e^ε·α, e^(−ε)·(1 − δ − α)), rounded down."""
    first = evaluate(lambda: 1 - ball(delta) - ball(epsilon).exp() * ball(alpha), "down")
    second = evaluate(lambda: ball(-epsilon).exp() * ball(1 - delta - alpha), "down")
    return max(0.0, first, second)


def from_curve(guarantee: Guarantee, alpha: Fraction) -> float:
    """Return the largest value of the two lines over ε. Any ε gives a valid bound, so a golden
    section search is enough.
    """
    curve = guarantee._quick()

    def bound(epsilon: float) -> float:
        e = Fraction(epsilon)
        return two_lines(e, Fraction(curve.delta(e)), alpha)

    high = min(_LARGEST, 2.0 * curve.epsilon(Fraction(1, 10**9)) + 1.0)
    return max(bound(0.0), bound(lowest(lambda epsilon: -bound(epsilon), 0.0, high, steps=_STEPS)))
