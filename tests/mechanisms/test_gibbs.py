"""Gibbs sampling: S-060b's calibration and its conditions, the linear extreme case, every
neighbouring pair of a small world.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.mechanisms.gibbs import gibbs_beta

from ..refusing import refusal
from . import choosing
from .untouchable import Untouchable


def losses(m: mech.Gibbs, x: Any) -> list[list[Fraction]]:
    """|θ − x| for each record."""
    return [[abs(p - Fraction(v)) for p in m.points] for v in x]


def hockey_stick(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def test_the_calibration() -> None:
    """S-060b."""
    beta = gibbs_beta(1, 1e-6, 1, 1)
    assert float(beta) == pytest.approx(0.09344403549295144, rel=1e-12)
    assert beta**2 * (1 + 2 * Fraction(math.log(10**6))) <= Fraction(1, 4) * (
        1 + Fraction(1, 10**15)
    )
    assert gibbs_beta(1, 1e-6, 2, 1) == beta / 2
    assert float(gibbs_beta(1, 1e-6, 1, 4)) == pytest.approx(float(2 * beta))


def test_the_linear_extreme_case() -> None:
    """Losses ±Lθ under a normal prior: two normal laws 2βL/m apart with variance 1/m, so μ-GDP with
    μ = 2βL/√m attained as the cells grow fine, and δ(1) = 2.36e-9 where 1e-6 is promised.
    """
    m = mech.Gibbs(epsilon=1, delta=1e-6, lipschitz=1, convexity=1, low=-9, high=9, cells=300)
    p, q = (m.probabilities([[sign * v for v in m.points]]) for sign in (1, -1))
    approx, gdp = m.promises
    assert isinstance(gdp, sf.GDP)
    assert float(gdp.mu) == pytest.approx(0.18688807098590288, rel=1e-12)
    for epsilon in (0.0, 0.1, 0.3, 0.5, 1.0):
        truth = hockey_stick(p, q, epsilon)
        assert truth <= gdp.delta(epsilon) * (1 + 1e-9)
        assert truth >= gdp.delta(epsilon) * 0.97
    assert gdp.delta(1) == pytest.approx(2.3601675878020276e-09, rel=1e-6)
    assert gdp.delta(1) < 1e-6 <= approx.delta(1)


@pytest.mark.parametrize("convexity", ["1/4", 1, 9])
@pytest.mark.parametrize(("epsilon", "delta"), [(1, "1/10"), ("1/2", "1/100")])
def test_every_pair_of_small_datasets(epsilon: Any, delta: str, convexity: Any) -> None:
    """|θ − x| for three records in {0, 1, 2, 4}: both promises, in doubles with an error below
    1e-12.
    """
    m = mech.Gibbs(
        epsilon=epsilon, delta=delta, lipschitz=1, convexity=convexity, low=0, high=4, cells=16
    )
    laws = {
        x: m.probabilities(losses(m, x))
        for x in itertools.combinations_with_replacement((0, 1, 2, 4), 3)
    }
    worst = 0.0
    for x in laws:
        for y in {tuple(sorted((*x[:i], v, *x[i + 1 :]))) for i in range(3) for v in (0, 1, 2, 4)}:
            for e in (0, 0.05, 0.2, 1, float(Fraction(epsilon))):
                truth = hockey_stick(laws[x], laws[y], e)
                assert truth <= m.promises[1].delta(e) + 1e-12
                worst = max(worst, truth if e == float(Fraction(epsilon)) else 0)
    assert worst <= float(Fraction(delta))


def test_four_times_beta_is_caught() -> None:
    """The twin: losses four times as steep as declared."""
    m = mech.Gibbs(epsilon="1/4", delta=1e-3, lipschitz=1, convexity=1, low=-9, high=9, cells=300)
    steep = mech.Gibbs(epsilon=1, delta=1e-3, lipschitz=1, convexity=1, low=-9, high=9, cells=300)
    p, q = (steep.probabilities([[sign * v for v in m.points]]) for sign in (1, -1))
    assert hockey_stick(p, q, 0.25) > 1e-3
    assert hockey_stick(p, q, 0.1) > m.promises[1].delta(0.1)


@pytest.mark.parametrize(("epsilon", "delta"), [(8, 0.01), (20, 1e-6)])
def test_the_formula_fails_beyond_epsilon_one(epsilon: float, delta: float) -> None:
    """In the linear extreme case the exact δ is that of μ-GDP, μ = ε/√(1 + 2·ln(1/δ)): 0.0130 at ε
    = 8 where 0.01 is claimed.
    """
    mu = epsilon / math.sqrt(1 + 2 * math.log(1 / delta))
    assert sf.GDP(mu).delta(epsilon) > delta
    refusal(lambda: gibbs_beta(epsilon, delta, 1, 1), "gibbs.epsilon")


@pytest.mark.parametrize("delta", [0.5, 0.1, 1e-3, 1e-6, 1e-12])
def test_the_formula_up_to_epsilon_one(delta: float) -> None:
    for epsilon in (0.01, 0.3, 1):
        beta = gibbs_beta(epsilon, delta, 1, 1)
        assert sf.GDP(2 * beta).delta(epsilon) <= delta


def test_bare_points_in_place_of_cells_break_the_theorem() -> None:
    """Two points 8 prior deviations apart, equally likely: the tilt between neighbours is that of
    randomized response, 0.35 where the density loses 0.07.
    """
    beta = float(gibbs_beta(1, 1e-6, 1, 1))
    p, q = (np.exp(np.array([s, -s]) * 4 * beta) for s in (1, -1))
    truth = hockey_stick(p / p.sum(), q / q.sum(), 0)
    assert truth > 4 * sf.GDP(2 * Fraction(beta)).delta(0)


def test_draws_fit_the_law() -> None:
    """False alarms: 1e-6. The twin is the prior."""
    m = mech.Gibbs(epsilon=1, delta="1/10", lipschitz=1, convexity=1, low=0, high=4, cells=8)
    table = losses(m, (0, 0, 1) * 8)
    sample = [int(m.choose(table) * 2) for _ in range(800)]
    assert choosing.fit(sample, m.probabilities(table).tolist()) > choosing.FALSE_ALARM
    assert choosing.fit(sample, m.probabilities([]).tolist()) < 1e-9


def test_the_law_against_integration() -> None:
    m = mech.Gibbs(
        epsilon=1, delta="1/10", lipschitz=1, convexity=2, low=-1, high=3, cells=8, centre="1/2"
    )
    x = (0, 1, 3)
    step = 1e-4
    theta = np.arange(-1, 3, step) + step / 2
    density = np.exp(
        -2 * (theta - 0.5) ** 2 / 2 - float(m.beta) * sum(np.abs(theta - v) for v in x)
    )
    cells = density.reshape(8, -1).sum(axis=1)
    np.testing.assert_allclose(m.probabilities(losses(m, x)), cells / cells.sum(), rtol=1e-7)


def test_many_records_underflow_nothing() -> None:
    m = mech.Gibbs(epsilon=1, delta="1/2", lipschitz=1, convexity=1, low=0, high=4, cells=20)
    table = losses(m, [1] * 2000)
    assert abs(m.choose(table) - 1) < 0.5
    assert m.probabilities(table).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"convexity": 0}, "number.not-positive"),
        ({"convexity": -1}, "number.not-positive"),
        ({"lipschitz": 0}, "number.not-positive"),
        ({"delta": 0}, "number.not-a-probability"),
        ({"epsilon": 0}, "number.not-positive"),
        ({"epsilon": 2}, "gibbs.epsilon"),
        ({"low": 9}, "range.ends"),
        ({"cells": 0}, "selection.count"),
    ],
    ids=str,
)
def test_records_that_are_refused(arguments: dict[str, Any], code: str, no_entropy: None) -> None:
    public = {
        "epsilon": 1,
        "delta": 1e-6,
        "lipschitz": 1,
        "convexity": 1,
        "low": 0,
        "high": 1,
        "cells": 2,
    }
    refusal(lambda: mech.Gibbs(**(public | arguments)), code)


@pytest.mark.parametrize(
    "row",
    [
        [0, 0.5, 0],
        [0, 1.5, 3],
        [0, 0],
        [98765, 98765.5, 98765],
        ["98765x", 0, 0],
        [float("nan"), 0, 0],
    ],
    ids=str,
)
def test_losses_that_break_the_conditions(row: list[Any]) -> None:
    m = mech.Gibbs(epsilon=1, delta=1e-6, lipschitz=1, convexity=1, low=0, high=2, cells=2)
    refused = refusal(lambda: m.choose([row], bits=Untouchable()), "gibbs.losses")
    assert "98765" not in str(refused)
