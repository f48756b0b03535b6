"""The catalogue answers what clients ask about the schema, holds no data, and takes nothing else.

The files in `vectors/catalogue` are the queries that psql, SQLAlchemy, JDBC and psqlODBC sent for
their commands and metadata calls; `other_tools` are queries in the style of DBeaver and Metabase.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sfumato.server.datasets import open_dataset
from sfumato.server.http.problems import ProblemError
from sfumato.server.postgres.dataset_catalogue import Catalogue, session_answers
from sfumato.server.postgres.wire_results import WireResult
from sfumato.server.postgres.wire_statements import split

from ..scanning import hits
from ..service import service

VECTORS = Path(__file__).parents[2] / "vectors" / "catalogue"
QUERIES = [
    (path.stem, number, *json.loads(line))
    for path in sorted(VECTORS.glob("*.jsonl"))
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines())
]
Query = Callable[..., WireResult]


@pytest.fixture(scope="module")
def query(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Query]:
    deployment = service(tmp_path_factory.mktemp("catalogue"))
    served = open_dataset(deployment.config.datasets["visits"])
    catalogue = Catalogue(served)
    answers = session_answers("ada", "visits", lambda name: name)

    def ask(sql: str, *parameters: Any) -> WireResult:
        (statement,) = split(sql)
        return asyncio.run(catalogue.run(statement, parameters, answers))

    yield ask
    catalogue.close()
    served.close()


@pytest.mark.parametrize(
    ("sql", "parameters"),
    [pytest.param(sql, values, id=f"{tool}-{number}") for tool, number, sql, values in QUERIES],
)
def test_what_clients_ask_is_answered(query: Query, sql: str, parameters: list[object]) -> None:
    result = query(sql, *parameters)
    assert result.columns
    assert hits([repr(result.rows).encode()]) == []


def test_tables_and_columns_are_those_declared(query: Query) -> None:
    assert query("SELECT table_name FROM information_schema.tables").rows == [("visits",)]
    columns = query(
        "SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod) FROM pg_attribute a "
        "WHERE a.attrelid = 'public.visits'::regclass ORDER BY attnum"
    ).rows
    assert columns == [
        ("user_id", "bigint"), ("city", "text"), ("age", "bigint"), ("spend", "double precision"),
        ("day", "date"), ("note", "text"),
    ]  # fmt: skip
    assert query("SELECT reltuples, relpages FROM pg_class").rows == [(-1.0, 0)]
    assert query("SELECT * FROM pg_stats").rows == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        'SELECT * FROM "visits.parquet"',
        "SELECT * FROM glob('/*')",
        "SELECT * FROM duckdb_settings()",
        "SELECT * FROM duckdb_secrets()",
        "SELECT * FROM sqlite_master",
        "SELECT getenv('HOME')",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT pg_sleep(100)",
        "SELECT lo_import('/etc/passwd')",
        "SELECT * FROM pg_shadow",
        "COPY pg_class TO '/x'",
        "ATTACH '/x.db'",
        "INSTALL httpfs",
        "CREATE TABLE x AS SELECT 1",
        "PRAGMA version",
        "SELECT * FROM pg_class, (DELETE FROM pg_class RETURNING *) x",
        "WITH x AS (DELETE FROM pg_class RETURNING *) SELECT * FROM x",
        "SELECT " + "(" * 500 + "1" + ")" * 500,
        "SELECT 1" + " + 1" * 10_000,
        "SELECT 'unended",
        "SELECT",
    ],
)
def test_nothing_else_is_answered(query: Query, sql: str) -> None:
    with pytest.raises(ProblemError) as caught:
        query(sql)
    assert caught.value.problem.code == "postgres.catalog"
    assert query("SELECT count(*) FROM pg_class").rows == [(1,)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM generate_series(1, 100000000000) AS a(x)",
        "SELECT count(*) FROM pg_type a, pg_type b, pg_type c, pg_type d, pg_type e, pg_type f",
        "SELECT string_agg(repeat(typname, 1000000), '') FROM pg_type",
    ],
)
def test_a_query_without_end_is_ended(query: Query, sql: str) -> None:
    with pytest.raises(ProblemError):
        query(sql)
    assert query("SELECT 1").rows == [(1,)]
