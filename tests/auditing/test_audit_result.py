"""What a result says."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.auditing.audit_result import down, up


def test_the_share_is_that_of_the_notion_claimed() -> None:
    r = sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1, exact=True)
    assert 1 - 1e-12 < r.share <= 1
    gaussian = replace(r, claim=sf.GDP(2), mu_lower=0.5)
    assert gaussian.share == 0.25
    nothing = replace(r, claim=sf.Pure(0), epsilon_lower=0.0)
    assert nothing.share == 0
    assert replace(nothing, epsilon_lower=0.1).share == 1


def test_long_inputs_are_cut() -> None:
    r = replace(
        sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1, exact=True),
        pair=(list(range(100)), 1),
    )
    assert max(len(line) for line in str(r).splitlines()) < 120


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        (0.1234567, "0.123456", "0.123457"),
        (0.0, "0", "0"),
        (math.inf, "inf", "inf"),
        (2.0, "2", "2"),
    ],
)
def test_bounds_are_printed_rounded_down_and_chances_up(value: float, low: str, high: str) -> None:
    assert (down(value), up(Fraction(repr(value)) if math.isfinite(value) else value)) == (
        low,
        high,
    )


def test_a_chance_is_not_printed_smaller_than_it_is() -> None:
    r = sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1, samples=100, confidence=0.99987)
    assert "with probability 0.00013)" in str(r)
    assert "with probability 1e-06)" in str(replace(r, confidence=0.999999))
    assert "ε ≥ 0.999999 " in str(replace(r, epsilon_lower=0.99999999))


def test_a_curve_that_is_refuted_shows_where() -> None:
    r = sf.audit(mech.Gaussian(sensitivity=1, rho=2), 0, 1, claim=sf.ZCDP("1/8"), samples=20_000)
    assert r.verdict == "violated"
    assert "breaks   a bet on this event" in str(r)
    assert "breaks" not in str(replace(r, claim=sf.Pure(1)))


def test_that_a_pair_are_neighbours_is_said_to_be_a_condition_where_it_was_not_checked() -> None:
    assert "if these are neighbours" in str(
        sf.audit(lambda v: v, 0, 1, claim=sf.Pure(1), samples=100)
    )
    near = replace(
        sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1, exact=True), verdict="violated"
    )
    assert "if these are neighbours" not in str(near)
    assert "computed from the stated law" in str(near)
