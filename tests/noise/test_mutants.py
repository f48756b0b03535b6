"""Samplers that are broken on purpose, each by a mistake that has been made: every one is caught by
a check that the product passes.

Each is the product's own code with one thing changed, so that everything else about it is right.
Five checks are by sampling, from really random bits: the product fails each of them with
probability 1e-6.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from flint import arb

from sfumato.exact.balls import ball, floor, precision
from sfumato.noise import rounded_normal
from sfumato.noise.bernoulli import Bernoulli
from sfumato.noise.bits import SYSTEM, Bits
from sfumato.noise.choice import Choice
from sfumato.noise.geometric import Geometric
from sfumato.noise.normal_cells import table
from sfumato.noise.rounded_normal import RoundedNormal

from . import checks, rational, reference
from .cases import EDGES, ONES, end, geometric_magnitudes, inside, wall, words_of

LARGE = Fraction(2097151)
"""The largest scales without a split: here the fast path has least to spare."""
SPLIT = Fraction(1 << 56)

# The checks: True where nothing is wrong


def geometric_agrees(law: Geometric) -> bool:
    """Words next to boundaries, at the edges, of either sign; remainders, minus zero and draws
    beyond 64 bits where there is a split.
    """
    edges = [*((edge,) for edge in EDGES), (0, 0, 0, 1 << 20), ((1 << 63) - (1 << 41),)]
    cases = [
        (first, rest, more)
        for words, rest in ((geometric_magnitudes(law.scale), 12345), (edges, 0), (edges, ONES))
        for first, *more in words
    ]
    split = bool(reference.shift(law.scale))
    tapes = [
        [word, *([rest] if split else []), *more]
        for first, rest, more in cases
        for word in (first, first ^ ONES)
    ]
    by_sample = checks.disagreements(
        lambda bits: law.sample(1, bits)[0],
        lambda bits: reference.geometric_draw(law.scale, bits),
        tapes,
    )
    return (
        by_sample
        + checks.disagreements(
            law.draw, lambda bits: reference.geometric_draw(law.scale, bits), tapes
        )
        == 0
    )


def geometric_counts(law: Geometric) -> bool:
    return all(
        checks.geometric_miscount(law.draw, law.scale, math.ceil(law.scale * depth)) <= 1
        for depth in (Fraction(1, 100), 1, 5)
    )


def remainders_count(law: Geometric) -> bool:
    return (
        checks.remainder_miscount(law.draw, law.scale, (1 << reference.shift(law.scale)) - 1) <= 1
    )


def fits(kind: str, scale: Fraction) -> Callable[[Any], bool]:
    return lambda law: checks.law_fit(law.sample(checks.DRAWS), kind, scale) > checks.ALARM


def normal_agrees_on(*tapes: list[int]) -> Callable[[RoundedNormal], bool]:
    return lambda law: (
        checks.disagreements(law.draw, lambda bits: reference.normal_draw(law.sigma, bits), tapes)
        == 0
    )


def walls_count(law: RoundedNormal) -> bool:
    return all(
        checks.wall_miscount(law.draw, inside(j), j, 0x7BCDEF9876543210) <= 1 for j in (0, 30, 100)
    )


def points_count(law: RoundedNormal) -> bool:
    """At a third, half and two thirds of some cells."""
    at = [
        (j, math.ceil(law.sigma * (j + part) / 32))
        for j in (1, 17, 40, 90)
        for part in (Fraction(1, 3), Fraction(1, 2), Fraction(2, 3))
    ]
    return all(checks.point_miscount(law.draw, law.sigma, inside(j), j, k) <= 1 for j, k in at)


def coin_counts(law: Any) -> bool:
    return checks.coin_miscount(law.draw, reference.coin(law.p, law.exponent, 160)) <= 1


def choice_counts(law: Any) -> bool:
    return all(
        checks.choice_miscount(law.draw, reference.weights(law.scores), i) <= 1
        for i in range(len(law.scores))
    )


def choice_agrees(law: Any) -> bool:
    """At the boundary of the first candidate, a word below it, two words deep."""
    at = rational.decide(
        lambda p: reference.digits(reference.shares(reference.weights(law.scores), p)[0], 128), 256
    )
    tapes = [words_of(at + d, 128, 64) for d in (-1, 0, 1, 1 << 64, -1 << 64, 1 << 70)]
    return (
        checks.disagreements(
            law.draw,
            lambda bits: reference.choice_sample(reference.weights(law.scores), 1, bits)[0],
            tapes,
        )
        == 0
    )


# The mutants


class NoFurtherBits(Geometric):
    """A doubtful word is settled at its middle."""

    def _settle(self, word: int, bits: Bits) -> int:
        magnitude = word ^ ONES if word >> 63 else word
        with precision(400):
            x = -self._coarse() * ball(Fraction(2 * magnitude + 1, 1 << 64)).log()
            absolute = floor(x if self._shift else x + self._offset())
        assert absolute is not None
        return -absolute if word >> 63 else absolute


class CutTail(Geometric):
    """Replace U = 0 by the smallest U above 0."""

    def _settle(self, word: int, bits: Bits) -> int:
        return super()._settle({0: 1, ONES: ONES - 1}.get(word, word), bits)


class LimitOffset(Geometric):
    """c = ½, which is its limit at large scales."""

    def _offset(self) -> arb:
        return ball(Fraction(1, 2))


class NoOffset(Geometric):
    """c = 0: a sign times a geometric variable, and twice as many zeros."""

    def _offset(self) -> arb:
        return arb(0)


class LostSign(Geometric):
    """What ball arithmetic settles is returned without its sign."""

    def _settle(self, word: int, bits: Bits) -> int:
        return abs(super()._settle(word, bits))


class MinusZero(Geometric):
    """Return minus zero too, so that zero comes up twice as often."""

    def _settle_split(self, word: int, rest: int, bits: Bits) -> int:
        size = abs(self._settle(word, bits)) << self._shift | self._settle_remainder(rest, bits)
        return -size if word >> 63 else size


class UniformRemainder(Geometric):
    """The remainder is not compared with e^(−r/scale)."""

    def _settle_remainder(self, rest: int, bits: Bits) -> int:
        return rest & ((1 << self._shift) - 1)


class CutAt64Bits(Geometric):
    """Noise is clamped to what an int64 holds."""

    def _settle_split(self, word: int, rest: int, bits: Bits) -> int:
        return min(max(super()._settle_split(word, rest, bits), -(1 << 63)), (1 << 63) - 1)


class SinglePrecision(Geometric):
    """log in 24 bits."""

    def draw(self, bits: Bits = SYSTEM) -> int:
        word = bits.integer(64)
        absolute = int(
            self._top
            - self._slope * float(np.log(np.float32((word ^ ONES if word >> 63 else word) or 1)))
        )
        return -absolute if word >> 63 else absolute


class Uniform53(Geometric):
    """The textbook: 53 bits of U, a log and a floor; in the tail whole runs of integers are never
    drawn.
    """

    def draw(self, bits: Bits = SYSTEM) -> int:
        word = bits.integer(64)
        coarse = ((word ^ ONES if word >> 63 else word) >> 10 or 1) << 10
        absolute = int(self._top - self._slope * math.log(coarse))
        return -absolute if word >> 63 else absolute


class RoundedLaplace(Geometric):
    """A continuous Laplace variable, rounded: another law."""

    def sample(self, shape: Any, bits: Bits = SYSTEM) -> Any:
        v = (bits.words(shape).astype(np.float64) + 0.5) * 2.0**-64
        return np.rint(
            np.where(v < 0.5, 1, -1) * float(self.scale) * np.log(2 * np.minimum(v, 1 - v))
        ).astype(np.int64)


class NoLevel(RoundedNormal):
    """Every point is accepted: the density is a staircase."""

    def draw(self, bits: Bits = SYSTEM) -> int:
        class Zeroed:
            def integer(self, size: int) -> int:
                return bits.integer(size) >> 48 << 48

        return super().draw(Zeroed())  # type: ignore[arg-type]  # no words


class UniformLowBits(RoundedNormal):
    """The low bits are not compared with the density."""

    def _append(self, leading: int, rest: int, bits: Bits) -> int:
        return leading << self._shift | rest & ((1 << self._shift) - 1)


class AtMost(Bernoulli):
    """U ≤ p in the first byte."""

    def draw(self, bits: Bits = SYSTEM) -> bool:
        octet = bits.integer(8)
        return octet <= self._byte


class FloatCoin(Bernoulli):
    """A double against a double."""

    def draw(self, bits: Bits = SYSTEM) -> bool:
        return (bits.integer(8) << 64 | bits.integer(64)) * 2.0**-72 < self.probability()


class Underflow(Choice):
    """e^score without the greatest score taken off: far from 0 all weights vanish, and the sum with
    them.
    """

    def draw(self, bits: Bits = SYSTEM) -> int:
        ends = np.cumsum([math.exp(s) for s in self.scores])
        return min(
            int(ends.searchsorted(ends[-1] * bits.integer(64) * 2.0**-64, side="right")),
            len(self.scores) - 1,
        )


def changed(law: Any, **fields: Any) -> Any:
    """The law with a private field of its fast path changed."""
    for name, value in fields.items():
        object.__setattr__(law, name, value)
    return law


class Mutant(NamedTuple):
    check: Callable[[Any], bool]
    good: Callable[[], Any]
    broken: Callable[[], Any]
    patch: tuple[str, Any] | None = None
    """A name of rounded_normal.py that is replaced."""


def normal(check: Callable[[Any], bool], sigma: Fraction, *patch: Any) -> Mutant:
    return Mutant(
        check,
        lambda: RoundedNormal(sigma=sigma),
        lambda: RoundedNormal(sigma=sigma),
        (patch[0], patch[1]) if patch else None,
    )


def geometric(check: Callable[[Any], bool], scale: Fraction, broken: type[Geometric]) -> Mutant:
    return Mutant(check, lambda: Geometric(scale=scale), lambda: broken(scale=scale))


TIE = [end(5, 64) >> 49 << 49, 1 << 61, (end(5, 64) & ((1 << 49) - 1)) << 15, ONES]
AT_WALL = [
    [inside(30)[0] | wall(30, 1 << 63) + d, 1 << 63, more, more, ONES]
    for d in (-1, 0, 1)
    for more in (0, ONES)
]
FAR_OUT = [0x7FFF << 49, 1 << 62, ONES, *[ONES] * 12, 1 << 50, rounded_normal._DOUBT - 1]

MUTANTS = {
    "no margin": Mutant(
        geometric_agrees,
        lambda: Geometric(scale=LARGE),
        lambda: changed(Geometric(scale=LARGE), _margin=0.0),
    ),
    "a margin of one unit in the last place": Mutant(
        geometric_agrees,
        lambda: Geometric(scale=LARGE),
        lambda: changed(Geometric(scale=LARGE), _margin=2.0**-33),
    ),
    "no further bits": geometric(geometric_agrees, Fraction(10), NoFurtherBits),
    "the tail cut at 63 bits": geometric(geometric_agrees, Fraction(10), CutTail),
    "the offset of large scales": geometric(geometric_counts, Fraction(1000), LimitOffset),
    "no offset": geometric(fits("geometric", Fraction(10)), Fraction(10), NoOffset),
    "a lost sign": geometric(geometric_agrees, Fraction(22, 7), LostSign),
    "minus zero kept": geometric(geometric_agrees, SPLIT, MinusZero),
    "a uniform remainder": geometric(remainders_count, SPLIT, UniformRemainder),
    "cut at 64 bits": geometric(geometric_agrees, SPLIT, CutAt64Bits),
    "log in single precision": geometric(geometric_counts, Fraction(1000), SinglePrecision),
    "53 random bits": geometric(geometric_counts, Fraction(1000), Uniform53),
    "Laplace, rounded": geometric(fits("geometric", Fraction(1)), Fraction(1), RoundedLaplace),
    "a scale 5 % too small": Mutant(
        fits("geometric", Fraction(10)), lambda: Geometric(scale=10), lambda: Geometric(scale="9.5")
    ),
    "a sigma 5 % too small": Mutant(
        fits("normal", Fraction(10)),
        lambda: RoundedNormal(sigma=10),
        lambda: RoundedNormal(sigma="9.5"),
    ),
    "no half": Mutant(
        fits("normal", Fraction(10)),
        lambda: RoundedNormal(sigma=10),
        lambda: changed(RoundedNormal(sigma=10), _half=0.0),
    ),
    "no margin around the integers": Mutant(
        points_count,
        lambda: RoundedNormal(sigma=LARGE),
        lambda: changed(RoundedNormal(sigma=LARGE), _margin=0.0),
    ),
    "every point accepted": Mutant(
        walls_count, lambda: RoundedNormal(sigma=10), lambda: NoLevel(sigma=10)
    ),
    "no margin around the wall": normal(normal_agrees_on(*AT_WALL), Fraction(10), "MARGIN", 0.0),
    "ties given to the next cell": normal(
        normal_agrees_on([*TIE[:3], 0]),
        Fraction(1000),
        "_find",
        lambda w, m, b: int(table().ends.searchsorted(np.uint64(w >> 49 << 49 | m >> 15), "right")),
    ),
    "nothing beyond the table": normal(
        normal_agrees_on([0x7FFF << 49, 1 << 62, ONES, ONES, ONES, 1]),
        Fraction(1000),
        "settle_cell",
        lambda word, bits: 319,
    ),
    "uniform low bits": Mutant(
        normal_agrees_on([1 << 48, 1, 0, (1 << 63) - 1, 1]),
        lambda: RoundedNormal(sigma=SPLIT),
        lambda: UniformLowBits(sigma=SPLIT),
    ),
    "the shortcut of the low bits taken everywhere": normal(
        normal_agrees_on(FAR_OUT), SPLIT, "_NEAR", 1 << 60
    ),
    "U ≤ p": Mutant(coin_counts, lambda: Bernoulli(p="1/3"), lambda: AtMost(p="1/3")),
    "a coin of doubles": Mutant(
        coin_counts, lambda: Bernoulli(exponent="1/3"), lambda: FloatCoin(exponent="1/3")
    ),
    "weights that vanish": Mutant(
        choice_counts, lambda: Choice([-800, -801]), lambda: Underflow([-800, -801])
    ),
    "a choice without a margin": Mutant(
        choice_agrees, lambda: Choice([0, "1/3"]), lambda: changed(Choice([0, "1/3"]), _margin=0.0)
    ),
}

each = pytest.mark.parametrize("name", MUTANTS)


@each
def test_the_product_passes(name: str) -> None:
    assert MUTANTS[name].check(MUTANTS[name].good())


@each
def test_the_mutant_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = MUTANTS[name]
    if mutant.patch:
        monkeypatch.setattr(rounded_normal, *mutant.patch)
    assert not mutant.check(mutant.broken())
