"""Uniform numbers: whole ones below a limit, and real ones, of which the first bits are known and
more are drawn where these do not decide.

*Whole*   Leading bits of a word, as many as the largest needs; drawn again while they are too
          large.
*Real*    A number that begins with given bits is compared with another real number, or looked up
          among the parts of a law, in ball arithmetic. Where its interval decides nothing, 64 bits
          more are drawn: the answer is that of the whole number, and one is found with probability
          1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..exact.balls import between, precision
from .bits import SYSTEM, Bits, Words


def integer_below(limit: int, bits: Bits = SYSTEM) -> int:
    """A uniform integer in [0, limit)."""
    size = (limit - 1).bit_length()
    while True:
        drawn = bits.integer(size) if size else 0
        if drawn < limit:
            return drawn


def integers_below(limit: int, count: int, bits: Bits = SYSTEM) -> Words:
    """So many independent uniform integers in [0, limit), limit ≤ 2^64."""
    if limit == 1:
        return np.zeros(count, dtype=np.uint64)
    shift = np.uint64(64 - (limit - 1).bit_length())
    found = bits.words(count)
    found >>= shift
    while (again := np.flatnonzero(found > np.uint64(limit - 1))).size:
        found[again] = bits.words(again.size) >> shift
    return found


def integer_below_each(limits: NDArray[np.int64], bits: Bits = SYSTEM) -> NDArray[np.int64]:
    """A uniform integer in [0, limit) for each limit."""
    lengths = np.frexp((limits - 1).astype(np.float64))[1].astype(
        np.uint64
    )  # bits of the largest; one more after rounding up does no harm
    found = np.zeros(len(limits), dtype=np.int64)
    open_ = np.arange(len(limits))
    while len(open_):
        words = bits.words(len(open_)) >> np.uint64(1)  # 63 bits, so that the shift stays below 64
        drawn = (words >> (np.uint64(63) - lengths[open_])).astype(np.int64)
        fits = drawn < limits[open_]
        found[open_[fits]] = drawn[fits]
        open_ = open_[~fits]
    return found


def lies_below(wall: Callable[[], arb], level: int, known: int, bits: Bits) -> bool:
    """Whether the uniform number that begins with the bits of `level`, `known` of them, lies below
    a real number, which is asked for at growing precision.
    """
    while True:
        with precision(known + 64):
            there, here = wall(), between(level, level + 1, known)
            if here <= there:
                return True
            if here >= there:
                return False
        level, known = level << 64 | bits.integer(64), known + 64


def part_holding(law: Callable[[int], tuple[arb, Iterable[arb]]], word: int, bits: Bits) -> int:
    """Which part of the unit interval holds the uniform number that begins with this word of 64
    bits, the parts being in proportion to weights.

    `law(known)` gives the sum of all weights and the weights, first to last, to about so many bits.
    """
    known = 64
    while True:
        with precision(known + 64):
            total, weights = law(known)
            here, sum_ = between(word, word + 1, known) * total, arb(0)
            for i, weight in enumerate(weights):
                sum_ += weight
                if here <= sum_:
                    return i
                if not here >= sum_:
                    break
        word, known = word << 64 | bits.integer(64), known + 64
