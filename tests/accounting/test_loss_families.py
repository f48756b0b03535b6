"""Masses of Gaussian and Laplace losses between edges, against Arb."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb

from sfumato.accounting.loss.loss_families import GaussianLaw, LaplaceLaw, laplace_law, response_law
from sfumato.exact.balls import ball, normal_cdf, precision


def worst(computed: np.ndarray, exact: list[arb], least: float = 1e-280) -> float:
    return max(
        float(abs(ball(Fraction(float(f))) / e - 1).mid())
        for f, e in zip(computed, exact, strict=True)
        if e > least
    )


def between(low: arb | None, high: arb | None) -> arb:
    """P(low < N < high), from the nearer tail."""
    if low is None or high is None:
        return (
            normal_cdf(high)
            if low is None and high is not None
            else normal_cdf(-low)
            if low is not None
            else arb(1)
        )
    return normal_cdf(-low) - normal_cdf(-high) if low > 0 else normal_cdf(high) - normal_cdf(low)


@pytest.mark.parametrize("mu", [1e-3, 0.1, 1.0, 4.0])
def test_gaussian_cells(mu: float) -> None:
    law = GaussianLaw(mu)
    rng = np.random.default_rng(1)
    edges = np.sort(
        np.concatenate(
            (mu * rng.normal(0, 3, 60), mu * np.linspace(-1, 1.1, 80), [-37 * mu, 37 * mu])
        )
    )
    p, q = law.cells(edges)
    with precision(300):
        x = [
            None,
            *(
                (ball(Fraction(float(e))) + ball(Fraction(mu)) ** 2 / 2) / ball(Fraction(mu))
                for e in edges
            ),
            None,
        ]
        for masses, shift in ((p, ball(Fraction(mu))), (q, arb(0))):
            exact = [
                between(None if a is None else a - shift, None if b is None else b - shift)
                for a, b in pairwise(x)
            ]
            wide = (
                np.concatenate(([1.0], np.diff(edges), [1.0])) > 1e-6 * mu
            )  # narrower cells move with the rounding of their own edges
            assert worst(masses[wide], [e for e, w in zip(exact, wide, strict=True) if w]) < 1e-9
    # in doubles that edges are exact in, the stated error holds
    quarters = np.arange(-8, 9) / 4.0
    p, q = GaussianLaw(1.0).cells(quarters - 0.5)
    with precision(300):
        ends = [None, *(ball(Fraction(float(w))) for w in quarters), None]
        exact = [between(a, b) for a, b in pairwise(ends)]
        assert worst(q, exact) < GaussianLaw(1.0).error


def geometric(epsilon: Fraction, steps: int) -> tuple[list[arb], list[arb]]:
    r = (-ball(epsilon / steps)).exp()
    return [(1 - r) / (1 + r) * r**z for z in range(1, steps)], [1 / (1 + r), r**steps / (1 + r)]


@pytest.mark.parametrize("steps", [2, 7, 64, 65, 1000])
def test_laplace_cells_hold_every_step(steps: int) -> None:
    epsilon = Fraction(3, 7)
    law = LaplaceLaw(float(epsilon), float(steps))
    edges = np.linspace(-0.5, 0.5, 23)
    p, q = law.cells(edges)
    with precision(200):
        inside, (high, low) = geometric(epsilon, steps)
        losses = [float(epsilon) * (1 - 2 * z / steps) for z in range(1, steps)]
        where = np.searchsorted(edges, losses, side="right")

        def by_cell(masses: list[arb]) -> list[arb]:
            return [
                sum((m for m, w in zip(masses, where, strict=True) if w == cell), arb(0))
                for cell in range(edges.size + 1)
            ]

        assert worst(p, by_cell(inside)) < law.error
        assert worst(q, by_cell(inside[::-1])) < law.error
        assert worst(law.atoms.p, [low, high]) < law.error


def test_laplace_without_steps_is_the_limit() -> None:
    edges = np.linspace(-0.9, 0.9, 11)
    fine, limit = LaplaceLaw(1.0, 2.0**40).cells(edges), LaplaceLaw(1.0, math.inf).cells(edges)
    assert np.allclose(fine.p, limit.p, rtol=1e-9)
    assert np.allclose(fine.q, limit.q, rtol=1e-9)
    mass = limit.p.sum() + LaplaceLaw(1.0, math.inf).atoms.p.sum()
    assert abs(mass - 1) < 1e-15


@pytest.mark.parametrize(
    "law",
    [
        laplace_law(0.7, 5.0),
        laplace_law(0.7, 64.0),
        response_law(2.0, 7),
        response_law(0.0, 3),
        response_law(1.0, 2, 0.01),
    ],
)
def test_few_losses_are_atoms(law: object) -> None:
    assert not law.spread
    assert abs(law.atoms.p.sum() + law.only_p - 1) < 1e-14
    assert np.allclose(law.atoms.p, law.atoms.q * np.exp(law.atoms.loss), rtol=1e-13)
    assert np.allclose(law.atoms.p[::-1], law.atoms.q, rtol=1e-13)
