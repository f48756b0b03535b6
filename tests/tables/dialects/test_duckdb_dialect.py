"""DuckDB's statements are Ibis's own, letter by letter."""

from __future__ import annotations

from random import Random
from typing import Any

import ibis
import pytest

from sfumato.tables.engine.dialects.duckdb_dialect import FastDuckDBCompiler
from sfumato.tables.engine.duckdb_engine import compile_sql

from ..worlds import Bench, planned

TYPES = (
    "boolean",
    "int8",
    "int64",
    "uint16",
    "float32",
    "float64",
    "decimal(12, 2)",
    "decimal(38, 0)",
    "string",
    "binary",
    "date",
    "time",
    "uuid",
)
NESTED = (
    "timestamp",
    "timestamp('UTC')",
    "timestamp('UTC', 6)",
    "timestamp(3)",
    "array<int64>",
    "array<array<string>>",
    "struct<a: int8, b: time>",
    "json",
)


@pytest.mark.parametrize("name", [*TYPES, *NESTED])
def test_types_are_written_alike(name: str) -> None:
    table = ibis.table({"x": "string"}, name="t")
    expression = table.select(y=table.x.cast(name), z=table.x.try_cast(name), n=ibis.null(name))
    assert compile_sql(FastDuckDBCompiler(), expression) == compile_sql(
        ibis.duckdb.connect(), expression
    )


def test_statements_are_written_alike() -> None:
    bench = Bench()
    theirs: Any = bench.source.engine.backend
    for seed in range(20):
        release_plan = planned(Random(seed), bench)
        assert [
            compile_sql(theirs, statement.expression) for statement in release_plan.statements
        ] == list(release_plan.sql)
    bench.close()
