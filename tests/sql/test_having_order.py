"""ORDER BY and LIMIT."""

from __future__ import annotations

import pytest

from sfumato.session import Table

from .asking import parse, refused

TEXT = "SELECT city, COUNT(*) AS n, AVG(age) AS m FROM visits GROUP BY city {}"


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("ORDER BY n", [("n", False, False)]),
        ("ORDER BY n DESC NULLS FIRST, city", [("n", True, True), ("city", False, False)]),
        ("ORDER BY 2 DESC", [("n", True, False)]),
        ("ORDER BY COUNT(*)", [("n", False, False)]),
        ("ORDER BY ALL", [("city", False, False), ("n", False, False), ("m", False, False)]),
        ("ORDER BY SUM(age) DESC", [("SUM(age)", True, False)]),
    ],
)
def test_order(table: Table, text: str, order: list[tuple[str, bool, bool]]) -> None:
    result = parse(table, TEXT.format(text)).finish.order
    assert [(item.by.value, item.how.descending, item.how.nulls_first) for item in result] == order


def test_what_only_the_order_names_is_released_and_not_shown(table: Table) -> None:
    result = parse(table, TEXT.format("HAVING SUM(spend) > 1 ORDER BY SUM(age)"))
    assert [name for name, _ in result.query.aggregates] == ["n", "m", "SUM(spend)", "SUM(age)"]
    assert [column.name for column in result.finish.columns] == ["n", "m"]


def test_limit(table: Table) -> None:
    result = parse(table, TEXT.format("LIMIT 3 OFFSET 2")).finish
    assert (result.limit, result.offset) == (3, 2)
    assert (
        parse(table, TEXT.format("OFFSET 2")).finish.limit,
        parse(table, TEXT.format("LIMIT ?"), [0]).finish.limit,
    ) == (None, 0)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ORDER BY age", "sql.released"),
        ("ORDER BY 4", "sql.released"),
        ("ORDER BY 0", "sql.released"),
        ("ORDER BY 'x'", "sql.released"),
        ("ORDER BY 1 + 1", None),
        ("ORDER BY RANDOM()", "sql.function"),
        ("ORDER BY n WITH FILL", "sql.unsupported"),
        ("LIMIT -1", "sql.limit"),
        ("LIMIT 1.5", "sql.limit"),
        ("LIMIT n", "sql.limit"),
        ("LIMIT 'x'", "sql.unsupported"),
        ("LIMIT 10 PERCENT", "sql.limit"),
        ("LIMIT ALL", "sql.limit"),
        ("FETCH FIRST 3 ROWS ONLY", "sql.limit"),
        ("OFFSET 99999999999999999999", "sql.limit"),
    ],
)
def test_refused(table: Table, text: str, code: str | None) -> None:
    if code is None:
        parse(table, TEXT.format(text))  # a constant, as in SQL
        return
    assert refused(table, TEXT.format(text)).code == code


@pytest.mark.parametrize("call", ["HISTOGRAM(age, [0, 50, 99])", "CUMULATIVE(age, [0, 50, 99])"])
@pytest.mark.parametrize(
    "text",
    [
        "{} GROUP BY city ORDER BY h",
        "{} GROUP BY city ORDER BY h + 1",
        "{} GROUP BY city HAVING h > 3",
        "{} GROUP BY city QUALIFY RANK() OVER (ORDER BY h) < 2",
        "SELECT MAX(h) AS most FROM ({} GROUP BY city) AS t",
        "SELECT city, h / 2 AS half FROM ({} GROUP BY city) AS t",
        "SELECT city, h FROM ({} GROUP BY city) AS t WHERE h > 3",
    ],
)
def test_a_histogram_is_in_no_expression(table: Table, call: str, text: str) -> None:
    inner = f"SELECT city, {call} AS h FROM visits"
    refusal = refused(table, text.format(inner))
    assert refusal.code == "sql.released"
    assert "many numbers" in str(refusal)
