"""The discrete Gaussian law: bit for bit its specification, its sums by two ways, and the
frequencies of its draws.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from sfumato.errors import Refused
from sfumato.exact.balls import ball, precision
from sfumato.exact.numbers import exact
from sfumato.noise import discrete_gaussian_noise
from sfumato.noise.bits import CHUNK, Bits, Words
from sfumato.noise.discrete_gaussian_noise import (
    MARGIN,
    DiscreteGaussianLaw,
    _euler_maclaurin,
    _term_by_term,
)
from sfumato.noise.rounded_normal import RoundedNormal
from sfumato.testing import SeededBits, TapeBits

from . import rational, reference
from .cases import ONES, near

SQUARES = [
    exact(s)
    for s in [
        "1e-6",
        "0.01",
        "1/4",
        "1/3",
        "1",
        "2",
        "22/7",
        "4",
        "99.99",
        "100",
        "4095",
        "4097",
        "1e6",
        "123456789.125",
        "1e14",
    ]
] + [
    Fraction(2) ** 84,
    Fraction(2) ** 112,
]


def wall(square: Fraction, z: int, bits: int) -> rational.Interval:
    """e^(−γ) for a candidate z, between two rationals."""
    t = Fraction(math.isqrt(math.floor(square)) + 1)
    t = min(t, Fraction(1 << 56))
    return rational.exp(-((abs(z) - square / t) ** 2) / (2 * square), bits)


def accepts(square: Fraction, z: int, word: int, bits: Bits) -> bool:
    known_bits = 64
    while True:
        low, high = wall(square, z, known_bits + 64)
        if Fraction(word + 1, 1 << known_bits) <= low:
            return True
        if Fraction(word, 1 << known_bits) >= high:
            return False
        word, known_bits = word << 64 | bits.integer(64), known_bits + 64


def scale(square: Fraction) -> Fraction:
    return min(Fraction(math.isqrt(math.floor(square)) + 1), Fraction(1 << 56))


def slow_draw(square: Fraction, bits: Bits) -> int:
    """The specification: rational arithmetic, a candidate and a uniform number at a time."""
    while True:
        z = reference.geometric_draw(scale(square), bits)
        if accepts(square, z, bits.integer(64), bits):
            return z


BITWISE = [SQUARES[i] for i in (1, 2, 6, 8, 12, 15)]


@pytest.mark.parametrize("square", BITWISE, ids=str)
def test_random_bits(square: Fraction) -> None:
    law, ours, theirs = DiscreteGaussianLaw(sigma_squared=square), SeededBits(1), SeededBits(1)
    assert [law.draw(ours) for _ in range(25)] == [slow_draw(square, theirs) for _ in range(25)]
    tried = 25 + 12 + 8
    drawn = law.sample(25, ours)
    z = reference.geometric_sample(scale(square), tried, theirs)
    words = theirs.words(tried).tolist()
    accepted = [v for v, word in zip(z, words, strict=True) if accepts(square, v, word, theirs)]
    assert drawn.tolist()[: len(accepted)] == accepted[:25]


@pytest.mark.parametrize("square", BITWISE[1:], ids=str)
def test_words_next_to_the_wall(square: Fraction) -> None:
    """The accept test decided by words on both sides of e^(−γ), and by the word that it lies in."""
    law = DiscreteGaussianLaw(sigma_squared=square)
    for first in (1 << 62, (1 << 62) + (1 << 58)):
        z = law._proposal.draw(TapeBits([first, 99]))
        used = [first, 99] if reference.shift(scale(square)) else [first]
        edge = math.floor(wall(square, z, 200)[0] * (1 << 64))
        for word in near(min(edge, ONES), 1 << 64):
            for more in (0, ONES):
                tape = [*used, word, more, 1 << 62, 5, 0, 0]
                assert law.draw(TapeBits(tape)) == slow_draw(square, TapeBits(tape))


@pytest.mark.parametrize("square", SQUARES, ids=str)
def test_few_words_need_further_bits(square: Fraction) -> None:
    settled = 0

    class Counting(DiscreteGaussianLaw):
        def _settle(self, z: int, level: int, bits: Bits) -> bool:
            nonlocal settled
            settled += 1
            return super()._settle(z, level, bits)

    assert (
        Counting(sigma_squared=square).sample(CHUNK, SeededBits(8)).tolist()
        == DiscreteGaussianLaw(sigma_squared=square).sample(CHUNK, SeededBits(8)).tolist()
    )
    assert settled <= 2, "expected below 2·CHUNK·2^-39 = 10^-7"


def test_the_assumption_about_exp() -> None:
    """NumPy's and the C library's exp on [−750, 0], against ball arithmetic: a hundredth of what is
    assumed.
    """
    points = -np.concatenate(
        [
            np.linspace(0, 50, 2000),
            np.geomspace(1e-18, 750, 1000),
            SeededBits(2).words(2000) * (750 * 2.0**-64),
        ]
    )
    allowed = arb(MARGIN / 200)
    with precision(120):
        for x, y in zip(points.tolist(), np.exp(points).tolist(), strict=True):
            truth = arb(x).exp()
            assert abs(truth - y) < allowed
            assert abs(truth - math.exp(x)) < allowed


@pytest.mark.parametrize(
    ("square", "variance", "zero"),
    [("1/4", 0.21501267508813848, 0.7865707070419478), (1, 0.9999997887677281, 0.3989422782668617)],
)
def test_moments(square: str, variance: float, zero: float) -> None:
    law = DiscreteGaussianLaw(sigma_squared=square)
    assert law.variance == pytest.approx(variance, abs=1e-15)
    assert law.pmf(0) == pytest.approx(zero, abs=1e-15)


@pytest.mark.parametrize("square", [s for s in SQUARES if s < 10**4], ids=str)
def test_sums_against_the_definition(square: Fraction) -> None:
    """Every number from the plain sum over all integers within 60σ; what lies beyond is below
    2^-1000.
    """
    law, reach = DiscreteGaussianLaw(sigma_squared=square), 60 * (math.isqrt(math.ceil(square)) + 1)
    with precision(300):
        f = [(-ball(k * k / (2 * square))).exp() for k in range(reach)]
        norm = 2 * sum(f, arb(0)) - f[0]
        second = 2 * sum((k * k * v for k, v in enumerate(f)), arb(0)) / norm
        assert abs(arb(law.variance) - second) <= second * arb(2) ** -52 + arb(2) ** -1074
        assert not second > ball(square)
        for z in (0, 1, 2, reach // 30, reach // 6):
            tail = sum(f[z:], arb(0)) / norm
            for truth, low, high in (
                (f[z] / norm, law.pmf(z, "down"), law.pmf(z, "up")),
                (tail, law.tail(z, "down"), law.tail(z, "up")),
            ):
                assert not truth < arb(low)
                assert not truth > arb(high)
                assert math.nextafter(math.nextafter(high, 0), 0) <= low
            assert law.pmf(-z) == law.pmf(z)


@pytest.mark.parametrize("square", [Fraction(64**2), Fraction(5000), Fraction(123456, 7)], ids=str)
@pytest.mark.parametrize("bits", [80, 150, 700])
def test_two_ways_to_sum_a_tail(square: Fraction, bits: int) -> None:
    root = math.isqrt(math.floor(square))
    for z in (1, 2, root // 3, root, 5 * root, 12 * root):
        with precision(bits):
            summed, approximated = _term_by_term(square, z), _euler_maclaurin(square, z)
            assert summed.overlaps(approximated)
            assert summed.rel_accuracy_bits() > bits - 20
            assert approximated.rel_accuracy_bits() > bits - 20
            twin = _euler_maclaurin(square, z + 1)
            assert not summed.overlaps(twin)


@pytest.mark.parametrize(
    "square", [Fraction(10**12), Fraction(2) ** 84, Fraction(2) ** 112], ids=str
)
def test_wide_laws_are_normal(square: Fraction) -> None:
    law, root = DiscreteGaussianLaw(sigma_squared=square), math.isqrt(int(square))
    assert law.variance == float(square)
    for share, tail in ((1, 0.15865525393145705), (3, 0.0013498980316300946)):
        assert law.tail(share * root) == pytest.approx(tail, rel=1e-5)
    assert law.half_width("0.95") == pytest.approx(1.959963984540054 * root, rel=1e-5)


def test_quantiles_and_widths() -> None:
    law = DiscreteGaussianLaw(sigma_squared=4)
    assert law.half_width("0.95") == 4
    assert law.tail(5) < 0.025 < law.tail(4)
    assert law.quantile("1/2") == 0
    assert law.cdf(law.quantile(0.9)) >= 0.9 > law.cdf(law.quantile(0.9) - 1)


def statistic(law: DiscreteGaussianLaw, drawn: np.ndarray) -> float:
    """Pearson's sum over |z| ≤ 6, and one cell for the rest: 13 degrees of freedom."""
    p = np.append(law.pmf(np.arange(-6, 7)), 2 * law.tail(7))
    counts = np.append([(drawn == z).sum() for z in range(-6, 7)], (np.abs(drawn) > 6).sum())
    return float(((counts - len(drawn) * p) ** 2 / (len(drawn) * p)).sum())


