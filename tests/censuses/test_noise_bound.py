"""The bound of a census' intervals, against the exact law of sums of rounded normal draws."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import product
from math import inf
from statistics import NormalDist

import pytest

from sfumato.censuses.census_result import noise_bound


def exact_law(sigma: float) -> dict[int, float]:
    """The probabilities of a normal variable that is rounded to an integer."""
    normal = NormalDist(0, sigma)
    most = int(12 * sigma) + 3
    return {k: normal.cdf(k + 0.5) - normal.cdf(k - 0.5) for k in range(-most, most + 1)}


def missing(sigmas: tuple[float, ...], weights: tuple[int, ...], half: float) -> float:
    """The probability that the weighted sum of draws lies beyond a half width."""
    total = 0.0
    for draws in product(*(exact_law(sigma).items() for sigma in sigmas)):
        if abs(sum(w * k for w, (k, _) in zip(weights, draws, strict=True))) > half:
            weight = 1.0
            for _, probability in draws:
                weight *= probability
            total += weight
    return total


CASES = [
    ((0.5,), (1,)),
    ((2.0,), (1,)),
    ((0.5, 0.7), (1, -2)),
    ((1.5, 3.0), (3, 1)),
    ((0.6, 0.6, 0.8), (1, 1, 2)),
]


@pytest.mark.parametrize(("sigmas", "weights"), CASES)
@pytest.mark.parametrize("confidence", [F(1, 2), F(7, 10), F(19, 20), F(999, 1000)])
def test_the_noise_exceeds_the_bound_no_more_often_than_stated(
    sigmas: tuple[float, ...], weights: tuple[int, ...], confidence: F
) -> None:
    variance = sum(w**2 * (s**2 + 1 / 12) for w, s in zip(weights, sigmas, strict=True))
    half = noise_bound(confidence, min(sigmas)) * variance**0.5
    assert missing(sigmas, weights, half) <= 1 - confidence


def test_a_normal_interval_alone_misses_more_often() -> None:
    """A twin that must fail: coarse steps, and no allowance for rounding."""
    half = noise_bound(F(7, 10), inf) * (0.25 + 1 / 12) ** 0.5
    assert missing((0.5,), (1,), half) > 0.3


def test_the_bound_is_at_most_a_hundredth_wider() -> None:
    assert 1 < noise_bound(F(19, 20), 256) / NormalDist().inv_cdf(0.975) < 1.01
    assert noise_bound(F(19, 20), 2.0**24) / NormalDist().inv_cdf(0.975) < 1.0005
