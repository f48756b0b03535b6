"""The slow specification of the samplers: bits in, integers out, in rational arithmetic.

Every sampler reads a real uniform number bit by bit and stops as soon as the bits read so far leave
one result. Here this is said with exact intervals (`rational.py`) and no floating point. The bits
are read in the order of the product: `draw` takes what it needs when it needs it; `sample` takes
the words of a chunk first, kind by kind, and further bits lane by lane. So a product and its
reference that are handed equal bits must give equal integers, and leave the source at the same
place.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Final

from sfumato.noise.bits import CHUNK, Bits, Words

from . import rational
from .rational import Interval, decide

MORE: Final = "more bits"
"""The answer of a question that the bits read so far leave open."""

ONES = (1 << 64) - 1

Ends = Interval | tuple[int, int]


def unit(number: int, known_bits: int) -> Interval:
    """The uniform numbers that begin with these bits."""
    return Fraction(number, 1 << known_bits), Fraction(number + 1, 1 << known_bits)


def floor(low: Interval, high: Interval) -> int | str | None:
    """The floor of the reals between two enclosed ends. It is open if an integer is among them, be
    it an end.
    """
    if math.ceil(low[1]) <= math.floor(high[0]):
        return MORE
    integer = math.floor(low[0])
    return integer if integer == math.floor(high[1]) else None


def is_below(number: Ends, low: Ends, high: Ends) -> bool | str | None:
    """Whether every number of the first interval lies below every real between two enclosed ends,
    or none does. It is open where they touch.
    """
    if number[1] < low[0]:
        return True
    if number[0] > high[1]:
        return False
    return MORE if number[1] >= low[1] and number[0] <= high[0] else None


def shift(scale: Fraction) -> int:
    """The bits k that are split off: none below 2^21, else as many as bring the scale into [2^20,
    2^21).
    """
    return next(k for k in range(64) if scale < 1 << (21 + k))


# Two-sided geometric


@cache
def offset(scale: Fraction, bits: int) -> Interval:
    """scale·ln(2/(1 + e^(−1/scale)))."""
    q = rational.exp(-1 / scale, bits)
    return scale * rational.log(2 / (1 + q[1]), bits)[0], scale * rational.log(
        2 / (1 + q[0]), bits
    )[1]


def geometric_draw(scale: Fraction, bits: Bits) -> int:
    word = bits.integer(64)
    return _geometric(scale, word, bits.integer(64) if shift(scale) else 0, bits)


def geometric_sample(scale: Fraction, count: int, bits: Bits, chunk: int = CHUNK) -> list[int]:
    out: list[int] = []
    while len(out) < count:
        size = min(chunk, count - len(out))
        words = bits.words(2 * size if shift(scale) else size).tolist()
        rests = words[size:] or [0] * size
        out += [
            _geometric(scale, word, rest, bits) for word, rest in zip(words, rests, strict=False)
        ]
    return out


def _geometric(scale: Fraction, word: int, rest: int, bits: Bits) -> int:
    """One word is a sign and a magnitude. Without a split both signs of 0 are 0; with it, minus 0
    is drawn again.
    """
    k = shift(scale)
    while True:
        negative = word >> 63
        leading = _stretched(
            scale / (1 << k), word ^ ONES if negative else word, bits, centred=not k
        )
        size = leading << k | (_remainder(scale, k, rest, bits) if k else 0)
        if size or not negative or not k:
            return -size if negative else size
        word, rest = bits.integer(64), bits.integer(64)


def _stretched(scale: Fraction, number: int, bits: Bits, *, centred: bool) -> int:
    """⌊−scale·ln V⌋, plus the offset if centred, for the uniform V that begins with the 63 bits of
    `number`.
    """
    known_bits = 63
    while True:
        if number:
            ends = unit(number, known_bits)

            def integer_part(p: int, ends: Interval = ends) -> int | str | None:
                c = offset(scale, p) if centred else (Fraction(0), Fraction(0))
                near, far = rational.log(ends[1], p), rational.log(ends[0], p)
                return floor(
                    (c[0] - scale * near[1], c[1] - scale * near[0]),
                    (c[0] - scale * far[1], c[1] - scale * far[0]),
                )

            answer = decide(integer_part)
            if isinstance(answer, int):
                return answer
        number, known_bits = number << 64 | bits.integer(64), known_bits + 64


def _remainder(scale: Fraction, k: int, rest: int, bits: Bits) -> int:
    """r = the low k bits, if a uniform number that begins with the high 28 bits is below
    e^(−r/scale); else of a new word.
    """
    while True:
        r = rest & ((1 << k) - 1)
        level, known_bits = rest >> 36, 28
        while (answer := _below_exp(unit(level, known_bits), -r / scale, -r / scale)) == MORE:
            level, known_bits = level << 64 | bits.integer(64), known_bits + 64
        if answer:
            return r
        rest = bits.integer(64)


def _below_exp(here: Interval, low: Fraction, high: Fraction) -> bool | str:
    """Whether a uniform number lies below e^x for every x between two rationals."""
    answer = decide(lambda p: is_below(here, rational.exp(low, p), rational.exp(high, p)))
    assert isinstance(answer, bool | str)
    return answer


# Rounded normal

WIDTH = Fraction(1, 32)


@cache
def cumulative(bits: int) -> tuple[list[int], list[int]]:
    """Bounds below and above of the probabilities of cells 0 … j, in units of 2^-bits, each cell
    weighing e^(−(j·WIDTH)²/2).
    """
    heights = [
        rational.exp(-((j * WIDTH) ** 2) / 2, bits)
        for j in range(math.ceil(32 * math.sqrt(1.4 * bits + 100)))
    ]
    low, high = (
        list(itertools.accumulate(h[0] for h in heights)),
        list(itertools.accumulate(h[1] for h in heights)),
    )
    total = (
        high[-1] + 17 * heights[-1][1]
    )  # what is cut off shrinks from cell to cell by more than e^(−1/16)
    return [math.floor(end / total * (1 << bits)) for end in low], [
        math.ceil(end / low[-1] * (1 << bits)) for end in high
    ]


def cell(number: int, known_bits: int, bits: Bits) -> int:
    """The cell of the uniform number whose first 15 bits are known, or 64: the second word read
    fills up 15 to 64.
    """
    while True:

        def find(p: int, number: int = number, known_bits: int = known_bits) -> int | str | None:
            low, high = cumulative(p)
            here = (number << (p - known_bits), (number + 1) << (p - known_bits))
            j = bisect_left(high, here[0])  # the ends of all cells before lie below
            if j == len(high):
                return MORE
            answer = is_below(here, (low[j], high[j]), (low[j], high[j]))
            return j if answer is True else answer

        answer = decide(find, 1 << (known_bits + 63).bit_length())
        if isinstance(answer, int):
            return answer
        fresh = bits.integer(64)
        number, known_bits = (
            (number << 49 | fresh >> 15, 64)
            if known_bits == 15
            else (number << 64 | fresh, known_bits + 64)
        )


def normal_draw(sigma: Fraction, bits: Bits) -> int:
    while True:
        word, point = bits.integer(64), bits.integer(64)
        leading = _proposal(sigma, word, cell(word >> 49, 15, bits), point, bits)
        if leading is not None:
            size = _append(sigma, leading, bits.integer(64), bits) if shift(sigma) else leading
            return -size if word >> 48 & 1 else size


def normal_sample(sigma: Fraction, count: int, bits: Bits, chunk: int = CHUNK) -> list[int]:
    k, out = shift(sigma), list[int]()
    while len(out) < count:
        missing = count - len(out)
        tried = min(chunk, min(chunk, missing) + min(chunk, missing) // 64 + 2)
        words = bits.words((3 if k else 2) * tried).tolist()
        word, point, rest = (
            words[:tried],
            words[tried : 2 * tried],
            words[2 * tried :] or [0] * tried,
        )
        cells = _cells(word, bits)
        part = []
        for lane in range(tried):
            leading = _proposal(sigma, word[lane], cells[lane], point[lane], bits)
            if leading is not None:
                size = _append(sigma, leading, rest[lane], bits) if k else leading
                part.append(-size if word[lane] >> 48 & 1 else size)
        out += part[: min(chunk, missing)]
    return out


def _cells(words: Sequence[int], bits: Bits) -> list[int]:
    """The second words of all that need one are read before any third."""
    cells = [known_cell(word >> 49) for word in words]
    unsure = [lane for lane, j in enumerate(cells) if j is None]
    seconds: list[int] = bits.words(len(unsure)).tolist()
    settled = {
        lane: cell((words[lane] >> 49) << 49 | more >> 15, 64, bits)
        for lane, more in zip(unsure, seconds, strict=True)
    }
    return [settled[lane] if j is None else j for lane, j in enumerate(cells)]


@cache
def known_cell(number: int) -> int | None:
    """The cell, if 15 bits tell it."""

    class Refusing:
        def words(self, count: int) -> Words:
            raise EOFError

        def integer(self, bits: int) -> int:
            raise EOFError

    try:
        return cell(number, 15, Refusing())
    except EOFError:
        return None


def _proposal(sigma: Fraction, word: int, j: int, point: int, bits: Bits) -> int | None:
    """The leading part of ⌊σx + ½⌋ for x in cell j, or None where the density refuses it."""
    k = shift(sigma)
    level, fine, known_bits = word & ((1 << 48) - 1), 48, 64
    accepted: bool | str = MORE
    while True:
        u = unit(point, known_bits)
        if accepted == MORE:
            accepted = _below_exp(unit(level, fine), fall(j, u[1]), fall(j, u[0]))
            if accepted is False:
                return None
        if accepted is True:
            x = [(sigma * WIDTH * (j + end) + Fraction(1, 2)) / (1 << k) for end in u]
            integer_part = floor((x[0], x[0]), (x[1], x[1]))
            if isinstance(integer_part, int):
                return integer_part
        point, known_bits = point << 64 | bits.integer(64), known_bits + 64
        if accepted == MORE:
            level, fine = level << 64 | bits.integer(64), fine + 64


def fall(j: int, u: Fraction) -> Fraction:
    """ln of the density at j + u relative to j, in cells."""
    return -WIDTH * WIDTH * u * (j + u / 2)


def _append(sigma: Fraction, leading: int, rest: int, bits: Bits) -> int:
    """The low bits of |Z|: uniform, with a fresh real behind them, accepted by the density relative
    to where the leading part begins.
    """
    k = shift(sigma)
    while True:
        r, level = rest & ((1 << k) - 1), rest >> 36
        base = leading << k
        if rest < (1 << 64) - (1 << 49) and leading < 1 << 24 and (leading or r):
            # no further bits are read, because the density falls by less than 2^-15 over these 2^k
            # integers: e^(−t) ≥ 1 − t
            assert (
                Fraction(level + 1, 1 << 28)
                <= 1 - (leading + Fraction(1, 2)) * (Fraction(1 << k) / sigma) ** 2
            )
            return base | r
        if _lies_below_density(sigma, base, r, level, bits):
            return base | r
        rest = bits.integer(64)


def _lies_below_density(sigma: Fraction, base: int, r: int, level: int, bits: Bits) -> bool:
    v, fine, known_bits = r << 64 | bits.integer(64), 64, 28
    half = Fraction(1, 2)
    if base == 0 and v < 1 << 63:
        return False  # |σX| + ½ is never below ½
    start = max(base - half, Fraction(0))
    while True:
        high, low = (
            (start**2 - (base - half + end) ** 2) / (2 * sigma**2) for end in unit(v, fine)
        )
        answer = _below_exp(unit(level, known_bits), low, high)
        if answer != MORE:
            return answer is True
        level, v = level << 64 | bits.integer(64), v << 64 | bits.integer(64)
        known_bits, fine = known_bits + 64, fine + 64


# Coin and choice


def coin(p: Fraction | None, exponent: Fraction | None, bits: int) -> Interval:
    return (p, p) if p is not None else rational.exp(-(exponent or Fraction(0)), bits)


def bernoulli_draw(
    bits: Bits, *, p: Fraction | None = None, exponent: Fraction | None = None
) -> bool:
    return _toss(p, exponent, bits.integer(8), 8, bits)


def bernoulli_sample(
    count: int, bits: Bits, *, p: Fraction | None = None, exponent: Fraction | None = None
) -> list[bool]:
    """A byte each, lowest first; a word for each that begins like p; then further words one by
    one.
    """
    octets = b"".join(word.to_bytes(8, "little") for word in bits.words(-(-count // 8)).tolist())[
        :count
    ]
    first = _first_digits(p, exponent, 8)
    tied = [lane for lane, octet in enumerate(octets) if octet == first]
    numbers = {
        lane: octets[lane] << 64 | more
        for lane, more in zip(tied, bits.words(len(tied)).tolist(), strict=True)
    }
    return [
        _toss(p, exponent, numbers[lane], 72, bits) if lane in numbers else octet < first
        for lane, octet in enumerate(octets)
    ]


def digits(value: Interval, bits: int) -> int | None:
    low, high = math.floor(value[0] * (1 << bits)), math.floor(value[1] * (1 << bits))
    return low if low == high else None


def _first_digits(p: Fraction | None, exponent: Fraction | None, bits: int) -> int:
    """The first bits of the probability of a coin."""
    return decide(lambda q: digits(coin(p, exponent, q), bits))


def _toss(
    p: Fraction | None, exponent: Fraction | None, number: int, known_bits: int, bits: Bits
) -> bool:
    while True:
        first = _first_digits(p, exponent, known_bits)
        if number != first or Fraction(first, 1 << known_bits) == p:
            return number < first
        number, known_bits = number << 64 | bits.integer(64), known_bits + 64


Weights = tuple[tuple[Fraction, ...], Fraction, tuple[Fraction, ...]]
"""Scores, rate and prior of a choice."""


def weights(
    scores: Sequence[Fraction], rate: Fraction = Fraction(1), prior: Sequence[Fraction] = ()
) -> Weights:
    return tuple(scores), rate, tuple(prior) or (Fraction(1),) * len(scores)


def choice_sample(law: Weights, count: int, bits: Bits) -> list[int]:
    return [_chosen(law, word, bits) for word in bits.words(count).tolist()]


@cache
def shares(law: Weights, bits: int) -> list[Interval]:
    """P(I ≤ i) for each i but the last, with weights prior·e^(rate·score)."""
    scores, rate, prior = law
    top = max(s for s, p in zip(scores, prior, strict=True) if p)
    parts = [
        tuple(p * end for end in rational.exp(rate * (s - top), bits)) if p else (Fraction(0),) * 2
        for s, p in zip(scores, prior, strict=True)
    ]
    low, high = (list(itertools.accumulate(part[side] for part in parts)) for side in (0, 1))
    certain = Fraction(1), Fraction(1)  # known exactly where only candidates of no weight follow
    return [
        (low[i] / high[-1], high[i] / low[-1]) if any(prior[i + 1 :]) else certain
        for i in range(len(parts) - 1)
    ]


def _chosen(law: Weights, number: int, bits: Bits) -> int:
    known_bits = 64
    while True:
        here = unit(number, known_bits)

        def find(p: int, here: Interval = here) -> int | str | None:
            ends = shares(law, p)
            for i, end in enumerate(ends):
                answer = is_below(here, end, end)
                if answer is not False:
                    return i if answer is True else answer
            return len(ends)

        answer = decide(find, known_bits + 64)
        if isinstance(answer, int):
            return answer
        number, known_bits = number << 64 | bits.integer(64), known_bits + 64
