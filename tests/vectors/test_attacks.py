"""Published numbers about attacks."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.attacks.averaging import standard_deviation
from sfumato.attacks.differencing import differencing, textbook_variance
from sfumato.attacks.p_percent import p_percent, standard_p
from sfumato.attacks.reconstruct import approximate_error

from . import oracles

THEME = oracles.load("attacks")


def s141(i: dict[str, Any]) -> dict[str, float]:
    table = sf.attacks.survey()
    assert len(table["id"]) == i["n"]
    columns = {
        "age": ["age"],
        "sex_age": ["sex", "age"],
        "sex_age_start": ["sex", "age", "start"],
        "+worst": ["sex", "age", "start", "worst"],
        "+siblings": ["sex", "age", "start", "siblings", "worst"],
    }
    results = {name: sf.attacks.uniqueness(table, by) for name, by in columns.items()}
    assert [result.alone for result in results.values()] == list(i["singletons"].values())
    return {name: result.share for name, result in results.items()}


def s145(i: dict[str, Any]) -> dict[str, float]:
    result = p_percent(i["x"])
    return {
        "remainder_over_largest": result.remainder_over_largest,
        "slide_ratio": result.slide_ratio,
    }


def s143(i: dict[str, Any]) -> float:
    """A table with these sums, attacked."""
    others = np.full(100, i["without"] // 100)
    table = {
        "name": ["Steven", *(f"person {n}" for n in range(100))],
        "salary": [i["all"] - i["without"], *others.tolist()],
    }
    return differencing(table, {"name": "Steven"}, epsilons=(), trials=1).difference


def s146(i: dict[str, Any]) -> dict[str, float]:
    moves = Fraction(2 * i["M"], i["n"])
    total = (i["m"] * sf.Pure(i["eps"])).epsilon()
    return {
        "std1": standard_deviation(1, i["eps"], moves),
        "std100": standard_deviation(i["m"], i["eps"], moves),
        "eps_total": total,
    }


EVALUATE: oracles.Evaluators = {
    "E-39": lambda i: {"p": float(standard_p(100 * Fraction(str(i["p_slide"]))) / 100)},
    "S-141": s141,
    "S-145": s145,
    "S-142": lambda i: textbook_variance(i["eps"]),
    "S-143": s143,
    "S-146": s146,
    "B-24": lambda i: {"approx": approximate_error(i["n"], i["m"], i["s"])},
}


@pytest.mark.parametrize("oracle", THEME, ids=lambda oracle: oracle.id)
def test_number(oracle: oracles.Oracle) -> None:
    computed = oracles.evaluate(oracle, EVALUATE)
    assert oracles.differences(computed, oracle.expected, oracle.tolerance) == []
    assert len(oracles.differences(computed, oracles.shifted(oracle), oracle.tolerance)) == len(
        dict(oracles.leaves(oracle.expected))
    )


def test_every_evaluator_is_used() -> None:
    assert set(EVALUATE) <= {oracle.id for oracle in THEME}
