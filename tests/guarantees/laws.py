"""Exact pairs of laws that attain a notion, by arithmetic: the yardsticks against which promises
are measured.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from flint import arb

from sfumato.exact.balls import ball, evaluate


def delta_of_responses(epsilon: Fraction, k: int, leak: Fraction, at: Fraction) -> float:
    """Hockey-stick divergence at `at` of k-fold randomized response, each leaking its input with
    probability `leak` (Kairouz, Oh & Viswanath 2015).
    """

    def formula() -> arb:
        p, q = 1 / (1 + ball(-epsilon).exp()), 1 / (1 + ball(epsilon).exp())
        unleaked = ball((1 - leak) ** k)
        total = arb(0)
        for j in range(k + 1):
            if (k - 2 * j) * epsilon > at:  # where the first law is more than e^at times the second
                total += comb(k, j) * (p ** (k - j) * q**j - ball(at).exp() * q ** (k - j) * p**j)
        return 1 - unleaked + unleaked * total

    return evaluate(formula, "down")


def renyi_of_responses(epsilon: Fraction, k: int, order: Fraction) -> float:
    """k times the Rényi divergence of randomized response, summed over its two outcomes."""

    def formula() -> arb:
        p, q = 1 / (1 + ball(-epsilon).exp()), 1 / (1 + ball(epsilon).exp())
        if order == 1:
            return k * (p - q) * (p / q).log()
        return (
            k
            * (
                p ** ball(order) * q ** ball(1 - order) + q ** ball(order) * p ** ball(1 - order)
            ).log()
            / ball(order - 1)
        )

    return evaluate(formula, "down")
