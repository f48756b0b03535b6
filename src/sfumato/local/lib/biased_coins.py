"""Draw coins in bulk: bits that are 1 with probability m/2^64, eight to a byte, and integers.

*Law*     Each bit is (U < m) for its own uniform 64-bit U; nothing is approximated.
*Draw*    64 coins at a time, one random word for each binary digit, the leading digit first: a coin
          is decided where its digit differs from that of m. Ten words decide all but one coin in
          1024; the words with an open coin go on alone, and all stop after the last 1 among the
          digits of m (a fair coin takes one).
*Proof*   docs/proofs/local-coins.md
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...noise.bits import SYSTEM, Bits, Words
from ...noise.uniform import integers_below
from .dyadic_probability import BITS, ONE

Bytes = NDArray[np.uint8]

_LANES = 1 << 12  # words in one pass: ten digits of them stay in the cache
_FIRST = 10  # digits that every word gets


def packed(m: int, size: int, bits: Bits = SYSTEM) -> Bytes:
    """Draw `size` bytes of independent coins, each bit 1 with probability m/2^64."""
    words = -(-size // 8)
    if m >= ONE:
        return np.full(size, 255, dtype=np.uint8)
    out = np.zeros(words, dtype=np.uint64)
    # digits up to the last 1: a coin still open after it is not below m
    last = BITS - (m & -m).bit_length() + 1 if m else 0
    for start in range(0, words if m else 0, _LANES):
        _toss(m, last, out[start : start + _LANES], bits)
    return out.view(np.uint8)[:size]


def _toss(m: int, last: int, out: Words, bits: Bits) -> None:
    """Fill `out` with coins."""
    first = min(last, _FIRST)
    digits = bits.words(first * out.size).reshape(first, out.size)
    open_ = np.full(out.size, ~np.uint64(0))
    for place in range(first):
        _digit(m, place, digits[place], out, open_)
    for place in range(first, last):
        lanes = np.flatnonzero(open_)
        if not lanes.size:
            return
        some, still = out[lanes], open_[lanes]
        _digit(m, place, bits.words(lanes.size), some, still)
        out[lanes], open_[lanes] = some, still


def _digit(m: int, place: int, u: Words, out: Words, open_: Words) -> None:
    """Decide U < m where U's digit differs from m's: true where m has the 1."""
    if m >> (BITS - 1 - place) & 1:
        out |= open_ & ~u
        open_ &= u
    else:
        open_ &= ~u


def flags(m: int, count: int, bits: Bits = SYSTEM) -> NDArray[np.bool_]:
    """Draw `count` independent coins, one per place."""
    return np.unpackbits(packed(m, -(-count // 8), bits), count=count).view(np.bool_)


def below(limit: int, count: int, bits: Bits = SYSTEM) -> NDArray[np.int64]:
    """Draw `count` uniform integers in [0, limit)."""
    return integers_below(limit, count, bits).view(np.int64)


_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.int64)


def column_counts(rows: Bytes, columns: int) -> NDArray[np.int64]:
    """Count the rows with a 1 in each column, from rows of packed bits."""
    each = [np.bincount(rows[:, byte], minlength=256) @ _ONES for byte in range(rows.shape[1])]
    return np.concatenate(each)[:columns] if each else np.zeros(0, dtype=np.int64)


def put_bit(rows: Bytes, column: NDArray[np.int64], value: NDArray[np.bool_]) -> None:
    """Set one bit of each row."""
    at, byte, mask = np.arange(len(rows)), column >> 3, (128 >> (column & 7)).astype(np.uint8)
    rows[at, byte] = np.where(value, rows[at, byte] | mask, rows[at, byte] & ~mask)


def clear_padding(rows: Bytes, columns: int) -> None:
    """Zero the bits beyond the last column."""
    rows[:, -1] &= np.uint8((0xFF00 >> (columns - 8 * (rows.shape[1] - 1))) & 0xFF)


def padding_is_clear(rows: Bytes, columns: int) -> NDArray[np.bool_]:
    """Tell which rows have no 1 beyond the last column."""
    clear: NDArray[np.bool_] = (
        rows[:, -1] & np.uint8(0xFF >> (columns - 8 * (rows.shape[1] - 1)))
    ) == 0
    return clear
