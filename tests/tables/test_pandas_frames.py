"""pandas: a dtype says what a column is, and a cell that is something else is null."""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sfumato.tables.engine.pandas_frames import OBJECTS, columns, pandas_type, text_of, types

from ..refusing import refusal

SURROGATE = "\ud800"
ROME = pd.to_datetime(["2026-01-01", None, "2026-07-01"]).tz_localize("Europe/Rome")
DAY = datetime.datetime(2026, 1, 1)
UUID = uuid.UUID("12345678-1234-5678-1234-567812345678")

COLUMNS: dict[str, tuple[Any, Any, list[Any]]] = {
    "int64": (np.array([1, 2, 3]), pa.int64(), [1, 2, 3]),
    "uint8": (np.array([1, 2, 3], "uint8"), pa.uint8(), [1, 2, 3]),
    "float64": (np.array([1.5, np.nan, np.inf]), pa.float64(), [1.5, None, np.inf]),
    "float16": (np.array([1.5, np.nan, 2], "float16"), pa.float16(), [1.5, None, 2.0]),
    "bool": (np.array([True, False, True]), pa.bool_(), [True, False, True]),
    "Int64": (pd.array([1, None, 3], dtype="Int64"), pa.int64(), [1, None, 3]),
    "UInt16": (pd.array([1, None, 3], dtype="UInt16"), pa.uint16(), [1, None, 3]),
    "Float32": (pd.array([1.5, None, 3], dtype="Float32"), pa.float32(), [1.5, None, 3.0]),
    "boolean": (pd.array([True, None, False], dtype="boolean"), pa.bool_(), [True, None, False]),
    "str": (pd.array(["a", None, "b"], dtype="str"), pa.large_string(), ["a", None, "b"]),
    "string": (pd.array(["a", None, "b"], dtype="string"), pa.large_string(), ["a", None, "b"]),
    "string in Python": (
        pd.array(["a", None, SURROGATE], dtype=pd.StringDtype("python")),
        pa.large_string(),
        ["a", None, None],
    ),
    "object": (np.array(["a", 5, None], dtype=object), pa.large_string(), ["a", None, None]),
    "objects": (
        np.array([SURROGATE, object(), [1]], dtype=object),
        pa.large_string(),
        [None, None, None],
    ),
    "category": (
        pd.Categorical(["a", None, "b"]),
        pa.dictionary(pa.int32(), pa.large_string()),
        ["a", None, "b"],
    ),
    "category of numbers": (
        pd.Categorical([3, None, 4]),
        pa.dictionary(pa.int32(), pa.int64()),
        [3, None, 4],
    ),
    "category of objects": (
        pd.Categorical(["a", 5, None]),
        pa.dictionary(pa.int32(), pa.large_string()),
        ["a", None, None],
    ),
    "category of days": (
        pd.Categorical(pd.to_datetime(["2026-01-01"] * 3)),
        pa.dictionary(pa.int32(), pa.timestamp("us")),
        [datetime.datetime(2026, 1, 1)] * 3,
    ),
    "category of nothing": (
        pd.Categorical([None] * 3, categories=pd.Index([], dtype="str")),
        pa.dictionary(pa.int32(), pa.large_string()),
        [None] * 3,
    ),
    "datetime": (
        pd.to_datetime(["2026-01-01", None, "2026-07-01"]),
        pa.timestamp("us"),
        [datetime.datetime(2026, 1, 1), None, datetime.datetime(2026, 7, 1)],
    ),
    "seconds": (np.array([0, 2**62, 1]).view("M8[s]"), pa.timestamp("s"), None),
    "zone": (
        ROME,
        pa.timestamp("us", "UTC"),
        [
            datetime.datetime(2025, 12, 31, 23, tzinfo=datetime.UTC),
            None,
            datetime.datetime(2026, 6, 30, 22, tzinfo=datetime.UTC),
        ],
    ),
    "Arrow": (pd.array([1, None, 3], dtype=pd.ArrowDtype(pa.int32())), pa.int32(), [1, None, 3]),
    "Arrow strings": (
        pd.array(["a", None, "b"], dtype=pd.ArrowDtype(pa.string())),
        pa.string(),
        ["a", None, "b"],
    ),
}


