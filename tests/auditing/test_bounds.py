"""What two limits prove: by arithmetic, rounded down, for every notion."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato.auditing.bounds import breaks, delta_of, epsilon_bound, expected_bounds, mu_bound
from sfumato.errors import Refused
from sfumato.exact.balls import ball, below, normal_cdf


@pytest.mark.parametrize(
    ("p", "q", "delta"), [(0.7, 0.3, 0.0), (0.99, 0.9, 0.0), (0.5, 0.01, 0.1), (0.2, 0.001, 1e-6)]
)
def test_epsilon_is_the_larger_of_both_ratios_and_not_above_it(
    p: float, q: float, delta: float
) -> None:
    first, second = (
        (Fraction(p) - Fraction(delta)) / Fraction(q),
        (1 - Fraction(q) - Fraction(delta)) / (1 - Fraction(p)),
    )
    result = Fraction(epsilon_bound(p, q, delta))
    assert below(lambda: ball(result).exp(), lambda: ball(max(first, second)))
    assert below(lambda: ball(max(first, second)), lambda: ball(result + Fraction(1, 10**12)).exp())


@pytest.mark.parametrize(
    ("p", "q", "delta"),
    [(0.3, 0.3, 0.0), (0.2, 0.4, 0.0), (0.3, 0.25, 0.2), (0.0, 0.0, 0.0), (1.0, 1.0, 0.0)],
)
def test_nothing_is_proven_by_nothing(p: float, q: float, delta: float) -> None:
    assert epsilon_bound(p, q, delta) == 0


def test_what_one_input_never_gives_proves_everything() -> None:
    assert epsilon_bound(0.1, 0.0, 0.0) == math.inf
    assert mu_bound(0.1, 0.0) == math.inf
    assert epsilon_bound(0.1, 0.0, 0.2) == 0  # but not beyond δ


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
def test_mu_is_that_of_the_normal_pair(mu: float) -> None:
    from scipy.special import ndtr

    for t in (-1.0, 0.0, 2.0):
        p, q = float(ndtr(t + mu)), float(ndtr(t))
        assert mu_bound(p, q) == pytest.approx(mu, abs=1e-9)
    result = Fraction(mu_bound(0.9, 0.4))
    high, low = Fraction(0.9), Fraction(0.4)
    quantile = Fraction(mu_bound(0.9, 0.5))  # Φ⁻¹(0.9), rounded down
    assert below(lambda: normal_cdf(ball(quantile)), lambda: ball(high))
    assert result - quantile == pytest.approx(Fraction(-float(mu_bound(0.6, 0.5))) * -1, abs=1e-9)
    assert low < high


@pytest.mark.parametrize(
    "claim", [sf.Pure(1), sf.Approx(1, 0.01), sf.GDP(1), sf.ZCDP(0.5)], ids=str
)
def test_breaks_follows_the_curve_of_the_claim(claim: sf.Guarantee) -> None:
    for q in (0.01, 0.2, 0.6):
        most = 1 - claim.tradeoff(q)
        assert not breaks(claim, most - 1e-9, q)
        assert breaks(claim, min(1.0, most + 1e-9), q)
        assert not breaks(claim, q / 2, q)


def test_of_a_pure_claim_both_sides_break() -> None:
    assert breaks(sf.Pure(1), 0.5, 0.5 / math.e * 0.999)
    assert breaks(sf.Pure(1), 1 - 0.5 / math.e * 0.999, 0.5)  # the outputs outside the event
    assert not breaks(sf.Pure(1), 0.5, 0.5 / math.e * 1.001)


def test_the_delta_of_a_claim() -> None:
    assert delta_of(sf.Pure(1), None) == 0
    assert delta_of(sf.Approx(1, "1e-4"), None) == 1e-4
    assert delta_of(sf.GDP(1), None) == delta_of(sf.ZCDP(1), None) == 1e-6
    assert delta_of(sf.Pure(1), 0.25) == 0.25
    with pytest.raises(Refused, match=r"audit\.delta"):
        delta_of(sf.Pure(1), 1.5)


def test_expected_bounds_are_the_bounds_in_doubles() -> None:
    p, q = np.array([0.7, 0.3, 0.95, 0.2]), np.array([0.3, 0.7, 0.9, 0.0])
    for delta in (0.0, 0.1):
        result = expected_bounds(sf.Approx(1, delta) if delta else sf.Pure(1), p, q, delta)
        assert result == pytest.approx(
            [epsilon_bound(a, b, delta) for a, b in zip(p, q, strict=True)], abs=1e-12
        )
    assert expected_bounds(sf.GDP(1), p, q, 0.0) == pytest.approx(
        [mu_bound(a, b) for a, b in zip(p, q, strict=True)], abs=1e-9
    )
