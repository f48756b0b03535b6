"""What a stream refuses before anything is read, and what makes two streams the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import sfumato as sf
from sfumato.session.protected_table import Table
from sfumato.streams import Stream

from ..refusing import refusal

COUNT = "SELECT COUNT(*) AS n FROM visits"
USERS = "SELECT COUNT(DISTINCT user_id) AS n FROM visits"


@pytest.fixture(scope="module")
def visits() -> Iterator[Table]:
    with sf.protect(
        sf.samples.visits(),
        name="visits",
        unit="user_id",
        bounds={"spend": (0, 100)},
        budget=sf.Approx(10, 1e-5),
    ) as table:
        yield table


@pytest.fixture(scope="module")
def rows() -> Iterator[Table]:
    with sf.protect(
        sf.samples.visits(),
        name="visits",
        each_row_a_person=True,
        bounds={"spend": (0, 100)},
        budget=sf.Approx(10, 1e-5),
    ) as table:
        yield table


def open_week(table: Any, query: Any = COUNT, **options: Any) -> Stream:
    chosen = {"time": "day", "start": "2026-01-01", "epsilon": 1} | options
    return sf.stream(table, query, **chosen)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"query": "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"}, "stream.keys"),
        ({"query": "SELECT MEDIAN(spend) AS m FROM visits"}, "stream.aggregate"),
        ({"query": "SELECT COUNT(*) / 2 AS n FROM visits"}, "stream.select"),
        ({"query": "SELECT vip, COUNT(*) AS n FROM visits GROUP BY vip LIMIT 1"}, "stream.select"),
        (
            {"query": "SELECT vip, COUNT(*) AS n FROM visits GROUP BY vip ORDER BY n"},
            "stream.select",
        ),
        (
            {"query": "SELECT vip, COUNT(*) AS n FROM visits GROUP BY vip HAVING n > 3"},
            "stream.select",
        ),
        (
            {"query": "SELECT vip, COUNT(*) AS n FROM visits GROUP BY ROLLUP (vip)"},
            "stream.select",
        ),
        ({"query": "SELECT AVG(day) AS d FROM visits"}, "aggregate.type"),
        ({"time": "spend"}, "stream.time"),
        ({"time": "days"}, "expression.column"),
        ({"every": "fortnight"}, "stream.every"),
        ({"every": "hour"}, "stream.every"),
        ({"start": "spring"}, "stream.date"),
        ({"wait": -1}, "stream.wait"),
        ({"promise": sf.Pure(1), "epsilon": None}, "stream.promise"),
        ({"epsilon": None}, "plan.promise"),
        ({"window": 0}, "stream.periods"),
        ({"window": 2, "length": 2}, "stream.shape"),
        ({"any_periods": 3}, "stream.protects"),
        ({"unit_rows": 3}, "stream.protects"),
        ({"budget": sf.Approx(1, 1e-6)}, "stream.budget"),
    ],
    ids=str,
)
def test_refused_for_rows(rows: Table, options: dict[str, Any], code: str) -> None:
    refusal(lambda: open_week(rows, **options), code)
    assert rows.spent.parameters["epsilon"] == 0


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, "stream.protects"),
        ({"first_periods": 2}, "stream.append-only"),
        ({"first_periods": 2, "any_periods": 2}, "stream.protects"),
        ({"any_periods": 2}, "stream.unit-rows"),
        ({"any_periods": 2, "unit_rows": 0}, "stream.unit-rows"),
        ({"any_periods": 0, "unit_rows": 1}, "stream.periods"),
        ({"query": USERS, "any_periods": 2, "unit_rows": 1}, "stream.distinct"),
        (
            {"query": USERS, "first_periods": 2, "append_only": True, "unit_rows": 1},
            "stream.distinct",
        ),
        (
            {
                "query": "SELECT COUNT(*) AS n FROM (SELECT user_id, MAX(day) AS day FROM visits "
                "GROUP BY user_id) AS u",
                "any_periods": 2,
                "unit_rows": 1,
            },
            "stream.rows",
        ),
    ],
    ids=str,
)
def test_refused_for_units(visits: Table, options: dict[str, Any], code: str) -> None:
    refusal(lambda: open_week(visits, **options), code)


def test_refused_for_what_is_no_table() -> None:
    refusal(lambda: open_week("visits"), "stream.table")
    with pytest.raises(TypeError):
        open_week("visits", horizon=3)


def test_the_plan_is_public_and_free(visits: Table) -> None:
    stream = open_week(
        visits,
        "SELECT vip, COUNT(*) AS n, AVG(spend) AS mean FROM visits GROUP BY vip",
        first_periods=7,
        append_only=True,
        unit_rows=2,
    )
    plan = stream.plan()
    assert plan.cost == stream.cost
    assert plan.error(365)["n"] > plan.error(1)["n"] > 0
    assert plan.error(365, periods=1)["n"] < plan.error(365)["n"]
    text = repr(plan)
    assert "it counts in its first 7 days; at most 2 rows of a user_id count in a day" in text
    assert "paid once, by the budget of visits" in text
    assert "mean: divide by the number of rows" in text
    assert "nothing is published; the first day is 2026-01-01" in repr(stream)
    assert visits.spent.parameters["epsilon"] == 0
    week = open_week(visits, any_periods=1, unit_rows=2, window=1, every="week")
    assert "protects what a user_id does in any single week" in repr(week)
    assert "last week" in repr(week.plan())
    assert "over 4 consecutive weeks that promise is ε = 2." in repr(week.plan())
    fluent = open_week(visits, visits.where("spend > 3").count(), any_periods=2, unit_rows=1)
    assert fluent.plan().error(1).keys() == {"n"}


def test_a_plan_says_how_long_many_groups_last(rows: Table) -> None:
    many = rows.group_by(age=list(range(20_000))).count()
    assert "groups can be published for 500 days, and no longer" in repr(
        open_week(rows, many).plan()
    )
    fewer = rows.group_by(age=list(range(1_000))).count()
    assert "for 14,096 days, and no longer" in repr(open_week(rows, fewer).plan())
    for shape in ({"length": 500}, {"window": 7}):
        assert "no longer" not in repr(open_week(rows, many, **shape).plan())


def test_a_budget_may_be_a_number(visits: Table) -> None:
    stream = open_week(visits, any_periods=5, unit_rows=1, budget=3)
    refusal(lambda: stream.ledger.budget, "ledger.account")  # `advance` opens it
    refusal(lambda: stream.ledger.header, "ledger.account")
    stream.advance(until="2026-01-02")
    assert stream.ledger.budget.numbers_text == sf.Approx(3, 1e-6).numbers_text
    refusal(lambda: open_week(visits, any_periods=6, unit_rows=1, budget="much"), "number.text")


def test_the_same_words_are_the_same_stream(rows: Table) -> None:
    first, second = open_week(rows), open_week(rows)
    assert first._identity == second._identity
    for options in (
        {"epsilon": 2},
        {"start": "2026-01-02"},
        {"every": "week"},
        {"window": 3},
        {"length": 3},
        {"query": "SELECT COUNT(spend) AS n FROM visits"},
    ):
        changed = open_week(rows, **options)
        assert changed._identity != first._identity
        assert changed._charge.key != first._charge.key
