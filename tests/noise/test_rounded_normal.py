"""The rounded normal law: bit for bit its specification, on random bits and on those that an
adversary would choose.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from sfumato.noise import law as law_module
from sfumato.noise import rounded_normal
from sfumato.noise.bits import CHUNK, Bits
from sfumato.noise.rounded_normal import _DOUBT, _NEAR, MARGIN, RoundedNormal
from sfumato.testing import SeededBits, TapeBits

from . import rational, reference
from .cases import ONES, SCALES, end, inside, near, wall

SPLIT = [sigma for sigma in SCALES if reference.shift(sigma)]
MINUS = 1 << 48
LEVELS = 1 << 48
AGAIN = [1234567890123456789, 9876543210987654321, 5555555555555555555]
"""A proposal that is accepted: where the first one is refused, both sides go on with this."""


def assert_same(
    sigma: Fraction, words: list[int], point: int, *more: int, rest: int = 12345
) -> None:
    """One draw and one sample of a proposal and the words that follow."""
    law, split = RoundedNormal(sigma=sigma), bool(reference.shift(sigma))
    word, *second = words
    tape = [word, point, *second, *more, *([rest] if split else []), *AGAIN]
    assert law.draw(TapeBits(tape)) == reference.normal_draw(sigma, TapeBits(tape))
    lanes = [
        word,
        *AGAIN[:2],
        point,
        *AGAIN[:2],
        *([rest, *AGAIN[:2]] if split else []),
        *second,
        *more,
    ]
    assert law.sample(1, TapeBits(lanes)).tolist() == reference.normal_sample(
        sigma, 1, TapeBits(lanes)
    )


@pytest.mark.parametrize("sigma", SCALES, ids=str)
def test_random_bits(sigma: Fraction) -> None:
    law, ours, theirs = RoundedNormal(sigma=sigma), SeededBits(1), SeededBits(1)
    assert [law.draw(ours) for _ in range(80)] == [
        reference.normal_draw(sigma, theirs) for _ in range(80)
    ]
    assert law.sample(300, ours).tolist() == reference.normal_sample(sigma, 300, theirs)
    assert ours.integer(64) == theirs.integer(64), "as many bits were read"


def boundaries(sigma: Fraction) -> Iterator[tuple[int, int]]:
    """Cells and points at which the leading part of the integer changes; all four cells have such
    points unless sigma is small.
    """
    k = reference.shift(sigma)
    for j in (0, 31, 100, 250):
        low, high = (
            math.ceil((sigma * (j + end) / 32 + Fraction(1, 2)) / (1 << k)) for end in (0, 1)
        )
        for integer in {low, high - 1} if low < high else ():
            point = math.floor(
                (((Fraction(integer) * (1 << k) - Fraction(1, 2)) * 32 / sigma) - j) * (1 << 64)
            )
            yield from ((j, p) for p in near(point, 1 << 64))


@pytest.mark.parametrize("sigma", SCALES, ids=str)
def test_points_next_to_boundaries(sigma: Fraction) -> None:
    """Where sigma is rational the boundary may be a word itself, and one side may need a word more
    to see it: so what follows is one word repeated.
    """
    for j, point in boundaries(sigma):
        word, *second = inside(j)
        assert_same(
            sigma, [word, *second], point, *[0x123456789ABCDEF0] * 6, rest=0x123456789ABCDEF0
        )
        assert_same(sigma, [word | MINUS, *second], point, *[ONES - 5] * 6, rest=ONES - 5)


@pytest.mark.parametrize("sigma", [Fraction(1000003, 7), Fraction(10**12)], ids=str)
@pytest.mark.parametrize("j", [0, 5, 64, 200, 280])
def test_levels_next_to_the_wall(sigma: Fraction, j: int) -> None:
    """The accept test, at its wall and where the margin of double precision begins."""
    edge = int(MARGIN * LEVELS)
    word, *second = inside(j)
    for point in (0, 1, 3 << 62, ONES):
        exact = wall(j, point)
        for level in (
            exact + d for d in (-edge - 1, -edge, 1 - edge, -1, 0, 1, edge - 1, edge, edge + 1)
        ):
            if 0 <= level < LEVELS:
                assert_same(sigma, [word | level, *second], point)
                assert_same(sigma, [word | MINUS | level, *second], point, ONES, ONES, ONES, ONES)


@pytest.mark.parametrize("j", [0, 1, 40, 150])
def test_a_level_as_close_to_the_wall_as_two_words_tell(j: int) -> None:
    """The level's next word agrees with that of the wall, or just not; the point's next word is
    0.
    """
    point = 3 << 61
    fine = wall(j, point, 112)
    word, *second = inside(j)
    for level in (fine - 1, fine, fine + 1):
        assert_same(Fraction(10), [word | level >> 64, *second], point, 0, level & ONES)


@pytest.mark.parametrize("sigma", [Fraction(1), Fraction(10**9)], ids=str)
@pytest.mark.parametrize("j", [0, 1, 63, 200, 280, 319])
def test_words_next_to_the_end_of_a_cell(sigma: Fraction, j: int) -> None:
    """The 64 bits of the table exactly, their neighbours, and a third word next to the end's
    own.
    """
    fine = end(j, 128) & ONES
    for number in (end(j, 64) + d for d in range(-2, 3)):
        if number <= ONES:
            word, second = number >> 49 << 49, (number & ((1 << 49) - 1)) << 15
            for third in (0, ONES, fine - 1, fine, fine + 1):
                assert_same(sigma, [word, second], 1 << 61, third)
                assert_same(sigma, [word | MINUS | LEVELS - 1, second | 0x7FFF], 1 << 40, third)


@pytest.mark.parametrize(
    ("sigma", "words"),
    [(Fraction(1, 3), 12), (Fraction(1000), 0), (Fraction(1 << 21), 2), (Fraction(10**15), 5)],
    ids=str,
)
def test_beyond_the_table(sigma: Fraction, words: int) -> None:
    """Ones and ones again: 64, 192, 384 and 832 bits lead to more than 9, 16, 22 and 33 standard
    deviations.
    """
    assert_same(sigma, [0x7FFF << 49, ONES], 1 << 62, *[ONES] * words, 1 << 50)
    assert_same(sigma, [0x7FFF << 49 | MINUS | 1 << 46, ONES], 5, *[ONES] * words, 1 << 50)


@pytest.mark.parametrize("rest", [0, _DOUBT - 1, _DOUBT, _DOUBT - (2 << 45)])
def test_low_bits_where_the_density_falls_fast(rest: int) -> None:
    """Beyond 32 standard deviations it falls by more over 2^k integers than the shortcut of the low
    bits allows for.
    """
    assert_same(Fraction(1 << 56), [0x7FFF << 49, ONES], 1 << 62, *[ONES] * 12, 1 << 50, rest=rest)


@pytest.mark.parametrize("sigma", SPLIT[::3], ids=str)
def test_low_bits(sigma: Fraction) -> None:
    """The low bits' word where the shortcut ends, next to the density's wall, and at the ends of
    its range.
    """
    k = reference.shift(sigma)
    for j, r in itertools.product((0, 17, 250), (0, 1, (1 << k) - 1)):
        leading = math.floor((sigma * (j + Fraction(1, 4)) / 32 + Fraction(1, 2)) / (1 << k))
        ratio = (Fraction(leading << k) ** 2 - Fraction((leading << k) + r) ** 2) / (2 * sigma**2)
        level = (
            rational.decide(lambda p, ratio=ratio: reference.digits(rational.exp(ratio, p), 28))
            if ratio
            else (1 << 28) - 1
        )
        for upper in {*near(level, 1 << 28), _DOUBT >> 36, (_DOUBT >> 36) - 1, 0, (1 << 28) - 1}:
            for more in ((), (ONES, ONES)):
                word, *second = inside(j)
                tape = [word, 1 << 62, *second, upper << 36 | r, *more, *AGAIN]
                assert RoundedNormal(sigma=sigma).draw(TapeBits(tape)) == reference.normal_draw(
                    sigma, TapeBits(tape)
                )
                lanes = [
                    word,
                    *AGAIN[:2],
                    1 << 62,
                    *AGAIN[:2],
                    upper << 36 | r,
                    *AGAIN[:2],
                    *second,
                    *more,
                ]
                assert RoundedNormal(sigma=sigma).sample(
                    1, TapeBits(lanes)
                ).tolist() == reference.normal_sample(sigma, 1, TapeBits(lanes))


@pytest.mark.parametrize("sigma", SPLIT, ids=str)
def test_half_of_zero_is_refused(sigma: Fraction) -> None:
    """|σX| + ½ is never below ½, so 0 has only half of the room that other integers have on each
    side.
    """
    law, tiny = RoundedNormal(sigma=sigma), [0, 1]
    assert law.draw(TapeBits([*tiny, 0, (1 << 63) + 1])) == 0
    assert law.draw(TapeBits([*tiny, 0, (1 << 63) - 1, 1])) == 1
    assert law.draw(TapeBits([MINUS, 1, 0, (1 << 63) - 1, 1])) == -1


def test_the_law_is_never_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell beyond 128 standard deviations of 2^56 leaves 64-bit integers. It takes 12,000 ones,
    so the cell is put in their place.
    """
    monkeypatch.setattr(rounded_normal, "settle_cell", lambda word, bits: 5000)
    sigma = Fraction(1 << 56)
    far = 0x7FFF << 49
    lanes = [AGAIN[0], far | MINUS, *AGAIN, *[1 << 60] * 5, *[77] * 5, ONES]
    drawn = RoundedNormal(sigma=sigma).sample(3, TapeBits(lanes))
    assert drawn.dtype == object
    assert all(type(z) is int for z in drawn.tolist())
    assert min(drawn) < -(1 << 63)
    assert RoundedNormal(sigma=sigma).draw(TapeBits([far | MINUS, 1 << 60, ONES, 77])) == min(drawn)
    leading = reference._proposal(sigma, far, 5000, 1 << 60, SeededBits(0))
    assert leading is not None
    assert min(drawn) == -(leading << 36 | 77)


