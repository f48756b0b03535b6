"""GROUP BY in all its spellings."""

from __future__ import annotations

import pytest

from sfumato.session import Table

from .asking import lines, parse, refused

DECADES = [*range(13), None]  # age is declared from 0 to 120
DECADE = ["mutate decade = div(age, 10)", f"group by decade in {DECADES}", "n = count()"]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT age // 10 AS decade, COUNT(*) AS n FROM visits GROUP BY age // 10",
        "SELECT age // 10 AS decade, COUNT(*) AS n FROM visits GROUP BY AGE//10",
        "SELECT age // 10 AS decade, COUNT(*) AS n FROM visits GROUP BY decade",
        "SELECT age // 10 AS decade, COUNT(*) AS n FROM visits GROUP BY 1",
        "SELECT age // 10 AS decade, COUNT(*) AS n FROM visits GROUP BY (1)",
        "SELECT age // 10 AS decade, COUNT(*) AS n FROM visits GROUP BY ALL",
        "SELECT v.age // 10 AS decade, COUNT(*) AS n FROM visits v GROUP BY age // 10",
        (
            "SELECT decade, COUNT(*) AS n FROM (SELECT age // 10 AS decade FROM visits) AS s "
            "GROUP BY decade"
        ),
        "SELECT COUNT(*) AS n, age // 10 AS decade FROM visits GROUP BY 2",
    ],
)
def test_spellings(table: Table, text: str) -> None:
    assert lines(table, text) == DECADE
    assert parse(table, text).finish.keys == (("decade", "decade"),)


def test_keys_come_in_the_order_in_which_they_are_listed(table: Table) -> None:
    result = parse(table, "SELECT vip, city, COUNT(*) AS n FROM visits GROUP BY city, vip, note")
    assert result.query.keys == ("vip", "city", "note")
    assert parse(table, "SELECT COUNT(*) AS n FROM visits GROUP BY (city, vip)").query.keys == (
        "city",
        "vip",
    )


def test_an_alias_that_hides_a_column_hides_nothing_else(table: Table) -> None:
    """In an aggregate `city` is the column, whatever the key is called."""
    result = parse(
        table,
        (
            "SELECT UPPER(city) AS city, COUNT(*) FILTER (WHERE city = 'Roma') AS n FROM "
            "visits GROUP BY 1"
        ),
    )
    assert lines(
        table,
        (
            "SELECT UPPER(city) AS city, COUNT(*) FILTER (WHERE city = 'Roma') AS n FROM "
            "visits GROUP BY 1"
        ),
    ) == [
        "mutate city_2 = upper(city)",
        "group by city_2 in ['BARI', 'MILANO', 'ROMA']",
        "n = count(where=city = 'Roma')",
    ]
    assert result.finish.keys == (("city_2", "city"),)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT city, COUNT(*) FROM visits GROUP BY 3", "sql.group"),
        ("SELECT city, COUNT(*) FROM visits GROUP BY 0", "sql.group"),
        ("SELECT city, COUNT(*) FROM visits GROUP BY 2", "sql.group"),
        ("SELECT city, COUNT(*) FROM visits GROUP BY 1.5", "sql.group"),
        ("SELECT COUNT(*) FROM visits GROUP BY 'x'", "sql.group"),
        ("SELECT COUNT(*) FROM visits GROUP BY 1 + 1", "sql.group"),
        ("SELECT COUNT(*) FROM visits GROUP BY nothing", "sql.column"),
        ("SELECT age, COUNT(*) FROM visits GROUP BY city", "sql.raw-rows"),
        ("SELECT city, city AS c, COUNT(*) FROM visits GROUP BY city", "sql.names"),
        ("SELECT user_id, COUNT(*) FROM visits GROUP BY ALL", "sql.unit"),
        ("SELECT COUNT(*) FROM visits GROUP BY city, User_Id", "sql.unit"),
        ("SELECT u, COUNT(*) FROM (SELECT user_id AS u FROM visits) AS s GROUP BY u", "sql.unit"),
    ],
)
def test_refused(table: Table, text: str, code: str) -> None:
    assert refused(table, text).code == code


def test_a_function_of_the_unit_may_be_a_key(table: Table) -> None:
    """People in ten parts: each part has many."""
    assert (
        lines(table, "SELECT user_id % 10 AS part, COUNT(*) AS n FROM visits GROUP BY part")[1]
        == f"group by part in {list(range(-9, 10))}"
    )
