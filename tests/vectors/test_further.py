"""Published numbers about the discrete Gaussian, prefix sums, key selection, the staircase and
above threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from sfumato import mechanisms as mech
from sfumato.mechanisms.shared.prefix_strategies import tree
from sfumato.noise.discrete_gaussian_noise import DiscreteGaussianLaw

from . import oracles

THEME = oracles.load("further")


def b03(i: dict[str, Any]) -> dict[str, float]:
    laws = {float(square): DiscreteGaussianLaw(sigma_squared=square) for square in i["sigma2"]}
    assert all(law.variance <= square for square, law in laws.items())
    return {
        f"{name}(sigma2={s})": value
        for s, law in laws.items()
        for name, value in (("var", law.variance), ("pmf0", law.pmf(0)))
    }


def b03b(i: dict[str, Any]) -> dict[str, float]:
    mechanisms = {
        s: (
            mech.DiscreteGaussian(sensitivity=i["shift"], sigma=math.isqrt(s)),
            mech.Gaussian(sensitivity=i["shift"], sigma=math.isqrt(s)),
        )
        for s in i["sigma2"]
    }
    deltas = {f"disc_s2={s}": discrete.delta(i["eps"]) for s, (discrete, _) in mechanisms.items()}
    return deltas | {
        f"cont_s2={s}": normal.promise.delta(i["eps"]) for s, (_, normal) in mechanisms.items()
    }


def b15(i: dict[str, Any]) -> dict[str, float]:
    binary = tree(i["n"], 2)
    return {
        "sqrt_factor": mech.square_root_factor(i["n"]),
        "tree_nodes_per_query_max": binary.nodes,
        "tree_levels": binary.levels,
    }


def b16(i: dict[str, Any]) -> dict[str, float]:
    rule = mech.LaplaceThreshold(epsilon=i["eps"], delta=i["delta"])
    return {"tau_real": 1 + math.log(1 / (2 * i["delta"])) / i["eps"], "T_integer": rule.threshold}


def b20(i: dict[str, Any]) -> dict[str, float]:
    gamma, error = mech.staircase_limit(i["eps"])
    fine = mech.Staircase(sensitivity=i["sensitivity"], epsilon=i["eps"], grid=2**-40)
    assert (float(fine.gamma), fine.mean_error) == pytest.approx((gamma, error), abs=1e-11)
    return {"gamma": gamma, "E|X|": error}


EVALUATE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "B-03": b03,
    "B-03b": b03b,
    "B-15": b15,
    "B-16": b16,
    "B-16b": lambda i: [
        mech.OptimalSelection(epsilon=i["eps"], delta=i["delta"]).keep_probability(n)
        for n in i["n"]
    ],
    "B-20": b20,
    "discrete_gaussian_pmf": lambda i: DiscreteGaussianLaw(sigma_squared=i["sigma2"]).pmf(i["z"]),
    "partition_keep_probability": lambda i: mech.OptimalSelection(
        epsilon=i["eps"], delta=i["delta"]
    ).keep_probability(i["n"]),
    "B-21": lambda i: mech.textbook_accuracy(epsilon=i["eps"], queries=i["k"], beta=i["beta"]),
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
