"""Probabilities that a client can toss: multiples of 2^-64, rounded towards privacy.

*Form*      A probability is an integer m in [0, 2^64]; a coin shows heads if 64 fair bits, read as
            a number, are below m. So the law of a client is a law of exact rationals, the same
            wherever it runs, and its promise is arithmetic.
*Rounding*  `down` and `up` round a real number to such an integer for certain, in ball arithmetic.
            Each oracle rounds to the side on which its reports tell less, and then proves its
            promise with `check_promise`, from the integers themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from ...exact.balls import above, ball, below, decide, floor
from ...exact.numbers import text
from .. import local_refusals as refusals

BITS = 64
ONE = 1 << BITS


def down(formula: Callable[[], arb]) -> int:
    """Return ⌊2^64·p⌋."""
    return decide(lambda: floor(formula() * ball(ONE)), 160)


def up(formula: Callable[[], arb]) -> int:
    """Return ⌈2^64·p⌉."""
    return -decide(lambda: floor(-formula() * ball(ONE)), 160)


def as_fraction(m: int) -> Fraction:
    """Return the probability m/2^64."""
    return Fraction(m, ONE)


def check_promise(odds: Fraction, epsilon: Fraction, oracle: str) -> None:
    """Refuse an oracle that does not keep its promise: the largest ratio of two probabilities of a
    report must be in (1, e^ε]. There is no tie: e^ε is irrational.
    """
    if odds <= 1:
        raise refusals.EPSILON_TOO_SMALL(oracle=oracle, epsilon=text(epsilon))
    if not below(lambda: ball(odds), lambda: ball(epsilon).exp()):
        raise refusals.PROBABILITIES_BREAK_PROMISE(oracle=oracle, epsilon=text(epsilon))


def epsilon_of_odds(odds: Fraction) -> Fraction:
    """Return ln of the odds, rounded up: the ε of a law given by its probabilities."""
    return above(lambda: ball(odds).log())
