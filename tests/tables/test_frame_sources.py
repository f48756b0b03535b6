"""Tables in memory: types from dtypes, columns made at first use, and no cell that could make
reading fail.
"""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from sfumato.tables.engine.frame_sources import (
    FRAMES,
    FrameSource,
    arrow_type,
    find_frame,
    unread_reason,
)

from ..refusing import refusal

EXTREMES = [-(2**63), -(2**63) + 1, 2**63 - 1, 0, None, 10**15, -(10**15)]


def held(source: Any) -> FrameSource:
    frame_source = find_frame(source, {})
    assert frame_source is not None
    return frame_source


def instants(unit: str, zone: str | None = None) -> Any:
    return pa.array(EXTREMES, pa.int64()).view(pa.timestamp(unit, zone))


READ: list[tuple[Any, Any]] = [
    *(
        (kind, kind)
        for kind in (
            pa.bool_(),
            pa.int8(),
            pa.int64(),
            pa.uint8(),
            pa.uint64(),
            pa.float32(),
            pa.float64(),
        )
    ),
    *((kind, kind) for kind in (pa.string(), pa.large_string(), pa.date32(), pa.uuid())),
    *(
        (kind, kind)
        for kind in (
            pa.decimal32(9, 2),
            pa.decimal64(18, 2),
            pa.decimal128(38, 38),
            pa.dictionary(pa.int8(), pa.string()),
        )
    ),
    *((kind, kind) for kind in (pa.timestamp("us"), pa.timestamp("ns", "Europe/Rome"))),
    (pa.float16(), pa.float32()),
    (pa.date64(), pa.date32()),
    (pa.string_view(), pa.large_string()),
    (pa.timestamp("s"), pa.timestamp("us")),
    (pa.timestamp("ms", "+02:00"), pa.timestamp("us", "+02:00")),
    (pa.dictionary(pa.int8(), pa.float16()), pa.dictionary(pa.int8(), pa.float32())),
]
LEFT_OUT = [
    pa.list_(pa.int64()),
    pa.large_list(pa.int64()),
    pa.struct([("a", pa.int64())]),
    pa.map_(pa.string(), pa.int64()),
    pa.binary(),
    pa.binary(16),
    pa.duration("s"),
    pa.time32("s"),
    pa.time64("us"),
    pa.month_day_nano_interval(),
    pa.null(),
    pa.json_(),
    pa.decimal256(50, 2),
    pa.decimal128(10, -2),
    pa.dictionary(pa.int8(), pa.binary()),
    pa.dictionary(pa.int8(), pa.dictionary(pa.int8(), pa.string())),
    pa.run_end_encoded(pa.int32(), pa.string()),
]


@pytest.mark.parametrize(("kind", "expected"), READ, ids=str)
def test_types_that_are_read(kind: Any, expected: Any) -> None:
    assert arrow_type(kind) == expected
    frame = held(pa.schema([("x", kind)]).empty_table())
    assert (
        frame.schema == frame.empty().schema == frame.load().schema == pa.schema([("x", expected)])
    )


@pytest.mark.parametrize("kind", LEFT_OUT, ids=str)
def test_types_that_are_not(kind: Any) -> None:
    assert arrow_type(kind) is None
    frame = held(pa.schema([("x", kind), ("y", pa.int64())]).empty_table())
    assert frame.schema.names == frame.load().schema.names == ["y"]
    assert frame.left_out == {"x": unread_reason(kind)}


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Rome"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_instants_keep_their_value_or_are_null(unit: str, zone: str | None) -> None:
    steps = {"s": 10**6, "ms": 10**3}.get(unit, 1)
    column = held(pa.table({"t": instants(unit, zone)})).load()["t"].cast(pa.int64()).to_pylist()
    assert column == [
        None if value is None or abs(value * steps) >= 2**63 + (steps == 1) else value * steps
        for value in EXTREMES
    ]


def test_dictionaries_of_narrow_types_are_made_anew() -> None:
    column = pa.DictionaryArray.from_arrays(
        pa.array([0, None, 0], pa.int32()), pa.array(np.array([1.5], np.float16))
    )
    assert held(pa.table({"x": column})).load()["x"].to_pylist() == [1.5, None, 1.5]
    chunked = pa.chunked_array([column, column])
    assert held(pa.table({"x": chunked})).load()["x"].to_pylist() == [1.5, None, 1.5] * 2


def test_columns_are_made_when_asked_for() -> None:
    requests: list[list[str]] = []

    def make(names: list[str]) -> Any:
        requests.append(names)
        return pa.table({"x": [1]})

    frame = FrameSource({"x": pa.int64(), "y": "Object"}, make)
    assert frame.empty().num_rows == 0
    assert requests == []
    assert frame.load().num_rows == 1
    assert requests == [["x"]]


POLARS = pl.DataFrame(
    {
        "i": [1, None],
        "s": ["a", None],
        "c": pl.Series(["a", "b"], dtype=pl.Categorical),
        "e": pl.Series(["a", None], dtype=pl.Enum(["a", "b"])),
        "d": [datetime.date(2026, 1, 1), None],
        "t": pl.Series([1, 2]).cast(pl.Datetime("ms")),
        "z": pl.Series([datetime.datetime(2026, 1, 1), None]).dt.replace_time_zone("Europe/Rome"),
        "m": pl.Series(["1.5", None]).cast(pl.Decimal(10, 2)),
        "f": [float("nan"), None],
        "object": pl.Series([object(), object()], dtype=pl.Object),
        "null": pl.Series([None, None]),
        "list": [[1], [2]],
        "struct": [{"a": 1}, {"a": 2}],
        "binary": [b"x", b"y"],
        "span": [datetime.timedelta(1), None],
        "time": [datetime.time(1), None],
        "wide": pl.Series([1, 2], dtype=pl.Int128),
    }
)


def test_polars() -> None:
    frame = held(POLARS)
    assert set(frame.left_out) == {
        "object",
        "null",
        "list",
        "struct",
        "binary",
        "span",
        "time",
        "wide",
    }
    table = frame.load()
    assert table.schema == frame.schema
    assert table["c"].to_pylist() == ["a", "b"]
    assert table["e"].to_pylist() == ["a", None]
    assert table["t"].type == pa.timestamp("us")
    assert table["z"].to_pylist()[0] == datetime.datetime(2025, 12, 31, 23, tzinfo=datetime.UTC)
    assert table["f"].null_count == 1, "NaN is a float to Polars, and null is null"


def test_polars_types_do_not_depend_on_values() -> None:
    assert held(POLARS.clear()).schema == held(POLARS.head(1)).schema == held(POLARS).schema


def test_what_is_read_once_or_later_is_refused() -> None:
    assert "collect" in refusal(lambda: find_frame(POLARS.lazy(), {}), "table.source").rewrite
    reader = pa.table({"x": [1]}).to_reader()
    assert "read_all" in refusal(lambda: find_frame(reader, {}), "table.source").rewrite
    assert reader.read_all().num_rows == 1, "and not read"


def test_two_columns_of_one_name_are_refused() -> None:
    refusal(lambda: find_frame(pa.table([[1], [2]], names=["x", "x"]), {}), "table.columns")


@pytest.mark.parametrize("source", [None, 5, {"x": [1]}, [1, 2], object()])
def test_what_is_no_frame_is_none(source: Any) -> None:
    assert find_frame(source, {}) is None


def test_every_class_is_there() -> None:
    import importlib

    for library, name in FRAMES:
        assert isinstance(getattr(importlib.import_module(library), name), type)
