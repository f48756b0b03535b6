"""Denoised releases: smaller errors, by the exact risk of James and Stein, for every truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import poisson

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.errors import Refused
from sfumato.functions import denoise
from sfumato.testing import SeededBits

SIGMA, SIZE, TIMES = 3.0, 20, 4_000


def risk(length: float) -> float:
    """The exact total squared error of James and Stein's estimate without its cut at 0, for a
    truth of this length: σ²(d − (d − 2)²·E[1/(d − 2 + 2K)]), K Poisson of mean length²/(2σ²).
    """
    mean = length**2 / (2 * SIGMA**2)
    k = np.arange(max(0, int(mean - 40 * mean**0.5 - 10)), int(mean + 40 * mean**0.5 + 200))
    chances = poisson.pmf(k, mean)
    return SIGMA**2 * (SIZE - (SIZE - 2) ** 2 * float((chances / (SIZE - 2 + 2 * k)).sum()))


def errors(truth: np.ndarray, **about: Any) -> np.ndarray:
    noise = np.random.default_rng(1).normal(0, SIGMA, (TIMES, SIZE))
    near = [denoise(truth + row, SIGMA, **about) for row in noise]
    return ((np.array(near) - truth) ** 2).sum(axis=1)


@pytest.mark.parametrize("height", [0, 1, 3, 10, 100])
def test_the_error_is_below_that_of_the_raw_numbers(height: float) -> None:
    """The mean of 4,000 errors is at most the exact risk, but for six standard errors of it (a
    false alarm below 10⁻⁸); the risk is below d·σ² for every truth.
    """
    truth = np.full(SIZE, height, dtype=float)
    squares = errors(truth)
    slack = 6 * squares.std() / TIMES**0.5
    assert squares.mean() <= risk(height * SIZE**0.5) + slack
    assert risk(height * SIZE**0.5) < SIZE * SIGMA**2
    assert risk(0) == pytest.approx(2 * SIGMA**2)


def test_shrinking_for_a_larger_noise_is_worse() -> None:
    """The twin: with a σ that is four times too large the error exceeds that of the raw numbers."""
    truth = np.full(SIZE, 10.0)
    noise = np.random.default_rng(1).normal(0, SIGMA, (500, SIZE))
    wrong = [((denoise(truth + row, 4 * SIGMA) - truth) ** 2).sum() for row in noise]
    assert np.mean(wrong) > SIZE * SIGMA**2


def test_few_large_numbers_among_zeros() -> None:
    truth = np.zeros(SIZE)
    truth[0] = 40
    assert errors(truth, method="soft").mean() < 0.5 * SIZE * SIGMA**2
    assert denoise([9.0, -9.0, 0.1], 1, method="soft").tolist() == pytest.approx(
        [9 - (2 * np.log(3)) ** 0.5, -9 + (2 * np.log(3)) ** 0.5, 0]
    )


def test_towards_a_public_guess() -> None:
    guess = np.linspace(100, 200, SIZE)
    assert errors(guess, towards=guess).mean() < 4 * SIGMA**2
    assert denoise(guess, 1, towards=guess).tolist() == guess.tolist()


def test_a_release_of_counts() -> None:
    """Fifty counts with exact Gaussian noise: the denoised ones are nearer."""
    counts = np.arange(50)
    noise = mech.Gaussian(sensitivity=1, epsilon="1/10", delta="1e-6")
    release = np.array(noise.perturb(counts, bits=SeededBits(1)), dtype=float)
    near = sf.functions.denoise(release, noise.sigma, towards=25)
    assert ((near - counts) ** 2).sum() < ((release - counts) ** 2).sum()


@pytest.mark.parametrize(
    ("values", "about", "code"),
    [
        ([1, 2], {}, "denoise.size"),
        ([1, 2, 3], {"towards": [1, 2]}, "denoise.size"),
        ([1, 2, 3], {"method": "mean"}, "denoise.method"),
        ([1, 2, 3], {"sigma": 0}, "number.not-positive"),
    ],
    ids=str,
)
def test_refused(values: list[float], about: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as refused:
        denoise(values, **{"sigma": 1, **about})
    assert refused.value.code == code
