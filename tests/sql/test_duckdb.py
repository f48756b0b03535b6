"""Without noise, and where nobody has more than one row, the answers are those of plain DuckDB."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.sql import read
from sfumato.testing.exact_checks import exact_answer

NUMBERS = [
    "COUNT(*)",
    "COUNT(spend)",
    "COUNT(1)",
    "COUNT_IF(vip)",
    "COUNT(*) FILTER (WHERE age >= 30)",
    "COUNT(DISTINCT id)",
    "SUM(spend)",
    "SUM(age)",
    "SUM(age * 2 - 3)",
    "SUM(vip)",
    "SUM(CLAMP(vip::INT, 0, 1))",
    "SUM(CASE WHEN vip THEN spend ELSE 0 END)",
    "AVG(spend)",
    "AVG(age) FILTER (WHERE city = 'Roma')",
    "VAR_POP(age)",
    "STDDEV_POP(spend)",
    "MEDIAN(age)",
    "QUANTILE(age, 0.9)",
    "QUANTILE(spend, 0.25)",
    "QUANTILE_DISC(age, 0.1)",
    "SUM(ABS(age - 40))",
    "SUM(spend) / COUNT(*)",
    "100.0 * COUNT_IF(vip) / COUNT(*)",
    "ROUND(AVG(age), 1)",
    "ROUND(-AVG(age) * 1.5, 0)",
    "FLOOR(AVG(spend)) + CEIL(AVG(age))",
    "SQRT(VAR_POP(age))",
    "COALESCE(SUM(spend) / NULLIF(COUNT_IF(age > 500), 0), -1)",
    "GREATEST(AVG(age), AVG(spend), 3) - LEAST(AVG(age), 7)",
]

CONDITIONS = [
    "age BETWEEN 20 AND 40 AND city <> 'Roma'",
    "city IN ('Roma', 'Bari') OR vip",
    "NOT vip AND spend IS NOT NULL",
    "city LIKE 'M%' OR city ILIKE '%A'",
    "city NOT LIKE '%o%'",
    "day >= DATE '2026-02-01' AND day < '2026-03-01'",
    "day + INTERVAL 10 DAY > DATE '2026-06-01'",
    "DATE_DIFF('day', day, DATE '2026-06-30') <= 30",
    "EXTRACT(month FROM day) = 3 AND DATE_PART('day', day) > 15",
    "DAYOFWEEK(day) = 0 OR ISODOW(day) = 6",
    "DATE_TRUNC('month', day) = DATE '2026-04-01'",
    "age % 7 = 3 AND age // 10 = 2",
    "-age // 10 = -3",
    "(age - 30) % 7 = -2",
    "spend / age > 0.5",
    "SQRT(spend) > 3.5 AND LN(spend) < 4",
    "LOG(spend) > 1 AND LOG2(spend) < 6",
    "POWER(age, 2) > 900 AND age ^ 2 < 2500",
    "ROUND(spend, 1) = ROUND(spend, 2)",
    "UPPER(LEFT(city, 1)) || LOWER(SUBSTR(city, 2)) = city",
    "LENGTH(TRIM(city)) = 4",
    "REPLACE(city, 'a', 'o') = 'Romo'",
    "POSITION('l' IN city) > 0 AND CONTAINS(city, 'il')",
    "STARTS_WITH(city, 'P') OR ENDS_WITH(city, 'o')",
    "SPLIT_PART(city || '-x', '-', 2) = 'x' AND vip",
    "CAST(age AS VARCHAR) LIKE '3%'",
    "TRY_CAST(city AS INT) IS NULL AND CAST(vip AS INT) = 1",
    "COALESCE(spend, -1) < 0",
    "CASE city WHEN 'Roma' THEN age > 30 WHEN 'Bari' THEN age > 50 ELSE vip END",
    "IF(vip, age, spend) > 30",
    "GREATEST(age, 30) = LEAST(age, 60)",
    "(spend IS NULL) IS DISTINCT FROM vip",
    "vip IS NOT TRUE AND (age > 40) IS TRUE",
    "NULLIF(age, 30) IS NULL",
    "SIGN(age - 40) = -1 AND ABS(age - 40) < 5",
    "CONCAT(city, NULL, 'x') = 'Romax'",
]

GROUPED = [
    "SELECT city, COUNT(*) AS n, AVG(spend) AS m FROM visits GROUP BY city",
    "SELECT city, vip, COUNT(*) AS n FROM visits GROUP BY ALL",
    "SELECT age // 10 * 10 AS decade, COUNT(*) AS n FROM visits WHERE vip GROUP BY decade",
    "SELECT DATE_TRUNC('month', day) AS m, SUM(spend) AS s FROM visits GROUP BY 1",
    "SELECT UPPER(city) AS city, COUNT(*) FILTER (WHERE city = 'Roma') AS n FROM visits GROUP BY 1",
    "SELECT spend IS NULL AS missing, COUNT(*) AS n FROM visits GROUP BY missing",
    (
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city HAVING n > 1000 AND city <> "
        "'Roma' OR AVG(age) > 90"
    ),
    "SELECT city AS town, COUNT(*) AS n FROM visits GROUP BY town HAVING NOT (COUNT(*) < 500)",
    (
        "WITH a AS (SELECT city, age + 1 AS older, spend FROM visits WHERE age > 20), b AS "
        "(SELECT * FROM a) SELECT city, AVG(older) AS m FROM b GROUP BY city"
    ),
    (
        "SELECT c, COUNT(*) AS n FROM (SELECT city, age FROM visits) AS s(c, a) WHERE a > 30 "
        "GROUP BY c"
    ),
    (
        "SELECT many, COUNT(*) AS n FROM (SELECT id, COUNT(*) AS many FROM visits GROUP BY "
        "id) AS s GROUP BY many"
    ),
    "SELECT c, COUNT(*) AS n FROM (SELECT DISTINCT id, city AS c FROM visits) AS s GROUP BY c",
    (
        "SELECT city, AVG(a) AS m FROM (SELECT id, city, AVG(age) AS a, MIN(age) AS b FROM "
        "visits GROUP BY id, city HAVING MIN(age) > 9) WHERE a = b GROUP BY city"
    ),
    (
        "SELECT 2 * k AS twice, COUNT(*) AS n FROM (SELECT age % 3 AS k FROM visits) AS s "
        "GROUP BY twice"
    ),
    "SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n DESC, city LIMIT 3 OFFSET 1",
    "SELECT city, AVG(age) AS m FROM visits GROUP BY city ORDER BY 2, 1",
    "SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY SUM(spend) DESC LIMIT 2",
    "SELECT vip, city, COUNT(*) AS n FROM visits GROUP BY city, vip ORDER BY ALL LIMIT 5",
]

EMPTY_GROUPS: dict[str, list[tuple[Any, ...]]] = {
    GROUPED[2]: [(0, 0), (90, 0), (100, 0), (110, 0), (120, 0), (None, 0)],
    GROUPED[13]: [(None, 0)],
}
"""The groups without rows: bounds make their keys public, so an answer shows them, too."""


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    result = sf.samples.visits()
    return result.append_column("id", pa.array(range(result.num_rows), pa.int64()))


@pytest.fixture(scope="module")
def table(rows: pa.Table) -> Any:
    bounds = {"spend": (0, 1024), "age": (0, 128), "id": (0, 2**20)}
    with sf.protect(
        rows, name="visits", unit="id", max_rows=1, budget=sf.Approx(10, "1e-3"), bounds=bounds
    ) as result:
        yield result


def ours(table: Any, text: str) -> list[tuple[Any, ...]]:
    query = read(text, table.rows)
    answer = query.finish(exact_answer(table.plan(query.query, epsilon=1, delta="1e-6"), table))
    return [tuple(row.values()) for row in answer]


def theirs(rows: pa.Table, text: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        connection.register("visits", rows)
        connection.execute("CREATE MACRO clamp(x, low, high) AS LEAST(GREATEST(x, low), high)")
        return connection.execute(text).fetchall()


def alike(first: Any, second: Any) -> bool:
    if isinstance(first, float):
        return (
            second is None
            if math.isnan(first)
            else math.isclose(first, float(second), rel_tol=1e-4, abs_tol=2e-2)
        )
    return bool(
        first
        == (second.date() if hasattr(second, "hour") and not hasattr(first, "hour") else second)
    )


def same(first: list[tuple[Any, ...]], second: list[tuple[Any, ...]]) -> bool:
    return len(first) == len(second) and all(
        len(a) == len(b) and all(map(alike, a, b)) for a, b in zip(first, second, strict=True)
    )


def by_key(result: list[tuple[Any, ...]], text: str) -> list[tuple[Any, ...]]:
    return (
        result
        if "ORDER BY" in text
        else sorted(
            result,
            key=lambda row: [
                (value is None, value if isinstance(value, str) else str(value))
                for value in row
                if not isinstance(value, float)
            ],
        )
    )


@pytest.mark.parametrize("aggregate", NUMBERS)
def test_aggregates(table: Any, rows: pa.Table, aggregate: str) -> None:
    text = f"SELECT {aggregate} AS x FROM visits"
    assert same(ours(table, text), theirs(rows, text))


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions(table: Any, rows: pa.Table, condition: str) -> None:
    text = f"SELECT COUNT(*) AS n, SUM(age) AS s FROM visits WHERE {condition}"
    result = theirs(rows, text)
    assert result[0][0] > 0, "an empty result proves little"
    assert same(ours(table, text), [tuple(value or 0 for value in result[0])])


@pytest.mark.parametrize("text", GROUPED)
def test_groups(table: Any, rows: pa.Table, text: str) -> None:
    empty = EMPTY_GROUPS.get(text, [])
    first, second = by_key(ours(table, text), text), by_key(theirs(rows, text) + empty, text)
    assert same(first, second), (first[:3], second[:3])


def test_a_wrong_answer_would_be_seen(table: Any, rows: pa.Table) -> None:
    """The twin: neighbouring questions."""
    assert not same(
        ours(table, "SELECT COUNT(*) AS n FROM visits WHERE age > 30"),
        theirs(rows, "SELECT COUNT(*) AS n FROM visits WHERE age >= 30"),
    )
    assert not same(
        ours(table, "SELECT AVG(age) AS n FROM visits"),
        theirs(rows, "SELECT AVG(age + 0.1) AS n FROM visits"),
    )


def test_histogram(table: Any, rows: pa.Table) -> None:
    (result,) = ours(table, "SELECT HISTOGRAM(age, [0, 20, 40, 128]) AS h FROM visits")
    assert result[0] == list(
        theirs(
            rows,
            (
                "SELECT COUNT_IF(age < 20), COUNT_IF(age >= 20 AND age < 40), COUNT_IF(age "
                ">= 40) FROM visits"
            ),
        )[0]
    )


def test_there_are_enough() -> None:
    assert len(NUMBERS) + len(CONDITIONS) + len(GROUPED) >= 60
