"""Bands hold what they say they hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, gamma, norm

from sfumato.errors import Refused
from sfumato.studies import bands
from sfumato.studies.bands import (
    laplace_below,
    normal_below,
    prediction_below,
    uniforms_below,
)


def test_laplace_and_normal_sizes_leave_half_of_the_alarms_at_either_end() -> None:
    low, high = bands.laplace_size(3.0)
    assert -math.expm1(-low / 3) == pytest.approx(5e-7)
    assert math.exp(-high / 3) == pytest.approx(5e-7)
    low, high = bands.normal_size(2.0)
    assert 2 * norm.cdf(low / 2) - 1 == pytest.approx(5e-7)
    assert 2 * norm.sf(high / 2) == pytest.approx(5e-7)


def test_means_and_shares() -> None:
    low, high = bands.mean_size(2.0, 30)
    assert gamma.cdf(low * 30 / 2, 30) == pytest.approx(5e-7)
    assert gamma.sf(high * 30 / 2, 30) == pytest.approx(5e-7)
    low, high = bands.share_band(0.3, 100)
    assert binom.cdf(low * 100 - 1, 100, 0.3) <= 5e-7
    assert binom.sf(high * 100, 100, 0.3) <= 5e-7
    low, high = bands.mean_of_uniforms(100, -0.5)
    assert (low + high, high) == (
        pytest.approx(0),
        pytest.approx(-norm.ppf(2.5e-7) / math.sqrt(1200)),
    )


def test_a_prediction_is_students() -> None:
    """With two degrees of freedom the quantile has a closed form: (2p − 1)/√(2p(1 − p))."""
    draws, p = np.array([-1.0, 0.0, 1.0]), 5e-7
    low, high = bands.prediction_band(draws, logarithm=False)
    reach = (1 - 2 * p) / math.sqrt(2 * p * (1 - p)) * draws.std(ddof=1) * math.sqrt(4 / 3)
    assert (low, high) == (pytest.approx(-reach), pytest.approx(reach))
    few = draws / 100
    assert bands.prediction_band(np.exp(few)) == (
        pytest.approx(math.exp(-reach / 100)),
        pytest.approx(math.exp(reach / 100)),
    )


def test_more_repetitions_make_a_band_narrower_but_not_narrower_than_the_law() -> None:
    draws = norm.ppf((np.arange(2000) + 0.5) / 2000)
    widths = [
        high - low
        for low, high in (
            bands.prediction_band(draws[:: 2000 // n], logarithm=False) for n in (5, 20, 2000)
        )
    ]
    assert widths[0] > widths[1] > widths[2] > -1.9 * norm.ppf(5e-7)


def test_one_repetition_is_refused() -> None:
    with pytest.raises(Refused) as refusal:
        bands.prediction_band([1.0])
    assert refusal.value.code == "studies.repetitions"


def test_the_middle_is_the_median_between_the_ends_of_the_middle_90_percent() -> None:
    assert bands.middle_90(list(range(101))) == (5.0, 50.0, 95.0)


@pytest.mark.parametrize("share", [0.005, 0.3, 0.995])
def test_percentiles_are_those_of_the_laws(share: float) -> None:
    """Against a sample of 10⁵: within five standard errors, false alarm below 1e-6 each. The twin
    has a scale one tenth larger.
    """
    rng, n = np.random.default_rng(7), 100_000
    room = 5 * np.sqrt(share * (1 - share) / n)
    laws = {
        "laplace": (np.abs(rng.laplace(0, 2, n)), laplace_below, 2.0),
        "normal": (np.abs(rng.normal(0, 3, n)), normal_below, 3.0),
    }
    for sizes, below, scale in laws.values():
        place = float(np.quantile(sizes, share))
        assert abs(below(scale, place) - share) < room
    place = float(np.quantile(laws["normal"][0], 0.3))
    assert abs(normal_below(3.3, place) - 0.3) > 5 * np.sqrt(0.21 / n)
    means = rng.random((20_000, 40)).mean(axis=1)
    middle = float(np.quantile(means, share))
    assert abs(uniforms_below(40, 0.0, middle) - share) < 5 * np.sqrt(share * (1 - share) / 20_000)


def test_a_prediction_has_the_chance_it_says() -> None:
    """The next of six draws: its percentile is uniform, whatever scale and place. Over 4,000 sets
    the share below ½ % is ½ %, within five standard errors.
    """
    rng = np.random.default_rng(8)
    draws = np.exp(rng.normal(3, 2, (4000, 7)))
    places = np.array([prediction_below(row[:6].tolist(), float(row[6])) for row in draws])
    assert abs((places < 0.005).mean() - 0.005) < 5 * np.sqrt(0.005 / 4000)
    assert abs(places.mean() - 0.5) < 5 * np.sqrt(1 / 12 / 4000)
