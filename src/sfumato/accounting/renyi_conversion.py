"""Conversion of one Rényi divergence to (ε, δ), by named theorems. `Guarantee.to` and `.epsilon`
choose the better one themselves.

*Classic*    D_α ≤ r gives (r + ln(1/δ)/(α − 1), δ)-DP for α > 1 and every δ in (0, 1) (Mironov
             2017, Proposition 3).
*Improved*   and even (r + ln(1 − 1/α) − ln(αδ)/(α − 1), δ)-DP (Canonne, Kamath & Steinke 2020,
             Proposition 12).
*Event*      The step behind the classic one: P(B) ≤ max{e^(r + ln(1/δ)/(α − 1))·Q(B), δ} for every
             event B, since where Q(B) is too small for the first, P(B) ≤ (e^r·Q(B))^(1 − 1/α) is
             below δ. It is the larger of the two; printed with the smaller it fails for an honest
             coin.
"""

from __future__ import annotations

from fractions import Fraction

from ..exact.balls import above, ball, evaluate, up
from ..exact.numbers import Number, non_negative, probability
from ..guarantees import Approx
from ..guarantees.guarantee import check_order
from ..guarantees.rdp_to_dp import epsilon_at
from . import accounting_refusals as refusals


def classic(order: Number, divergence: Number, delta: Number) -> Approx:
    """Convert D_α ≤ divergence to (ε, δ), by Mironov 2017."""
    a, r, d = _check_arguments(order, divergence, delta)
    return Approx(above(lambda: ball(r) - ball(d).log() / ball(a - 1)), d)


def improved(order: Number, divergence: Number, delta: Number) -> Approx:
    """Convert D_α ≤ divergence to (ε, δ), by Canonne, Kamath & Steinke 2020."""
    a, r, d = _check_arguments(order, divergence, delta)
    return Approx(Fraction(epsilon_at(a, r, d)), d)


def event_bound(order: Number, divergence: Number, delta: Number, chance: Number) -> float:
    """Bound P(B) where Q(B) = chance and D_α(P‖Q) ≤ divergence, as the classic conversion does.
    The bound is rounded up and may exceed 1.
    """
    a, r, d = _check_arguments(order, divergence, delta)
    q = probability(chance, "chance", one=True)
    return max(
        evaluate(lambda: (ball(r) - ball(d).log() / ball(a - 1)).exp() * ball(q), "up"), up(d)
    )


def _check_arguments(
    order: Number, divergence: Number, delta: Number
) -> tuple[Fraction, Fraction, Fraction]:
    a = check_order(order)
    if a == 1:
        raise refusals.ORDER_IS_ONE(order=order)
    return a, non_negative(divergence, "divergence"), probability(delta, "delta", zero=False)
