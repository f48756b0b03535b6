"""Real functions at rational points, enclosed between two rationals: whole numbers, series with
their remainder, and nothing else.

Written to be believed rather than to be fast, and without the library that the product computes
with. A number is held as a whole count of units 2^-P, rounded down; what the roundings and the cut
of the series can have lost is counted and added for the upper end. `bits` asks for about that many
correct bits, relative for `exp` and `normal_tail`, absolute for the others; the enclosure is right
whatever is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import TypeVar

Interval = tuple[Fraction, Fraction]
T = TypeVar("T")


def decide(question: Callable[[int], T | None], bits: int = 96) -> T:
    """Ask with more and more bits until there is an answer."""
    while True:
        answer = question(bits)
        if answer is not None:
            return answer
        bits *= 2


def exp(x: Fraction, bits: int) -> Interval:
    """e^x: the series at |x|/2^k ≤ 2^-8, squared k times, inverted for negative x."""
    if x == 0:
        return Fraction(1), Fraction(1)
    k = math.ceil(abs(x)).bit_length() + 8
    P = bits + k + 16
    y = (abs(x.numerator) << P) // (x.denominator << k)
    total, term, n = 0, 1 << P, 0
    while term:
        total += term
        n += 1
        term = term * y // (n << P)
    low, high = (
        total,
        total + 2 * n + 4,
    )  # a unit for each term, with what it hands on; two for y; two for the rest of the series
    for _ in range(k):
        low, high = low * low >> P, -(-high * high >> P)
    if x > 0:
        return Fraction(low, 1 << P), Fraction(high, 1 << P)
    Q = high.bit_length()
    return Fraction((1 << (P + Q)) // high, 1 << Q), Fraction(-(-(1 << (P + Q)) // low), 1 << Q)


def log(y: Fraction, bits: int) -> Interval:
    """ln y = e·ln 2 + 2·artanh((m − 1)/(m + 1)) for y = 2^e·m, m in (½, 2)."""
    P = bits + 16
    e = y.numerator.bit_length() - y.denominator.bit_length()
    m = y / Fraction(2) ** e
    low, high = _artanh(abs(m - 1) / (m + 1), P)
    if m < 1:
        low, high = -high, -low
    two = _log_of_two(P)
    return Fraction(2 * (low + min(e * two[0], e * two[1])), 1 << P), Fraction(
        2 * (high + max(e * two[0], e * two[1])), 1 << P
    )


def _artanh(t: Fraction, P: int) -> tuple[int, int]:
    """Σ t^n/n over odd n, for 0 ≤ t ≤ 1/3, in units of 2^-P."""
    if t == 0:
        return 0, 0
    power = (t.numerator << P) // t.denominator
    square = power * power >> P
    total, n = 0, 1
    while power:
        total += power // n
        power = power * square >> P
        n += 2
    return (
        total,
        total + 2 * n + 8,
        # a power lacks less than 3 units and its quotient one more; the rest of the series is below
        # 2
    )


@cache
def _log_of_two(P: int) -> tuple[int, int]:
    return _artanh(Fraction(1, 3), P)


def sqrt(x: Fraction, bits: int) -> Interval:
    root = math.isqrt((x.numerator << 2 * bits) // x.denominator)
    return Fraction(root, 1 << bits), Fraction(root + 1, 1 << bits)


@cache
def pi(bits: int) -> Interval:
    """16·arctan(1/5) − 4·arctan(1/239) (Machin 1706)."""
    P = bits + 16
    five, more = _arctan_of_one_in(5, P), _arctan_of_one_in(239, P)
    return Fraction(16 * five[0] - 4 * more[1], 1 << P), Fraction(
        16 * five[1] - 4 * more[0], 1 << P
    )


def _arctan_of_one_in(n: int, P: int) -> tuple[int, int]:
    power, total, i = (1 << P) // n, 0, 1
    while power:
        total += power // i if i % 4 == 1 else -(power // i)
        power //= n * n
        i += 2
    return total - i, total + i  # two units for each term: the power's and the quotient's


def normal_tail(x: Fraction, bits: int) -> Interval:
    """Φ(−x) for x ≥ 0, which is ½ − φ(x)·Σ x^(2n+1)/(1·3·5 … (2n + 1)); the working precision makes
    up for the difference.
    """
    P = bits + math.ceil(Fraction(3, 2) * x * x) + 64
    square = x * x
    low = high = 0
    first, last, n = (x.numerator << P) // x.denominator, -(-(x.numerator << P) // x.denominator), 1
    while last > 2 or n < 2 * square:
        low, high, n = low + first, high + last, n + 2
        first = first * square.numerator // (square.denominator * n)
        last = -(-last * square.numerator // (square.denominator * n))
    high += 2 * last  # from here each term is less than half of the one before
    density = exp(-square / 2, P)
    root = tuple(sqrt(2 * end, P)[i] for i, end in enumerate(pi(P)))
    half = Fraction(1, 2)
    return half - density[1] * Fraction(high, 1 << P) / root[0], half - density[0] * Fraction(
        low, 1 << P
    ) / root[1]
