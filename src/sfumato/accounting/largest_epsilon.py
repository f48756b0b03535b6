"""The largest ε that a share of a budget pays for: the inverse of `guarantees.conversions`.

*Pure*       The largest ε with Pure(ε).to(notion) within the share: ε·tanh(ε/2) ≤ ρ; 2Φ⁻¹(e^ε/(1 +
             e^ε)) ≤ μ, that is ε ≤ ln Φ(μ/2) − ln Φ(−μ/2); the divergence of randomized response at
             every order of a curve. For Approx(ε, δ) in zCDP or on a curve it is the same ε, and δ
             is paid beside it.
*Ranged*     Mechanisms whose loss has range ε, as the exponential mechanism's has, are also
             ε²/8-zCDP: the larger of the two.
*Rounding*   A guess in double precision, lowered until what it costs, rounded up as a ledger rounds
             it, is within the share. So it is a short decimal, never above the truth, and below it
             by less than 2^-36 of itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from ..exact.balls import ball, evaluate, normal_cdf
from ..exact.numbers import positive, rational_root
from ..guarantees import GDP, ZCDP, Approx, Guarantee, Pure, Renyi
from ..guarantees.pure import renyi_of_pure
from . import accounting_refusals as refusals

_STEP = 2.0**-44  # the first step down


@lru_cache(maxsize=1024)
def largest_epsilon(share: Guarantee, *, ranged: bool = False) -> Fraction:
    """Return the largest ε such that an ε-DP mechanism costs no more than the share. `ranged` is
    for a mechanism whose loss has range ε.
    """
    if type(share) not in INVERSES:
        notions = ", ".join(notion.__name__ for notion in INVERSES)
        raise refusals.SHARE_IN_SEVERAL_NOTIONS(share=share, notions=notions)
    epsilon = INVERSES[type(share)](share)
    return (
        max(epsilon, _root(8 * _slope(share)))
        if ranged and isinstance(share, ZCDP | Renyi)
        else epsilon
    )


def _of_pure(share: Guarantee) -> Fraction:
    return positive(share.parameters["epsilon"], "epsilon")


def _of_zcdp(share: ZCDP) -> Fraction:
    rho = positive(share.rho, "rho")
    guess = _solve(lambda e: e * math.tanh(e / 2), float(rho))
    return _lower_until(guess, lambda e: Fraction(renyi_of_pure(e, Fraction(1))) <= rho)


def _of_gdp(share: GDP) -> Fraction:
    square = positive(share.mu_squared, "mu_squared")
    guess = evaluate(
        lambda: (
            normal_cdf(ball(square).sqrt() / 2).log() - normal_cdf(-ball(square).sqrt() / 2).log()
        ),
        "down",
    )
    return _lower_until(guess, lambda e: Pure(e).to(GDP).mu_squared <= square)


def _of_renyi(share: Renyi) -> Fraction:
    curve = {order: positive(value, f"curve({order})") for order, value in share.curve.items()}

    def cost(a: float) -> Callable[[float], float]:
        return lambda e: (
            e + (math.log1p(math.exp((1 - 2 * a) * e)) - math.log1p(math.exp(-e))) / (a - 1)
        )

    guess = min(_solve(cost(float(order)), float(value)) for order, value in curve.items())
    return _lower_until(
        guess,
        lambda e: all(Fraction(renyi_of_pure(e, order)) <= value for order, value in curve.items()),
    )


INVERSES: dict[type[Guarantee], Callable[..., Fraction]] = {
    Pure: _of_pure,
    Approx: _of_pure,
    ZCDP: _of_zcdp,
    Renyi: _of_renyi,
    GDP: _of_gdp,
}
"""For each currency, the function that finds the largest ε of a share."""


def _slope(share: ZCDP | Renyi) -> Fraction:
    """Return the largest ρ that costs no more than the share."""
    return (
        share.rho
        if isinstance(share, ZCDP)
        else min(value / order for order, value in share.curve.items())
    )


def _root(square: Fraction) -> Fraction:
    """Return the square root: exact where it is rational, else rounded down by at most 2^-60 of
    itself.
    """
    if (root := rational_root(square)) is not None:
        return root
    digits = max(0, 60 + square.denominator.bit_length() - square.numerator.bit_length())
    return Fraction(math.isqrt((square.numerator << 2 * digits) // square.denominator), 1 << digits)


def _solve(cost: Callable[[float], float], share: float) -> float:
    """Return an approximate solution e of cost(e) = share, for an increasing cost."""
    low, high = 0.0, max(1.0, share)
    while cost(high) < share:
        low, high = high, 2 * high
    while low == 0.0 and cost(high / 4) >= share:
        high /= 4
    low = max(low, high / 4)
    for _ in range(60):
        middle = low + (high - low) / 2
        low, high = (middle, high) if cost(middle) < share else (low, middle)
    return high


def _lower_until(guess: float, holds: Callable[[Fraction], bool]) -> Fraction:
    """Lower the guess in growing steps until `holds` is true of it."""
    step, number = 0.0, guess * (1 + _STEP)
    while not holds(Fraction(repr(number))):
        number, step = guess * (1 - step), 2 * step or _STEP
    return Fraction(repr(number))
