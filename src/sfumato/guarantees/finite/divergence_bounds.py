"""Inequalities for the Rényi divergence: probability preservation and the weak triangle inequality.

*Preservation*   P(B) ≤ (e^(D_α(P‖Q)) · Q(B))^((α − 1)/α) for every event B and α > 1 (Langlois,
                 Stehlé & Steinfeld 2014).
*Triangle*       D_α(P‖Q) ≤ (α − 1/p)/(α − 1) · D_{pα}(P‖R) + D_{q(α − 1/p)}(R‖Q) for 1/p + 1/q = 1
                 and α > 1 (Mironov 2017).
"""

from __future__ import annotations

from fractions import Fraction

from ...exact.balls import Rounding, ball, evaluate
from ...exact.numbers import Number, exact, non_negative, probability, text
from .. import guarantee_refusals as refusals
from .divergences import order_of


def preservation_bound(
    order: Number, divergence: Number, chance: Number, *, rounding: Rounding = "up"
) -> float:
    """An upper bound on P(B) if Q(B) = `chance` and D_α(P‖Q) = `divergence`."""
    a = order_of(order)
    if a is not None:
        _above_one(a)
    d, q = non_negative(divergence, "divergence"), probability(chance, "chance", one=True)
    if q == 0:
        return 0.0
    power = Fraction(1) if a is None else (a - 1) / a
    return min(1.0, evaluate(lambda: (ball(power) * (ball(d) + ball(q).log())).exp(), rounding))


def triangle_orders(order: Number, p: Number) -> tuple[Fraction, Fraction]:
    """The two orders on the right of the weak triangle inequality, pα and q(α − 1/p)."""
    a, b = _above_one(exact(order, "order")), _above_one(exact(p, "p"), "p")
    return b * a, b / (b - 1) * (a - 1 / b)


def triangle_bound(
    order: Number, p: Number, first: Number, second: Number, *, rounding: Rounding = "up"
) -> float:
    """An upper bound on D_α(P‖Q) if D_{pα}(P‖R) = `first` and D_{q(α − 1/p)}(R‖Q) = `second`."""
    a, b = _above_one(exact(order, "order")), _above_one(exact(p, "p"), "p")
    bound = (a - 1 / b) / (a - 1) * non_negative(first, "first") + non_negative(second, "second")
    return evaluate(lambda: ball(bound), rounding)


def _above_one(number: Fraction, name: str = "order") -> Fraction:
    if number <= 1:
        raise refusals.ORDER_NOT_ABOVE_ONE(name=name, number=text(number))
    return number
