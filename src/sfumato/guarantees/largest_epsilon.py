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

Each notion computes its own, in `_largest_epsilon`; here is what they share.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from ..exact.numbers import rational_root
from . import guarantee_refusals as refusals
from .guarantee import Guarantee, currencies

_STEP = 2.0**-44  # the first step down


@lru_cache(maxsize=1024)
def largest_epsilon(share: Guarantee, *, ranged: bool = False) -> Fraction:
    """Return the largest ε such that an ε-DP mechanism costs no more than the share. `ranged` is
    for a mechanism whose loss has range ε.
    """
    epsilon = share._largest_epsilon(ranged=ranged)
    if epsilon is None:
        notions = ", ".join(kind.__name__ for kind in currencies())
        raise refusals.SHARE_IN_SEVERAL_NOTIONS(share=share, notions=notions)
    return epsilon


def root_down(square: Fraction) -> Fraction:
    """Return the square root: exact where it is rational, else rounded down by at most 2^-60 of
    itself.
    """
    if (root := rational_root(square)) is not None:
        return root
    digits = max(0, 60 + square.denominator.bit_length() - square.numerator.bit_length())
    return Fraction(math.isqrt((square.numerator << 2 * digits) // square.denominator), 1 << digits)


def solve(cost: Callable[[float], float], share: float) -> float:
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


def lower_until(guess: float, holds: Callable[[Fraction], bool]) -> Fraction:
    """Lower the guess in growing steps until `holds` is true of it."""
    step, number = 0.0, guess * (1 + _STEP)
    while not holds(Fraction(repr(number))):
        number, step = guess * (1 - step), 2 * step or _STEP
    return Fraction(repr(number))
