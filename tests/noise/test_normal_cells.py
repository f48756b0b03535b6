"""The certified table of cells: every entry, every guide, and what happens where 64 bits do not
decide.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sfumato.noise.normal_cells import FAR, GUIDE_BITS, UNSURE, WIDTH, settle_cell, table
from sfumato.noise.rounded_normal import _find, _find_each
from sfumato.testing import TapeBits

from . import reference
from .cases import ONES, end


def test_ends_are_the_first_64_bits_of_the_cumulative_law() -> None:
    assert table().ends.tolist() == [end(j, 64) for j in range(len(table().ends))]


def test_the_table_reaches_to_where_64_bits_end() -> None:
    assert int(table().ends[-1]) == ONES
    assert (np.diff(table().ends.astype(object)) >= 0).all()


def test_guide_tells_a_cell_exactly_where_its_bits_decide() -> None:
    """Every block of words between two ends, and no block that holds one."""
    ends, size = table().ends, 1 << (64 - GUIDE_BITS)
    first = np.arange(1 << GUIDE_BITS, dtype=np.uint64) * np.uint64(size)
    first_cell, last_cell = (
        ends.searchsorted(words, side="right") for words in (first, first + np.uint64(size - 1))
    )
    expected = np.where((first_cell == last_cell) & ~np.isin(first, ends), first_cell, UNSURE)
    assert table().guide.tolist() == expected.tolist()
    assert table().cell_of == table().guide.tolist()
    assert (table().guide == UNSURE).mean() < 0.01


@pytest.mark.parametrize("j", [0, 1, 2, 31, 100, 200, 270, 318])
def test_ties_are_settled_by_further_bits(j: int) -> None:
    """A word equal to an entry: the next word, next to the end's own, decides; if that is equal
    too, the one after it.
    """
    coarse, fine, finer = end(j, 64), end(j, 128) & ONES, end(j, 192) & ONES
    for more, cell in [
        ((0,), j),
        ((ONES,), j + 1),
        ((fine - 1,), j),
        ((fine + 1,), j + 1),
        ((fine, finer - 1), j),
        ((fine, finer + 1), j + 1),
    ]:
        if j < 300:  # else the next entry is the same word
            assert settle_cell(coarse, TapeBits(more)) == cell
        assert settle_cell(coarse, TapeBits(more)) == reference.cell(coarse, 64, TapeBits(more))


@pytest.mark.parametrize("words", range(4))
def test_beyond_the_last_entry(words: int) -> None:
    tape = [ONES] * words + [1 << 60]
    assert settle_cell(ONES, TapeBits(tape)) == reference.cell(ONES, 64, TapeBits(tape)) > 280


def test_a_word_of_the_table_is_found_one_by_one_and_side_by_side() -> None:
    """Each end exactly, and its neighbours: `_find` and `_find_each` agree with the
    specification.
    """
    numbers = [
        number for j in range(0, 250, 10) for number in (end(j, 64) - 1, end(j, 64), end(j, 64) + 1)
    ]
    words = [number >> 49 << 49 for number in numbers]
    seconds = [(number & ((1 << 49) - 1)) << 15 | 0x1234 for number in numbers]
    expected = [reference.cell(number, 64, TapeBits([7])) for number in numbers]
    assert [
        _find(word, second, TapeBits([7])) for word, second in zip(words, seconds, strict=True)
    ] == expected
    cells, ties = _find_each(np.array(words, dtype=np.uint64), TapeBits(seconds + [7] * len(words)))
    assert [ties.get(lane, int(cell)) for lane, cell in enumerate(cells)] == expected
    assert set(ties) == set(range(1, len(numbers), 3))


def test_the_accept_test_stays_in_its_range_before_far() -> None:
    """The accept test computes e^x for x in [−½, 0] only."""
    assert Fraction(-1, 2) <= reference.fall(FAR - 1, Fraction(1))
    assert WIDTH == reference.WIDTH
