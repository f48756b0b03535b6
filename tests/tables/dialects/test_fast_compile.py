"""Statements are those that Ibis writes, whether or not its passes are left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ibis
import pytest
from ibis.backends.sql.compilers.duckdb import DuckDBCompiler
from ibis.backends.sql.compilers.postgres import PostgresCompiler
from ibis.backends.sql.compilers.pyspark import PySparkCompiler

from sfumato.tables.engine.dialects import fast_compile
from sfumato.tables.engine.dialects.fast_compile import FastCompile

T = ibis.table({"x": "int64", "y": "int64", "s": "string", "a": "array<int64>"}, name="t")
THEIRS = {"duckdb": DuckDBCompiler, "postgres": PostgresCompiler, "spark": PySparkCompiler}
OURS = {
    name: type(
        "Compiler",
        (FastCompile, theirs),
        {"__slots__": (), "SIMPLE_OPS": {}, "UNSUPPORTED_OPS": ()},
    )
    for name, theirs in THEIRS.items()
}

PLAIN: dict[str, Any] = {
    "conditions": T.filter(T.x > 1, T.s.isin(["a", "b"])).select("y"),
    "sums": T.group_by("s").agg(n=T.count(), m=T.x.sum()),
    "distinct": T.select("x", "s").distinct(),
    "a join": T.filter(T.x > 1).join(T.group_by("y").agg(n=T.count()), "y").select("x", "n"),
    "a join with itself": T.filter(T.x > 1).join(T.filter(T.x > 1).view(), "y").select("x"),
    "a union": T.select("x").union(T.filter(T.y > 2).select("x")),
    "twice the same": ibis.union(
        T.group_by("x").agg(n=T.count()), T.group_by("x").agg(n=T.count())
    ),
}
REWRITTEN: dict[str, Any] = {
    "no values": T.filter(T.s.isin([])),
    "a place in a text": T.mutate(z=T.s.find("a")),
    "a rank": T.mutate(z=ibis.row_number().over(group_by="s", order_by="x")),
    "the second": T.mutate(z=T.x.nth(1).over(group_by="s", order_by="x")),
    "of a list": T.mutate(z=T.a.map(lambda x, i: x + i)),
    "a place in a list": T.mutate(z=T.a.index(3)),
    "in order": T.select("x", "y").distinct().order_by(T.x),
    "capitals": T.mutate(z=T.s.capitalize()),
}
SILENT = {
    ("duckdb", "in order"),
    ("postgres", "in order"),
    ("spark", "in order"),
    ("spark", "of a list"),
}
"""Where the engine has no pass for it, or it changes only what Ibis puts into one SELECT, which is
never asked of it here.
"""


def written(make: Callable[[Any], Any], compiler: Any) -> str:
    before, ibis.options.sql.fuse_selects = ibis.options.sql.fuse_selects, False
    try:
        return str(make(compiler).sql(dialect=compiler.dialect, pretty=True))
    finally:
        ibis.options.sql.fuse_selects = before


@pytest.mark.parametrize("engine", THEIRS)
@pytest.mark.parametrize("name", PLAIN)
def test_without_passes_it_is_the_same(engine: str, name: str) -> None:
    ours = OURS[engine]()
    assert ours._needs_no_pass(PLAIN[name])
    assert written(lambda compiler: compiler.tree(PLAIN[name]), ours) == written(
        lambda compiler: compiler.to_sqlglot(PLAIN[name]), THEIRS[engine]()
    )


@pytest.mark.parametrize("engine", THEIRS)
@pytest.mark.parametrize("name", REWRITTEN)
def test_where_there_is_something_to_find_they_stay(engine: str, name: str) -> None:
    """And, the twin, without them the statement is another, or none."""
    ours, expression = OURS[engine](), REWRITTEN[name]
    assert not ours._needs_no_pass(expression)
    theirs = written(lambda compiler: compiler.to_sqlglot(expression), THEIRS[engine]())
    assert written(lambda compiler: compiler.tree(expression), ours) == theirs
    try:
        statement = written(
            lambda compiler: compiler.to_sqlglot(expression), fast_compile._without(OURS[engine])
        )
    except Exception:
        return
    assert statement != theirs or (engine, name) in SILENT


def test_these_are_all_passes() -> None:
    """A new one of Ibis's is to be looked at first."""
    assert {
        name: (len(theirs.rewrites), len(theirs.post_rewrites)) for name, theirs in THEIRS.items()
    } == {
        "duckdb": (5, 0),
        "postgres": (5, 1),
        "spark": (5, 1),
    }
    lowered = {
        name: sorted(op.__name__ for op in theirs.lowered_ops) for name, theirs in THEIRS.items()
    }
    assert lowered["duckdb"] == ["Bucket", "Capitalize", "Sample"]
    assert (
        lowered["postgres"] == lowered["spark"] == ["Bucket", "Capitalize", "Sample", "StringSlice"]
    )
