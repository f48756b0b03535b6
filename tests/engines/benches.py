"""The worlds of tests/tables on several engines: the same rows, the same queries, and what each
engine makes of them.

*Letters*   PostgreSQL holds no NUL in a text: here no engine gets one.
*Secret*    Which rows of a unit a truncation keeps follows from a key that is drawn for each plan;
            here all engines get the same.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import ibis
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import Refused
from sfumato.guarantees import GDP
from sfumato.tables.engine.duckdb_engine import copy_rows
from sfumato.tables.engine.engine_registry import ENGINES
from sfumato.tables.engine.sources import TableSource, open_source
from sfumato.tables.expr.types import Type
from sfumato.tables.plan.query_plan import Plan, plan
from sfumato.tables.plan.statements import build_statements
from sfumato.testing.exact_checks import Rehearsal

from ..tables.rowwise import ballot_keys, plain
from ..tables.worlds import KINDS, Bench, Row, arrow, planned, world

SECRET = "0123456789abcdef0123456789abcdef"
COLUMNS = {
    pa.int8(): "smallint",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.float32(): "real",
    pa.float64(): "double precision",
    pa.bool_(): "boolean",
    pa.string(): "text",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
    pa.timestamp("us", "UTC"): "timestamptz",
    pa.uuid(): "uuid",
}


class DuckDBBench:
    """A table of a connection that an owner lends."""

    def __init__(self) -> None:
        self._backend = ibis.duckdb.connect()
        copy_rows(self._backend.con, "world", arrow([]), "CREATE TABLE")
        self.source: TableSource = open_source(self._backend.table("world"))

    def put(self, rows: list[Row]) -> None:
        self._backend.con.execute("DELETE FROM world")
        copy_rows(self._backend.con, "world", arrow(rows), "INSERT INTO")

    def close(self) -> None:
        self.source.engine.close()


class PostgresBench:
    """A table on a server that a role which may only read is asked about."""

    def __init__(self, url: str, reader: str, name: str = "world") -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        self._name = name
        columns = ", ".join(
            (
                f'"{kind.name}" '
                f"{COLUMNS.get(kind.arrow) or str(kind.arrow).replace('decimal128', 'numeric')}"
            )
            for kind in KINDS
        )
        self._connection.execute(f"CREATE TABLE {name} ({columns})")
        self._connection.execute(f"GRANT SELECT ON {name} TO reader")
        # a smallint is all that PostgreSQL has for an int8
        self.source: TableSource = open_source(reader, {"place": "int8"}, "world", table=name)
        self.schema = {**self.source.schema, "sure": Type.of("float64 not null")}

    def put(self, rows: list[Row]) -> None:
        with self._connection.transaction():
            self._connection.execute(f"TRUNCATE {self._name}")
            with (
                self._connection.cursor() as cursor,
                cursor.copy(f"COPY {self._name} FROM STDIN") as copy,
            ):
                for row in rows:
                    copy.write_row([row[kind.name] for kind in KINDS])

    def close(self) -> None:
        self.source.engine.close()
        self._connection.close()


class SparkBench:
    """A Parquet file that a cluster reads. Spark has no uuids: they are declared of a column of
    texts.
    """

    def __init__(self, session: Any, folder: Path) -> None:
        self._path = folder / "world" / "part.parquet"
        self._path.parent.mkdir()
        self.put([])
        self.source: TableSource = open_source(
            session.read.parquet(str(self._path.parent)), {"id": "uuid"}, "world"
        )

    def put(self, rows: list[Row]) -> None:
        table = arrow(rows)
        texts = pa.array(
            [None if row["id"] is None else str(row["id"]) for row in rows], pa.string()
        )
        pq.write_table(table.set_column(table.column_names.index("id"), "id", texts), self._path)

    def close(self) -> None:
        self.source.engine.close()


def without_nul(rows: list[Row]) -> list[Row]:
    return [
        {
            name: value.replace("\0", "0") if isinstance(value, str) else value
            for name, value in row.items()
        }
        for row in rows
    ]


def generate_case(seed: int, bench: Bench) -> tuple[Plan, list[Row]]:
    """Draw a query and a table from a seed."""
    random = Random(seed)
    plan = planned(random, bench)
    return plan, without_nul(world(random, plan.query.rows.declaration))


def on(plan: Plan, source: TableSource) -> Plan:
    """The same plan for another engine, with the same statements but for their language."""
    there = replace(plan, source=source)
    there.__dict__["statements"] = build_statements(
        source.table,
        there.query,
        there.components,
        there.calibration.bounding,
        SECRET,
        ballot=plan.needs_ballot,
    )
    return there


def tally(plan: Plan) -> list[Any]:
    """Everything that reaches the noise, in an order that is not the engine's."""
    rehearsal = Rehearsal(plan)
    rehearsal.plan.__dict__["statements"] = plan.statements
    if plan.workload is not None:
        return [call.integers[0].tolist() for call in rehearsal.measure()[0]]
    through = rehearsal.run()
    groups = [tuple(plain(key) for key in row) for row in through.groups.rows]
    tallies: list[Any] = [groups]
    for call in through.calls:
        if len(call.integers) == 3:
            tallies.append(sorted(zip(*(values.tolist() for values in call.integers), strict=True)))
        elif not plan.query.public and call is through.calls[0]:
            tallies.append(
                sorted(
                    zip(
                        map(repr, ballot_keys(plan, through)),
                        call.integers[0].tolist(),
                        strict=True,
                    )
                )
            )
        else:
            tallies.append((str(call.integers[0].dtype), call.integers[0].tolist()))
    return tallies


def differ_in_groupings(bench: Bench, second: Any, cases: int) -> list[int]:
    """The seeds of queries of which the engines give other integers for some grouping by their
    keys, among the first `cases` queries that have such groupings.
    """
    seeds, tried = [], 0
    for seed in range(2000):
        single, rows = generate_case(seed, bench)
        keys = tuple(range(len(single.query.keys)))
        if not keys or not single.query.public:
            continue
        query = replace(single.query, sets=(keys, keys[1:], ()) if keys[1:] else (keys, ()))
        try:
            here = plan(query, GDP(1), bench.source)
            there = on(here, second.source)
        except Refused:
            continue
        bench.put(rows)
        second.put(rows)
        if tally(on(here, bench.source)) != tally(there):
            seeds.append(seed)
        tried += 1
        if tried == cases:
            return seeds
    raise AssertionError(tried)


def differs(seed: int, bench: Bench, second: Any, *, refusing: bool = False) -> str:
    """Say where two engines answer one query differently. The text is empty where they agree, and
    where the second engine may refuse and does.
    """
    entry = ENGINES[second.source.engine.backend.name]
    assert type(second.source.engine) is getattr(entry.load(), entry.name)
    plan, rows = generate_case(seed, bench)
    try:
        there = on(plan, second.source)
        assert there.sql  # written before anything is read
    except Refused as refused:
        return "" if refusing and refused.code == "engine.language" else str(refused)
    bench.put(rows)
    second.put(rows)
    here, beyond = tally(on(plan, bench.source)), tally(there)
    apart = [pair for pair in zip(here, beyond, strict=True) if pair[0] != pair[1]]
    return "" if not apart else f"{seed}: {apart}\n{plan.text}"
