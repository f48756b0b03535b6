"""Probabilities as a client can toss them: whole numbers of 2^-64, rounded towards privacy.

*Form*      A probability is an integer m in [0, 2^64]; a coin shows heads if 64 fair bits, read as
            a number, are below m. So the law of a client is a law of exact rationals, the same
            wherever it runs, and what it promises is arithmetic.
*Rounding*  `down` and `up` round a real number to such an integer for certain, in ball arithmetic.
            Each oracle rounds to the side on which its reports tell less, and then proves what it
            promises with `keeps`, from the integers themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from ...errors import Refused
from ...exact.balls import above, ball, below, decide, floor
from ...exact.numbers import text

BITS = 64
ONE = 1 << BITS


def down(formula: Callable[[], arb]) -> int:
    """⌊2^64·p⌋."""
    return decide(lambda: floor(formula() * ball(ONE)), 160)


def up(formula: Callable[[], arb]) -> int:
    """⌈2^64·p⌉."""
    return -decide(lambda: floor(-formula() * ball(ONE)), 160)


def share(m: int) -> Fraction:
    """The probability that an integer stands for."""
    return Fraction(m, ONE)


def keeps(odds: Fraction, epsilon: Fraction, place: str) -> None:
    """Refuse what does not keep its promise: the largest ratio of two chances of one report has to
    be in (1, e^ε]. There is no tie: e^ε is irrational.
    """
    if odds <= 1:
        reason = "with probabilities of 64 bits, reports that tell so little tell nothing"
        raise Refused("local.epsilon", f"{place}, epsilon={text(epsilon)}", reason, "epsilon=0.1")
    if not below(lambda: ball(odds), lambda: ball(epsilon).exp()):
        raise Refused(
            "local.epsilon",
            f"{place}, epsilon={text(epsilon)}",
            "these probabilities tell more than ε allows",
            "epsilon= alone",
        )


def loss(odds: Fraction) -> Fraction:
    """ln of the odds, rounded up: the ε of a law that is given by its probabilities."""
    return above(lambda: ball(odds).log())
