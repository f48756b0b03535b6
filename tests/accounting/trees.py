"""Adaptive processes with few outcomes, exactly: what composition theorems and filters are measured
against.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from math import comb

from flint import arb

from sfumato.exact.balls import ball, evaluate
from sfumato.guarantees.finite.channel import Channel

Pair = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
Choose = Callable[[tuple[int, ...]], Pair | None]
"""From the answers so far to the two laws of the next one, or to the end."""

SLACK = 1 + 1e-13
"""A channel made from an ε has odds below e^ε by some parts in 2^100, and its numbers are rounded
up.
"""


def response(epsilon: Fraction | str, leak: Fraction | str | int = 0) -> Channel:
    """Randomized response that betrays its input with probability `leak`: every (ε, δ)-DP pair is a
    processing of it.
    """
    (p, q), _ = Channel.randomized_response(epsilon).rows
    d = Fraction(leak)
    return Channel([[d, 0, (1 - d) * p, (1 - d) * q], [0, d, (1 - d) * q, (1 - d) * p]])


def delta_of_responses(epsilon: Fraction, k: int, leak: Fraction, at: Fraction) -> float:
    """δ of k such responses, term by term, rounded down (Kairouz, Oh & Viswanath 2015)."""

    def formula() -> arb:
        p, q = 1 / (1 + ball(-epsilon).exp()), 1 / (1 + ball(epsilon).exp())
        terms = (
            comb(k, j) * (p ** (k - j) * q**j - ball(at).exp() * q ** (k - j) * p**j)
            for j in range(k + 1)
            if (k - 2 * j) * epsilon > at
        )
        unleaked = ball((1 - leak) ** k)
        return 1 - unleaked + unleaked * sum(terms, arb(0))

    return evaluate(formula, "down")


def product(channels: list[Channel]) -> Channel:
    return reduce(lambda a, b: a.product(b), channels)


def laws(choose: Choose) -> Pair:
    """The laws of all answers of an adaptive process, under either input."""
    p: list[Fraction] = []
    q: list[Fraction] = []

    def walk(answers: tuple[int, ...], a: Fraction, b: Fraction) -> None:
        pair = choose(answers)
        if pair is None:
            p.append(a)
            q.append(b)
            return
        for y, (s, t) in enumerate(zip(*pair, strict=True)):
            walk((*answers, y), a * s, b * t)

    walk((), Fraction(1), Fraction(1))
    return tuple(p), tuple(q)
