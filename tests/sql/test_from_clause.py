"""FROM and WITH."""

from __future__ import annotations

import pytest

from sfumato.session import Table

from ..session.clinic import clinic, counted
from .asking import lines, refused, under

WHERE = ["where age > 1", "where vip", "n = count()"]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS n FROM (SELECT * FROM visits WHERE age > 1) AS s WHERE vip",
        "SELECT COUNT(*) AS n FROM (SELECT vip FROM visits WHERE age > 1) WHERE vip",
        "SELECT COUNT(*) AS n FROM ((SELECT vip FROM visits WHERE age > 1)) AS s WHERE s.vip",
        "WITH a AS (SELECT * FROM visits WHERE age > 1) SELECT COUNT(*) AS n FROM a WHERE vip",
        (
            "WITH a AS MATERIALIZED (SELECT * FROM visits WHERE age > 1) SELECT COUNT(*) AS "
            "n FROM a b WHERE b.vip"
        ),
        (
            "WITH a AS (SELECT * FROM visits WHERE age > 1), b AS (SELECT * FROM A WHERE "
            "vip) SELECT COUNT(*) AS n FROM b"
        ),
        (
            "WITH a(x, y) AS (SELECT vip, age FROM visits WHERE age > 1) SELECT COUNT(*) AS "
            "n FROM a WHERE x"
        ),
        (
            "WITH visits AS (SELECT * FROM visits WHERE age > 1) SELECT COUNT(*) AS n FROM "
            "visits WHERE vip"
        ),
        (
            "SELECT COUNT(*) AS n FROM (WITH a AS (SELECT * FROM visits WHERE age > 1) "
            "SELECT * FROM a) AS s WHERE vip"
        ),
        "FROM (FROM visits WHERE age > 1) AS s SELECT COUNT(*) AS n WHERE vip",
    ],
)
def test_spellings(table: Table, text: str) -> None:
    assert lines(table, text) == WHERE


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ("SELECT COUNT(*) FROM other", "sql.table", "other"),
        ("SELECT COUNT(*) FROM main.visits", "sql.table", "main.visits"),
        ("SELECT COUNT(*) FROM read_text('x')", "sql.table", "read_text('x')"),
        ("SELECT COUNT(*) FROM 'visits'", None, None),
        ("SELECT COUNT(*) FROM visits, visits", "sql.names", "visits"),
        ("SELECT COUNT(*) FROM visits TABLESAMPLE 5%", "sql.sample", "5"),
        ("SELECT COUNT(*) FROM visits USING SAMPLE 5", "sql.sample", "5"),
        ("WITH a AS (SELECT 1 AS x) SELECT COUNT(*) FROM a", "sql.table", None),
        (
            "WITH a AS (SELECT * FROM visits), a AS (SELECT * FROM visits) SELECT COUNT(*) FROM a",
            "sql.names",
            None,
        ),
        ("WITH RECURSIVE a AS (SELECT * FROM visits) SELECT COUNT(*) FROM a", "sql.recursive", "a"),
        (
            "WITH a AS (SELECT * FROM b), b AS (SELECT * FROM visits) SELECT COUNT(*) FROM a",
            "sql.table",
            "b",
        ),
        (
            "WITH a AS (SELECT age FROM visits LIMIT 3) SELECT COUNT(*) FROM visits",
            "sql.limit",
            "3",
        ),
        (
            (
                "WITH a AS (SELECT age FROM visits UNION SELECT age FROM visits) SELECT "
                "COUNT(*) FROM visits"
            ),
            "sql.set",
            None,
        ),
        ("SELECT COUNT(*) FROM (SELECT age AS a, vip AS A FROM visits) AS s", "sql.names", "vip"),
        ("SELECT COUNT(*) FROM (SELECT age FROM visits) AS s(a, b)", "sql.names", None),
        ("SELECT COUNT(*) FROM (SELECT * EXCLUDE (age) FROM visits) AS s", "sql.star", None),
        ("SELECT COUNT(*) FROM (SELECT age FROM visits ORDER BY age) AS s", "sql.order", "age"),
        ("SELECT COUNT(*) FROM (SELECT age FROM visits OFFSET 3) AS s", "sql.limit", "3"),
        ("SELECT COUNT(*) FROM (VALUES (1)) AS s(a)", "sql.table", None),
        ("SELECT COUNT(*)", "sql.table", None),
        ("SELECT COUNT(*) FROM visits FOR UPDATE", "sql.unsupported", None),
        ("SELECT COUNT(*) INTO x FROM visits", "sql.statement", None),
        ("SELECT COUNT(*) FROM visits WINDOW w AS (ORDER BY age)", "sql.window", None),
    ],
)
def test_refused(table: Table, text: str, code: str | None, part: str | None) -> None:
    if code is None:  # a quoted name is a name
        assert lines(table, text)
        return
    refusal = refused(table, text)
    assert refusal.code == code
    assert part is None or under(refusal) == part


@pytest.mark.parametrize(
    "test",
    [
        "city IN (SELECT city FROM cities)",
        "EXISTS (SELECT 1 FROM cities c WHERE c.city = visits.city)",
    ],
    ids=["IN", "EXISTS"],
)
def test_a_name_of_with_is_the_same_in_from_and_where(test: str) -> None:
    """Of all cities four visits are in one; of the large ones, which WITH calls by the table's own
    name, two.
    """
    large = "WITH cities AS (SELECT city FROM cities WHERE size > 1)"
    with clinic() as db:
        assert counted(
            db, f"SELECT COUNT(*) AS n FROM (SELECT spend FROM visits WHERE {test}) AS q"
        ) == [4]
        assert counted(
            db, f"SELECT COUNT(*) AS n FROM ({large} SELECT spend FROM visits WHERE {test}) AS q"
        ) == [2]
        assert counted(db, f"{large} SELECT COUNT(*) AS n FROM visits WHERE {test}") == [2]
        assert counted(
            db,
            (
                f"WITH q AS ({large} SELECT spend FROM visits WHERE {test}) SELECT COUNT(*) "
                f"AS n FROM q"
            ),
        ) == [2]
