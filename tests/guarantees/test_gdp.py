"""GDP: exact addition, the curve against the continuous Gaussian, calibration, sampling."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.guarantees import gdp
from sfumato.guarantees.gdp import largest_mu
from sfumato.noise.continuous import Normal


def test_squares_add_exactly() -> None:
    assert 100 * sf.GDP("0.1") == sf.GDP(1)
    assert sf.GDP("0.3") + sf.GDP("0.4") == sf.GDP("0.5")
    third = sf.GDP.from_square(Fraction(1, 3))
    assert 3 * third == sf.GDP(1)
    assert third.mu >= 0
    assert third.mu**2 >= Fraction(1, 3)


@pytest.mark.parametrize("sigma", [Fraction(s) for s in ("0.25", "1", "2", "40")], ids=str)
def test_curve_is_that_of_the_gaussian(sigma: Fraction) -> None:
    law = Normal(sigma=sigma)
    for e in ("0", "0.1", "1", "10"):
        assert sf.GDP(1 / sigma).delta(e) == law.delta(e, shift=1)
    for order in (1, 2, "7.5"):
        assert sf.GDP(1 / sigma).renyi(order) == law.renyi(order, shift=1)


def test_tradeoff_is_the_neyman_pearson_curve() -> None:
    assert sf.GDP("0.5").tradeoff("0.05") == pytest.approx(0.8738651018, rel=1e-9)
    assert sf.GDP(1).tradeoff(0) == 1.0
    assert sf.GDP(1).tradeoff(1) == 0.0
    assert sf.GDP(0).tradeoff("0.3") == pytest.approx(0.7, rel=1e-15)


@pytest.mark.parametrize(
    ("e", "d"),
    [("1", "1e-5"), ("0.01", "1e-6"), ("10", "1e-8"), ("1e-4", "1e-12"), ("50", "1e-300")],
)
def test_calibration_is_safe_and_not_wasteful(e: str, d: str) -> None:
    mu = largest_mu(e, d)
    assert sf.GDP(mu).delta(e) <= Fraction(d)
    assert sf.GDP(mu * (1 + Fraction(1, 10**12))).delta(e) > Fraction(d)


def test_the_estimate_in_doubles_changes_no_calibration(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says where to evaluate the curve, not what μ is: equal to the last bit without it."""
    numbers = [
        (f"{e}e{power}", d)
        for power in (-6, -2, 0, 2)
        for e in ("1", "3.7")
        for d in ("1e-290", "1e-40", "1e-9", "0.001", "0.5", "0.9")
    ]
    fast = [largest_mu(e, d) for e, d in numbers]
    monkeypatch.setattr(gdp, "_guess_inverse", lambda *_: None)
    assert [largest_mu(e, d) for e, d in numbers] == fast


def test_extremes() -> None:
    assert sf.GDP(1).epsilon("1e-300") == pytest.approx(37.44884791, rel=1e-9)
    assert sf.GDP("1e-6").epsilon("1e-6") == 0.0
    assert math.isinf(sf.GDP(1).epsilon(0))
    assert sf.GDP(50).epsilon("1e-10") > 1250
    assert 0 < sf.GDP(1).delta(50) <= 1e-300


def test_poisson_sampling_against_the_mixture_by_quadrature() -> None:
    """E_Q[((1 − q) + q·L)^α], L the likelihood ratio, summed on a fine grid: an independent
    evaluation of the formula (order 2 and 5).
    """
    q, sigma = 0.01, 1.0
    points = [k / 1000 - 12 for k in range(30_001)]
    for order in (2, 5):
        density = [math.exp(-x * x / 2) / math.sqrt(2 * math.pi) for x in points]
        moment = (
            sum(
                d * ((1 - q) + q * math.exp((2 * x - 1) / (2 * sigma**2))) ** order
                for x, d in zip(points, density, strict=True)
            )
            / 1000
        )
        assert sf.GDP(1).subsample("0.01").renyi(order) == pytest.approx(
            math.log(moment) / (order - 1), rel=1e-9
        )


def test_poisson_sampling_published_numbers() -> None:
    """B-14b."""
    sampled = sf.GDP(1).subsample("0.01")
    assert [sampled.renyi(a) for a in (2, 8, 32)] == pytest.approx(
        [0.0001718134221, 0.0008936439076, 11.24627594], rel=1e-9
    )
    assert sampled.relation == "add-remove"


def test_poisson_sampling_gives_the_law_that_the_mechanism_has() -> None:
    """δ(ε) = q·δ₀(ln(1 + (e^ε − 1)/q)), removal; and much less than its Rényi curve says, once
    composed.
    """
    sampled = sf.GDP(1).subsample("0.01")
    assert sampled == sf.compose([sf.mechanisms.Gaussian(sensitivity=1, sigma=1).subsample("0.01")])
    for epsilon in (0.0, 0.01, 0.5, 2.0):
        moved = math.log1p(math.expm1(epsilon) / 0.01)
        assert sampled.delta(epsilon) == pytest.approx(0.01 * sf.GDP(1).delta(moved), rel=1e-9)
    assert (1000 * sampled).epsilon("1e-6") < 0.9 * (1000 * sampled.to(sf.Renyi)).epsilon("1e-6")
    assert sf.GDP(1).subsample(1).delta(1) == sf.GDP(1).delta(1)
    assert sf.GDP(1).subsample(0).delta(0) == sf.GDP(0).subsample("0.5").delta(0) == 0
    assert sf.Guarantee.from_json(sampled.to_json()) == sampled
    with pytest.raises(sf.Refused, match=r"guarantee\.relation"):
        sf.GDP(1, relation="replace").subsample("0.01")
