"""Trade-off curves against the regions they come from."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.guarantees.tradeoff_bounds import from_curve


def test_two_lines() -> None:
    """S-130."""
    assert [sf.Pure(1).tradeoff(a) for a in ("0.05", "0.2", "0.5")] == pytest.approx(
        [0.8640859086, 0.4563436343, 0.1839397206], rel=1e-9
    )
    assert sf.Approx(1, "0.05").tradeoff("0.05") == pytest.approx(0.8140859086, rel=1e-9)
    corner = 1 / (1 + math.e)
    assert 2 * sf.Pure(1).tradeoff(corner) == pytest.approx(2 / (1 + math.e), rel=1e-12)


@pytest.mark.parametrize("alpha", [Fraction(a) for a in ("1e-4", "0.05", "0.3", "0.7")], ids=str)
def test_from_the_curve_as_from_the_closed_form(alpha: Fraction) -> None:
    """The general search reaches the exact curve of GDP, from below."""
    exact = sf.GDP(1).tradeoff(alpha)
    assert exact * (1 - 1e-6) <= from_curve(sf.GDP(1), alpha) <= exact * (1 + 1e-12)


def test_concentrated_is_weaker_than_gaussian() -> None:
    assert 0.84 < sf.ZCDP("0.125").tradeoff("0.05") < sf.GDP("0.5").tradeoff("0.05")


def test_a_promise_without_a_finite_epsilon_still_bounds_the_errors() -> None:
    promise = sf.Approx(1, "0.01")
    assert math.isinf(promise.epsilon("1e-9"))
    for alpha in ("0.01", "0.1", "0.3"):
        assert from_curve(promise, Fraction(alpha)) == pytest.approx(
            promise.tradeoff(alpha), rel=1e-6
        )
