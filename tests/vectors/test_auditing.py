"""Published numbers about audits."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato.auditing.bounds import epsilon_bound
from sfumato.auditing.clopper_pearson import lower_limit, upper_limit
from sfumato.auditing.power import ceiling

from . import oracles

THEME = oracles.load("auditing")


def b18(i: dict[str, Any]) -> dict[str, float]:
    low, high = lower_limit(i["tp"], i["n"], 0.025), upper_limit(i["fp"], i["n"], 0.025)
    return {"tpr_lo": low, "fpr_hi": high, "eps_lo": epsilon_bound(low, high, 0.0)}


def b18b(i: dict[str, Any]) -> float:
    n, alpha = i["n"], (1 - i["confidence"]) / 2
    bound = epsilon_bound(lower_limit(n, n, alpha), upper_limit(0, n, alpha), 0.0)
    assert abs(bound - ceiling(n, i["confidence"])) < 1e-7
    return bound


EVALUATE: oracles.Evaluators = {"B-18": b18, "B-18b": b18b}


@pytest.mark.parametrize("oracle", THEME, ids=lambda o: o.id)
def test_number(oracle: oracles.Oracle) -> None:
    computed = oracles.evaluate(oracle, EVALUATE)
    assert oracles.differences(computed, oracle.expected, oracle.tolerance) == []
    assert len(oracles.differences(computed, oracles.shifted(oracle), oracle.tolerance)) == len(
        dict(oracles.leaves(oracle.expected))
    )


def test_every_evaluator_is_used() -> None:
    assert {oracle.id for oracle in THEME} == set(EVALUATE)
