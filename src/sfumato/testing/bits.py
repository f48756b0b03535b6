"""Repeatable bits: a seeded stream, and a tape of chosen words that goes on with one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..noise.bits import Words


class SeededBits:
    """The same bits for the same seed."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.Philox(seed))

    def words(self, count: int) -> Words:
        return self._generator.integers(0, 1 << 64, size=count, dtype=np.uint64)

    def integer(self, bits: int) -> int:
        words = self.words(-(-bits // 64))
        value = 0
        for word in words.tolist():
            value = value << 64 | word
        return value >> (64 * len(words) - bits)


class TapeBits:
    """The words of a tape, first to last, then those of a seeded stream. An integer takes whole words from the tape, leading bits first."""

    def __init__(self, tape: Iterable[int], seed: int = 0) -> None:
        self._tape = list(tape)
        self._at = 0
        self._after = SeededBits(seed)

    def words(self, count: int) -> Words:
        ready = self._tape[self._at : self._at + count]
        self._at += len(ready)
        rest = self._after.words(count - len(ready))
        return np.concatenate([np.array(ready, dtype=np.uint64), rest])

    def integer(self, bits: int) -> int:
        words = self.words(-(-bits // 64)).tolist()
        value = 0
        for word in words:
            value = value << 64 | word
        return value >> (64 * len(words) - bits)
