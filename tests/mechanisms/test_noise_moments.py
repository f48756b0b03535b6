"""Moments of a released histogram: their values, their noise, and intervals that hold."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato import mechanisms as mech
from sfumato.testing.seeded_bits import SeededBits

from .histograms import histogram, released


def test_S_056_the_mean_from_bins() -> None:
    """[−4, 4] in four bins with counts (1, 3, 4, 2): 0.4; no bin is farther from its rows than
    h/2.
    """
    m = released([1, 3, 4, 2], edges=[-4, -2, 0, 2, 4]).moment(1, rows=10)
    assert m.value == pytest.approx(0.4, abs=1e-15)
    assert m.binning == 1
    assert released([1, 3, 4, 2], edges=[-4, -2, 0, 2, 4]).moment(1).value == pytest.approx(
        0.4, abs=1e-15
    )
    assert released([1, 3, 4, 2], edges=[-4, -2, 0, 2, 4]).moment(
        2, rows=10
    ).value == pytest.approx((9 * 3 + 7) / 10)


@pytest.mark.parametrize("k", [16, 50])
def test_S_056_its_noise_is_worse_than_that_of_the_mean(k: int) -> None:
    """By (k² − 1)/(3k), up to what the integer law has less."""
    edges = np.linspace(-4, 4, k + 1)
    m = released([20] * k, edges=edges).moment(1, rows=1000)
    mean = mech.Mean(low=-4, high=4, epsilon=1, relation="replace", rows=1000)
    assert m.noise_variance * 8 / histogram().noise.variance == pytest.approx(
        {16: 0.00068, 50: 0.00213248}[k], rel=1e-12
    )
    assert mean.variance == pytest.approx(0.000128, rel=1e-9)
    assert m.noise_variance / mean.variance * 8 / histogram().noise.variance == pytest.approx(
        (k * k - 1) / (3 * k), rel=1e-9
    )


@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize("power", [1, 2, 3])
@pytest.mark.parametrize("delta", [None, "0.01"])
def test_moments_cover(public: bool, power: int, delta: Any) -> None:
    """Of 100 intervals at 80 % all but 20 are expected to cover, and these bounds are wide: below
    57 comes with probability below 1e-6 at exactly 80 %.
    """
    x = np.random.default_rng(3).normal(size=2000)
    h = histogram(edges=np.linspace(-4, 4, 21), epsilon="1/2", delta=delta)
    bits = SeededBits(2)
    intervals = [
        h.perturb(x, bits=bits).moment(power, rows=2000 if public else None).interval(0.8)
        for _ in range(100)
    ]
    truth = float((np.clip(x, -4, 4) ** power).mean())
    assert sum(low <= truth <= high for low, high in intervals) >= 57
    assert np.mean([high - low for low, high in intervals]) < {1: 0.8, 2: 1.6, 3: 6}[power]


@pytest.mark.parametrize(
    "weights",
    [[1.0], [0.0, -2.5], [1.0] * 30, list(np.linspace(-1, 1, 20)), [1.0, 1000.0]],
    ids=str,
)
@pytest.mark.parametrize("scale", ["1/20", 1, 100])
def test_linear_error_against_the_exact_law(weights: list[float], scale: Any) -> None:
    """Never below the quantile of 20 000 sums (its level strays by 0.0105 with probability 4e-7);
    at most 2.2 normal half-widths and a step above 0.
    """
    m = mech.Laplace(sensitivity=1, scale=scale)
    bound = m.law.linear_error(np.array(weights), Fraction(1, 10))
    sums = m.law.sample((20_000, len(weights)), SeededBits(9)).astype(float) @ np.array(weights)
    assert (np.abs(sums) > bound + 1e-9).mean() <= 0.1 + 0.0105
    assert (
        bound
        <= 2.2 * 1.645 * np.sqrt(m.variance * np.square(weights).sum()) + 4 * np.abs(weights).max()
    )
    assert m.law.linear_error(np.zeros(4), Fraction(1, 10)) == 0
