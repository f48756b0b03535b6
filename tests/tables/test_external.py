"""A lent connection: used as it is, one question at a time, with casts that cannot fail or none at
all.
"""

from __future__ import annotations

import datetime
import threading
from typing import Any

import ibis
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.tables.engine.external import ExternalEngine, as_type
from sfumato.tables.expr.types import Type

from ..refusing import refusal


@pytest.fixture
def backend() -> Any:
    connection = ibis.duckdb.connect()
    days = pa.array([0, 2**31 - 1, None], pa.int32()).view(pa.date32())
    connection.create_table(
        "visits", pa.table({"user_id": [1, 2, 2], "spend": ["1.5", "x", None], "day": days})
    )
    return connection


def test_a_question(backend: Any) -> None:
    engine, table = ExternalEngine(backend), backend.table("visits")
    result = engine.run(
        table.group_by("user_id").agg(n=table.count()).order_by("user_id"), timeout=600
    )
    assert isinstance(result, pa.Table)
    assert result.to_pydict() == {"user_id": [1, 2], "n": [1, 2]}
    assert "GROUP BY" in engine.sql(table.group_by("user_id").agg(n=table.count()))
    assert engine.version == f"duckdb {backend.version}"


def test_the_connection_stays_the_owners(backend: Any) -> None:
    before = backend.con.execute(
        "SELECT name, value FROM duckdb_settings() ORDER BY ALL"
    ).fetchall()
    engine = ExternalEngine(backend)
    engine.run(backend.table("visits"))
    engine.close()
    assert (
        backend.con.execute("SELECT name, value FROM duckdb_settings() ORDER BY ALL").fetchall()
        == before
    )
    assert backend.table("visits").count().execute() == 3


def test_a_long_question_is_interrupted(backend: Any) -> None:
    pairs = table = backend.table("visits").select("user_id")
    for i in range(24):
        pairs = pairs.cross_join(table.rename(**{f"u{i}": "user_id"}))
    engine = ExternalEngine(backend)
    with pytest.raises(TimeoutError):
        engine.run(pairs.agg(s=(pairs.user_id * pairs.u0 + pairs.u23).sum()), timeout=0.2)
    assert engine.run(table).num_rows == 3


def test_threads_wait_for_each_other(backend: Any) -> None:
    engine, table, row_counts = ExternalEngine(backend), backend.table("visits"), []
    threads = [
        threading.Thread(target=lambda: row_counts.append(engine.run(table).num_rows))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert row_counts == [3] * 8


def test_ibis_writes_a_plain_cast_for_postgres(backend: Any) -> None:
    """So our dialect writes its own: a plain cast fails on a row."""
    assert "TRY_CAST" not in ibis.to_sql(
        backend.table("visits").spend.try_cast("float64"), dialect="postgres"
    ), "when Ibis has one, so may we"
    assert as_type(backend.table("visits").spend, Type.of("string not null")).type().is_string()


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), "5"])
def test_a_timeout_is_a_time(backend: Any, timeout: Any) -> None:
    refusal(lambda: ExternalEngine(backend).check(timeout), "engine.timeout")


def test_columns_become_their_types(backend: Any) -> None:
    engine, table = ExternalEngine(backend), backend.table("visits")
    query = table.select(
        u=as_type(table.user_id, Type.of("string")),
        s=as_type(table.spend, Type.of("float")),
        d=as_type(table.day, Type.of("date")),
    )
    assert engine.run(query).to_pydict() == {
        "u": ["1", "2", "2"],
        "s": [1.5, None, None],
        "d": [datetime.date(1970, 1, 1), None, None],
    }


def test_uuids_come_as_text(backend: Any) -> None:
    table = backend.table("visits")
    query = table.select(id=ibis.literal("12345678-1234-5678-1234-567812345678").cast("uuid"))
    assert (
        ExternalEngine(backend).run(query)["id"].to_pylist()
        == ["12345678-1234-5678-1234-567812345678"] * 3
    )


@pytest.mark.parametrize("unit", ["TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP", "TIMESTAMP_NS"])
@pytest.mark.parametrize(
    "question",
    [
        "SELECT COUNT(*) FILTER (WHERE d >= DATE '2020-01-01') AS n FROM a WHERE u = 7",
        (
            "SELECT COUNT(*) AS n FROM a WHERE CASE WHEN u = 7 THEN d >= DATE '2020-01-01' "
            "ELSE FALSE END"
        ),
        "SELECT COUNT(*) AS n FROM (SELECT * FROM a WHERE u = 7) q WHERE d >= DATE '2020-01-01'",
    ],
    ids=["filter", "case", "rows"],
)
def test_no_moment_of_one_person_makes_a_question_fail(unit: str, question: str) -> None:
    """Nanoseconds have no year 1: compared with it they fail, but only where there is a row to
    compare. The engine does so by itself; a release never.
    """
    connection = ibis.duckdb.connect()
    connection.raw_sql(
        f"CREATE TABLE a AS SELECT i AS u, CAST('2026-01-05' AS {unit}) AS d FROM range(20) t(i)"
    )
    connection.raw_sql(f"INSERT INTO a VALUES (7, CAST('infinity' AS {unit})), (7, NULL)")
    for gone in ("u < 0", "u = 7"):
        connection.raw_sql(f"DELETE FROM a WHERE {gone}")
        table = sf.protect(connection.table("a"), unit="u", budget=10, max_rows=1)
        assert len(table.sql(question, epsilon="0.001").rows) == 1


def test_the_engine_by_itself_does_fail() -> None:
    connection = ibis.duckdb.connect()
    connection.raw_sql("CREATE TABLE a AS SELECT CAST('2026-01-05' AS TIMESTAMP_NS) AS d")
    with pytest.raises(Exception, match="Timestamp"):
        connection.con.execute(
            "SELECT COUNT(*) FROM a WHERE d BETWEEN TIMESTAMP '0001-01-01' AND TIMESTAMP "
            "'9999-12-31'"
        ).fetchall()
