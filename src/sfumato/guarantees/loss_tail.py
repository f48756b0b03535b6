"""Tail bounds on the privacy loss, for promises that do not bound it for every answer.

*Loss*      L = ln p(answer | x)/p(answer | x′), the answer drawn under x: by e^L the odds on the
            truth grow.
*Tail*      (t, δ)-DP gives P(L > ε) ≤ δ/(1 − e^(t − ε)) for ε > t: on that event 1 − e^(t − L) is
            more than 1 − e^(t − ε), and its mean is at most δ. With a whole curve, the least over
            t, where δ(t) = 1 − e^t + e^t·δ(−t) for t < 0. No better bound follows from the curve:
            joining the answers of the largest losses attains it.
*Both*      P(|L| > ε) ≤ (1 + e^−ε) times that: on L < −ε the law under x is less than e^−ε times
            the law under x′.
*Outside*   solved for ε: outside an event of probability η the odds move by at most e^ε, with e^ε =
            (δ(t) + η·e^t)/(η − δ(t)) for any t with δ(t) < η.

P(L > ε) ≤ δ is therefore *not* what (ε, δ)-DP says. Nor does μ-GDP say that L has the tail of the
normal law with mean μ²/2 and variance μ²: the Gaussian mechanism's own loss has
(`loss_closed_forms.gaussian_loss`), but a processing of it may have a larger tail, and GDP is a
promise about all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from ..exact.balls import ball, chance, evaluate, up
from ..exact.numbers import Number, positive, probability, text
from ..exact.search import lowest
from . import guarantee_refusals as refusals
from .approx import Approx
from .guarantee import Guarantee, reach
from .pure import Pure

_STEPS = 40


def pure_epsilon(guarantee: Guarantee) -> Fraction | None:
    """Return the ε that bounds the loss of every answer, exact if possible; None if there is
    none.
    """
    pure = reach(guarantee, Pure)
    if pure is not None:
        return pure.parameters["epsilon"]
    epsilon = guarantee.epsilon(0)
    return None if math.isinf(epsilon) else Fraction(epsilon)


def tail(guarantee: Guarantee, epsilon: Number) -> float:
    """The least bound known on P(L > ε), rounded up."""
    e = positive(epsilon, "epsilon")
    largest = pure_epsilon(guarantee)
    if largest is not None and largest <= e:
        return 0.0
    curve = guarantee._quick()

    def bound(t: Fraction) -> float:
        delta = Fraction(curve.delta(abs(t)))
        if t >= 0:
            return chance(lambda: ball(delta) / -ball(t - e).expm1(), "up")
        return chance(
            lambda: (ball(delta) * ball(t).exp() - ball(t).expm1()) / -ball(t - e).expm1(), "up"
        )

    zero = Fraction(0)
    return min(bound(t) for t in (zero, _lowest(bound, zero, e), _lowest(bound, -2 * e - 8, zero)))


def epsilon_outside(guarantee: Guarantee, eta: Number) -> float:
    """The least ε known such that |L| ≤ ε outside an event of probability η, rounded up."""
    n = probability(eta, "eta", zero=False)
    largest, first = pure_epsilon(guarantee), guarantee.epsilon(n)
    if largest == 0:
        return 0.0
    curve = guarantee._quick()

    def bound(t: Fraction) -> float:
        lost = Fraction(curve.delta(t))
        return (
            evaluate(lambda: ((ball(lost) + ball(n) * ball(t).exp()) / ball(n - lost)).log(), "up")
            if lost < n
            else math.inf
        )

    places = (
        [Fraction(first), _lowest(bound, Fraction(first), 2 * Fraction(first) + 8)]
        if not math.isinf(first)
        else []
    )
    if isinstance(guarantee, Approx):
        places.append(guarantee.parameters["epsilon"])  # where the curve has its kink
    epsilon = min([bound(t) for t in places], default=math.inf)
    if math.isinf(epsilon):
        lost = guarantee.delta(2**20)
        raise refusals.ETA_TOO_SMALL(
            guarantee=guarantee, eta=text(n), delta=lost, larger=min(2 * lost, (1 + lost) / 2)
        )
    return epsilon if largest is None else min(epsilon, up(largest))


def _lowest(bound: Callable[[Fraction], float], low: Fraction, high: Fraction) -> Fraction:
    """Return a t at which the bound is about lowest. The bound holds at every t, so an approximate
    minimum is sound.
    """
    return Fraction(lowest(lambda t: bound(Fraction(t)), float(low), float(high), steps=_STEPS))
