"""Sums of very many draws: the bound holds against the exact law, and is not loose."""

from __future__ import annotations

from fractions import Fraction as F
from statistics import NormalDist

import numpy as np
import pytest

from sfumato.noise.geometric import Geometric
from sfumato.noise.many_draws import RoundingError, bound_many
from sfumato.noise.rounded_normal import RoundedNormal
from sfumato.noise.weighted_sums import SumLaw, sum_bound

Law = Geometric | RoundedNormal


def tail(law: Law, weights: list[tuple[int, int]], limit: float) -> float:
    """P(|Σ weight·Z| > limit), from the characteristic function of the law on the integers."""
    reach = 1 << 16
    angles = 2 * np.pi * np.arange(reach) / reach
    product = np.ones(reach)
    for weight, count in weights:
        product *= law.characteristic(angles * weight) ** count
    masses = np.fft.ifft(product).real
    at = np.arange(reach)
    return float(masses[np.minimum(at, reach - at) > limit].sum())


@pytest.mark.parametrize("missing", [F(1, 20), F(1, 1000)])
@pytest.mark.parametrize(
    ("law", "loose"), [(RoundedNormal(sigma=40), 1.06), (Geometric(scale=30), 1.2)], ids=str
)
def test_bound_holds_and_is_near(law: Law, loose: float, missing: F) -> None:
    weights = [(1, 300), (2, 20)]
    bound = bound_many([(law, F(weight), count) for weight, count in weights], missing)
    assert bound is not None
    assert tail(law, weights, float(bound)) <= missing
    assert tail(law, weights, float(bound) / loose) > missing


def test_normal_draws_of_a_fine_grid_have_the_normal_quantile() -> None:
    draws = [(RoundedNormal(sigma=1024), F(1), 10**6), (RoundedNormal(sigma=2048), F(3), 40)]
    bound = bound_many(draws, F(1, 20))
    spread = (1024**2 * 10**6 + 9 * 2048**2 * 40) ** 0.5
    assert bound is not None
    assert 1 <= float(bound) / spread / NormalDist().inv_cdf(0.975) < 1.003


def test_roundings_are_added() -> None:
    normal = (RoundedNormal(sigma=100), F(1), 500)
    alone = sum_bound((normal,), F(1, 20))
    rounding = (RoundingError(F(7)), F(1), 1)
    assert sum_bound((normal, rounding), F(1, 20)) == alone + 7
    assert SumLaw((normal, rounding)).variance > SumLaw((normal,)).variance


def test_a_tiny_chance_has_no_bound_for_laplace() -> None:
    assert bound_many([(Geometric(scale=3), F(1), 200)], F(1, 10**12)) is None
