"""Guards around values: NaN is null, also where what a file states of its column leaves NaN out."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import ibis.expr.datatypes as dt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.tables.engine.sources import open_source
from sfumato.tables.expr import engine_values as ev
from sfumato.tables.expr.types import Type
from sfumato.testing.exact_checks import through_the_door

from .special_values import engine

ROWS = 1000
HIGH = 600  # of the values 0 … 998, so many are not above


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """One NaN; the statistics that Arrow writes say 0 to 998, as if it were not there."""
    values = np.arange(ROWS, dtype=np.float64)
    values[-1] = np.nan
    pq.write_table(pa.table({"x": values}), tmp_path / "one_nan.parquet")
    stated = pq.read_metadata(tmp_path / "one_nan.parquet").row_group(0).column(0).statistics
    assert (stated.min, stated.max) == (0.0, 998.0)
    return tmp_path / "one_nan.parquet"


def _by_nullif(value: Any) -> Any:
    import ibis

    return value.nullif(ibis.literal(float("nan"), type=value.type()))


def _count_high(path: Path, guard: Any) -> int:
    source = open_source(path, {}, "t")
    column = guard(source.table["x"])
    high_rows = (
        source.engine.run(source.table.filter(column >= HIGH).count().as_table())
        .column(0)[0]
        .as_py()
    )
    source.engine.close()
    return int(high_rows)


def test_nan_is_null_whatever_a_file_states(path: Path) -> None:
    assert _count_high(path, ev.without_nan) == ROWS - 1 - HIGH


def test_a_comparison_with_nan_would_not_do(path: Path) -> None:
    """The twin: DuckDB decides x = NaN by the file's statistics, and the NaN is above every
    number.
    """
    assert _count_high(path, _by_nullif) == ROWS - HIGH


def test_sums_and_sides_leave_nan_out(path: Path) -> None:
    """Bounds that hold all values that are stated: nothing needs to be compared, and still the NaN
    is not added.
    """
    table = sf.protect(path, bounds={"x": (0, 1024)}, budget=sf.Pure(10), table_rows=2**20)
    query = table.where(sf.col("x") >= 0).aggregate(
        n=sf.count("x"), total=sf.sum("x"), m=sf.median("x"), h=sf.histogram("x", edges=[0, 2000])
    )
    through = through_the_door(query.plan(epsilon=1))
    step = next(piece.step for piece in through.pieces if piece.name.startswith("sum"))
    assert through.integers("count x").tolist() == [[ROWS - 1]]
    assert int(
        next(piece.values for piece in through.pieces if piece.name.startswith("sum"))[0, 0]
    ) * step == sum(range(ROWS - 1))
    assert next(
        piece.values for piece in through.pieces if piece.name.startswith("clipped")
    ).tolist() == [[0, ROWS - 1, 0]]
    assert next(
        piece.values for piece in through.pieces if piece.name.startswith("histogram")
    ).tolist() == [[ROWS - 1]]
    table.close()


@pytest.mark.parametrize(
    ("unit", "value", "expected"),
    [
        ("TIMESTAMP_S", "2020-01-01 12:34:56", "2020-01-01 12:34:56"),
        ("TIMESTAMP_MS", "2020-01-01 12:34:56.789", "2020-01-01 12:34:56.789"),
        ("TIMESTAMP_NS", "2020-01-01 12:34:56.123456789", "2020-01-01 12:34:56.123456"),
        ("TIMESTAMP_S", "290000-01-01 00:00:00", None),
        ("TIMESTAMP", "infinity", None),
        ("TIMESTAMPTZ", "2020-01-01 00:00:00+02", "2019-12-31 22:00:00"),
        ("TIMESTAMPTZ", "294247-01-10 04:00:54.775806+00", None),
        ("DATE", "2020-01-01", "2020-01-01 00:00:00"),
        ("VARCHAR", "2020-01-01", "2020-01-01 00:00:00"),
        ("VARCHAR", "hello", None),
    ],
)
def test_a_column_is_read_as_its_type(unit: str, value: str, expected: str | None) -> None:
    """Microseconds in UTC, whatever the engine holds; what Python cannot hold is null."""
    connection = engine()
    connection.con.execute(f"CREATE TABLE moments AS SELECT CAST('{value}' AS {unit}) AS x")
    moments = connection.table("moments")
    column_type = Type.of("timestamp with time zone" if unit == "TIMESTAMPTZ" else "timestamp")
    values = connection.to_pyarrow(
        moments.select(r=sf.col("x").build(moments, {"x": column_type}))
    ).column("r")
    assert str(values.type) == "timestamp[us]"
    assert values.to_pylist() == [None if expected is None else datetime.fromisoformat(expected)]


def test_what_an_expression_made_of_a_zone_is_not_turned_twice() -> None:
    """A column that was made from a timestamp with a zone is in UTC already, and has none."""
    connection = engine()
    connection.con.execute(
        "CREATE TABLE moments AS SELECT TIMESTAMPTZ '2020-01-01 00:00:00+02' AS x"
    )
    moments = connection.table("moments")
    zoned = {"x": Type.of("timestamp with time zone")}
    extended = moments.mutate(y=sf.col("x").build(moments, zoned))
    types = zoned | {"y": sf.col("x").type(zoned)}
    rows = connection.to_pyarrow(
        extended.select(
            a=sf.col("y").build(extended, types),
            b=(sf.col("x") == sf.col("y")).build(extended, types),
        )
    ).to_pylist()
    assert rows == [{"a": datetime(2019, 12, 31, 22), "b": True}]


@pytest.mark.parametrize(
    "kind", ["UTINYINT", "UINTEGER", "UBIGINT", "FLOAT", "DECIMAL(4, 2)", "SMALLINT"]
)
def test_engines_own_numbers_are_read_as_their_type(kind: str) -> None:
    connection = engine()
    connection.con.execute(f"CREATE TABLE numbers AS SELECT CAST(3 AS {kind}) AS x")
    numbers = connection.table("numbers")
    column_type = Type.from_ibis(numbers["x"].type(), "x")
    values = connection.to_pyarrow(
        numbers.select(r=sf.col("x").build(numbers, {"x": column_type}))
    ).column("r")
    assert Type.from_ibis(dt.DataType.from_pyarrow(values.type), "r") == column_type.bare
    assert values.to_pylist() == [3]
