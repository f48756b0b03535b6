"""The outermost SELECT."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.session import Table

from .asking import lines, parse, refused, under


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("COUNT(*)", ["COUNT(*)"]),
        ("count( * )", ["count( * )"]),
        ("COUNT(*) n", ["n"]),
        ('COUNT(*) AS "a b"', ["a b"]),
        ("SUM(age) / COUNT(*)", ["SUM(age) / COUNT(*)"]),
        ("n: COUNT(*), SUM(age)", ["n", "SUM(age)"]),
    ],
)
def test_names(table: Table, text: str, names: list[str]) -> None:
    assert [
        column.name for column in parse(table, f"SELECT {text} FROM visits").finish.columns
    ] == names


def test_the_same_aggregate_is_released_once(table: Table) -> None:
    assert lines(
        table,
        (
            "SELECT COUNT(*) AS n, SUM(age) / COUNT(*) AS a, 2 * SUM(age) AS b FROM visits "
            "HAVING COUNT(*) > SUM(age)"
        ),
    ) == [
        "n = count()",
        '"SUM(age)" = sum(age)',
    ]


def test_long_names_are_cut(table: Table) -> None:
    (column,) = parse(table, f"SELECT SUM({' + '.join(['age'] * 30)}) FROM visits").finish.columns
    assert len(column.name) == 60


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ("SELECT age FROM visits", "sql.raw-rows", "age"),
        ("SELECT COUNT(*) AS n, age FROM visits", "sql.raw-rows", "age"),
        ("SELECT age + 1 AS x FROM visits", "sql.raw-rows", "age + 1"),
        ("SELECT COUNT(*), age + AVG(age) AS x FROM visits", "sql.released", "age"),
        ("SELECT * FROM visits", "sql.star", "*"),
        ("SELECT COUNT(*), * FROM visits", "sql.star", "*"),
        ("SELECT 1 AS one FROM visits", "sql.unsupported", "1"),
        ("SELECT COUNT(*) AS n, 'x' AS x FROM visits", "sql.unsupported", "'x'"),
        ("SELECT city FROM visits GROUP BY city", "sql.aggregate", "city"),
        ("SELECT DISTINCT COUNT(*) FROM visits", "sql.distinct", "COUNT(*)"),
        ("SELECT COUNT(*) AS a, SUM(age) AS A FROM visits", "sql.names", "SUM(age)"),
        ("SELECT city, COUNT(*) AS city FROM visits GROUP BY 1", "sql.names", "COUNT(*)"),
        ("SELECT COUNT(*) > 3 AS x FROM visits", "sql.released", "COUNT(*) > 3"),
        ("SELECT city, city || COUNT(*) AS x FROM visits GROUP BY city", "sql.unsupported", None),
        ("SELECT nothing, COUNT(*) FROM visits GROUP BY city", "sql.column", "nothing"),
        ("SELECT COUNT(*) AS n FROM visits WHERE COUNT(*) > 3", "sql.aggregate", "COUNT(*)"),
    ],
)
def test_refused(table: Table, text: str, code: str, part: str | None) -> None:
    refusal = refused(table, text)
    assert refusal.code == code
    assert part is None or under(refusal) == part


def test_too_many_columns(table: Table) -> None:
    listed = ", ".join(f"COUNT(*) AS c{i}" for i in range(300))
    assert refused(table, f"SELECT {listed} FROM visits").code == "stage.aggregate"


def test_what_it_costs_is_what_the_fluent_form_costs(table: Table) -> None:
    first = table.plan(
        "SELECT city, COUNT(*) AS n FROM visits WHERE age >= 18 GROUP BY city", epsilon=0.5
    )
    second = table.plan(
        table.where(sf.col("age") >= 18).group_by("city").aggregate(n=sf.count()), epsilon=0.5
    )
    assert first.cost == second.cost == sf.Pure("1/2", relation="add-remove", unit="user_id")
