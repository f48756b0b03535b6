"""Uniform integers by their bits, and real numbers that further bits settle: ties of any length, on
either side.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import count
from math import isqrt

import numpy as np
import pytest
from flint import arb

from sfumato.exact.balls import ball
from sfumato.noise.uniform import (
    integer_below,
    integer_below_each,
    integers_below,
    lies_below,
    part_holding,
)
from sfumato.testing import SeededBits, TapeBits

ONES = (1 << 64) - 1
TOP = [w << 62 for w in range(4)]
LIMITS = [1, 2, 3, 1000, (1 << 53) - 1, 1 << 53, (1 << 53) + 1, (1 << 62) - 1, 1 << 62]


def test_by_their_bits() -> None:
    """Three of four two-bit words are taken as they are; the fourth is drawn again."""
    assert integers_below(3, 3, TapeBits(TOP[:3])).tolist() == [0, 1, 2]
    assert integers_below(3, 2, TapeBits([TOP[3], TOP[2], TOP[3], TOP[1]])).tolist() == [1, 2]
    assert integers_below(5, 2, TapeBits([5 << 61, 2 << 61, 4 << 61])).tolist() == [4, 2]
    assert integers_below(1, 3, TapeBits([])).tolist() == [0, 0, 0]
    assert integers_below(1 << 64, 2, TapeBits([ONES, 7])).tolist() == [ONES, 7]
    assert [integer_below(3, TapeBits([word, TOP[1]])) for word in TOP] == [0, 1, 2, 1]
    assert integer_below(1, TapeBits([])) == 0


def test_each_by_its_bits() -> None:
    assert integer_below_each(np.array([3, 3, 3]), TapeBits(TOP[:3])).tolist() == [0, 1, 2]
    assert integer_below_each(
        np.array([3, 1, 4]), TapeBits([TOP[3], TOP[3], TOP[3], TOP[1]])
    ).tolist() == [1, 0, 3]
    assert integer_below_each(np.array([1]), TapeBits([ONES])).tolist() == [0]


@pytest.mark.parametrize("limit", LIMITS)
def test_they_stay_below(limit: int) -> None:
    each, all_ = (
        integer_below_each(np.full(2000, limit), SeededBits(limit % 1000)),
        integers_below(limit, 2000, SeededBits(limit % 1000)),
    )
    for drawn in (
        each.tolist(),
        all_.tolist(),
        [integer_below(limit, SeededBits(i)) for i in range(2000)],
    ):
        assert 0 <= min(drawn) <= max(drawn) < limit
        assert max(drawn) > limit * 0.99 - 1  # else with probability below 0.99^2000 < 2e-9


def test_they_are_uniform() -> None:
    """False alarm 2e-8: six standard deviations in any of seven cells, for three samples. The twin
    is the remainder of three bits.
    """
    n = 70_000
    wall = 6 * (n / 7 * 6 / 7) ** 0.5
    bits = SeededBits(9)
    for drawn in (
        integer_below_each(np.full(n, 7), SeededBits(8)),
        integers_below(7, n, SeededBits(8)),
        [integer_below(7, bits) for _ in range(n)],
    ):
        assert abs(np.bincount(np.asarray(drawn, dtype=np.int64), minlength=7) - n / 7).max() < wall
    twin = np.bincount((SeededBits(8).words(n) >> np.uint64(61)).astype(np.int64) % 7, minlength=7)
    assert abs(twin - n / 7).max() > wall


@pytest.mark.parametrize("words", range(4))
def test_a_real_number_is_compared_bit_by_bit(words: int) -> None:
    """1/√2 begins with the words that the tape has but for the last one, which decides."""
    digits = isqrt(1 << 128 * (words + 2) - 1)  # ⌊2^(64·(words + 2))/√2⌋
    known_words = [digits >> 64 * (words + 1 - i) & ONES for i in range(words + 2)]
    for last, below in ((known_words[-1] - 1, True), (known_words[-1] + 1, False)):
        assert (
            lies_below(
                lambda: ball(Fraction(1, 2)).sqrt(),
                known_words[0],
                64,
                TapeBits([*known_words[1:-1], last]),
            )
            is below
        )


def test_a_part_is_found_by_further_bits() -> None:
    """Thirds: the first word of an end, then its digits, then one less or one more."""
    third = (1 << 64) // 3
    for word, more, part in (
        (third - 1, [], 0),
        (third, [third - 1], 0),
        (third, [third + 1], 1),
        (third, [third, third, 0], 0),
        (third, [third, third, ONES], 1),
        (2 * third, [2 * third - 1], 1),
        (2 * third, [2 * third + 1], 2),
        (ONES, [], 2),
    ):
        assert part_holding(lambda _: (arb(3), [arb(1)] * 3), word, TapeBits(more)) == part


def test_parts_may_be_infinitely_many() -> None:
    """Halves of halves: the part is the number of leading ones."""
    for ones in range(64):
        word = ONES ^ (ONES >> ones) | (1 << 63 - ones) // 2
        assert (
            part_holding(
                lambda _: (arb(1), (arb(2) ** -(i + 1) for i in count())), word, TapeBits([1])
            )
            == ones
        )
