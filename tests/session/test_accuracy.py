"""Accuracy first: the least cost of four digits, in every currency, and honest refusals."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.session.accuracy import _POWER, LEAST, MOST, _amount, find_least
from sfumato.session.protected_table import Table

from .test_learning import table

pytestmark = pytest.mark.usefixtures("certain")

COUNT = "SELECT COUNT(*) AS n FROM visits"
BOTH = "SELECT city, COUNT(*) AS n, SUM(spend) AS s, AVG(spend) AS m FROM visits GROUP BY city"


def visits(budget: Any = 1000, **about: Any) -> Table:
    return table(
        budget,
        **{
            "max_rows": 4,
            "bounds": {"spend": (0, 50)},
            "keys": {"city": ["Roma", "Bari"]},
            **about,
        },
    )


def lower(plan: Any) -> sf.Guarantee:
    """The promise of the next lower amount of four digits."""
    promise = plan.promise
    name = next(iter(promise.parameters))
    amount = promise.mu_squared if isinstance(promise, sf.GDP) else promise.parameters[name]
    place = next(p for p in range(LEAST * _POWER, MOST * _POWER) if _amount(p) == amount)
    less = _amount(place - 1)
    if isinstance(promise, sf.GDP):
        return sf.GDP.from_square(less)
    return (
        type(promise)(less, promise.parameters["delta"])
        if "delta" in promise.parameters
        else type(promise)(less)
    )


def test_amounts_are_all_numbers_of_four_digits_in_order() -> None:
    places = [*range(-20, 20), *range(_POWER - 3, _POWER + 3), *range(-_POWER - 3, -_POWER + 3)]
    assert [_amount(p) for p in (0, 1, _POWER - 1, _POWER, _POWER + 1, -1, -_POWER)] == [
        1,
        Fraction("1.001"),
        Fraction("9.999"),
        10,
        Fraction("10.01"),
        Fraction("0.9999"),
        Fraction("0.1"),
    ]
    assert all(_amount(a) < _amount(b) for a, b in pairwise(sorted(set(places))))


@pytest.mark.parametrize(
    "goal",
    [
        Fraction("0.00001234"),
        Fraction(1),
        Fraction("0.4794"),
        Fraction("77.77"),
        _amount(LEAST * _POWER + 1),
        _amount(MOST * _POWER),
    ],
)
def test_the_least_is_found(goal: Fraction) -> None:
    amounts: list[Fraction] = []

    def enough(amount: Fraction) -> Any:
        amounts.append(amount)
        return amount if amount >= goal else None

    assert find_least(enough, "within=1") == goal  # type: ignore[comparison-overlap]  # an amount
    assert len(amounts) < 40


@pytest.mark.parametrize(
    "budget",
    [sf.Pure(1000), sf.Approx(1000, "1e-6"), sf.ZCDP(1000), sf.ZCDP(1000, "1e-6"), sf.GDP(100)],
    ids=str,
)
@pytest.mark.parametrize(
    ("text", "within"),
    [(COUNT, 25), (COUNT, "0.5"), (BOTH, {"n": 25}), (BOTH, {"n": 1000, "s": 200})],
    ids=str,
)
def test_it_is_within_and_nothing_cheaper_is(budget: sf.Guarantee, text: str, within: Any) -> None:
    goals = within if isinstance(within, dict) else {"n": within}
    with visits(budget) as table:
        plan = table.plan(text, within=within)
        error = plan.error()
        assert all(error[name] <= float(most) for name, most in goals.items())
        cheaper = table.plan(text, promise=lower(plan)).error()
        assert any(cheaper[name] > float(most) for name, most in goals.items())
        assert type(plan.promise) is type(budget) or isinstance(plan.promise, sf.Pure | sf.Approx)


def test_a_count_costs_what_the_formula_says() -> None:
    """ln(20)·4/25, as Laplace noise of scale 4/ε is within 25 with probability 1 − e^(−25ε/4)."""
    with visits(sf.Pure(10)) as table:
        cost = table.plan(COUNT, within=25).promise.parameters["epsilon"]
        assert float(cost) == pytest.approx(math.log(20) * 4 / 25, rel=2e-4)
        assert float(
            table.plan(COUNT, within=25, confidence="0.99").promise.parameters["epsilon"]
        ) == pytest.approx(math.log(100) * 4 / 25, rel=2e-4)


def test_a_release_is_that_of_the_plan_and_stored_alike() -> None:
    with visits(sf.Pure(10)) as table:
        answer = table.sql(COUNT, within=25)
        low, high = answer.interval("n")
        assert high[0] - low[0] <= 50
        spent = table.spent
        assert table.sql(COUNT, within=25).recalled
        assert table.aggregate(n=sf.count()).release(within=25).recalled
        assert table.spent == spent


def test_all_groups_at_once_cost_more() -> None:
    with visits(sf.Pure(100)) as table:
        each, both = (
            table.plan(BOTH, within={"n": 25}, simultaneous=all_) for all_ in (False, True)
        )
        assert both.promise.parameters["epsilon"] > each.promise.parameters["epsilon"]
        answer = table.sql(BOTH, within={"n": 25}, simultaneous=True)
        low, high = answer.interval("n", simultaneous=True)
        assert (high - low).max() <= 50 + 2 * np.spacing(high.max())  # ends are rounded outward
    with visits(sf.Approx(100, "1e-6"), keys={}) as table:
        assert table.plan(BOTH, within={"n": 2500}).error()["n"] <= 2500
        with pytest.raises(sf.Refused) as refused:
            table.plan(BOTH, within={"n": 2500}, simultaneous=True)
        assert refused.value.code == "within.groups"


def test_a_mean_is_within_for_groups_of_the_assumed_size() -> None:
    with visits() as table:
        small, large = (table.plan(BOTH, within={"m": 1}, group_size=size) for size in (500, 5000))
        assert small.error()["m"] <= 1
        assert large.error()["m"] <= 1
        assert large.promise.parameters["epsilon"] < small.promise.parameters["epsilon"]
        ratio = table.plan(
            "SELECT SUM(spend) / COUNT(*) AS m FROM visits", within=1, group_size=1000
        )
        assert ratio.error()["m"] <= 1


@pytest.mark.parametrize(
    ("text", "about", "code"),
    [
        (COUNT, {"within": 25, "epsilon": 1}, "within.promise"),
        (COUNT, {"within": 25, "promise": sf.Pure(1)}, "within.promise"),
        (BOTH, {"within": 25}, "within.columns"),
        (BOTH, {"within": {}}, "within.columns"),
        (BOTH, {"within": {"x": 1}}, "within.columns"),
        (BOTH, {"within": {"m": 1}}, "within.group-size"),
        ("SELECT 2 * COUNT(*) AS n FROM visits", {"within": 1}, "within.group-size"),
        ("SELECT MEDIAN(spend) AS q FROM visits", {"within": 1}, "within.quantile"),
        (
            "SELECT MEDIAN(spend) * 2 AS q FROM visits",
            {"within": 1, "group_size": 1000},
            "within.quantile",
        ),
        (COUNT, {"within": "0.0000000000001"}, "within.reach"),
        (COUNT, {"within": 0}, "number.not-positive"),
        (COUNT, {"within": -1}, "number.not-positive"),
        (COUNT, {"within": 1, "confidence": 1}, "number.not-a-probability"),
        (COUNT, {"within": 1, "delta": 2}, "number.not-a-probability"),
    ],
    ids=str,
)
def test_what_no_cost_is_known_for_is_refused(text: str, about: dict[str, Any], code: str) -> None:
    with visits() as table:
        for ask in (table.plan, table.sql):
            with pytest.raises(sf.Refused) as refused:
                ask(text, **about)
            assert refused.value.code == code
        assert table.spent.parameters["epsilon"] == 0


def test_the_budget_is_never_exceeded() -> None:
    with visits(sf.Pure("0.4")) as table:
        with pytest.raises(sf.BudgetExceeded) as refused:
            table.sql(COUNT, within=25)
        assert "costs ε = 0.47" in refused.value.reason
        assert table.spent.parameters["epsilon"] == 0
        table.sql(COUNT, within=31)


def test_limits_are_learned_before_for_a_twentieth_of_the_budget() -> None:
    with visits(sf.Pure(600), max_rows=None) as table:
        with pytest.raises(sf.Refused) as refused:
            table.plan(COUNT, within=25)
        assert refused.value.code == "within.learning"
        answer = table.sql(COUNT, within=25)
        assert "ε = 30 more was spent to find limits:" in str(answer)
        assert table.declaration.max_rows == 4
        assert float(table.spent.parameters["epsilon"]) == pytest.approx(
            30 + math.log(20) * 4 / 25, rel=1e-3
        )
