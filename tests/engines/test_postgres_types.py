"""No failure depends on data: every type of PostgreSQL, with values at the ends of what it can
hold, is answered or left out when the table is declared.
"""

from __future__ import annotations

from typing import Any

import ibis
import psycopg
import pytest

import sfumato as sf
from sfumato.tables.engine.external_postgres import TYPES

from ..ledger.servers import PostgresServer
from ..refusing import refusal
from ..tables.every_type import UNIT, ask_everything

READ: dict[str, list[str]] = {
    "bool": ["true", "false"],
    "int2": ["-32768", "32767"],
    "int4": ["-2147483648", "2147483647"],
    "int8": ["-9223372036854775808", "9223372036854775807"],
    "float4": ["'NaN'", "'Infinity'", "'-Infinity'", "'-0'", "3.4028235e38"],
    "float8": ["'NaN'", "'Infinity'", "'-Infinity'", "'-0'", "1.7976931348623157e308", "5e-324"],
    "numeric(38, 0)": ["'NaN'", "0", "1" + "0" * 37, "-1" + "0" * 37],
    "numeric(38, 38)": ["'NaN'", "0", "-0." + "9" * 38],
    "numeric(5, 2)": ["'NaN'", "999.99", "-999.99"],
    "text": [
        "''",
        "' '",
        "E'\\n'",
        "repeat('x', 70000)",
        "'nan'",
        "'infinity'",
        "'9999-12-31'",
        "'1e400'",
        "repeat('9', 50)",
    ],
    "varchar(5)": ["''", "'é'"],
    "bpchar(5)": ["''", "'a'"],
    "name": ["''", "'Roma'"],
    "date": [
        "'infinity'",
        "'-infinity'",
        "'4713-01-01 BC'",
        "'0001-01-01'",
        "'5874897-12-31'",
        "'10000-01-01'",
        "'1970-01-01'",
    ],
    "timestamp": [
        "'infinity'",
        "'-infinity'",
        "'4713-01-01 BC'",
        "'294276-12-31 23:59:59.999999'",
        "'1970-01-01'",
    ],
    "timestamp(0)": ["'infinity'", "'1970-01-01'"],
    "timestamptz": [
        "'infinity'",
        "'-infinity'",
        "'4713-01-01 BC'",
        "'294276-12-31 23:59:59.999999Z'",
        "'9999-12-31 23:59:59-12'",
        "'0001-01-01 00:00:00+14'",
    ],
    "uuid": ["'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"],
    "mood": ["'calm'", "''"],
}
"""Types that are read → their extreme values."""

NOTHING = (
    "xml", "aclitem", "gtsvector", "int4range", "int8range", "numrange", "tsrange", "tstzrange",
    "daterange", "int4multirange", "int8multirange",
    "nummultirange", "tsmultirange", "tstzmultirange", "datemultirange", "int2vector", "oidvector",
    "pg_node_tree", "pg_ndistinct", "pg_dependencies",
    "pg_mcv_list", "pg_brin_bloom_summary", "pg_brin_minmax_multi_summary", "regclass",
    "regcollation", "regconfig", "regdictionary", "regnamespace",
    "regoper", "regoperator", "regproc", "regprocedure", "regrole", "regtype",
)  # fmt: skip

LEFT_OUT: dict[str, str] = {
    "numeric": "'Infinity'", "numeric(3, 5)": "0.00999", "numeric(3, -2)": "12300",
    "numeric(40, 2)": "1", "money": "'-92233720368547758.08'",
    "oid": "4294967295", "xid": "'1'", "xid8": "'1'", "cid": "'1'", "tid": "'(0,1)'",
    "interval": "'1 day'", "time": "'24:00:00'",
    "timetz": "'00:00:00+15'", "bit(3)": "B'101'", "varbit": "B'1'", "bytea": "'\\xff'",
    "json": "'{}'", "jsonb": "'{}'", "jsonpath": "'$'",
    "inet": "'127.0.0.1'", "cidr": "'127.0.0.0/8'", "macaddr": "'08:00:2b:01:02:03'",
    "macaddr8": "'08:00:2b:01:02:03:04:05'", "point": "'(1,2)'",
    "line": "'{1,2,3}'", "lseg": "'[(1,2),(3,4)]'", "box": "'(1,2),(3,4)'", "path": "'[(1,2)]'",
    "polygon": "'((1,2))'", "circle": "'<(1,2),3>'",
    "tsvector": "'a'", "tsquery": "'a'", "pg_lsn": "'0/0'", "pg_snapshot": "'1:1:'",
    "txid_snapshot": "'1:1:'", "refcursor": "'a'", "\"char\"": "'a'",
    "int4[]": "'{1}'", "pair": "ROW(1, 'a')", "positive": "1",
    **dict.fromkeys(NOTHING, "NULL"),
}  # fmt: skip
"""Types that are left out → a value."""


