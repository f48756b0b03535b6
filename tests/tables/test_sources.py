"""Sources: whatever an owner has becomes columns of declared types, without a row being read, and
no cell can make reading fail.
"""

from __future__ import annotations

import datetime
import itertools
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.tables.engine.duckdb_engine import quote_text
from sfumato.tables.engine.frame_sources import FrameSource
from sfumato.tables.engine.sources import TableSource, open_source, open_sources
from sfumato.tables.expr.types import NAMES, Type

from ..refusing import refusal

ROWS = {
    "user_id": [1, 2, 3],
    "city": ["Roma", None, "Bari"],
    "spend": [1.5, None, 2.0],
    "day": [datetime.date(2026, 1, d) for d in (1, 2, 3)],
}
TYPES = {"user_id": "int64", "city": "string", "spend": "float64", "day": "date"}


def result(source: TableSource) -> dict[str, list[Any]]:
    columns = source.engine.run(source.table).to_pydict()
    order = sorted(
        range(len(next(iter(columns.values())))),
        key=lambda i: str([column[i] for column in columns.values()]),
    )
    return {name: [column[i] for i in order] for name, column in columns.items()}


def as_text(schema: Any) -> dict[str, str]:
    return {name: str(kind) for name, kind in schema.items()}


def all_kinds(folder: Path) -> dict[str, tuple[Any, dict[str, str]]]:
    """Make the same table as every kind of source that `open_source` reads, each with the types
    that it has to declare.
    """
    table = pa.table({**ROWS, "city": pa.array(ROWS["city"]).dictionary_encode()})
    pq.write_table(table, folder / "visits.parquet")
    text = "user_id,city,spend,day\n1,Roma,1.5,2026-01-01\n2,,,2026-01-02\n3,Bari,2,2026-01-03\n"
    (folder / "visits.csv").write_text(text)
    with duckdb.connect(str(folder / "visits.duckdb")) as con:
        con.register("t", table)
        con.execute("CREATE TABLE visits AS SELECT * FROM t")
    backend = ibis.duckdb.connect()
    backend.create_table("visits", table)
    declared = {"day": "date"}
    return {
        "Parquet": (folder / "visits.parquet", {}),
        "CSV": (folder / "visits.csv", {"user_id": "int64", "spend": "float", "day": "date"}),
        "DuckDB": (f"{folder}/visits.duckdb::visits", {}),
        "pandas": (pd.DataFrame(ROWS), declared),
        "polars": (pl.DataFrame(ROWS), {}),
        "arrow": (table, {}),
        "Ibis": (backend.table("visits"), {}),
    }


