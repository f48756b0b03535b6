"""Parameters and words that the tests of the samplers share."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cache

from sfumato.exact.numbers import exact

from . import rational, reference
from .rational import Interval

_SMALL = [
    "0.001",
    "1/64",
    "0.1",
    "1/3",
    "0.5",
    "1",
    "22/7",
    "10",
    "64",
    "100.5",
    "1000",
    "12345.678",
    "65536",
    "1e6",
    "2097151",
    "2097151.9999",
]
_SPLIT = [
    "2097152",
    "2097153",
    "1e7",
    "22000000/7",
    "1073741824",
    "1e9",
    "1e10",
    "1e12",
    "1e15",
    "72057594037927936",
]
SCALES = [exact(text) for text in _SMALL + _SPLIT]
"""From 10^-3 to 2^56, with both sides of the split at 2^21."""

ONES = (1 << 64) - 1
EDGES = [0, 1, 2, 3, (1 << 63) - 1, (1 << 63) - 2, *((1 << 43) + d for d in range(-2, 3))]
"""Magnitudes: U = 0, U near 1, and where the geometric fast path ends."""


def near(number: int, size: int) -> list[int]:
    """A number below `size`, its neighbours, and the doubles next to it."""
    double = float(number)
    doubles = {
        int(math.nextafter(double, -math.inf)),
        int(double),
        int(math.nextafter(double, math.inf)),
    }
    return sorted(n for n in {number + d for d in range(-2, 3)} | doubles if 0 <= n < size)


def words_of(number: int, known_bits: int, first: int) -> list[int]:
    """A number of `known` bits as a word of `first` bits and words of 64."""
    rest = (known_bits - first) // 64
    return [number >> 64 * rest, *((number >> 64 * i) & ONES for i in reversed(range(rest)))]


def threshold(scale: Fraction, k: int, known_bits: int, *, centred: bool) -> int:
    """⌊2^known·v⌋ for the v at which ⌊−scale·ln v (+ offset)⌋ becomes k."""

    def ends(p: int) -> Interval:
        c = reference.offset(scale, p) if centred else (Fraction(0), Fraction(0))
        return rational.exp((c[0] - k) / scale, p)[0], rational.exp((c[1] - k) / scale, p)[1]

    return rational.decide(lambda p: reference.digits(ends(p), known_bits), known_bits + 32)


def geometric_magnitudes(scale: Fraction) -> Iterable[tuple[int, ...]]:
    """Words next to boundaries of the law, as many as it takes to come close: the first of 63 bits,
    the others of 64.

    Taken at nine depths of the law, at the first number of words that reaches the boundary to 40
    bits or more, and one word deeper.
    """
    split = reference.shift(scale)
    coarse = scale / (1 << split)
    for depth in (0.001, 0.7, 2.3, 8.3, 13.6, 14.2, 20.8, 41.6, 69.3):
        k = max(1, math.ceil(float(coarse) * depth))
        shallow = next(
            known_bits
            for known_bits in range(63, 1 << 13, 64)
            if k / coarse < Fraction(known_bits - 40) * Fraction(69, 100)
        )
        for known_bits in (shallow, shallow + 64):
            boundary = threshold(coarse, k, known_bits, centred=not split)
            yield from {
                tuple(words_of(number, known_bits, 63))
                for number in near(boundary, 1 << known_bits)
            }


@cache
def end(j: int, bits: int) -> int:
    """The first bits of the probability of cells 0 … j."""
    if j < 0:
        return 0

    def probability(p: int) -> Interval:
        low, high = reference.cumulative(p)
        return Fraction(low[j], 1 << p), Fraction(high[j], 1 << p)

    return rational.decide(lambda p: reference.digits(probability(p), bits), 256)


def inside(j: int) -> list[int]:
    """A word in cell j with level 0, at which every point is accepted; and the second word, if 15
    bits do not tell the cell.
    """
    number = (end(j - 1, 64) + end(j, 64)) // 2
    return (
        [number >> 49 << 49]
        if reference.known_cell(number >> 49) == j
        else [number >> 49 << 49, (number & ((1 << 49) - 1)) << 15]
    )


def wall(j: int, point: int, bits: int = 48) -> int:
    """The greatest level at which the point of cell j may be accepted."""
    fall = reference.fall(j, Fraction(point, 1 << 64))
    return (
        rational.decide(lambda p: reference.digits(rational.exp(fall, p), bits), bits + 32)
        if point
        else (1 << bits) - 1
    )
