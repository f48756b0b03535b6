"""Uniform numbers: integers below a limit, and real numbers whose first bits are known and whose
further bits are drawn only when a comparison needs them.

*Whole*   Leading bits of a word, as many as the largest integer needs; drawn again while they are
          too large.
*Real*    A number that begins with given bits is compared with another real number, or looked up
          among the parts of a law, in ball arithmetic. If its interval decides nothing, 64 more
          bits are drawn: the answer is that of the full number, and the search ends with
          probability 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..exact.balls import between, precision
from .bits import SYSTEM, Bits, Words


def integer_below(limit: int, bits: Bits = SYSTEM) -> int:
    """Draw a uniform integer in [0, limit)."""
    size = (limit - 1).bit_length()
    while True:
        drawn = bits.integer(size) if size else 0
        if drawn < limit:
            return drawn


def integers_below(limit: int, count: int, bits: Bits = SYSTEM) -> Words:
    """Draw `count` independent uniform integers in [0, limit), limit ≤ 2^64."""
    if limit == 1:
        return np.zeros(count, dtype=np.uint64)
    shift = np.uint64(64 - (limit - 1).bit_length())
    numbers = bits.words(count)
    numbers >>= shift
    while (again := np.flatnonzero(numbers > np.uint64(limit - 1))).size:
        numbers[again] = bits.words(again.size) >> shift
    return numbers


def integer_below_each(limits: NDArray[np.int64], bits: Bits = SYSTEM) -> NDArray[np.int64]:
    """Draw a uniform integer in [0, limit) for each limit."""
    # bits of the largest integer; one bit more after rounding up does no harm
    lengths = np.frexp((limits - 1).astype(np.float64))[1].astype(np.uint64)
    numbers = np.zeros(len(limits), dtype=np.int64)
    open_ = np.arange(len(limits))
    while len(open_):
        words = bits.words(len(open_)) >> np.uint64(1)  # 63 bits, so that the shift stays below 64
        drawn = (words >> (np.uint64(63) - lengths[open_])).astype(np.int64)
        fits = drawn < limits[open_]
        numbers[open_[fits]] = drawn[fits]
        open_ = open_[~fits]
    return numbers


def lies_below(wall: Callable[[], arb], level: int, known_bits: int, bits: Bits) -> bool:
    """Whether the uniform number that begins with the `known_bits` bits of `level` lies below a
    real number, which `wall` computes at growing precision.
    """
    while True:
        with precision(known_bits + 64):
            there, here = wall(), between(level, level + 1, known_bits)
            if here <= there:
                return True
            if here >= there:
                return False
        level, known_bits = level << 64 | bits.integer(64), known_bits + 64


def part_holding(law: Callable[[int], tuple[arb, Iterable[arb]]], word: int, bits: Bits) -> int:
    """Return the index of the part of the unit interval that holds the uniform number beginning
    with this 64-bit word. The parts are proportional to weights.

    `law(bits)` returns the sum of all weights and the weights, first to last, to about so many
    bits.
    """
    known_bits = 64
    while True:
        with precision(known_bits + 64):
            total, weights = law(known_bits)
            here, sum_ = between(word, word + 1, known_bits) * total, arb(0)
            for i, weight in enumerate(weights):
                sum_ += weight
                if here <= sum_:
                    return i
                if not here >= sum_:
                    break
        word, known_bits = word << 64 | bits.integer(64), known_bits + 64
