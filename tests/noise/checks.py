"""Checks as functions, so that the tests can apply them to the product and `test_mutants.py` to
samplers that are broken on purpose.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from sfumato.noise.bits import Bits
from sfumato.testing import TapeBits

from . import rational, reference, truth

Draw = Callable[[Bits], Any]
Tail = Callable[[int], float]


# Bit for bit


def disagreements(draw: Draw, specified: Draw, tapes: Iterable[Sequence[int]]) -> int:
    """On how many tapes a sampler and its specification give different integers."""
    return sum(draw(TapeBits(tape)) != specified(TapeBits(tape)) for tape in tapes)


# Goodness of fit

DRAWS = 1_000_000
ALARM = 1e-6
"""A sound sampler's p-value falls below this once in a million checks; that of a scale 5 % off must
be below 1e-20.
"""


def quantiles(kind: str, scale: Fraction) -> list[int]:
    """Integers that cut a law into some sixty cells, finer at the ends."""
    levels = [1e-4, 1e-3, 0.005, *(i / 50 for i in range(1, 25))]
    ahead = [-math.log(2 * p) if kind == "geometric" else -NormalDist().inv_cdf(p) for p in levels]
    cuts = {round(scale * Fraction(x)) for x in ahead} | {0, 1}
    return sorted(cuts | {1 - cut for cut in cuts})


def fit(sample: NDArray[Any], tail: Tail, cuts: Sequence[int]) -> float:
    """Pearson's p-value of a sample against a law with P(Z ≥ z) = tail(z); cells that expect fewer
    than 20 are joined to their neighbours.
    """
    boundaries, chances, above = [], [], 1.0
    for cut in cuts:
        here = tail(cut)
        if (above - here) * len(sample) >= 20 and here * len(sample) >= 20:
            boundaries.append(cut)
            chances.append(above - here)
            above = here
    counts = np.bincount(
        np.searchsorted(boundaries, sample, side="right"), minlength=len(boundaries) + 1
    )
    return _pearson(counts, np.array([*chances, above]))


def law_fit(sample: NDArray[Any], kind: str, scale: Fraction) -> float:
    return fit(sample, lambda z: truth.middle(truth.TAILS[kind](scale, z)), quantiles(kind, scale))


def low_bits_fit(sample: NDArray[Any], modulus: int = 64) -> float:
    """The p-value of uniform remainders. At scales from 2^21 on both laws are uniform modulo 64 to
    a relative 1e-9, which 10^6 draws cannot see.
    """
    return _pearson(np.bincount(sample % modulus, minlength=modulus), np.full(modulus, 1 / modulus))


def _pearson(counts: NDArray[Any], chances: NDArray[np.float64]) -> float:
    expected = chances * counts.sum()
    return float(stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), len(counts) - 1))


# Enumeration: a layer of a sampler reads one word, and its outcome changes once as the word grows.
# So all words are counted by bisection.


def counted(holds: Callable[[int], bool], size: int) -> int:
    """How many of 0 … size − 1 have a property that the small ones have and the large ones have
    not.
    """
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if holds(middle) else (low, middle)
    return low


def geometric_miscount(draw: Draw, scale: Fraction, k: int) -> Fraction:
    """By how many of 2^63 words P(|Z| ≥ k) is missed; for split laws, of the quotient."""
    split = reference.shift(scale)
    size = 1 << 63
    number = counted(lambda word: abs(draw(TapeBits([word, 1]))) >> split >= k, size)
    ends = (
        rational.exp(-k * (1 << split) / scale, 128)
        if split
        else [2 * end for end in truth.geometric_tail(scale, k)]
    )
    return _beyond(number, ends, size)


def remainder_miscount(draw: Draw, scale: Fraction, r: int) -> Fraction:
    """By how many of 2^28 levels the chance of a remainder r to be accepted is missed. If it is
    refused, the tape offers another one.
    """
    second, size = r ^ 1, 1 << 28
    number = counted(
        lambda level: draw(TapeBits([1 << 62, level << 36 | r, second])) & 1 == r & 1, size
    )
    return _beyond(number, rational.exp(-r / scale, 128), size)


def wall_miscount(draw: Draw, first: Sequence[int], j: int, point: int) -> Fraction:
    """By how many of 2^48 levels the chance of a point of cell j to be accepted is missed. If it is
    refused, the tape offers one of the other sign.
    """
    word, *second = first
    size, minus = 1 << 48, [1 << 48 | 20000 << 49, 1 << 63]
    number = counted(
        lambda level: draw(TapeBits([word | level, point, *second, *minus])) >= 0, size
    )
    ends = [rational.exp(reference.fall(j, u), 128) for u in reference.unit(point, 64)]
    return _beyond(number, (ends[1][0], ends[0][1]), size)


def point_miscount(draw: Draw, sigma: Fraction, first: Sequence[int], j: int, k: int) -> Fraction:
    """By how many of 2^64 points the boundary between k − 1 and k is missed in cell j."""
    word, *second = first
    size = 1 << 64
    number = counted(lambda point: draw(TapeBits([word, point, *second])) < k, size)
    exact = min(max((k - Fraction(1, 2)) * 32 / sigma - j, Fraction(0)), Fraction(1))
    return _beyond(number, (exact, exact), size)


def coin_miscount(draw: Draw, chance: tuple[Fraction, Fraction]) -> Fraction:
    """By how many of 2^72 a probability is missed: bytes first, then the words that follow the byte
    it begins with.

    A draw reads the first byte of a word, a sample the last one: both are set.
    """
    octets = counted(
        lambda octet: bool(draw(TapeBits([octet << 56 | octet, 0]))), 256
    )  # the last of them has a further word, here 0
    words = (
        counted(
            lambda word: bool(draw(TapeBits([(octets - 1) << 56 | (octets - 1), word]))), 1 << 64
        )
        if octets
        else 0
    )
    return _beyond((max(octets - 1, 0) << 64) + words, chance, 1 << 72)


def choice_miscount(draw: Draw, law: reference.Weights, i: int) -> Fraction:
    """By how many of 2^64 words P(I ≤ i) is missed."""
    ends = [*reference.shares(law, 256), (Fraction(1), Fraction(1))]
    return _beyond(counted(lambda word: draw(TapeBits([word])) <= i, 1 << 64), ends[i], 1 << 64)


def _beyond(number: int, ends: Sequence[Fraction], size: int) -> Fraction:
    """How far a count lies from the interval it belongs to."""
    return max(number - ends[1] * size, ends[0] * size - number, Fraction(0))
