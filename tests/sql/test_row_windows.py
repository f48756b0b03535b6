"""Windows along the rows of one unit in sub-queries, and refusals of others."""

from __future__ import annotations

import pytest

from sfumato.session import Table

from .asking import lines, parse, refused
from .people import protected

COUNT = "SELECT COUNT(*) AS n FROM ({}) AS s{}"
FIRST = "ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY day)"


@pytest.fixture(scope="module")
def table() -> Table:
    return protected()


@pytest.mark.parametrize(
    ("inner", "where", "steps"),
    [
        (
            f"SELECT *, {FIRST} AS k FROM visits",
            " WHERE k = 1",
            ["window k = row_number() of each user_id by day", "where k = 1"],
        ),
        (
            f"SELECT age FROM visits WHERE vip QUALIFY {FIRST} <= 2",
            "",
            ["where vip", "window k = row_number() of each user_id by day", "where k <= 2"],
        ),
        (
            f"SELECT age, {FIRST} AS nr FROM visits QUALIFY nr = 1 AND age > 20",
            "",
            ["window nr = row_number() of each user_id by day", "where (nr = 1) AND (age > 20)"],
        ),
        (
            (
                "SELECT ROW_NUMBER() OVER (PARTITION BY city, user_id ORDER BY age * 2 DESC, day) "
                "+ 1 AS x FROM visits"
            ),
            " WHERE x = 2",
            [
                "window k = row_number() of each user_id by age * 2 desc, day within city",
                "where (k + 1) = 2",
            ],
        ),
        (
            (
                "SELECT LAG(spend) OVER (PARTITION BY user_id ORDER BY day) AS b, LEAD(spend + 1) "
                "OVER (PARTITION BY user_id ORDER BY day) AS a FROM visits"
            ),
            " WHERE a > b",
            [
                "window b = lag(spend) of each user_id by day",
                "window a = lead(spend + 1) of each user_id by day",
                "where a > b",
            ],
        ),
    ],
)
def test_a_window_along_a_unit_becomes_a_step(
    table: Table, inner: str, where: str, steps: list[str]
) -> None:
    assert lines(table, COUNT.format(inner, where))[: len(steps)] == steps


def test_the_number_is_public_between_its_ends(table: Table) -> None:
    text = f"SELECT k, COUNT(*) AS n FROM (SELECT *, {FIRST} AS k FROM visits) s WHERE k <= 3"
    query = parse(table, text + " GROUP BY k").query
    assert query.domains == ((1, 2, 3),)


def test_the_fluent_form_is_the_same_question(table: Table) -> None:
    text = COUNT.format(f"SELECT *, {FIRST} AS k FROM visits", " WHERE k = 1")
    rows = table.number_rows("k", by="day")
    assert rows.where(rows["k"] == 1).count().text == parse(table, text).query.text


@pytest.mark.parametrize(
    ("window", "rewrite"),
    [
        (
            "RANK() OVER (PARTITION BY user_id ORDER BY day)",
            "ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY day)",
        ),
        (
            "ROW_NUMBER() OVER (PARTITION BY city ORDER BY day DESC)",
            "ROW_NUMBER() OVER (PARTITION BY user_id, city ORDER BY day DESC)",
        ),
        (
            "LAG(age) OVER (ORDER BY day)",
            "LAG(age) OVER (PARTITION BY user_id ORDER BY day)",
        ),
        ("SUM(age) OVER (PARTITION BY user_id)", "GROUP BY user_id"),
    ],
)
def test_other_windows_are_refused_with_one_that_works(
    table: Table, window: str, rewrite: str
) -> None:
    refusal = refused(table, COUNT.format(f"SELECT *, {window} AS k FROM visits", " WHERE k = 1"))
    assert refusal.code == "sql.window"
    if not window.startswith("SUM"):
        assert rewrite in refusal.rewrite
    parse(table, refusal.rewrite)


def test_qualify_without_a_window_of_a_unit_is_refused(table: Table) -> None:
    assert refused(table, COUNT.format("SELECT age FROM visits QUALIFY age > 3", "")).code == (
        "sql.window"
    )
