"""Published tail theorems; where the source is wrong, its number fails."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from sfumato import mechanisms as mech
from sfumato.mechanisms.shared import error_formulas
from sfumato.noise.choice import Choice
from sfumato.noise.continuous import ContinuousLaplace

from . import oracles

THEME = oracles.load("accuracy")


def s092(i: dict[str, Any]) -> dict[str, float]:
    scale = mech.Laplace(sensitivity=i["Delta1"], epsilon=i["eps"]).scale
    radius = error_formulas.laplace_radius(scale=scale, beta=i["delta"], values=i["k"])
    return {
        "radius": radius,
        "exact_tail": 1 - (1 - 2 * ContinuousLaplace(scale=scale).tail(radius)) ** i["k"],
    }


def s095(i: dict[str, Any]) -> dict[str, float]:
    scores = i["u"]
    law = Choice(scores, rate=Fraction(1, 2))
    arguments = {"candidates": len(scores), "epsilon": 1, "sensitivity": 1}
    return {
        "bound": error_formulas.exponential_tail(**arguments, regret=3),
        "exact": sum(law.pmf(j) for j, u in enumerate(scores) if u < max(scores) - 3),
        "radius": error_formulas.exponential_radius(**arguments, beta="1/20"),
    }


def s096(i: dict[str, Any]) -> dict[str, float]:
    variance = error_formulas.laplace_mean_variance(count=i["n"], epsilon=i["eps"])
    return {
        "var": variance,
        "chebyshev_radius": error_formulas.chebyshev_radius(variance=variance, times=3),
        "exact_P(|err|<=3/(n eps))": 1 - error_formulas.laplace_tail(3),
        "seed_bound": 1 - Fraction(1, 9),
    }


EVALUATE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "S-091": lambda i: error_formulas.laplace_tail(i["t"]),
    "S-092": s092,
    "S-095": s095,
    "S-096": s096,
    "E-12": lambda i: {
        "true": error_formulas.laplace_mean_variance(count=i["n"], epsilon=i["eps"]),
        "printed": 1 / (i["n"] * Fraction(str(i["eps"]))) ** 2,
        "max_k k^2 e^-k": 4 * error_formulas.laplace_tail(2),
    },
    "E-16": lambda i: {
        "correct": error_formulas.laplace_radius(
            scale=1 / (i["n"] * Fraction(i["eps"])), beta=i["beta"]
        ),
        "printed": 0.0000299,
    },
}


@pytest.mark.parametrize("oracle", THEME, ids=lambda oracle: oracle.id)
def test_number(oracle: oracles.Oracle) -> None:
    computed = oracles.evaluate(oracle, EVALUATE)
    assert oracles.differences(computed, oracle.expected, oracle.tolerance) == []
    assert len(oracles.differences(computed, oracles.shifted(oracle), oracle.tolerance)) == len(
        dict(oracles.leaves(oracle.expected))
    )


def test_every_evaluator_is_used() -> None:
    assert set(EVALUATE) <= {oracle.id for oracle in THEME} | {oracle.name for oracle in THEME}


def test_S_090_accuracy_in_both_directions() -> None:
    """ε from (α, β) and back, for each mechanism that adds noise or asks people."""
    for m in (mech.Laplace(sensitivity=1, error=20), mech.Gaussian(sensitivity=1, error=20)):
        assert m.error(0.95) == 20
    h = mech.Histogram(edges=range(11), error=20, relation="replace")
    assert h.error(0.95, simultaneous=True) == 20
    r = mech.RandomizedResponse(error="0.02", reports=10**5)
    assert r.error(0.95, reports=10**5) == pytest.approx(0.02, rel=1e-9)


def test_E_16_the_printed_radius_is_ten_times_too_large() -> None:
    right = error_formulas.laplace_radius(scale="1e-6", beta="1/20")
    assert 0.0000299 / right == pytest.approx(10, rel=2e-3)
    assert right == pytest.approx(math.log(20) * 1e-6, rel=1e-12)


def test_E_12_the_variance_is_twice_the_printed_one() -> None:
    assert (
        ContinuousLaplace(rate=50).variance
        == error_formulas.laplace_mean_variance(count=100, epsilon="1/2")
        != Fraction(1, 2500)
    )
