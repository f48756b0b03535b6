"""Repeatable bit sources: a seeded stream, and a tape of chosen words followed by a stream."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..noise.bits import Words


class SeededBits:
    """A bit source that yields the same bits for the same seed."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.Philox(seed))

    def words(self, count: int) -> Words:
        return self._generator.integers(0, 1 << 64, size=count, dtype=np.uint64)

    def integer(self, bits: int) -> int:
        return _leading(self.words(-(-bits // 64)).tolist(), bits)


class TapeBits:
    """A bit source that yields the words of a tape, then those of a seeded stream. An integer takes
    complete words from the tape, leading bits first.
    """

    def __init__(self, tape: Iterable[int], seed: int = 0) -> None:
        self._tape = list(tape)
        self._at = 0
        self._seed = seed
        # made at need: most tapes are never read to their end
        self._after: SeededBits | None = None

    def words(self, count: int) -> Words:
        return np.array(self._take(count), dtype=np.uint64)

    def integer(self, bits: int) -> int:
        return _leading(self._take(-(-bits // 64)), bits)

    def _take(self, count: int) -> list[int]:
        words = self._tape[self._at : self._at + count]
        self._at += len(words)
        if len(words) < count:
            self._after = self._after or SeededBits(self._seed)
            words += self._after.words(count - len(words)).tolist()
        return words


def _leading(words: list[int], bits: int) -> int:
    """Return the integer made of the first `bits` bits of some words."""
    value = 0
    for word in words:
        value = value << 64 | word
    return value >> (64 * len(words) - bits)
