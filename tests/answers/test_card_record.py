"""What follows from an answer's records for its card."""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import pytest

import sfumato as sf
from sfumato.answers import Answer, Column
from sfumato.answers.cards.card_record import (
    FACTS,
    cost_details,
    privacy_parameters,
    release_facts,
    utility_text,
    version_of,
)

from .examples import ABOUT, counted, laplace, noisy, visits


@pytest.mark.parametrize(
    ("cost", "expected"),
    [
        (sf.Pure("0.3"), {"epsilon": 0.3}),
        (sf.Approx(1, "1e-6"), {"epsilon": 1.0, "delta": 1e-6}),
        (sf.ZCDP("0.015"), {"rho": 0.015}),
        (sf.ZCDP("0.015", "1e-9"), {"rho": 0.015, "delta": 1e-9}),
    ],
    ids=str,
)
def test_numbers_as_written(cost: Any, expected: dict[str, float]) -> None:
    assert privacy_parameters(cost) == expected


@pytest.mark.parametrize(
    "cost",
    [
        sf.GDP("0.3"),
        sf.Renyi({2: 1, 8: 2}),
        sf.Renyi({8: 2}, "1e-3"),
        sf.Pure("1/3"),
        sf.ZCDP("1/7"),
        sf.Approx(1, "1e-3") + sf.GDP(1),
    ],
    ids=str,
)
def test_what_is_rounded_is_rounded_up(cost: Any) -> None:
    result = privacy_parameters(cost)
    if "rho" in result:
        assert F(repr(result["rho"])) >= cost.rho
    else:
        assert cost.delta(F(repr(result["epsilon"]))) <= result.get("delta", 0) * (
            1 + 2**-50
        )  # δ(ε) is a double, rounded up


def test_only_named_facts_are_copied() -> None:
    answer = counted(
        [1], facts={"dataset": "visits", "engine": "DuckDB", "path": "x", "owner": "y"}
    )
    result = release_facts(answer, "user_id", "add-remove", "0.1.0")
    assert {"dataset", "engine"} <= set(result)
    assert not {"path", "owner"} & set(result)
    assert {"path", "owner"}.isdisjoint(FACTS)


def test_errors_of_what_has_the_same_in_every_cell() -> None:
    assert utility_text(counted([1], mechanism=laplace(20))) == "n: ± 60 at 95 %, each cell"
    assert "p50: released with an interval at 0.9" in utility_text(visits())
    assert "mean: the interval depends on the released values" in utility_text(visits())
    numbers = {"low": F(0), "high": F(1), "confidence": F(1, 2)}
    alone = Answer(
        pieces=(noisy("q", [[1]]),),
        columns=(Column("q", "quantile", (0,), "", numbers),),
        cost=sf.Pure(1),
    )
    assert utility_text(alone) == "q: no interval"


def test_cumulative_counts_have_another_error_at_each_edge() -> None:
    pieces = (noisy("up", [[1, 2, 3]]),)
    column = Column("up", "cumulative", (0,), "", {}, edges=(F(0), F(1), F(2), F(3)))
    answer = Answer(pieces=pieces, columns=(column,), cost=sf.Pure(1))
    low, high = answer.interval("up")
    assert len(set((high - low).ravel().tolist())) == 3
    assert utility_text(answer) == "up: the interval differs from edge to edge"


def test_details() -> None:
    assert cost_details(counted([1])) == "This release cost ε = 0.3."
    output = cost_details(
        visits(
            cost=sf.ZCDP("0.01", **ABOUT), budget=sf.ZCDP("0.1", **ABOUT), left=None, promise=None
        )
    )
    assert "ρ = 0.01 of 0.1" in output
    assert "stay within the budget" in output
    assert "ε = 2.142 at δ = 1e-6" in output


def test_the_version_is_that_of_the_release() -> None:
    assert version_of(visits(facts={"versions": {"sfumato": "0.0.7"}})) == "0.0.7"
    assert version_of(counted([1])) == sf.__version__
