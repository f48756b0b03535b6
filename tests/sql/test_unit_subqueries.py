"""Sub-queries whose rows belong to units, and those whose rows belong to nobody."""

from __future__ import annotations

import pytest

from sfumato.session import Table

from .asking import lines, parse, refused
from .people import protected, unasked

COUNT = "SELECT COUNT(*) AS n FROM ({}) AS s"


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("SELECT user_id FROM visits GROUP BY user_id", ["per user_id"]),
        ("SELECT user_id, COUNT(*) AS m FROM visits GROUP BY 1", ["per user_id: m = count()"]),
        ("SELECT COUNT(*) AS m FROM visits GROUP BY user_id", ["per user_id: m = count()"]),
        (
            "SELECT user_id AS u, city, SUM(age) AS a FROM visits WHERE vip GROUP BY ALL",
            ["where vip", "per user_id, city = city: a = sum(age)"],
        ),
        (
            "SELECT user_id, UPPER(city) AS c FROM visits GROUP BY user_id, c",
            ["per user_id, c = upper(city)"],
        ),
        (
            "SELECT user_id, COUNT(*) + SUM(age) AS x FROM visits GROUP BY user_id",
            ["per user_id: total_1 = count(), total_2 = sum(age)"],
        ),
        (
            "SELECT user_id FROM visits GROUP BY user_id HAVING COUNT(*) > 2 AND MAX(age) < 50",
            [
                "per user_id: total_1 = count(), total_2 = max(age)",
                "where (total_1 > 2) AND (total_2 < 50)",
            ],
        ),
        (
            "SELECT user_id, COUNT(*) AS user_id_2, COUNT(*) AS c FROM visits GROUP BY user_id",
            ["per user_id: user_id_2 = count()"],
        ),
        ("SELECT DISTINCT user_id, city FROM visits", ["per user_id, city = city"]),
        (
            "SELECT DISTINCT user_id AS u, city || note AS x FROM visits",
            ["per user_id, x = city || note"],
        ),
        (
            "SELECT DISTINCT * FROM (SELECT user_id, vip FROM visits) AS t",
            ["per user_id, vip = vip"],
        ),
        (
            (
                "SELECT user_id, MAX(m) AS k FROM (SELECT user_id, city, COUNT(*) AS m FROM "
                "visits GROUP BY user_id, city) AS t GROUP BY user_id"
            ),
            ["per user_id, city = city: m = count()", "per user_id: k = max(m)"],
        ),
    ],
)
def test_rows_of_units(table: Table, text: str, steps: list[str]) -> None:
    assert lines(table, COUNT.format(text)) == [*steps, "n = count()"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT city FROM visits GROUP BY city", "sql.aggregate"),
        ("SELECT user_id + 1 AS u FROM visits GROUP BY u", "sql.aggregate"),
        ("SELECT age FROM visits HAVING COUNT(*) > 1", "sql.ownership"),
        ("SELECT DISTINCT city FROM visits", "sql.ownership"),
        ("SELECT DISTINCT user_id + 0 AS user_id FROM visits", "sql.ownership"),
        ("SELECT DISTINCT user_id FROM visits GROUP BY user_id", "sql.distinct"),
        ("SELECT DISTINCT ON (user_id) user_id FROM visits", "sql.unsupported"),
        ("SELECT user_id, age FROM visits GROUP BY user_id", "sql.group"),
        ("SELECT user_id, COUNT(*) AS a, SUM(age) AS a FROM visits GROUP BY user_id", "sql.names"),
        ("SELECT user_id FROM visits GROUP BY user_id HAVING age > 1", "sql.group"),
        ("SELECT user_id FROM visits GROUP BY user_id HAVING COUNT(*)", "stage.where"),
        ("SELECT user_id, UPPER(COUNT(*)) AS x FROM visits GROUP BY user_id", "expression.type"),
    ],
)
def test_refused(table: Table, text: str, code: str) -> None:
    assert refused(table, COUNT.format(text)).code == code


def test_one_row_of_each_unit_needs_no_limit() -> None:
    """Without a key a unit has one row, so that it counts for one, and no limit need be
    declared.
    """
    with unasked(protected(max_rows=None)) as free, unasked(protected(max_rows=4)) as table:
        text = COUNT.format("SELECT user_id, COUNT(*) AS m FROM visits GROUP BY user_id")
        assert (
            free.plan(text, epsilon=1).error()["n"]
            < table.plan("SELECT COUNT(*) AS n FROM visits", epsilon=1).error()["n"] / 3
        )
        assert (
            refused_plan(free, COUNT.format("SELECT user_id, city FROM visits GROUP BY ALL"))
            == "table.max-rows"
        )
        assert parse(free, text).query.rows.once


def refused_plan(table: Table, text: str) -> str:
    from sfumato.errors import Refused

    with pytest.raises(Refused) as caught:
        table.plan(text, epsilon=1, learn=False)
    return caught.value.code


def test_without_a_unit_rows_cannot_be_put_together() -> None:
    joined = (
        "SELECT COUNT(*) FROM visits JOIN (SELECT user_id, COUNT(*) AS m FROM visits "
        "GROUP BY user_id) AS s USING (user_id)"
    )
    with unasked(protected(unit=None, max_rows=None)) as table:
        assert refused(table, joined).code == "sql.ownership"


@pytest.mark.parametrize(
    "grouped",
    [
        "SELECT city, COUNT(*) AS m FROM visits GROUP BY city",
        "SELECT COUNT(*) AS m FROM visits",
        "SELECT * FROM (SELECT city, COUNT(*) AS m FROM visits GROUP BY city)",
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits CROSS JOIN ({}) AS s",
        "WITH s AS ({}) SELECT COUNT(*) FROM visits JOIN s ON age = m",
        "SELECT COUNT(*) FROM visits WHERE age IN (SELECT m FROM ({}) AS s)",
    ],
)
def test_released_groups_do_not_join_rows(table: Table, text: str, grouped: str) -> None:
    assert refused(table, text.format(grouped)).code == "sql.ownership"


def test_units_of_two_columns() -> None:
    with unasked(protected(unit=["user_id", "city"], keys={})) as table:
        assert (
            lines(
                table, COUNT.format("SELECT city, user_id, COUNT(*) AS m FROM visits GROUP BY ALL")
            )[0]
            == "per user_id, city: m = count()"
        )
        assert (
            refused(
                table, COUNT.format("SELECT user_id, COUNT(*) AS m FROM visits GROUP BY user_id")
            ).code
            == "sql.unit"
        )


def test_facts_follow_keys_and_totals(table: Table) -> None:
    rows = parse(
        table,
        COUNT.format(
            "SELECT user_id, city, AVG(spend) AS m, MAX(age) AS a, SUM(age) AS s, "
            "COUNT(*) AS c FROM visits GROUP BY ALL"
        ),
    ).query.rows
    assert set(rows.ranges) == {"m", "a"}
    assert rows.public_keys("city") == ("Bari", "Milano", "Roma")
    assert not any(rows.public_keys(name) for name in rows.schema if name != "city")
    assert not rows.once
