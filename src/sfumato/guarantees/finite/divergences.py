"""Divergences between two laws on finitely many outcomes, for every notion of differential privacy.

*Max*            D_∞(P‖Q) = max over events S of ln P(S)/Q(S), the ε of a pure promise.
*Approximate*    D_∞^δ(P‖Q) = max over S with P(S) > δ of ln (P(S) − δ)/Q(S), the ε that is left
                 when δ is given up. S = everything gives ln(1 − δ), so it can be below zero.
*Hockey-stick*   H_ε(P‖Q) = max over S of P(S) − e^ε·Q(S) = Σ (p − e^ε·q)₊, the δ that is left at ε.
                 The positive parts are summed: a δ allowed at every single outcome says nothing
                 about events.
*Kullback*       KL(P‖Q) = Σ p·ln(p/q), an expectation over one outcome drawn from P.
*Rényi*          D_α(P‖Q) = ln(Σ q·(p/q)^α)/(α − 1), an expectation over one outcome drawn from Q;
                 KL at α = 1 and D_∞ at α = ∞, its limits.
*f*              D_f(P‖Q) = Σ q·f(p/q) for a convex f with f(1) = 0 (Csiszár 1963; Ali & Silvey
                 1966); where q = 0 the term is p·lim f(t)/t. With f(t) = t^α − 1 it is e^((α −
                 1)·D_α) − 1.

(ε, δ)-DP is H_ε ≤ δ, or D_∞^δ ≤ ε, for every pair of neighbours and in both directions. Everything
is computed from exact rationals and rounded once, in the direction asked for. Mass where Q has none
makes D_∞, KL and D_α (α ≥ 1) infinite; it counts in full in H_ε.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import NamedTuple

from flint import arb

from ...exact.balls import Rounding, ball, chance, evaluate
from ...exact.numbers import Number, exact, positive, probability
from .. import guarantee_refusals as refusals
from .finite_laws import Law, RatioStep, exceeds, law, pair, steps, weights

Value = Fraction | int | float | arb
"""The result of a function f: an exact number, a ball, or infinity. A finite float is refused: it
was rounded in an unknown direction.
"""


def max_divergence(P: Law, Q: Law, *, rounding: Rounding = "nearest") -> float:
    """D_∞(P‖Q)."""
    return approx_max_divergence(P, Q, 0, rounding=rounding)


def approx_max_divergence(
    P: Law, Q: Law, delta: Number, *, rounding: Rounding = "nearest"
) -> float:
    """D_∞^δ(P‖Q). The best event consists of the outcomes with the largest ratios, so one event per
    ratio is tried.
    """
    d = probability(delta, "delta")
    events = list(accumulate(steps(*pair(P, Q)), lambda s, t: RatioStep(s.p + t.p, s.q + t.q)))
    if any(event.infinite and event.p > d for event in events):
        return math.inf
    best = max((event.p - d) / event.q for event in events if not event.infinite)
    return evaluate(lambda: ball(best).log(), rounding)


def hockey_stick(P: Law, Q: Law, epsilon: Number, *, rounding: Rounding = "nearest") -> float:
    """H_ε(P‖Q), for any real ε."""
    e = exact(epsilon, "epsilon")
    ratios = steps(*pair(P, Q))
    count = bisect_left(
        ratios, True, key=lambda step: not (step.infinite or exceeds(step.ratio, e))
    )
    p = sum((s.p for s in ratios[:count]), Fraction(0))
    q = sum((s.q for s in ratios[:count]), Fraction(0))
    return chance(lambda: ball(p) - ball(e).exp() * ball(q), rounding)


def kl(P: Law, Q: Law, *, rounding: Rounding = "nearest") -> float:
    """KL(P‖Q), in nats."""
    p, q = pair(P, Q)
    terms = [step for step in steps(p, q) if step.p]
    if p == q:
        return 0.0
    if any(step.infinite for step in terms):
        return math.inf
    return evaluate(lambda: sum((ball(s.p) * ball(s.ratio).log() for s in terms), arb(0)), rounding)


def renyi(P: Law, Q: Law, order: Number, *, rounding: Rounding = "nearest") -> float:
    """D_α(P‖Q) for an order in (0, ∞]."""
    a = order_of(order)
    if a is None:
        return max_divergence(P, Q, rounding=rounding)
    if a == 1:
        return kl(P, Q, rounding=rounding)
    p, q = pair(P, Q)
    terms = [step for step in steps(p, q) if step.p]
    common = [step for step in terms if not step.infinite]
    if p == q:
        return 0.0
    if not common or (a > 1 and len(common) < len(terms)):
        return math.inf

    top = common[0].ratio  # taken out of the sum, so that the largest orders do not overflow

    def formula() -> arb:
        rest = sum(
            (ball(s.q) * (ball(a) * ball(s.ratio / top).log()).exp() for s in common), arb(0)
        )
        return (ball(a) * ball(top).log() + rest.log()) / ball(a - 1)

    return evaluate(formula, rounding)


def order_of(order: Number) -> Fraction | None:
    """An order of Rényi divergence, exact; None stands for ∞."""
    return None if isinstance(order, float) and order == math.inf else positive(order, "order")


class Convex(NamedTuple):
    """A convex function f on [0, ∞) with f(1) = 0, and lim f(t)/t as t grows."""

    f: Callable[[Fraction], Value]
    slope: Callable[[], Value]


def _kl(t: Fraction) -> arb:
    return ball(t) * ball(t).log() if t else arb(0)


def _jensen_shannon(t: Fraction) -> arb:
    return (_kl(t) - ball(t + 1) * ball((t + 1) / 2).log()) / 2


NAMED: dict[str, Convex] = {
    "tv": Convex(lambda t: abs(t - 1) / 2, lambda: Fraction(1, 2)),  # ½ Σ |p − q|
    "chi2": Convex(lambda t: (t - 1) ** 2, lambda: math.inf),  # Σ (p − q)²/q
    "hellinger": Convex(lambda t: (ball(t).sqrt() - 1) ** 2, lambda: 1),  # Σ (√p − √q)²
    # ½ KL(P‖M) + ½ KL(Q‖M), M = (P + Q)/2
    "jensen-shannon": Convex(_jensen_shannon, lambda: arb(2).log() / 2),
    "kl": Convex(_kl, lambda: math.inf),
}
"""The f-divergences that have a name."""


def f_divergence(
    f: str | Callable[[Fraction], Value],
    P: Law,
    Q: Law,
    *,
    slope: Number | None = None,
    rounding: Rounding = "nearest",
) -> float:
    """D_f(P‖Q) for a named f, or for a function of an exact rational.

    A function returns an exact number, or a ball (`sfumato.exact.balls.ball(t).log()`), for which
    it is called again at growing precision. The caller vouches for its convexity. `slope` is lim
    f(t)/t as t grows; it is needed only if P has mass where Q has none.
    """
    convex = _convex(f, slope)
    p, q = pair(P, Q)
    if p == q:
        return 0.0
    terms: list[tuple[Fraction, Callable[[], Value]]] = [
        (s.p, convex.slope) if s.infinite else (s.q, partial(convex.f, s.ratio))
        for s in steps(p, q)
    ]
    if any(value == math.inf for _, term in terms if isinstance(value := _checked(term()), float)):
        return math.inf
    return evaluate(
        lambda: sum((ball(weight) * _as_ball(term()) for weight, term in terms), arb(0)), rounding
    )


def quantised_f_divergence(
    f: str | Callable[[Fraction], Value],
    P: Law,
    Q: Law,
    cells: Iterable[Iterable[Hashable]],
    *,
    slope: Number | None = None,
    rounding: Rounding = "nearest",
) -> float:
    """D_f between the laws of the cell that the outcome falls in: never more than D_f(P‖Q), which
    is its maximum over all partitions.
    """
    pair(P, Q)
    partition = [list(cell) for cell in cells]
    return f_divergence(
        f, quantise(P, partition), quantise(Q, partition), slope=slope, rounding=rounding
    )


def quantise(P: Law, cells: Iterable[Iterable[Hashable]]) -> tuple[Fraction, ...]:
    """The law of the cell that the outcome falls in. Cells hold outcomes: positions in a list, or
    keys of a mapping; each outcome in one cell.
    """
    partition = [list(cell) for cell in cells]
    numbers = law(P) if isinstance(P, Mapping) else weights(P, "P")
    mass = dict(zip(P if isinstance(P, Mapping) else range(len(numbers)), numbers, strict=True))
    listed = [outcome for cell in partition for outcome in cell]
    if set(listed) != set(mass) or len(listed) != len(mass):
        raise refusals.CELLS_ARE_NO_PARTITION(count=len(partition))
    return tuple(sum((mass[outcome] for outcome in cell), Fraction(0)) for cell in partition)


def _convex(f: str | Callable[[Fraction], Value], slope: Number | None) -> Convex:
    if isinstance(f, str):
        if f not in NAMED:
            raise refusals.UNKNOWN_DIVERGENCE(name=f, known=", ".join(NAMED))
        return NAMED[f]

    def limit() -> Value:
        if slope is None:
            raise refusals.SLOPE_MISSING()
        return math.inf if slope == math.inf else exact(slope, "slope")

    at_one = _checked(f(Fraction(1)))
    if not (at_one.contains(0) if isinstance(at_one, arb) else at_one == 0):
        raise refusals.FUNCTION_NOT_ZERO_AT_ONE(at_one=at_one)
    return Convex(f, limit)


def _checked(value: Value) -> Value:
    if (
        isinstance(value, arb)
        or (isinstance(value, Fraction | int) and not isinstance(value, bool))
        or value == math.inf
    ):
        return value
    raise refusals.FUNCTION_IS_ROUNDED(value=value)


def _as_ball(value: Value) -> arb:
    checked = _checked(value)
    return checked if isinstance(checked, arb) else ball(Fraction(checked))