@pytest.mark.parametrize("sigma", [Fraction(3), Fraction(10**10)], ids=str)
@pytest.mark.parametrize("count", [1, 63, 64, 65, 200])
def test_chunks(sigma: Fraction, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small chunks, so that the reference can follow: what one chunk's refusals leave open, the
    next one fills.
    """
    monkeypatch.setattr(law_module, "CHUNK", 64)
    monkeypatch.setattr(rounded_normal, "CHUNK", 64)
    ours, theirs = SeededBits(7), SeededBits(7)
    assert RoundedNormal(sigma=sigma).sample(count, ours).tolist() == reference.normal_sample(
        sigma, count, theirs, chunk=64
    )
    assert ours.integer(64) == theirs.integer(64), "as many bits were read"


def test_a_chunk_may_be_refused_whole() -> None:
    """Three proposals with a level above every wall; the fourth is the first of the next chunk."""
    refused = [100 << 49 | LEVELS - 1] * 3 + [ONES] * 3
    law = RoundedNormal(sigma=100)
    assert law.sample(1, TapeBits([*refused, AGAIN[0], 0, 0, AGAIN[1], 0, 0])).tolist() == [
        law.draw(TapeBits(AGAIN))
    ]


@pytest.mark.parametrize("sigma", SCALES, ids=str)
def test_few_proposals_need_further_bits(sigma: Fraction) -> None:
    """The fast path decides nearly all proposals of a chunk, at every scale."""
    law, settled = RoundedNormal(sigma=sigma), 0

    class Counting(RoundedNormal):
        def _settle(self, level: int, j: int, point: int, bits: Bits) -> int | None:
            nonlocal settled
            settled += 1
            return super()._settle(level, j, point, bits)

    assert (
        Counting(sigma=sigma).sample(CHUNK, SeededBits(8)).tolist()
        == law.sample(CHUNK, SeededBits(8)).tolist()
    )
    assert settled <= 8, "expected below CHUNK · (2^-15 + 2 · 2^21 · 2^-46) = 0.5"


def test_shortcut_of_the_low_bits_holds_where_it_is_taken() -> None:
    """Within _NEAR, and in the cells of the fast path, the density falls by less than _DOUBT leaves
    room for, however the scale lies in [2^20, 2^21).
    """
    room = 1 - Fraction(_DOUBT, 1 << 64)
    for scale in (Fraction(1 << 20), Fraction((1 << 21) - 1)):
        for leading in (_NEAR, math.ceil(scale * rounded_normal.FAR / 32) + 1):
            assert (leading + Fraction(1, 2)) / scale**2 <= room


@pytest.mark.parametrize(
    "words", [[0, 1, ONES], [1 << 63, (1 << 53) + 1, (1 << 54) - 1, (1 << 63) + 1025]]
)
def test_points_are_converted_to_the_nearest_double(words: list[int]) -> None:
    assert rounded_normal._unit(np.array(words, dtype=np.uint64)).tolist() == [
        word * 2.0**-64 for word in words
    ]
