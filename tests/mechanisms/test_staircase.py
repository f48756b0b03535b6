"""The staircase mechanism: every shift by arithmetic, the best error, and why vectors are
refused.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball, precision
from sfumato.testing import SeededBits

from ..refusing import refusal
from .untouchable import Untouchable


def level(m: Any, z: int) -> int:
    """The step of the staircase that z lies on, from the definition."""
    return 0 if abs(z) < m.width else 1 + (abs(z) - m.width) // m.period


def largest_loss(m: Any, shift: int) -> Fraction:
    """max_z ln P(z)/P(z − shift), in units of ε: whole numbers, as the law is e^(−ε·level). Beyond
    three periods the pattern repeats.
    """
    reach = 3 * m.period + m.width + shift
    return Fraction(max(level(m, z - shift) - level(m, z) for z in range(-reach, reach + 1)))


CASES: dict[str, Any] = {
    "Δ=1": mech.Staircase(sensitivity=1, epsilon=1),
    "Δ=2": mech.Staircase(sensitivity=2, epsilon="1/2"),
    "Δ=7": mech.Staircase(sensitivity=7, epsilon=3),
    "Δ=5/2": mech.Staircase(sensitivity="5/2", epsilon=1),
    "γ=1": mech.Staircase(sensitivity=6, epsilon=1, gamma=1),
    "γ=0": mech.Staircase(sensitivity=6, epsilon=1, gamma=0),
    "grid": mech.Staircase(sensitivity=0.01, epsilon=2, grid=2**-10),
    "error": mech.Staircase(sensitivity=3, error=20),
}


@pytest.mark.parametrize("name", CASES)
def test_every_shift(name: str) -> None:
    """P(z)/P(z − s) = e^(ε·(difference of levels)): at most one level for every shift covered, and
    one is attained.
    """
    m = CASES[name]
    assert m.promise == sf.Pure(m.epsilon)
    for shift in range(1, m.period + 1):
        assert largest_loss(m, shift) == 1
    for z in (0, 1, m.width, m.width + m.period, 2 * m.period):
        with precision(200):
            truth = m.law._mass(z) / m.law._mass(0)
            assert abs(truth - (-ball(m.epsilon * level(m, z))).exp()) < arb(2) ** -180


@pytest.mark.parametrize("name", CASES)
def test_a_longer_shift_is_caught(name: str) -> None:
    """The twin whose sensitivity is one too small: two levels can be crossed."""
    m = CASES[name]
    assert largest_loss(m, m.period + 1) == 2


def test_two_numbers_would_lose_twice() -> None:
    """L1 sensitivity 4 split as (2, 2): each coordinate crosses a step, and ε is lost twice. So
    vectors are refused before a bit is drawn.
    """
    m = mech.Staircase(sensitivity=4, epsilon=1)
    assert largest_loss(m, 2) + largest_loss(m, 2) == 2
    refused = refusal(lambda: m.perturb(np.array([1, 2]), bits=Untouchable()), "mechanism.size")
    assert "Laplace" in refused.rewrite
    assert isinstance(m.perturb(3), int)
    assert m.perturb(np.array([3]), bits=SeededBits(1)).shape == (1,)
    with pytest.raises(TypeError):
        mech.Staircase(sensitivity=4, epsilon=1, size=2)  # type: ignore[call-arg]  # on purpose


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3), Fraction(8)])
def test_no_private_noise_has_less_error(epsilon: Fraction) -> None:
    """Against Laplace on the same grid, and against the limit on the real line that no grid
    undercuts by more than half a step.
    """
    grid = Fraction(1, 2**12)
    m, laplace = (
        mech.Staircase(sensitivity=1, epsilon=epsilon, grid=grid),
        mech.Laplace(sensitivity=1, epsilon=epsilon, grid=grid),
    )
    assert m.mean_error < sum(2 * z * laplace.law.pmf(z) for z in range(1, 200)) * float(
        grid
    ) or m.mean_error < float(laplace.scale)
    gamma, least = mech.staircase_limit(epsilon)
    assert float(m.gamma) == pytest.approx(gamma, abs=1e-3)
    assert m.mean_error == pytest.approx(least, rel=2e-3)
    for gamma_tried in (Fraction(1, 50), Fraction(1, 2), Fraction(1)):
        assert (
            mech.Staircase(sensitivity=1, epsilon=epsilon, grid=grid, gamma=gamma_tried).mean_error
            >= m.mean_error
        )


def test_the_limit() -> None:
    """B-20."""
    gamma, least = mech.staircase_limit(1)
    assert gamma == pytest.approx(0.3775406687981454, abs=1e-15)
    assert least == pytest.approx(0.959517375667472, abs=1e-15)
    fine = mech.Staircase(sensitivity=1, epsilon=1, grid=2**-30)
    assert float(fine.gamma) == pytest.approx(gamma, abs=1e-8)
    assert fine.mean_error == pytest.approx(least, abs=1e-9)


@settings(max_examples=40)
@given(
    epsilon=st.fractions(Fraction(1, 50), 12, max_denominator=500), sensitivity=st.integers(1, 40)
)
def test_any_parameters(epsilon: Fraction, sensitivity: int) -> None:
    m = mech.Staircase(sensitivity=sensitivity, epsilon=epsilon)
    assert all(largest_loss(m, s) <= 1 for s in range(1, sensitivity + 1))
    assert 1 <= m.width <= m.period == sensitivity


@pytest.mark.parametrize("grid", [None, Fraction(1, 64)])
def test_a_target_error(grid: Fraction | None) -> None:
    m = mech.Staircase(sensitivity=2, error=10, grid=grid)
    assert m.error(0.95) <= 10
    assert (
        mech.Staircase(sensitivity=2, epsilon=m.epsilon * Fraction(99, 100), grid=grid).error(0.95)
        > 10
    )


def test_the_interface() -> None:
    m = mech.Staircase(sensitivity=5, epsilon=1, relation="add-remove", unit="patient")
    assert (
        repr(m)
        == "Staircase(sensitivity=5, epsilon=1, width=2, relation='add-remove', unit='patient')"
    )
    assert m.promise == sf.Pure(1, relation="add-remove", unit="patient")
    assert m.gamma == Fraction(2, 5)
    assert m.perturb(42, bits=SeededBits(7)) == 42 + m.law.draw(SeededBits(7))
    assert (mech.Staircase(sensitivity=0.1, epsilon=1, grid=2**-8).perturb(0.3) * 256).is_integer()
    refusal(lambda: mech.Staircase(sensitivity=1), "mechanism.calibration")
    refusal(lambda: mech.Staircase(sensitivity=1, epsilon=1, gamma=2), "number.not-a-probability")
