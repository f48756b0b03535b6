"""Steps of an expression: the same rows as by Ibis's own filter and projection."""

from __future__ import annotations

from typing import Any

import ibis
import pytest

from sfumato.tables.engine.duckdb_engine import compile_sql
from sfumato.tables.expr.relational import group, select

ROWS = {"a": [1, 1, 2, 2, None], "b": [1.5, 1.5, 2.5, 3.5, 4.5], "c": ["x", "x", "y", "x", "y"]}


def _duckdb() -> Any:
    return ibis.duckdb.connect().create_table(
        "t", ibis.memtable(ROWS, schema={"a": "int64", "b": "float64", "c": "string"})
    )


def _lines(table: Any) -> list[Any]:
    return sorted(map(str, table.to_pyarrow().to_pylist()))


def test_columns_where_conditions_hold() -> None:
    table = _duckdb()
    selected = select(
        table, {"k": table.c, "twice": table.a + table.a}, [table.a.notnull(), table.b > 2]
    )
    assert selected.columns == ("k", "twice")
    assert _lines(selected) == _lines(
        table.filter(table.a.notnull(), table.b > 2).select(k="c", twice=ibis._.a + ibis._.a)
    )
    assert len(_lines(select(table, {"a": table.a}))) == 5


def test_each_combination_once() -> None:
    table = _duckdb()
    selected = select(table, {"a": table.a, "c": table.c}, [table.a.notnull()], distinct=True)
    assert _lines(selected) == ["{'a': 1, 'c': 'x'}", "{'a': 2, 'c': 'x'}", "{'a': 2, 'c': 'y'}"]


def test_sums_by_key_of_steps_upon_steps() -> None:
    table = _duckdb()
    first = select(table, {"k": table.c, "v": table.a}, [table.b < 4])
    counted = group(first, ["k"], {"n": first.count(), "s": first.v.sum()})
    assert _lines(counted) == ["{'k': 'x', 'n': 3, 's': 4}", "{'k': 'y', 'n': 1, 's': 2}"]
    joined = first.join(select(counted, {"k": counted.k, "n": counted.n}, [counted.n > 1]), ["k"])
    assert _lines(group(joined, (), {"n": joined.n.sum()})) == ["{'n': 9}"]


def test_one_select_for_one_step() -> None:
    table = _duckdb()
    text = compile_sql(
        table.get_backend(), select(table, {"a": table.a}, [table.b > 2, table.c == "x"])
    )
    assert text.count("SELECT") == 1
    assert text.count("WHERE") == 1


def test_ibis_keeps_its_own_way_of_writing() -> None:
    """The option with which statements are written is everybody's: it is as before, also after an
    error.
    """
    table = _duckdb()
    for before in (True, False):
        ibis.options.sql.fuse_selects = before
        try:
            compile_sql(table.get_backend(), table.select("a"))
            with pytest.raises(AttributeError):
                compile_sql(table.get_backend(), object())
            assert ibis.options.sql.fuse_selects is before
        finally:
            ibis.options.sql.fuse_selects = True
