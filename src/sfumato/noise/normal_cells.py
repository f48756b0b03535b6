"""Cells of the half-normal density, and the certified table that picks a cell.

Cut the half-line into cells of width WIDTH = 1/32. Cell j is proposed with probability w_j / Σw,
w_j = e^(−(j·WIDTH)²/2), the height of the density at the cell's left end; a point uniform in it, j
+ u, is then accepted with probability e^(−WIDTH²·u·(j + u/2)), the density relative to that end.
The sampler finds the cell by comparing a uniform word with the cumulative probabilities. The table
holds their first 64 bits, rounded down: a word equal to an entry, or beyond the last entry, is
undecided, and `settle_cell` draws more bits.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import accumulate, count
from typing import NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..exact.balls import ball, decide, floor, precision
from .bits import Bits, Words
from .uniform import part_holding

WIDTH = Fraction(1, 32)
GUIDE_BITS = 15
UNSURE = 0xFFFF
FAR = 512
"""From here on the accept test's exponent leaves [−½, 0], and the margins of double precision are
not claimed.
"""
_CELLS = 320  # the cells from 10 standard deviations on hold less than 2^-64


class CellTable(NamedTuple):
    """`ends[j]` = ⌊2^64 · P(cell ≤ j)⌋; `guide[t]` = the cell of every word that begins with the
    bits t, or UNSURE; `cell_of` the same as a list.
    """

    ends: Words
    guide: NDArray[np.uint16]
    cell_of: list[int]


@cache
def table() -> CellTable:
    ends = decide(_ends, 256)
    guide = np.full(1 << GUIDE_BITS, UNSURE, dtype=np.uint16)
    size = 1 << (64 - GUIDE_BITS)
    first = 0
    for j, end in enumerate(ends):
        # the blocks of words wholly between two ends, ties excluded
        begin, stop = -(-(first + 1) // size), end // size
        guide[begin if first else 0 : stop] = j
        first = end
    return CellTable(np.array(ends, dtype=np.uint64), guide, guide.tolist())


def settle_cell(word: int, bits: Bits) -> int:
    """Find the cell of the uniform number that begins with `word`, by ball arithmetic."""
    return part_holding(lambda known_bits: (_total(known_bits), map(_height, count())), word, bits)


def _ends() -> list[int] | None:
    """Return ⌊2^64 · P(cell ≤ j)⌋ for every j of the table; None if the precision is too low."""
    sums = accumulate(_height(j) for j in range(_CELLS))
    ends = [floor(sum_ / _total(128) * arb(2) ** 64) for sum_ in sums]
    return None if None in ends else [end for end in ends if end is not None]


def _height(j: int) -> arb:
    return (-ball((j * WIDTH) ** 2 / 2)).exp()


@cache
def _total(bits: int) -> arb:
    """Return Σ_j e^(−(j·WIDTH)²/2) to about `bits` bits."""
    with precision(bits + 96):
        total, j = arb(0), 0
        while True:
            height = _height(j)
            total += height
            if j > 64 and height < arb(2) ** (-bits - 64):
                # beyond j every height is less than e^(−WIDTH²·j) ≤ e^(−1/16) times the one before:
                # the rest is below 17 heights
                return total + arb(0, 17).nonnegative_part().union(arb(17)) * height
            j += 1
