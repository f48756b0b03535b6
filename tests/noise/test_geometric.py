"""The two-sided geometric law: bit for bit its specification, on random bits and on those that an
adversary would choose.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.noise.bits import CHUNK
from sfumato.noise.geometric import _DOUBT, _FEW, Geometric
from sfumato.testing import SeededBits, TapeBits

from . import reference
from .cases import EDGES, ONES, SCALES, geometric_magnitudes, near

SPLIT = [scale for scale in SCALES if reference.shift(scale)]


def both_signs(magnitudes: list[int]) -> list[int]:
    return magnitudes + [magnitude ^ ONES for magnitude in magnitudes]


def assert_same(scale: Fraction, first: int, *more: int, rest: int = 12345) -> None:
    """One draw and one sample of a word, its remainder's word where there is a split, and the words
    that follow.
    """
    tape = [first, rest, *more] if reference.shift(scale) else [first, *more]
    law, expected = Geometric(scale=scale), reference.geometric_draw(scale, TapeBits(tape))
    assert law.draw(TapeBits(tape)) == expected
    assert law.sample(1, TapeBits(tape)).tolist() == [expected]


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_random_bits(scale: Fraction) -> None:
    law, ours, theirs = Geometric(scale=scale), SeededBits(1), SeededBits(1)
    assert [law.draw(ours) for _ in range(100)] == [
        reference.geometric_draw(scale, theirs) for _ in range(100)
    ]
    assert law.sample(300, ours).tolist() == reference.geometric_sample(scale, 300, theirs)
    assert ours.integer(64) == theirs.integer(64), "as many bits were read"


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_words_next_to_boundaries(scale: Fraction) -> None:
    for first, *more in geometric_magnitudes(scale):
        assert_same(scale, first, *more)
        assert_same(scale, first ^ ONES, *more)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_words_next_to_boundaries_side_by_side(scale: Fraction) -> None:
    words = both_signs([first for first, *_ in geometric_magnitudes(scale) if first > 1 << 20])
    tape = words + words[::-1] if reference.shift(scale) else words
    ours, theirs = TapeBits(tape), TapeBits(tape)
    assert Geometric(scale=scale).sample(len(words), ours).tolist() == reference.geometric_sample(
        scale, len(words), theirs
    )
    assert ours.integer(64) == theirs.integer(64), "as many bits were read"


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize(
    "more", [(), (0,), (0, 0, 1), (ONES, ONES)], ids=["", "0", "0 0 1", "ones"]
)
def test_edges(scale: Fraction, more: tuple[int, ...]) -> None:
    """U = 0, U near 1 and the end of the fast path, of either sign; then nothing special, zeros,
    ones.
    """
    for word in both_signs(EDGES):
        assert_same(scale, word, *more)


@pytest.mark.parametrize("scale", SPLIT, ids=str)
def test_remainders(scale: Fraction) -> None:
    """The remainder's word next to its own wall e^(−r/scale), where the shortcut ends, and at the
    ends of its range.
    """
    k = reference.shift(scale)
    for r in (0, 1, (1 << k) // 3, (1 << k) - 1):
        wall = reference.decide(
            lambda p, r=r: (
                reference.digits(reference.rational.exp(-r / scale, p), 28) if r else (1 << 28) - 1
            )
        )
        for level in {*near(wall, 1 << 28), _DOUBT >> 36, (_DOUBT >> 36) - 1, 0, (1 << 28) - 1}:
            for more in ((), (0, 0), (ONES, ONES)):
                assert_same(scale, (1 << 62) + 98765, *more, rest=level << 36 | r)
    for rest in (_DOUBT - 1, _DOUBT, _DOUBT + 1, ONES, ONES - 1):
        assert_same(scale, (1 << 62) + 98765, rest=rest)


@pytest.mark.parametrize("scale", SPLIT, ids=str)
def test_minus_zero_is_drawn_again(scale: Fraction) -> None:
    nearly_one = (1 << 63) - (1 << 41)
    again = (1 << 61) + 1
    law = Geometric(scale=scale)
    assert law.draw(TapeBits([nearly_one, 0])) == 0
    assert (
        law.draw(TapeBits([nearly_one ^ ONES, 0, again, 7])) == law.draw(TapeBits([again, 7])) > 0
    )
    assert law.sample(2, TapeBits([nearly_one, nearly_one ^ ONES, 0, 0, again, 7])).tolist() == [
        0,
        law.draw(TapeBits([again, 7])),
    ]
    assert_same(scale, nearly_one ^ ONES, nearly_one ^ ONES, 0, again, 7, rest=0)


def test_no_split_no_minus_zero() -> None:
    zeros = Geometric(scale="0.001").sample(1000, SeededBits(3))
    assert zeros.dtype == np.int64
    assert not zeros.any()


def test_the_law_is_never_cut() -> None:
    """−ln V beyond 128 scales of 2^56 leaves 64-bit integers; the draw is still exact, and
    its neighbours stay.
    """
    scale = Fraction(1 << 56)
    law = Geometric(scale=scale)
    tape = [1 << 62, ONES, 1 << 61, 5, 6, 7, 0, 0, 0, 1 << 20]
    drawn = law.sample(3, TapeBits(tape))
    assert drawn.dtype == object
    assert drawn.tolist() == reference.geometric_sample(scale, 3, TapeBits(tape))
    assert drawn[1] < -(1 << 63)
    assert all(type(z) is int for z in drawn.tolist())
    assert law.draw(TapeBits([ONES, 6, 0, 0, 0, 1 << 20])) == drawn[1]


def test_every_integer_can_be_drawn_at_a_tiny_scale() -> None:
    """P(Z = ±1) is about e^(−1000): 23 words of zeros lead there."""
    law = Geometric(scale="0.001")
    assert law.draw(TapeBits([0] * 22 + [1 << 40])) == 0
    assert law.draw(TapeBits([0] * 23 + [1 << 40])) == 1
    assert law.sample(1, TapeBits([ONES] + [0] * 22 + [1 << 40])).tolist() == [-1]


@pytest.mark.parametrize("scale", [10, 1 << 30])
@pytest.mark.parametrize("count", [CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 1])
def test_chunks(scale: int, count: int) -> None:
    """A chunk's words come first, then its remainders' words; the next chunk begins afresh."""
    law, source, expected = Geometric(scale=scale), SeededBits(5), list[int]()
    for size in [CHUNK] * (count // CHUNK) + [count % CHUNK]:
        expected += law.sample(
            size, TapeBits(source.words(size if scale == 10 else 2 * size).tolist())
        ).tolist()
    assert law.sample(count, SeededBits(5)).tolist() == expected


def test_a_whole_chunk_one_by_one() -> None:
    law, tape = Geometric(scale=1000), SeededBits(5)
    one_by_one = TapeBits(tape.words(CHUNK).tolist())
    assert law.sample(CHUNK, SeededBits(5)).tolist() == [law.draw(one_by_one) for _ in range(CHUNK)]


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_few_words_need_further_bits(scale: Fraction) -> None:
    """The fast path decides nearly all words of a chunk, at every scale: what it leaves is what
    `_settle` is called for.
    """
    law, settled = Geometric(scale=scale), 0

    class Counting(Geometric):
        def _settle(self, word: int, bits: reference.Bits) -> int:
            nonlocal settled
            settled += 1
            return super()._settle(word, bits)

    assert (
        Counting(scale=scale).sample(CHUNK, SeededBits(8)).tolist()
        == law.sample(CHUNK, SeededBits(8)).tolist()
    )
    assert settled <= 8, "expected below CHUNK · (2^-20 + 2 · 2^21 · 2^-38) = 0.27"


@pytest.mark.parametrize(
    ("scale", "code"),
    [
        (0, "number.not-positive"),
        (-1, "number.not-positive"),
        (2**56 + 1, "noise.scale"),
        ("x", "number.text"),
    ],
)
def test_refused(scale: object, code: str) -> None:
    with pytest.raises(Refused) as caught:
        Geometric(scale=scale)  # type: ignore[arg-type]  # refused
    assert caught.value.code == code


def test_the_scale_has_a_name() -> None:
    with pytest.raises(TypeError):
        Geometric(3)  # type: ignore[misc]  # by name only


def test_edges_are_those_of_the_source() -> None:
    assert {_FEW - 1, _FEW, _FEW + 1} <= set(EDGES)