@pytest.mark.parametrize("case", COLUMNS)
def test_columns(case: str) -> None:
    values, kind, expected = COLUMNS[case]
    frame = pd.DataFrame({"x": values}, index=[10, 10, 11])
    assert types(frame) == {"x": kind}
    column = columns(frame, ["x"], {})["x"]
    assert column.type == kind
    assert expected is None or column.to_pylist() == expected
    assert types(frame.iloc[:0]) == {"x": kind}, "rows have no part in it"
    assert columns(frame.iloc[:0], ["x"], {})["x"].type == kind


@pytest.mark.parametrize(
    "values",
    [
        pd.to_timedelta([1, 2]),
        np.array([1j, 2]),
        pd.period_range("2026-01", periods=2, freq="M"),
        pd.arrays.SparseArray([0, 1]),
        pd.interval_range(0, 2),
        pd.Categorical(pd.to_timedelta([1, 2])),
    ],
)
def test_dtypes_that_are_not_read(values: Any) -> None:
    dtype = pd.Series(values).dtype
    assert pandas_type(dtype) is None
    assert types(pd.DataFrame({"x": values})) == {"x": dtype}


@pytest.mark.parametrize("names", [[1, 2], ["a", "a"], [("a", 1), ("a", 2)], ["a", None]])
def test_columns_without_names_are_refused(names: Any) -> None:
    refusal(lambda: types(pd.DataFrame([[1, 2]], columns=names)), "table.columns")


OF_KIND: dict[str, list[tuple[Any, str]]] = {
    "bool": [(True, "true"), (np.False_, "false")],
    "integer": [(5, "5"), (np.int8(-5), "-5"), (10**30, "1" + "0" * 30)],
    "decimal": [(Decimal("1.50"), "1.50"), (3, "3")],
    "float": [(1.5, "1.5"), (np.float32(0.5), "0.5"), (2, "2"), (float("nan"), "nan")],
    "date": [(datetime.date(2026, 1, 2), "2026-01-02"), (datetime.date(1, 1, 1), "0001-01-01")],
    "timestamp": [
        (datetime.datetime(2026, 1, 2, 3), "2026-01-02 03:00:00"),
        (
            datetime.datetime(2026, 1, 2, 3, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
            "2026-01-02 01:00:00",
        ),
        (pd.Timestamp("2026-01-02 03:00", tz="Europe/Rome"), "2026-01-02 02:00:00"),
    ],
    "uuid": [(UUID, str(UUID))],
    "string": [("x", "x")],
}


@pytest.mark.parametrize("kind", OF_KIND)
def test_objects_of_the_declared_kind_are_written_as_text(kind: str) -> None:
    for cell, text in OF_KIND[kind]:
        assert text_of(cell, kind) == text
    assert text_of("any text", kind) == "any text", "the engine tries to read it"


STRANGE: list[Any] = [
    None,
    pd.NA,
    object(),
    [1],
    {"a": 1},
    b"x",
    lambda: 1,
    type,
    datetime.timedelta(1),
    1j,
    float,
    ...,
]


class Hostile(int):
    """Raises when it is looked at."""

    def __str__(self) -> str:
        raise RuntimeError("Ada Lovelace")


@pytest.mark.parametrize("kind", OF_KIND)
def test_other_objects_are_null(kind: str) -> None:
    others = [
        cell
        for other_kind, cells in OF_KIND.items()
        if other_kind != kind
        for cell, _ in cells
        if not isinstance(cell, (*OBJECTS.get(kind, ()), str))
    ]
    for cell in [*others, *STRANGE]:
        assert text_of(cell, kind) is None
    assert text_of(True, kind) == ("true" if kind == "bool" else None), "a truth value is no number"
    assert text_of(datetime.datetime(2026, 1, 1), kind) == (
        "2026-01-01 00:00:00" if kind == "timestamp" else None
    ), "an instant is no day"
    assert text_of(Hostile(5), kind) is None
    assert text_of(10**5000, kind) is None, "Python does not write it"
    edge = datetime.datetime(1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=14)))
    assert text_of(edge, kind) is None, "before the first year, in UTC"


def test_declared_kinds_reach_the_columns() -> None:
    frame = pd.DataFrame(
        {
            "day": pd.Series([datetime.date(2026, 1, 2), "2026-01-03", 5], dtype=object),
            "text": pd.Series([5, "x", None], dtype=object),
        }
    )
    table = columns(frame, ["day", "text"], {"day": "date"})
    assert table.to_pydict() == {
        "day": ["2026-01-02", "2026-01-03", None],
        "text": [None, "x", None],
    }
