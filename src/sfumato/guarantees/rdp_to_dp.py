"""From a bound on one Rényi divergence to (ε, δ) (Canonne, Kamath & Steinke 2020, Proposition 12).

If D_α ≤ r, then (ε, δ)-DP holds with ε = r + ln(1 − 1/α) − ln(αδ)/(α − 1), that is with δ =
e^((α−1)(r−ε)) · (1 − 1/α)^α / (α − 1). Also the total variation, δ at ε = 0, is at most √(r/2)
(Pinsker), and δ(ε) never exceeds it.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from ..exact.balls import ball, evaluate

_FAR = 1e150


def delta_at(order: Fraction, divergence: Fraction, epsilon: Fraction) -> float:
    """δ at this ε, rounded up; 1 where it would be more."""
    if log_delta(order, divergence, epsilon) > 1.0:
        return 1.0

    def formula() -> arb:
        a = ball(order)
        return ((a - 1) * ball(divergence - epsilon) + a * (-1 / a).log1p()).exp() / (a - 1)

    return evaluate(formula, "up")


def epsilon_at(order: Fraction, divergence: Fraction, delta: Fraction) -> float:
    """ε at this δ > 0, rounded up and at least 0."""
    a = order
    return max(
        0.0,
        evaluate(
            lambda: (
                ball(divergence)
                + (-1 / ball(a)).log1p()
                - (ball(a) * ball(delta)).log() / ball(a - 1)
            ),
            "up",
        ),
    )


def pinsker(divergence: Fraction) -> float:
    """√(D/2), rounded up: a bound on δ(ε) for every ε ≥ 0, from any D_α with α ≥ 1."""
    return evaluate(lambda: ball(divergence / 2).sqrt(), "up")


def clamp_to_double(value: Fraction) -> float:
    """Return the number as a double for a search; every order is valid, so accuracy is not
    needed.
    """
    try:
        double = float(value)
    except OverflowError:  # beyond all doubles
        return _FAR if value > 0 else -_FAR
    return max(-_FAR, min(_FAR, double))


def log_delta(order: Fraction, divergence: Fraction, epsilon: Fraction) -> float:
    """ln δ in double precision, for the search of the best order."""
    a = clamp_to_double(order)
    return (
        (a - 1.0) * clamp_to_double(divergence - epsilon)
        + a * math.log1p(-1.0 / a)
        - math.log(a - 1.0)
    )


def best_order(rho: Fraction, epsilon: Fraction) -> Fraction:
    """The order that is best for D_α = ρα: where the derivative of ln δ, (2α − 1)ρ − ε + ln(1 −
    1/α), changes sign.
    """
    r, e = clamp_to_double(rho), clamp_to_double(epsilon)
    low, high = 1.0 + 1e-9, max(2.0, min(2.0**40, (e + 1.0) / (2.0 * r) + 2.0))
    while low < (middle := (low + high) / 2.0) < high:
        low, high = (
            (middle, high)
            if (2.0 * middle - 1.0) * r - e + math.log1p(-1.0 / middle) < 0.0
            else (low, middle)
        )
    return Fraction(high)
