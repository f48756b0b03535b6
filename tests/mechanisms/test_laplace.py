"""The Laplace mechanism: the interface as written, every calibration, and what it promises."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball, below, precision

from ..refusing import refusal


def exceeds(scale: Fraction, k: int) -> arb:
    """P(|Z| > k) of the two-sided geometric law, from its definition: 2·Σ_{j>k} (1 − q)/(1 +
    q)·q^j.
    """
    q = (-ball(1 / scale)).exp()
    return 2 * (-ball((k + 1) / scale)).exp() / (1 + q)


def test_the_interface_as_written() -> None:
    m = mech.Laplace(sensitivity=1, epsilon=0.5)
    assert m == mech.Laplace(sensitivity=1, scale=2)
    assert isinstance(m.perturb(42), int)
    released = m.perturb(np.arange(10))
    assert released.dtype == np.int64
    assert released.shape == (10,)
    on_grid = mech.Laplace(sensitivity=0.01, epsilon=1, grid=2**-20).perturb(0.37)
    assert isinstance(on_grid, float)
    assert (on_grid * 2**20).is_integer()
    assert m.promise == sf.Pure("1/2")
    assert m.scale == 2
    assert isinstance(m.scale, Fraction)
    assert m.error(0.95) == 6  # P(|Z| > 5) = 0.0620, P(|Z| > 6) = 0.0376
    assert m.probability(3) == pytest.approx(0.054648740365478836, rel=1e-15)


@given(
    sensitivity=st.one_of(st.integers(1, 10**6), st.fractions(1, 1000, max_denominator=1000)),
    epsilon=st.fractions(Fraction(1, 10**6), 100, max_denominator=10**6),
)
def test_epsilon_is_kept_exactly(sensitivity: Fraction | int, epsilon: Fraction) -> None:
    m = mech.Laplace(sensitivity=sensitivity, epsilon=epsilon)
    assert m.scale * epsilon == math.floor(sensitivity)  # integers move by whole numbers
    assert m.promise == sf.Pure(epsilon)
    assert m.promise.epsilon() >= epsilon
    assert mech.Laplace(sensitivity=sensitivity, scale=m.scale) == m


@pytest.mark.parametrize(
    "epsilon",
    [0.1, "0.1", Decimal("0.1"), Fraction(1, 10), "1/10", np.float32(0.1), np.float64(0.1)],
    ids=repr,
)
def test_one_tenth_is_one_tenth(epsilon: Any) -> None:
    assert mech.Laplace(sensitivity=1, epsilon=epsilon).scale == 10


@pytest.mark.parametrize(
    ("sensitivity", "grid", "size", "moves"),
    [
        (0.01, Fraction(1, 2**20), None, Fraction(10486, 2**20)),
        (0.01, Fraction(1, 2**20), 1, Fraction(10486, 2**20)),
        (0.01, Fraction(1, 2**20), 5, Fraction(10490, 2**20)),
        (0.5, Fraction(1, 2), None, Fraction(1, 2)),
        (0.5, Fraction(1), None, Fraction(1)),
        (1, Fraction(1), 1000, Fraction(1000)),
        ("0.01", Fraction(1, 1024), 1000, Fraction(1010, 1024)),
        (3, Fraction(2), None, Fraction(4)),
        (3, None, None, Fraction(3)),
        ("5/2", None, 4, Fraction(2)),  # integers move by whole numbers
    ],
)
def test_the_grid_widens_the_sensitivity(
    sensitivity: Any, grid: Fraction | None, size: int | None, moves: Fraction
) -> None:
    m = mech.Laplace(sensitivity=sensitivity, epsilon="1/3", grid=grid, size=size)
    assert m.moves == moves
    assert m.scale == 3 * moves
    assert m.promise == sf.Pure("1/3")
    assert m.law.scale == m.scale / (grid or 1)


@pytest.mark.parametrize("grid", [None, Fraction(1, 4), Fraction(1, 2**12)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, "0.999"])
@pytest.mark.parametrize("error", [1, 25, 1000, "10.9"])
def test_a_target_error_is_met_and_not_undercut(
    error: Any, confidence: Any, grid: Fraction | None
) -> None:
    m = mech.Laplace(sensitivity=1, error=error, confidence=confidence, grid=grid)
    assert m.error(confidence) <= Fraction(error)
    k = int(Fraction(error) if grid is None else Fraction(error) / grid - Fraction(1, 2))
    missing, scale = 1 - Fraction(str(confidence)), m.law.scale
    assert below(lambda: exceeds(scale, k), lambda: ball(missing))
    assert below(lambda: ball(missing), lambda: exceeds(scale * (1 + Fraction(1, 10**12)), k)), (
        "a wider law would do"
    )
    assert m.promise == sf.Pure(m.moves / m.scale)


def test_the_confidence_of_a_target_error_defaults_to_95_percent() -> None:
    assert mech.Laplace(sensitivity=1, error=25) == mech.Laplace(
        sensitivity=1, error=25, confidence="0.95"
    )


@pytest.mark.parametrize("scale", ["1/1000", "1/20", "1/2", 1, 10, 1000, 10**9, 10**15])
@pytest.mark.parametrize("confidence", [0, 0.5, 0.95, "0.999999999"])
def test_error_against_the_exact_law(scale: Any, confidence: Any) -> None:
    m = mech.Laplace(sensitivity=1, scale=scale)
    k, missing = m.error(confidence), 1 - Fraction(str(confidence))
    assert isinstance(k, int)
    with precision(400):
        assert exceeds(m.scale, k) < ball(missing)
        assert k == 0 or not exceeds(m.scale, k - 1) < ball(missing)


@pytest.mark.parametrize("scale", ["1/3", 1, 7, 1000])
def test_probability_against_the_exact_law(scale: Any) -> None:
    m = mech.Laplace(sensitivity=1, scale=scale)
    for z in (-1000, -3, -1, 0, 1, 2, 50):
        with precision(300):
            q = (-ball(1 / m.scale)).exp()
            truth = (1 - q) / (1 + q) * q ** abs(z)
            assert abs(arb(m.probability(z)) - truth) <= truth * arb(2) ** -53 + arb(2) ** -1075


def test_two_promises_neither_of_which_follows_from_the_other() -> None:
    m = mech.Laplace(sensitivity=1, epsilon=1)
    pure, zcdp = m.promises
    assert isinstance(pure, sf.Pure)
    assert isinstance(zcdp, sf.ZCDP)
    assert m.promise is not None
    assert m.promise == pure
    assert not pure <= zcdp or zcdp.rho >= pure.to(sf.ZCDP).rho
    assert not zcdp <= pure


@pytest.mark.parametrize(
    ("steps", "rho"),
    [(1, 0.46211715726000975), (2, 0.3935), (8, 0.3695), (64, 0.3679)],
)
def test_zcdp_at_epsilon_one(steps: int, rho: float) -> None:
    """The law's Kullback–Leibler divergence at ε = 1: 0.4621 when a neighbour moves the count by
    one step, towards ε + e^−ε − 1 = 0.3679 on fine grids.
    """
    zcdp = mech.Laplace(sensitivity=steps, epsilon=1).promises[1]
    assert isinstance(zcdp, sf.ZCDP)
    assert float(zcdp.rho) == pytest.approx(rho, abs=5e-5)
    assert zcdp.rho <= sf.Pure(1).to(sf.ZCDP).rho


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"epsilon": 1, "scale": 1},
        {"epsilon": 1, "error": 5},
        {"scale": 1, "error": 5},
        {"epsilon": 1, "scale": 1, "error": 5},
    ],
    ids=str,
)
def test_exactly_one_calibration(arguments: dict[str, Any], no_entropy: None) -> None:
    refused = refusal(lambda: mech.Laplace(sensitivity=1, **arguments), "mechanism.calibration")
    assert "epsilon, scale, error" in refused.reason


@pytest.mark.parametrize("name", ["delta", "sigma", "rho", "mu", "seed"])
def test_what_laplace_does_not_take(name: str) -> None:
    with pytest.raises(TypeError):
        mech.Laplace(sensitivity=1, epsilon=1, **{name: 1})


@pytest.mark.parametrize(
    ("epsilon", "code"),
    [
        (0, "number.not-positive"),
        (-0.5, "number.not-positive"),
        (float("nan"), "number.not-finite"),
        (float("inf"), "number.not-finite"),
        (5e-324, "number.subnormal"),
        (1e-320, "number.subnormal"),
        (1e308, "number.subnormal"),  # the scale would be
        (1e-300, "noise.scale"),
        (1e-17, "noise.scale"),
        ("1e400", "number.range"),
        (True, "number.type"),
        ("much", "number.text"),
    ],
    ids=repr,
)
def test_epsilon_is_refused(epsilon: Any, code: str, no_entropy: None) -> None:
    refusal(lambda: mech.Laplace(sensitivity=1, epsilon=epsilon), code)


def test_extreme_but_sound() -> None:
    assert (
        mech.Laplace(sensitivity=1, epsilon=1e307).perturb(5) == 5
    )  # wrong with probability e^(−1e307)
    assert mech.Laplace(sensitivity=2**55, epsilon=1).scale == 2**55
