"""Shares of noise: exactly as many as said add up to the two-sided geometric law; fewer do not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2

from sfumato.errors import Refused
from sfumato.noise import polya_noise
from sfumato.noise.geometric import Geometric
from sfumato.noise.polya_noise import Polya
from sfumato.testing import SeededBits


def acceptance(number: int, parts: int) -> Fraction:
    """C(k + r − 1, k), r = 1/parts, by its definition."""
    r = Fraction(1, parts)
    return math.prod((Fraction(r + j, j + 1) for j in range(number)), start=Fraction(1))


def convolve(a: list[Fraction], b: list[Fraction]) -> list[Fraction]:
    return [sum((a[i] * b[k - i] for i in range(k + 1)), Fraction(0)) for k in range(len(a))]


@pytest.mark.parametrize("parts", [1, 2, 3, 5, 8])
def test_as_many_shares_as_said_are_geometric_exactly(parts: int) -> None:
    """The mass of a half is ∝ q^k·a_k. The `parts`-fold convolution of a is 1 at every k, in
    rationals, so that of the masses is (1 − q)·q^k; one share fewer or more is not constant.
    """
    a = [acceptance(k, parts) for k in range(25)]
    sums = [Fraction(1), *[Fraction(0)] * 24]
    before = sums
    for _ in range(parts):
        before, sums = sums, convolve(sums, a)
    assert sums == [Fraction(1)] * 25
    assert before != [Fraction(1)] * 25
    assert convolve(sums, a) != [Fraction(1)] * 25


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_the_coins_accept_with_exactly_that_probability(
    parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every way through the coins of a number is followed, with its probability."""
    for number in range(5):
        limits = [j * parts for j in range(1, number + 1)]
        chance = Fraction(0)
        for values in product(*(range(limit) for limit in limits)):
            script: Iterator[tuple[int, int]] = iter(list(zip(limits, values, strict=True)))

            def drawn(limit: int, bits: object, script: Iterator[tuple[int, int]] = script) -> int:
                expected, value = next(script)
                assert limit == expected
                return value

            monkeypatch.setattr(polya_noise, "integer_below", drawn)
            if Polya(scale=1, parts=parts)._accepts(number, SeededBits(0)):
                chance += Fraction(1, math.prod(limits))
        assert chance == acceptance(number, parts)


def chi_square(draws: np.ndarray, law: Geometric, far: int) -> float:
    """The p-value of draws under a law, cells beyond `far` joined."""
    cells = np.arange(-far, far + 1)
    chances = law.pmf(cells)
    chances[[0, -1]] += law.tail(far + 1)
    counts = np.array([(np.clip(draws, -far, far) == cell).sum() for cell in cells])
    expected = chances * len(draws)
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), len(cells) - 1))


def test_sums_of_draws_fit_the_law_and_sums_of_fewer_do_not() -> None:
    """A χ² test of 4,000 sums of three shares (false alarm 10⁻⁶); two shares fail it."""
    law, bits = Polya(scale=2, parts=3), SeededBits(7)
    draws = np.array([[law.draw(bits) for _ in range(3)] for _ in range(4_000)])
    assert chi_square(draws.sum(axis=1), Geometric(scale=2), 8) > 1e-6
    assert chi_square(draws[:, :2].sum(axis=1), Geometric(scale=2), 8) < 1e-6
    assert draws.var() == pytest.approx(law.variance, rel=0.15)


def test_halves_are_not_negative() -> None:
    law = Polya(scale="1/2", parts=4)
    assert min(law.draw_half(SeededBits(seed)) for seed in range(200)) == 0


@pytest.mark.parametrize("parts", [0, -1, 1.5, True, 1 << 21])
def test_refused(parts: int) -> None:
    with pytest.raises(Refused) as refused:
        Polya(scale=1, parts=parts)
    assert refused.value.code == "noise.parts"
