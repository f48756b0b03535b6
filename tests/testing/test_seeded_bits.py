"""Bits that can be repeated."""

from __future__ import annotations

from sfumato.testing import SeededBits, TapeBits


def test_tape_and_seeded_bits() -> None:
    """The sources of the tests themselves: a tape is read in whole words, leading bits first, and
    goes on with a seeded stream.
    """
    after = SeededBits(9)
    tape = TapeBits([1 << 63, 5, 6], seed=9)
    assert tape.integer(8) == 128
    assert tape.integer(65) == (5 << 64 | 6) >> 63
    assert tape.words(2).tolist() == after.words(2).tolist()
    assert TapeBits([1, 2]).words(3).tolist()[:2] == [1, 2]
    assert SeededBits(1).integer(64) == SeededBits(1).integer(64) != SeededBits(2).integer(64)
    assert all(SeededBits(1).integer(n) < 1 << n for n in (1, 63, 64, 65, 200))
