"""CUBE, ROLLUP and GROUPING SETS: the groupings that a text asks for, and what SQL users see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.session import Table

from .asking import lines, parse, refused


@pytest.fixture(scope="module")
def visits() -> Iterator[Table]:
    with sf.protect(
        sf.samples.visits(),
        name="visits",
        unit="user_id",
        max_rows=3,
        bounds={"spend": (0, 50), "age": (0, 120)},
        keys={"city": ["Roma", "Bari", "Milano"]},
        budget=sf.ZCDP(1000),
    ) as table:
        yield table


@pytest.mark.parametrize(
    ("clause", "sets"),
    [
        ("CUBE (city, vip)", "(city, vip), (city), (vip), ()"),
        ("ROLLUP (vip, city)", "(city, vip), (vip), ()"),
        ("vip, city WITH ROLLUP", "(city, vip), (vip), ()"),
        ("city, vip WITH CUBE", "(city, vip), (city), (vip), ()"),
        ("GROUPING SETS ((city, vip), city, ())", "(city, vip), (city), ()"),
        ("GROUPING SETS (ROLLUP (city), CUBE (vip))", "(city), (), (vip)"),
        ("city, CUBE (vip)", "(city, vip), (city)"),
        ("CUBE ((city, vip))", "(city, vip), ()"),
        ("CUBE (1, 2)", "(city, vip), (city), (vip), ()"),
        ("GROUPING SETS ((city, vip))", None),
    ],
)
def test_groupings(visits: Table, clause: str, sets: str | None) -> None:
    text = f"SELECT city, vip, COUNT(*) AS n FROM visits GROUP BY {clause}"
    query = lines(visits, text)
    assert query[0].startswith("group by city in ['Bari', 'Milano', 'Roma'], vip in ")
    assert query[1:] == [*([] if sets is None else [f"as {sets}"]), "n = count()"]


def test_the_same_query_as_fluent(visits: Table) -> None:
    text = "SELECT city, vip, COUNT(*) AS n FROM visits GROUP BY ROLLUP (city, vip)"
    fluent = visits.group_by(sf.rollup("city", "vip")).count()
    assert parse(visits, text).query.text == fluent.text


def ask(visits: Table, text: str) -> Any:
    return visits.sql(text, promise=sf.ZCDP("1/2"))


def test_the_answer_is_what_sql_users_expect(visits: Table) -> None:
    answer = ask(
        visits,
        "SELECT city, vip, GROUPING(city) AS g, GROUPING(city, vip) AS both, COUNT(*) AS n, "
        "SUM(spend) / COUNT(*) AS each FROM visits GROUP BY CUBE (city, vip)",
    )
    assert answer.keys == ("city", "vip", "g", "both")
    assert len(answer) == 9 + 3 + 3 + 1
    assert answer.rows[-1] == (None, None, 1, 3)
    assert answer.rows.count((None, None, 1, 2)) == 1  # vip is null in the data, city is rolled up
    assert answer.rows.count(("Roma", None, 0, 1)) == 1
    n, both = answer["n"], np.array([row[3] for row in answer.rows])
    assert {int(n[both == mark].sum()) for mark in range(4)} == {int(n[-1])}
    assert "(all)" in str(answer)
    low, high = answer.interval("each")
    assert 12 < low[-1] < answer["each"][-1] < high[-1] < 15


def test_having_order_and_limit_look_at_all_rows(visits: Table) -> None:
    answer = ask(
        visits,
        "SELECT city, vip, COUNT(*) AS n FROM visits GROUP BY ROLLUP (city, vip) "
        "HAVING GROUPING(vip) = 1 OR COUNT(*) > 1000 ORDER BY n DESC LIMIT 4",
    )
    assert answer.rows[:2] == ((None, None), ("Roma", None))
    assert (np.diff(answer["n"]) <= 0).all()
    low, high = answer.interval("n")
    plain = ask(visits, "SELECT city, vip, COUNT(*) AS n FROM visits GROUP BY ROLLUP (city, vip)")
    lows, highs = plain.interval("n")
    assert (high - low).min() > (highs - lows).min()  # all rows at once, as noise chose them
    total = ask(
        visits,
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY ROLLUP (city) ORDER BY city NULLS FIRST",
    )
    assert [row[0] for row in total.rows] == [None, "Bari", "Milano", "Roma"]
    assert int(total["n"][0]) == int(total["n"][1:].sum())


def test_a_stored_answer_is_free_and_equal(visits: Table) -> None:
    text = "SELECT city, COUNT(*) AS n FROM visits GROUP BY CUBE (city)"
    first, spent = ask(visits, text), visits.spent
    again = ask(visits, text)
    assert visits.spent == spent
    assert again.recalled
    assert (again["n"] == first["n"]).all()
    assert again.table("city").recalled


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT vip, GROUPING(age) AS g, COUNT(*) FROM visits GROUP BY CUBE (vip)", "sql.group"),
        ("SELECT vip, GROUPING(vip) AS g, COUNT(*) FROM visits GROUP BY vip", "sql.group"),
        (
            "SELECT vip, RANK() OVER (ORDER BY COUNT(*)) r, COUNT(*) FROM visits GROUP BY CUBE(1)",
            "sql.group",
        ),
        (
            "SELECT SUM(n) AS t FROM (SELECT vip, COUNT(*) AS n FROM visits GROUP BY CUBE (vip)) s",
            "sql.group",
        ),
        ("SELECT COUNT(*) FROM visits GROUP BY CUBE (user_id)", "sql.unit"),
        ("SELECT city, COUNT(*) FROM visits GROUP BY city WITH TOTALS", "sql.group"),
    ],
)
def test_refused(visits: Table, text: str, code: str) -> None:
    assert refused(visits, text).code == code


@pytest.mark.parametrize(
    "columns",
    [
        "COUNT(DISTINCT user_id) AS n",
        "MEDIAN(spend) AS m, COUNT(*) AS n",
        "CUMULATIVE(spend, [0, 20, 50]) AS c",
    ],
)
def test_what_does_not_add_up_gets_a_question_that_runs(visits: Table, columns: str) -> None:
    text = f"SELECT city, vip, {columns} FROM visits GROUP BY CUBE (city, vip)"
    refusal = refused(visits, text)
    assert refusal.code == "plan.groupings"
    assert refusal.rewrite == f"SELECT city, vip, {columns} FROM visits GROUP BY city, vip"
    assert len(ask(visits, refusal.rewrite)) == 9
