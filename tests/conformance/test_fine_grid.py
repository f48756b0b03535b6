"""The integer laws on a fine grid against the continuous ones they stand for. Every tolerance is a
theorem, stated where it is used.

With b = scale/grid and x = z/b, a step is 1/b wide; h = 1/(2b) is half a step. What the product
returns are doubles, rounded down and up: the ball between them is wider than the truth by less than
2^-50, which the comparisons allow for.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx

from sfumato import mechanisms as mech
from sfumato.noise import continuous

from .additive import BITS, by_threshold, law_of, real

STEPS = 2**16
GRID = Fraction(1, STEPS)
POINTS = [Fraction(n, 7) for n in range(0, 80, 3)]
HALF = Fraction(1, 2 * STEPS)


@pytest.fixture(autouse=True, scope="module")
def _precision() -> Iterator[None]:
    before, ctx.prec = ctx.prec, BITS
    yield
    ctx.prec = before


def laplace(grid: Fraction = GRID) -> tuple[Any, Any]:
    return mech.Laplace(sensitivity=1, scale=1, grid=grid), continuous.ContinuousLaplace(scale=1)


def normal(grid: Fraction = GRID) -> tuple[Any, Any]:
    return mech.Gaussian(sensitivity=1, sigma=1, grid=grid), continuous.Normal(sigma=1)


def enclosed(f: Any, *arguments: Any, **named: Any) -> arb:
    """A real number from its doubles below and above."""
    return arb(f(*arguments, **named, rounding="down")).union(
        arb(f(*arguments, **named, rounding="up"))
    )


def test_laplace_density() -> None:
    """b·P(z) = 2b·tanh(h)·f(x), and h − h³/3 ≤ tanh h ≤ h: so 1 − h²/3 ≤ b·P(z)/f(x) ≤ 1."""
    m, law = laplace()
    for x in POINTS:
        z = round(x * STEPS)
        ratio = STEPS * enclosed(m.law.pmf, z) / enclosed(law.pdf, Fraction(z, STEPS))
        assert not ratio > 1 + arb(2) ** -50
        assert ratio > 1 - real(HALF**2 / 3) - arb(2) ** -50


def test_laplace_tail() -> None:
    """P(Z ≥ z) is the continuous tail half a step to the left, over cosh h; and 1 − h²/2 ≤ 1/cosh h
    ≤ 1.
    """
    m, law = laplace()
    for x in POINTS[1:]:
        z = round(x * STEPS)
        ratio = enclosed(m.law.tail, z) / enclosed(law.tail, Fraction(z, STEPS) - HALF)
        assert not ratio > 1 + arb(2) ** -50
        assert ratio > 1 - real(HALF**2 / 2) - arb(2) ** -50


@pytest.mark.parametrize("shift", [1, Fraction(1, 2), 3])
@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(99, 100)])
def test_laplace_delta(shift: Fraction, share: Fraction) -> None:
    """An event {z ≤ t} has continuous excess 1 − A·cosh(x − x*), A = 1 − δ; the integer law has 1 −
    A·cosh(x − x*)/cosh h, at an x within h of x*. So δ ≤ δ of the integers ≤ δ + (1 − δ)·h²/2: the
    integers lose a trifle more, which the pure promise covers.
    """
    m, law = laplace()
    epsilon = share * shift
    exact, limit = (
        by_threshold(law_of(m), int(shift * STEPS), epsilon),
        enclosed(law.delta, epsilon, shift=shift),
    )
    assert not exact < limit - arb(2) ** -50
    assert exact < limit + (1 - limit) * real(HALF**2 / 2) + arb(2) ** -50
    assert exact <= arb(m.promise.delta(epsilon)) or shift > 1


def test_normal_density() -> None:
    """A cell's mass is the integral of the density over it; the midpoint rule errs by at most
    sup|f''|/24 steps², and |f''| ≤ f(0) = 1/√(2π).
    """
    m, law = normal()
    bound = real(Fraction(1, 24 * STEPS**2)) / (2 * arb.pi()).sqrt()
    for x in POINTS:
        z = round(x * STEPS)
        gap = STEPS * enclosed(m.law.pmf, z) - enclosed(law.pdf, Fraction(z, STEPS))
        assert abs(gap) < bound + arb(2) ** -50


def test_normal_tail() -> None:
    """P(Z ≥ z) *is* the continuous tail half a step to the left: the same double."""
    m, law = normal()
    for x in POINTS[1:]:
        z = round(x * STEPS)
        for rounding in ("down", "nearest", "up"):
            assert m.law.tail(z, rounding) == law.tail(Fraction(z, STEPS) - HALF, rounding)


@pytest.mark.parametrize("shift", [1, Fraction(1, 2), 3])
@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 10), Fraction(1), Fraction(4)])
def test_normal_delta(shift: Fraction, epsilon: Fraction) -> None:
    """Never above the continuous δ; below by at most h²/2·sup|g''| for the excess g of an event {z
    ≤ t}, |g''| ≤ (1 + e^ε)·sup|xφ(x)|, sup|xφ(x)| = φ(1).
    """
    m, law = normal()
    exact, limit = (
        by_threshold(law_of(m), int(shift * STEPS), epsilon),
        enclosed(law.delta, epsilon, shift=shift),
    )
    steepest = (1 + real(epsilon).exp()) * arb(-0.5).exp() / (2 * arb.pi()).sqrt()
    assert not exact > limit
    assert exact > limit - real(HALF**2 / 2) * steepest - limit * arb(2) ** -50


@pytest.mark.parametrize("make", [laplace, normal])
def test_the_bounds_see_a_coarser_grid(make: Any) -> None:
    """The twin: at 2^8 steps the density bounds of 2^16 steps fail."""
    m, law = make(Fraction(1, 2**8))
    gap = abs(2**8 * enclosed(m.law.pmf, 0) - enclosed(law.pdf, 0))
    assert gap > real(HALF**2 / 3) + arb(2) ** -50
