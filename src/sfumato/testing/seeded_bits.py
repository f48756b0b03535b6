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
        return _leading(self.words(-(-bits // 64)).tolist(), bits)


class TapeBits:
    """The words of a tape, first to last, then those of a seeded stream. An integer takes whole
    words from the tape, leading bits first.
    """

    def __init__(self, tape: Iterable[int], seed: int = 0) -> None:
        self._tape = list(tape)
        self._at = 0
        self._seed = seed
        self._after: SeededBits | None = (
            None  # made at need: most tapes are never read to their end
        )

    def words(self, count: int) -> Words:
        return np.array(self._take(count), dtype=np.uint64)

    def integer(self, bits: int) -> int:
        return _leading(self._take(-(-bits // 64)), bits)

    def _take(self, count: int) -> list[int]:
        taken = self._tape[self._at : self._at + count]
        self._at += len(taken)
        if len(taken) < count:
            self._after = self._after or SeededBits(self._seed)
            taken += self._after.words(count - len(taken)).tolist()
        return taken


def _leading(words: list[int], bits: int) -> int:
    """The integer of the first bits of some words."""
    value = 0
    for word in words:
        value = value << 64 | word
    return value >> (64 * len(words) - bits)
