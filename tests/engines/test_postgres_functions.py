"""Every function on special values: PostgreSQL gives what DuckDB gives, and never an error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import ibis
import psycopg
import pytest

from sfumato.tables.engine import engine_refusals
from sfumato.tables.engine.dialects import postgres_casts, postgres_dialect
from sfumato.tables.engine.dialects.postgres_dialect import CANNOT
from sfumato.tables.engine.dialects.templates import fill
from sfumato.tables.engine.external_postgres import Postgres

from ..ledger.servers import PostgresServer
from ..tables.special_values import VALUES
from ..tables.test_functions import PAIRS
from .functions import ComparedEngine, compare

COLUMNS = {
    "bool": "boolean",
    "int8": "smallint",
    "int16": "smallint",
    "int32": "integer",
    "int64": "bigint",
    "float32": "real",
    "float64": "double precision",
    "string": "text",
    "timestamp with time zone": "timestamptz",
}
REFUSED = {"log2", "cast"}
"""The logarithm to base 2, and floats as decimals of more than 18 digits."""


class Server(ComparedEngine):
    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        self.engine = Postgres(ibis.postgres.from_connection(self._connection))

    def lay(self, names: Sequence[str], rows: list[tuple[Any, ...]]) -> Any:
        columns = ", ".join(f"c{i} {COLUMNS.get(name, name)}" for i, name in enumerate(names))
        self._connection.execute(
            "SET client_min_messages TO error; DROP TABLE IF EXISTS given_rows"
        )
        self._connection.execute(f"CREATE TABLE given_rows (number integer, {columns})")
        with self._connection.cursor() as cursor, cursor.copy("COPY given_rows FROM STDIN") as copy:
            for number, row in enumerate(rows):
                copy.write_row((number, *row))
        return self.engine.backend.table("given_rows", database="public")

    def close(self) -> None:
        self._connection.close()


@pytest.fixture(scope="module")
def compared_server(server: PostgresServer) -> Iterator[Server]:
    opened = Server(server.new())
    yield opened
    opened.close()


@pytest.mark.parametrize("name", VALUES)
def test_one_column(name: str, compared_server: Server) -> None:
    compared, refused = compare(compared_server, [name])
    assert compared > 15
    assert refused <= REFUSED


@pytest.mark.parametrize(
    "names",
    [
        pair
        for pair in PAIRS
        if {*pair} <= {"int64", "float64", "decimal(18,4)", "date", "timestamp", "string"}
    ],
    ids=" and ".join,
)
def test_two_columns(names: tuple[str, str], compared_server: Server) -> None:
    compare(compared_server, names, 400)


@pytest.mark.slow
@pytest.mark.parametrize("names", PAIRS, ids=" and ".join)
def test_two_columns_in_full(names: tuple[str, str], compared_server: Server) -> None:
    compare(compared_server, names)


def _even(self: Any, op: Any, *, arg: Any, digits: Any) -> Any:
    return fill("round(a_)", "postgres", a_=arg)


def _by_their_server(self: Any, op: Any, *, arg: Any) -> Any:
    return fill("upper(a_)", "postgres", a_=arg)


@pytest.mark.parametrize(
    ("column", "name", "twin"),
    [("float64", "visit_Round", _even), ("string", "visit_Lowercase", _by_their_server)],
    ids=["halves to even", "other letters"],
)
def test_a_wrong_dialect_is_noticed(
    column: str, name: str, twin: Any, compared_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_dialect.TotalPostgresCompiler, name, twin)
    with pytest.raises(AssertionError):
        compare(compared_server, [column])


def test_what_the_forms_are_for(compared_server: Server) -> None:
    """PostgreSQL's own raise an error on such values, so the tests above would see a form that is
    missing.
    """
    for statement in (
        "SELECT CAST('1e308' AS float8) * CAST('1e308' AS float8)",
        "SELECT CAST('1e-308' AS float8) * CAST('1e-308' AS float8)",
        "SELECT CAST('1e308' AS float8) + CAST('1e308' AS float8)",
        "SELECT CAST('1e308' AS float8) / CAST('1e-308' AS float8)",
        "SELECT exp(CAST(1000 AS float8))",
        "SELECT exp(CAST(-1000 AS float8))",
        "SELECT power(CAST(-1 AS float8), 0.5)",
        "SELECT CAST('x' AS integer)",
        "SELECT CAST(CAST('1e300' AS float8) AS bigint)",
        "SELECT CAST('1e300' AS real)",
        "SELECT CAST('2021-02-29' AS date)",
        "SELECT ln(CAST(0 AS float8))",
    ):
        with pytest.raises(psycopg.Error):
            compared_server._connection.execute(statement)


def test_uuids_are_read_as_duckdb_reads_them(compared_server: Server) -> None:
    bare = "0123456789abcdefABCDEF0123456789"
    texts = [
        bare,
        f"{{{bare}}}",
        f"{{{bare}",
        f"-{bare}-",
        f"0-1{bare[2:]}",
        f"{bare}\n",
        f" {bare}",
        bare[1:],
        f"{bare}0",
        "",
        f"{bare[:-1]}g",
    ]
    expected = duckdb.connect().execute("SELECT try_cast(unnest(?) AS UUID)", [texts]).fetchall()
    cursors = [
        compared_server._connection.execute(
            postgres_casts.UUID_OF_TEXT.replace("a_", "t").join(
                ("SELECT ", " FROM (SELECT %s::text AS t) AS s")
            ),
            [t],
        )
        for t in texts
    ]
    assert [cursor.fetchone() for cursor in cursors] == expected


def test_what_is_refused_is_said() -> None:
    assert CANNOT == {"Log2": engine_refusals.LOG2_NOT_IN_POSTGRES}