def test_frequencies() -> None:
    """False alarm: 10^-9 for a statistic above 69 with 13 degrees of freedom. The twin draws
    rounded normal noise of the same σ.
    """
    law = DiscreteGaussianLaw(sigma_squared=4)
    assert statistic(law, law.sample(200_000, SeededBits(4))) < 69
    assert statistic(law, RoundedNormal(sigma=2).sample(200_000, SeededBits(4))) > 69


def test_three_in_four_are_accepted() -> None:
    """√(2π/e)/2 = 0.76 for wide laws; narrow ones lose a little more than half."""
    for square in SQUARES:
        law = DiscreteGaussianLaw(sigma_squared=square)
        with precision(100):
            rate = (
                law._norm()
                * (-ball(square / law._proposal.scale**2 / 2)).exp()
                * law._proposal._mass(0)
            )
            assert arb("0.45") < rate < 1
            if square > 100:
                assert rate > arb("0.75")


@pytest.mark.parametrize(
    ("square", "code"), [(0, "number.not-positive"), (2**113, "noise.scale"), ("x", "number.text")]
)
def test_refused(square: object, code: str) -> None:
    with pytest.raises(Refused) as caught:
        DiscreteGaussianLaw(sigma_squared=square)  # type: ignore[arg-type]  # refused
    assert caught.value.code == code


@pytest.mark.parametrize("square", SQUARES, ids=str)
def test_many_lanes_settled_by_balls_are_the_lanes_of_doubles(
    square: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    law = DiscreteGaussianLaw(sigma_squared=square)
    quick = law.sample(40, SeededBits(8)).tolist()
    monkeypatch.setattr(discrete_gaussian_noise, "MARGIN", 2.0)
    assert law.sample(40, SeededBits(8)).tolist() == quick


def test_a_batch_that_is_rejected_is_drawn_again() -> None:
    class Rejecting(SeededBits):
        """The second words, which decide on the first batch, are the largest."""

        calls = 0

        def words(self, count: int) -> Words:
            self.calls += 1
            return np.full(count, ONES, np.uint64) if self.calls == 2 else super().words(count)

    law, bits, later = DiscreteGaussianLaw(sigma_squared=100), Rejecting(3), SeededBits(3)
    later.words(9)  # the proposals of the batch
    assert law.sample(1, bits).tolist() == law.sample(1, later).tolist()
    assert bits.calls == 4
