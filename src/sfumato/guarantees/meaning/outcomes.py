"""How much one person's participation can raise the chance of an outcome that they fear.

*Any notion*   An event S of chance q under one dataset has a chance in [f(1 − q), 1 − f(q)] under a
               neighbour, f being the trade-off curve.
*Rényi*        e^−r·q^(α/(α − 1)) ≤ P(S) ≤ (e^r·q)^((α − 1)/α) with r = D_α, in either direction
               (Langlois, Stehlé & Steinfeld 2014; Mironov 2017). The left side needs its exponent:
               e^−r·q alone is false.

Both hold, so the smaller interval does.
"""

from __future__ import annotations

import math
from fractions import Fraction

from ...exact.balls import ball, chance
from ...exact.numbers import Number, non_negative, probability
from .. import guarantee_refusals as refusals
from ..finite.divergence_bounds import preservation_bound
from ..guarantee import Guarantee, check_order
from ..renyi import ORDERS
from .bayes import Interval


def outcome_bounds(guarantee: Guarantee, baseline: Number) -> Interval:
    """Bounds on the chance of an outcome whose chance is `baseline` if one person's data are
    changed or removed.
    """
    q = probability(baseline, "baseline", one=True)
    low, high = Fraction(guarantee.tradeoff(1 - q)), 1 - Fraction(guarantee.tradeoff(q))
    curve = (
        {a: value for a in ORDERS if not math.isinf(value := guarantee.renyi(a))}
        if 0 < q < 1
        else {}
    )
    if curve:
        a = min(curve, key=lambda a: _exponent(a, curve[a], q))
        b = min(curve, key=lambda b: _exponent(b, curve[b], 1 - q))
        high = min(high, Fraction(preservation_bound(a, Fraction(curve[a]), q)))
        low = max(
            low,
            Fraction(least_chance(a, Fraction(curve[a]), q)),
            1 - Fraction(preservation_bound(b, Fraction(curve[b]), 1 - q)),
        )
    return Interval(chance(lambda: ball(low), "down"), chance(lambda: ball(high), "up"))


def least_chance(order: Number, divergence: Number, baseline: Number) -> float:
    """e^−r·q^(α/(α − 1)), rounded down."""
    a = check_order(order)
    r = non_negative(divergence, "divergence")
    q = probability(baseline, "baseline", one=True)
    if a == 1:
        raise refusals.ORDER_NOT_ABOVE_ONE(name="order", number=1)
    return chance(lambda: (ball(a / (a - 1)) * ball(q).log() - ball(r)).exp(), "down") if q else 0.0


def _exponent(order: Fraction, divergence: float, q: Fraction) -> float:
    """ln of the upper bound in double precision, for the search of the best order."""
    a = float(order)
    return (divergence + math.log(q.numerator) - math.log(q.denominator)) * (a - 1.0) / a
