"""The discrete Gaussian mechanism: its promise and its own curve against the exact law, by sums;
and what would break them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball, precision
from sfumato.testing import SeededBits

from ..refusing import refusal
from .untouchable import Untouchable

BITS = 256
EPSILONS = [Fraction(e) for e in ("0", "1/100", "1/4", "1/2", "1", "3/2", "2", "3", "5", "10")]


@pytest.fixture(autouse=True, scope="module")
def _precision() -> Iterator[None]:
    before, ctx.prec = ctx.prec, BITS
    yield
    ctx.prec = before


def masses(square: Fraction, low: int, high: int) -> list[arb]:
    """P(Z = z) for low ≤ z ≤ high, from the definition; all integers within 40σ count, what lies
    beyond is below 2^-1100.
    """
    reach = 40 * (math.isqrt(math.ceil(square)) + 1)
    norm = sum(((-ball(k * k / (2 * square))).exp() for k in range(-reach, reach + 1)), arb(0))
    return [(-ball(k * k / (2 * square))).exp() / norm for k in range(low, high + 1)]


def divergence(square: Fraction, shift: tuple[int, ...], epsilon: Fraction) -> arb:
    """Σ (P(z) − e^ε·P(z − shift))₊ over vectors z."""
    atoms = [(arb(1), arb(1))]
    for s in shift:
        reach = (40 if len(shift) == 1 else 12) * (math.isqrt(math.ceil(square)) + 1) + s
        p = masses(square, -reach - s, reach)
        atoms = [(a * p[i + s], b * p[i]) for a, b in atoms for i in range(len(p) - s)]
    grow = ball(epsilon).exp()
    return sum((v for a, b in atoms if (v := a - grow * b) > 0), arb(0))


CASES: dict[str, Any] = {
    "σ=1/10": mech.DiscreteGaussian(sensitivity=1, sigma="1/10"),
    "σ=1/2": mech.DiscreteGaussian(sensitivity=1, sigma="1/2"),
    "σ=1": mech.DiscreteGaussian(sensitivity=1, sigma=1),
    "σ=2": mech.DiscreteGaussian(sensitivity=1, sigma=2),
    "σ=4": mech.DiscreteGaussian(sensitivity=1, sigma=4),
    "ρ=1/3": mech.DiscreteGaussian(sensitivity=1, rho="1/3"),
    "Δ=3": mech.DiscreteGaussian(sensitivity=3, rho=0.2, size=1),
    "grid": mech.DiscreteGaussian(sensitivity=0.01, rho=0.5, grid=2**-9),
    "error": mech.DiscreteGaussian(sensitivity=1, error=5),
}


def steps(m: Any) -> int:
    return math.isqrt(math.floor(m.moves_squared / (m.grid or 1) ** 2))


@pytest.mark.parametrize("name", CASES)
def test_no_shift_exceeds_the_promise_or_the_curve(name: str) -> None:
    m, most = CASES[name], steps(CASES[name])
    square = m.sigma_squared / (m.grid or 1) ** 2
    for e in EPSILONS:
        claimed, promised = arb(m.delta(e)), arb(m.promise.delta(e))
        for s in range(1, most + 1):
            truth = divergence(square, (s,), e)
            assert truth <= claimed
            assert truth <= promised
        assert claimed <= truth * (1 + arb(2) ** -50) + arb(2) ** -1070, (
            "attained at the largest shift"
        )


@pytest.mark.parametrize("name", CASES)
def test_noise_five_per_cent_too_small_is_caught(name: str) -> None:
    m = CASES[name]
    square = m.sigma_squared / (m.grid or 1) ** 2 * Fraction(9, 10)
    assert any(
        divergence(square, (steps(m),), e) > arb(m.delta(e))
        for e in [*EPSILONS, m.promise.rho, 2 * m.promise.rho]
    )


@pytest.mark.parametrize("name", CASES)
def test_concentration(name: str) -> None:
    """D_α ≤ ρ·α for every order; equal where (α − 1)·shift is a whole number, for then the sum is
    the normaliser itself.
    """
    m, s = CASES[name], steps(CASES[name])
    square, rho = m.sigma_squared / (m.grid or 1) ** 2, m.promise.rho
    reach = 40 * (math.isqrt(math.ceil(square)) + 1)
    for order in (Fraction(101, 100), Fraction(3, 2), Fraction(2), Fraction(5), Fraction(16)):
        wide = reach + math.ceil(order * s)
        norm = sum(((-ball(k * k / (2 * square))).exp() for k in range(-wide, wide + 1)), arb(0))
        tilted = sum(
            (
                (-ball((k + (order - 1) * s) ** 2 / (2 * square))).exp()
                for k in range(-wide, wide + 1)
            ),
            arb(0),
        )
        truth = ball(order * s * s / (2 * square)) + (tilted / norm).log() / ball(order - 1)
        assert not truth > ball(order * rho) + arb(2) ** -200
        if ((order - 1) * s).denominator == 1:
            assert abs(truth - ball(order * s * s / (2 * square))) < arb(2) ** -200
    assert s * s / (2 * square) <= rho


def test_vectors_within_the_l2_ball() -> None:
    """Two coordinates, every shift of squared length at most 8; the twin promises what one
    coordinate alone would cost.
    """
    m = mech.DiscreteGaussian(sensitivity="2.8284271247461903", sigma=2, size=2)
    assert m.moves_squared == 8
    for shift in itertools.combinations_with_replacement(range(3), 2):
        if any(shift):
            for e in (Fraction(0), Fraction(1), Fraction(3)):
                assert divergence(m.sigma_squared, shift, e) <= arb(m.promise.delta(e))
    twin = mech.DiscreteGaussian(sensitivity=2, sigma=2, size=1)
    assert divergence(m.sigma_squared, (2, 2), Fraction(1)) > arb(twin.delta(1))


def test_the_curve_is_not_that_of_a_normal_variable() -> None:
    """B-03b: at equal σ the discrete law has the larger δ, so the promise of the rounded normal
    (GDP) does not hold for it.
    """
    for sigma, discrete, normal in (
        (2, 0.007248776845952568, 0.0068295949831145755),
        (1, 0.14135133940562192, 0.12693673750664394),
    ):
        m, g = (
            mech.DiscreteGaussian(sensitivity=1, sigma=sigma),
            mech.Gaussian(sensitivity=1, sigma=sigma),
        )
        assert m.delta(1) == pytest.approx(discrete, abs=1e-14)
        assert g.promise.delta(1) == pytest.approx(normal, abs=1e-14)
        assert divergence(m.sigma_squared, (1,), Fraction(1)) > arb(g.promise.delta(1)), (
            "the twin that promises GDP is caught"
        )
        assert m.variance < g.variance


def test_how_much_the_own_curve_gains() -> None:
    """The δ of the law against what follows from ρ alone, at ε = 1: 0.57, 0.40 and 0.25 of it."""
    for sigma, share in ((1, 0.5726), (2, 0.4030), (4, 0.2494)):
        m = mech.DiscreteGaussian(sensitivity=1, sigma=sigma)
        assert m.delta(1) / m.promise.delta(1) == pytest.approx(share, abs=1e-4)


def test_many_numbers_have_no_curve_of_their_own() -> None:
    refusal(lambda: mech.DiscreteGaussian(sensitivity=2, sigma=2).delta(1), "mechanism.size")
    refusal(
        lambda: mech.DiscreteGaussian(sensitivity=1, sigma=2, grid=1, size=3).delta(1),
        "mechanism.size",
    )
    assert mech.DiscreteGaussian(sensitivity=2, sigma=2, size=1).delta(1) > 0
    assert mech.DiscreteGaussian(sensitivity=1, sigma=2).delta(1) > 0, (
        "integers within L2 distance 1 differ in one coordinate"
    )


@settings(max_examples=40)
@given(
    rho=st.fractions(Fraction(1, 100), 20, max_denominator=1000),
    sensitivity=st.integers(1, 6),
    epsilon=st.fractions(0, 6, max_denominator=60),
)
def test_any_parameters(rho: Fraction, sensitivity: int, epsilon: Fraction) -> None:
    m = mech.DiscreteGaussian(sensitivity=sensitivity, rho=rho, size=1)
    assert m.promise == sf.ZCDP(rho)
    assert m.sigma_squared == sensitivity**2 / (2 * rho)
    with precision(BITS):
        truth = divergence(m.sigma_squared, (sensitivity,), epsilon)
        assert not truth > arb(m.delta(epsilon))
    assert m.delta(epsilon) <= m.promise.delta(epsilon)


@pytest.mark.parametrize("grid", [None, Fraction(1, 16)])
@pytest.mark.parametrize("error", [3, 25])
def test_a_target_error(error: int, grid: Fraction | None) -> None:
    m = mech.DiscreteGaussian(sensitivity=1, error=error, grid=grid)
    assert m.error(0.95) <= error
    wider = mech.DiscreteGaussian(
        sensitivity=1, rho=m.promise.rho * (1 - Fraction(1, 10**9)), grid=grid
    )
    assert wider.error(0.95) > error


def test_the_interface() -> None:
    m = mech.DiscreteGaussian(sensitivity=1, rho="1/8", relation="replace", unit="patient")
    assert m == mech.DiscreteGaussian(sensitivity=1, sigma=2, relation="replace", unit="patient")
    assert m.promise == sf.ZCDP("1/8", relation="replace", unit="patient")
    assert (
        repr(m)
        == "DiscreteGaussian(sensitivity=1, sigma_squared=4, relation='replace', unit='patient')"
    )
    assert isinstance(m.perturb(42), int)
    assert (
        m.perturb(np.arange(10), bits=SeededBits(1)).tolist()
        == (np.arange(10) + m.law.sample(10, SeededBits(1))).tolist()
    )
    assert m.error(0.95) == 4
    assert m.probability(0) == pytest.approx(0.19947114020071632, abs=1e-15)
    on_grid = mech.DiscreteGaussian(sensitivity=0.01, rho=1, grid=2**-20).perturb(0.37)
    assert (on_grid * 2**20).is_integer()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "mechanism.calibration"),
        ({"rho": 1, "sigma": 1}, "mechanism.calibration"),
        ({"rho": 0}, "number.not-positive"),
        ({"sigma": 2**57}, "noise.scale"),
    ],
    ids=str,
)
def test_refused(arguments: dict[str, Any], code: str, no_entropy: None) -> None:
    refusal(lambda: mech.DiscreteGaussian(sensitivity=1, **arguments), code)


def test_floats_need_a_grid() -> None:
    refusal(
        lambda: mech.DiscreteGaussian(sensitivity=1, rho=1).perturb(0.5, bits=Untouchable()),
        "mechanism.grid",
    )