@pytest.fixture(scope="module")
def everything(server: PostgresServer) -> str:
    """A table with a column of each type."""
    url = server.new()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE TYPE mood AS ENUM ('calm', ''); CREATE TYPE pair AS (a int, b text); "
            "CREATE DOMAIN positive AS int CHECK (value > 0)"
        )
        columns = [f"c{place} {kind}" for place, kind in enumerate([*READ, *LEFT_OUT])]
        connection.execute(
            f"CREATE TABLE t ({UNIT} int NOT NULL, {', '.join(columns)}, made int "
            f"GENERATED ALWAYS AS ({UNIT} + 1) STORED)"
        )
        for row in range(12):
            cells = [(*values, "NULL")[row % (len(values) + 1)] for values in READ.values()] + list(
                LEFT_OUT.values()
            )
            connection.execute(f"INSERT INTO t VALUES ({row // 2}, {', '.join(cells)})")
        connection.execute("GRANT SELECT ON t TO reader")
    return url.replace("postgres@", "reader@")


def test_every_type_of_postgres_is_listed(server: PostgresServer) -> None:
    """All that the server has of its own, but arrays, rows of its catalogues and pseudo-types,
    which no column has.
    """
    type_rows = server.sql(
        server.url(),
        (
            "SELECT typname FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND "
            "typtype IN ('b', 'r', 'm') AND typcategory <> 'A'"
        ),
    )
    listed = {kind.partition("(")[0].strip('"') for kind in (*READ, *LEFT_OUT)} - {
        "mood",
        "pair",
        "positive",
        "int4[]",
    }
    assert {name for (name,) in type_rows} == listed - {"int2vector", "oidvector"}


def test_numbers_of_types_are_the_servers(server: PostgresServer) -> None:
    names = [
        "bool",
        "name",
        "int8",
        "int2",
        "int4",
        "text",
        "float4",
        "float8",
        "bpchar",
        "varchar",
        "date",
        "timestamp",
        "timestamptz",
        "uuid",
    ]
    type_rows = server.sql(
        server.url(), "SELECT oid::int, typname FROM pg_type WHERE oid = ANY(%s)", (list(TYPES),)
    )
    assert [name for _, name in sorted(type_rows)] == names


def test_every_accepted_column_answers(everything: str) -> None:
    accepted: dict[str, Any] = {}
    assert not ask_everything(everything, table="t", accepted=accepted)
    assert set(accepted) == {f"c{place}" for place in range(len(READ))} | {"made"}


@pytest.mark.parametrize(
    "kind", ["numeric", "numeric(3, 5)", "money", "oid", "regclass", "positive", "int4[]"]
)
def test_a_column_that_is_left_out_is_named_with_the_reason(kind: str, everything: str) -> None:
    name = f"c{[*READ, *LEFT_OUT].index(kind)}"
    refused = refusal(
        lambda: sf.protect(
            everything, table="t", unit=UNIT, max_rows=1, budget=1, types={name: "string"}
        ),
        "table.column",
    )
    assert "are not read" in refused.reason


def test_a_table_of_nothing_that_is_read_is_refused(server: PostgresServer) -> None:
    """`protect` raises nothing of the driver's or of Ibis, whatever the types are."""
    url = server.new()
    for place, kind in enumerate(("numeric(3, 5)", "regclass", "money")):
        server.sql(url, f"CREATE TABLE t{place} (c {kind})")
        refusal(lambda place=place: sf.protect(url, table=f"t{place}", budget=1), "table.columns")
    server.sql(url, "CREATE TABLE nothing ()")
    refusal(lambda: sf.protect(url, table="nothing", budget=1), "table.columns")


def test_a_lent_connection_knows_the_same_types(everything: str) -> None:
    """Of an Ibis table, whose own types are others."""
    with psycopg.connect(everything, autocommit=True) as connection:
        connection.execute(
            "CREATE TEMP TABLE paid (u int, cash money, number oid, x float8); INSERT "
            "INTO paid VALUES (1, '1.00', 7, 2)"
        )
        with sf.protect(
            ibis.postgres.from_connection(connection).table("paid"), unit="u", max_rows=1, budget=10
        ) as table:
            assert list(table.declaration.schema) == ["u", "x"]
            assert len(table.sql("SELECT COUNT(x) AS n FROM paid", epsilon=1)) == 1