KINDS = ["Parquet", "CSV", "DuckDB", "pandas", "polars", "arrow", "Ibis"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_source_is_the_same_table(tmp_path: Path, kind: str) -> None:
    data, types = all_kinds(tmp_path)[kind]
    source = open_source(data, types)
    assert as_text(source.schema) == TYPES
    assert result(source) == ROWS
    assert source.left_out == {}
    assert source.kind == (kind if kind in ("Parquet", "CSV", "DuckDB", "Ibis") else "frame")
    assert source.name == (None if source.kind == "frame" else "visits")
    assert open_source(data, types, "mine").name == "mine"
    assert {
        name: Type.from_ibis(dtype, name) for name, dtype in source.table.schema().items()
    } == source.schema, "Ibis and we agree on what they are"
    source.engine.close()


@pytest.mark.parametrize("kind", KINDS)
def test_declared_types_are_what_columns_become(tmp_path: Path, kind: str) -> None:
    data, _ = all_kinds(tmp_path)[kind]
    source = open_source(
        data,
        {
            "user_id": "string",
            "spend": "decimal(10,1) not null",
            "day": "timestamp",
            "city": "category",
        },
    )
    assert as_text(source.schema) == {
        "user_id": "string",
        "city": "string",
        "spend": "decimal(10,1) not null",
        "day": "timestamp",
    }
    days = [datetime.datetime(2026, 1, d) for d in (1, 2, 3)]
    if kind == "pandas":
        days = [None] * 3  # type: ignore[list-item]  # its objects are days, and no instants
    expected = {
        "user_id": ["1", "2", "3"],
        "city": ["Roma", None, "Bari"],
        "spend": [Decimal("1.5"), None, Decimal("2.0")],
        "day": days,
    }
    assert result(source) == expected


def test_text_is_text_until_declared(tmp_path: Path) -> None:
    data, _ = all_kinds(tmp_path)["CSV"]
    assert set(as_text(open_source(data).schema).values()) == {"string"}
    frame = pd.DataFrame({"x": pd.Series([1, 2], dtype=object)})
    assert as_text(open_source(frame).schema) == {"x": "string"}


def test_one_cell_does_not_change_the_schema(tmp_path: Path) -> None:
    for i, cell in enumerate(["3", "3.5", "2026-01-01", "true", "", "x" * 1000, '"a, b"']):
        (tmp_path / f"{i}.csv").write_text("a,b\n1,2\n" * 1 + f"{cell},5\n")
        source = open_source(tmp_path / f"{i}.csv", {"b": "int64"})
        assert as_text(source.schema) == {"a": "string", "b": "int64"}
        assert source.engine.run(source.table.agg(s=source.table.b.sum())).to_pydict() == {"s": [7]}


EDGES = {
    "bool": "true false",
    "int64": "0 -1 9223372036854775807 -9223372036854775808",
    "decimal(38,10)": "0 9999999999999999999999999999.9999999999 -0.0000000001",
    "float64": "nan inf -inf -0.0 1.7976931348623157e308 5e-324 9007199254740993 1e19 0.5 2.5",
    "float32": "nan inf 3.4e38 1e-45 -0.0",
    "date": (
        "2026-02-28|infinity|-infinity|5881580-07-10|5877642-06-25 "
        "(BC)|0001-01-01|0001-12-31 (BC)|9999-12-31|10000-01-01"
    ),
    "timestamp": (
        "2026-02-28 12:00:00|infinity|-infinity|294247-01-10 04:00:54.775806|290309-12-22 "
        "(BC) 00:00:00|0001-01-01|9999-12-31 23:59:59.999999"
    ),
    "timestamp with time zone": (
        "2026-02-28 12:00:00+02|infinity|294247-01-10 04:00:54.775806+00|290309-12-22 (BC) "
        "00:00:00+00|9999-12-31 23:59:59.999999+00"
    ),
    "uuid": "12345678-1234-5678-1234-567812345678 00000000-0000-0000-0000-000000000000",
    "string": (
        "x|| 5 |5|5.5|1e400|-1e-400|nan|inf|0x10|1_000|99999999999999999999999999999999999999999|"
        "true|T|yes|2026-02-30|2026-02-28|2026-02-28 25:00|"
        "2026-02-28 12:00 Nowhere/None|2026-02-28 12:00 Europe/Rome|294247-01-10 "
        "04:00:54.775806|294247-01-10 04:00:54.775807+00|infinity|epoch|"
        "9999-12-31 23:59:59.9999999|2026-01-01T00:00:00+99:99|"
        "{12345678-1234-5678-1234-567812345678}|١|🙂|[1]|{}|" + "x" * 100_000
    ),
}
VALUES = {
    kind: [quote_text(value) for value in (texts.split("|") if "|" in texts else texts.split())]
    for kind, texts in EDGES.items()
}
"""Type → values of it at the edges, as DuckDB writes them."""

SQL = {"float32": "FLOAT", "float64": "DOUBLE", "int64": "BIGINT", "string": "VARCHAR"}
DECLARED = sorted({str(kind) for kind in NAMES.values()} | {"decimal(5,2)", "decimal(38,0)"})


@pytest.mark.parametrize("held", VALUES)
def test_no_cell_can_make_reading_fail(tmp_path: Path, held: str) -> None:
    """Every value at the edge of every type, read as every type that can be declared: never an
    error, and what comes out is null or of that type.
    """
    column = ", ".join(f"(CAST({value} AS {SQL.get(held, held)}))" for value in VALUES[held])
    duckdb.connect().execute(
        f"SET TimeZone = 'UTC'; COPY (SELECT x FROM (VALUES {column}, (NULL)) t(x)) TO "
        f"'{tmp_path}/edge.parquet'"
    )
    tried = refused = 0
    for declared in DECLARED:
        try:
            source = open_source(tmp_path / "edge.parquet", {"x": declared})
        except sf.Refused as why:
            refused += why.code == "table.cast"
            continue
        values = source.engine.run(source.table)[
            "x"
        ].to_pylist()  # dates and timestamps that Python cannot hold would fail here
        assert len(values) == len(VALUES[held]) + 1
        assert None in values
        source.engine.close()
        tried += 1
    assert tried >= 2
    assert tried + refused == len(DECLARED)


def test_days_outside_the_calendar_are_null(tmp_path: Path) -> None:
    source_rows = ", ".join(f"({value}::DATE)" for value in VALUES["date"])
    duckdb.connect().execute(
        f"COPY (SELECT x FROM (VALUES {source_rows}) t(x)) TO '{tmp_path}/days.parquet'"
    )
    source = open_source(tmp_path / "days.parquet")
    days = {datetime.date(2026, 2, 28), datetime.date(1, 1, 1), datetime.date(9999, 12, 31)}
    assert {
        day for day in source.engine.run(source.table)["x"].to_pylist() if day is not None
    } == days


@pytest.mark.parametrize(
    ("unit", "zone"), list(itertools.product(("s", "ms", "us", "ns"), (None, "UTC", "Europe/Rome")))
)
def test_no_instant_of_arrow_can_make_reading_fail(unit: Any, zone: str | None) -> None:
    extremes = [-(2**63), -(2**63) + 1, 2**63 - 1, 0, None, 10**15, -(10**15)]
    table = pa.table(
        {
            "t": pa.array(extremes, pa.int64()).view(pa.timestamp(unit, zone)),
            "d": pa.array([2**31 - 1] * 7, pa.int32()).view(pa.date32()),
        }
    )
    for declared in ("timestamp", "timestamp with time zone", "date", "string"):
        source = open_source(table, {"t": declared})
        values = result(source)
        assert len(values["t"]) == 7
        assert values["d"] == [None] * 7


def test_unsigned_integers_have_room(tmp_path: Path) -> None:
    table = pa.table(
        {
            f"u{bits}": pa.array([0, 2**bits - 1], getattr(pa, f"uint{bits}")())
            for bits in (8, 16, 32, 64)
        }
    )
    pq.write_table(table, tmp_path / "u.parquet")
    backend = ibis.duckdb.connect()
    backend.create_table("u", table)
    for data in (tmp_path / "u.parquet", table, backend.table("u")):
        source = open_source(data)
        assert as_text(source.schema) == {
            "u8": "int16",
            "u16": "int32",
            "u32": "int64",
            "u64": "decimal(20,0)",
        }
        assert result(source) == {f"u{bits}": [0, 2**bits - 1] for bits in (8, 16, 32, 64)}


UNREAD = {
    "list": "[1]",
    "struct": "{'a': 1}",
    "map": "map {'a': 1}",
    "blob": "'x'::BLOB",
    "json": "'{}'::JSON",
    "time": "TIME '12:00'",
    "span": "INTERVAL 1 DAY",
    "bits": "'101'::BIT",
}


@pytest.mark.parametrize("how", ["DuckDB", "Ibis"])
def test_columns_of_other_types_are_left_out_and_say_why(tmp_path: Path, how: str) -> None:
    columns = ", ".join(f"{value} AS {name}" for name, value in UNREAD.items())
    with duckdb.connect(str(tmp_path / "odd.duckdb")) as con:
        con.execute(
            f"CREATE TABLE odd AS SELECT 1 AS user_id, {columns}, 'x'::ENUM('x', 'y') AS "
            f"kind, 5::HUGEINT AS huge"
        )
    data: Any = tmp_path / "odd.duckdb"
    if how == "Ibis":
        data = ibis.duckdb.connect(data, read_only=True).table("odd")
    source = open_source(data)
    assert as_text(source.schema) == {"user_id": "int32", "kind": "string", "huge": "decimal(38,0)"}
    assert set(source.left_out) == set(UNREAD)
    assert result(source) == {"user_id": [1], "kind": ["x"], "huge": [5]}
    refused = refusal(lambda: open_source(data, {"list": "string"}), "table.column")
    assert refused.reason == source.left_out["list"]


def test_a_table_of_nothing_that_is_read_is_refused() -> None:
    refusal(lambda: open_source(pa.table({"x": [[1]]})), "table.columns")
    refusal(lambda: open_source(pd.DataFrame(index=[1, 2])), "table.columns")


@pytest.mark.parametrize(
    "data",
    [
        pa.table([[1], [2]], names=["Age", "age"]),
        pa.table([[1], [[2]]], names=["Age", "age"]),
        pa.table([[1]], names=["a\nb"]),
    ],
)
def test_names_that_an_engine_confuses_are_refused(data: Any, tmp_path: Path) -> None:
    refusal(lambda: open_source(data), "table.columns")
    (tmp_path / "x.csv").write_text("Age,age\n")
    refusal(lambda: open_source(tmp_path / "x.csv"), "table.columns")


def test_no_row_is_read_before_the_first_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[FrameSource] = []
    load = FrameSource.load
    monkeypatch.setattr(FrameSource, "load", lambda self: (loads.append(self), load(self))[1])
    for kind in ("pandas", "polars", "arrow"):
        folder = tmp_path / kind
        folder.mkdir()
        data, types = all_kinds(folder)[kind]
        source = open_source(data, types)
        source.engine.sql(source.table)
        assert loads == []
        result(source)
        assert loads
        loads.clear()


def test_a_destroyed_file_can_be_declared_and_then_fails(tmp_path: Path) -> None:
    path = tmp_path / "torn.parquet"
    pq.write_table(pa.table({"x": np.arange(100_000)}), path)
    data = bytearray(path.read_bytes())
    footer = int.from_bytes(data[-8:-4], "little") + 8
    data[4 : len(data) - footer] = b"\xff" * (len(data) - footer - 4)
    path.write_bytes(data)
    source = open_source(path)
    assert as_text(source.schema) == {"x": "int64"}
    with pytest.raises(duckdb.Error):
        source.engine.run(source.table.agg(s=source.table.x.sum()))


def test_several_tables_share_an_engine(tmp_path: Path) -> None:
    kinds = all_kinds(tmp_path)
    names = [kind for kind in KINDS if kind != "Ibis"]
    sources = open_sources(
        {name: kinds[name][0] for name in names},
        {name: kinds[name][1] for name in names},
        threads=1,
    )
    assert len({id(source.engine) for source in sources.values()}) == 1
    assert [source.name for source in sources.values()] == names
    first, *others = (source.table for source in sources.values())
    for table in others:
        joined = first.join(table, "user_id")
        assert sources["CSV"].engine.run(joined.agg(n=joined.count())).to_pydict() == {"n": [3]}


def test_tables_of_one_connection_are_asked_together(tmp_path: Path) -> None:
    backend = ibis.duckdb.connect()
    first, second = (backend.create_table(name, pa.table({"x": [1]})) for name in ("one", "two"))
    sources = open_sources({"a": first, "b": second})
    assert sources["a"].engine is sources["b"].engine
    elsewhere = ibis.duckdb.connect().create_table("three", pa.table({"x": [1]}))
    refusal(lambda: open_sources({"a": first, "c": elsewhere}), "table.engines")
    refusal(lambda: open_sources({"a": first, "c": pa.table({"x": [1]})}), "table.engines")


def test_a_query_is_no_table() -> None:
    table = ibis.duckdb.connect().create_table("t", pa.table({"x": [1, 2]}))
    for query in (
        table.filter(table.x > 1),
        table.limit(1),
        table.distinct(),
        table.agg(n=table.count()),
        ibis.memtable({"x": [1]}),
    ):
        refusal(lambda query=query: open_source(query), "table.source")


@pytest.mark.parametrize(
    "data",
    [
        None,
        5,
        {},
        [],
        [1],
        object(),
        {"x": [1]},
        pd.Series([1]),
        np.arange(3),
        duckdb.connect(),
        duckdb.sql("SELECT 1"),
        b"x.parquet",
    ],
)
def test_what_is_no_table_is_refused(data: Any) -> None:
    refusal(lambda: open_source(data), "table.source")


def test_types_of_unknown_columns_are_refused_with_a_near_name() -> None:
    assert (
        refusal(lambda: open_source(pa.table(ROWS), {"spnd": "float"}), "table.column").rewrite
        == "'spend'"
    )
    refusal(lambda: open_source(pa.table(ROWS), {"spend": "quantity"}), "table.type")
    refusal(lambda: open_source(pa.table(ROWS), cast(Any, ["spend"])), "table.type")


def test_a_type_that_nothing_becomes_is_refused() -> None:
    refused = refusal(lambda: open_source(pa.table({"ok": [True]}), {"ok": "date"}), "table.cast")
    assert refused.rewrite == "types={'ok': 'bool'}"


def test_halves_are_rounded_away_from_zero_as_in_every_other_cast() -> None:
    source = open_source(
        pa.table({"x": [0.5, 1.5, 2.5, -2.5, float("nan"), float("inf"), 1e300]}), {"x": "int64"}
    )
    assert sorted(value for value in result(source)["x"] if value is not None) == [-3, 1, 2, 3]


def test_a_refused_source_leaves_no_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    refusal(lambda: open_source(pa.table({"ok": [True]}), {"ok": "date"}), "table.cast")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["visits", "select", 'say "no"', "it's", "a b", "città"])
def test_any_name_will_do(name: str) -> None:
    source = open_source(pa.table(ROWS), name=name)
    assert source.name == name
    assert result(source) == ROWS
