"""Coins in bulk: each is the comparison of its own 64 bits, followed bit by bit; and rows of packed
bits.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.local.lib import biased_coins
from sfumato.local.lib.dyadic_probability import ONE
from sfumato.noise.bits import Words
from sfumato.testing import SeededBits


class Recorded:
    """Seeded bits that remember every word they gave."""

    def __init__(self, seed: int, fixed: list[int] | None = None) -> None:
        self._bits, self._fixed, self.recorded = (
            SeededBits(seed),
            list(fixed or []),
            list[list[int]](),
        )

    def words(self, count: int) -> Words:
        words = self._bits.words(count)
        for i in range(min(count, len(self._fixed))):
            words[i] = self._fixed.pop(0)
        self.recorded.append(words.tolist())
        return words.copy()

    def integer(self, bits: int) -> int:
        return self._bits.integer(bits)


def followed(m: int, seed: int, fixed: list[int] | None = None) -> tuple[list[int], list[int]]:
    """The 64 coins of one word, and the results of 64 comparisons with the digits that `packed`
    read. A digit that it did not read cannot matter: 0 and 1 give the same comparison.
    """
    bits = Recorded(seed, fixed)
    out = biased_coins.packed(m, 8, bits).view(np.uint64)
    digits = [word for words in bits.recorded for word in words]
    lanes = [[digit >> lane & 1 for digit in digits] for lane in range(64)]
    low = [sum(bit << (63 - place) for place, bit in enumerate(lane)) for lane in lanes]
    high = [number + (1 << (64 - len(digits))) - 1 for number in low]
    assert all((a < m) == (b < m) for a, b in zip(low, high, strict=True))
    return [int(out[0]) >> lane & 1 for lane in range(64)], [int(number < m) for number in low]


@given(st.integers(1, ONE - 1), st.integers(0, 1000))
def test_each_coin_is_the_comparison_of_its_own_bits(m: int, seed: int) -> None:
    coins, comparisons = followed(m, seed)
    assert coins == comparisons


@given(st.integers(1, ONE - 1), st.integers(0, 20))
def test_digits_that_agree_with_the_probability_for_long(m: int, seed: int) -> None:
    """All lanes are given m's own first 40 digits, so that every one of them goes on to the
    rest.
    """
    fixed = [(ONE - 1) * (m >> (63 - place) & 1) for place in range(40)]
    coins, comparisons = followed(m, seed, fixed)
    assert coins == comparisons


@pytest.mark.parametrize("digits", range(1, 7))
def test_the_law_by_enumeration(digits: int) -> None:
    """All lanes together take every value of the first six digits once: of 64, exactly m of them
    show heads.
    """
    fixed = [sum((lane >> (5 - place) & 1) << lane for lane in range(64)) for place in range(6)]
    for top in range(1, 1 << digits, 2):
        m = top << (64 - digits)
        assert int(
            np.bitwise_count(biased_coins.packed(m, 8, Recorded(0, fixed)).view(np.uint64))[0]
        ) == top << (6 - digits)


def test_certain_coins_need_no_bits() -> None:
    assert biased_coins.packed(0, 5, Recorded(0)).tolist() == [0] * 5
    assert biased_coins.packed(ONE, 5, Recorded(0)).tolist() == [255] * 5
    fair = Recorded(0)
    biased_coins.packed(ONE // 2, 8, fair)
    assert sum(len(words) for words in fair.recorded) == 1, "a fair coin takes one bit"


@pytest.mark.parametrize(
    "m", [ONE // 3, ONE // 2, 7 * ONE // 8 + 12345, ONE // 10], ids=["1/3", "1/2", "7/8", "1/10"]
)
def test_many_passes(m: int) -> None:
    """Seeded, so that the outcome never changes; over seeds it would alarm once in 10⁹ (six
    standard deviations).
    """
    n = 3 * 64 * biased_coins._LANES + 77
    heads, p = int(biased_coins.flags(m, n, SeededBits(5)).sum()), m / ONE
    assert abs(heads - n * p) < 6 * (n * p * (1 - p)) ** 0.5
    assert abs(heads - n * 1.05 * p) > 6 * (n * p * (1 - p)) ** 0.5, (
        "a law wrong by five per cent is seen"
    )


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 64, (1 << 31) - 1])
def test_uniform_numbers(limit: int) -> None:
    numbers = biased_coins.below(limit, 3000, SeededBits(1))
    assert numbers.min() >= 0
    assert numbers.max() < limit
    if 1 < limit < 100:
        counts = np.bincount(numbers, minlength=limit)
        assert (np.abs(counts - 3000 / limit) < 6 * (3000 / limit) ** 0.5 + 6).all()


@given(st.integers(1, 40), st.integers(0, 30), st.integers(0, 99))
def test_columns(columns: int, rows: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    table = generator.integers(0, 2, (rows, columns), dtype=np.uint8)
    packed = np.packbits(table, axis=1)
    assert biased_coins.column_counts(packed, columns).tolist() == table.sum(axis=0).tolist()
    assert biased_coins.padding_is_clear(packed, columns).all()
    noisy = packed | (0 if columns % 8 == 0 else 1)
    assert columns % 8 == 0 or not biased_coins.padding_is_clear(noisy, columns).any() or rows == 0
    biased_coins.clear_padding(noisy, columns)
    assert biased_coins.padding_is_clear(noisy, columns).all()
    place, value = generator.integers(0, columns, rows), generator.integers(0, 2, rows).astype(bool)
    biased_coins.put_bit(packed, place, value)
    table[np.arange(rows), place] = value
    assert (np.unpackbits(packed, axis=1, count=columns) == table).all()
