"""The same columns from whatever holds them, as values, codes and numbers."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.attacks.lib.owner_table import Columns, read_columns
from sfumato.errors import Refused

DATE = datetime.date(2020, 1, 2)


def test_values_codes_and_numbers() -> None:
    read = read_columns({"a": ["x", "y", "x", None], "b": [1, 2, 3, 4], "c": [DATE] * 4})
    assert (read.n, len(read), list(read)) == (4, 3, ["a", "b", "c"])
    assert read["a"].tolist() == ["x", "y", "x", None]
    assert read.codes("a").tolist() == [0, 1, 0, 2]
    assert read.numbers("b").tolist() == [1, 2, 3, 4]
    assert read.numbers("c").tolist() == [18263] * 4
    with pytest.raises(KeyError):
        read["d"]


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        (pa.array([0.0, -0.0, float("nan"), None, float("nan")]), [0, 0, 1, 1, 1]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), [0, 1, 0]),
        (pa.array([None, None], pa.null()), [0, 0]),
        (pa.array([[1, 2], [1, 2], [3]]), [0, 0, 1]),
        (pa.array([True, False, True]), [0, 1, 0]),
        (pa.array([b"0" * 16, b"1" * 16, b"0" * 16], pa.uuid()), [0, 1, 0]),
        (pa.array([1.5, 2.5, 1.5], pa.float32()), [0, 1, 0]),
    ],
    ids=["floats", "dictionary", "null", "lists", "bools", "uuids", "float32"],
)
def test_equal_values_have_equal_codes(values: Any, codes: list[int]) -> None:
    assert read_columns(pa.table({"a": values})).codes("a").tolist() == codes


def test_codes_of_several_chunks() -> None:
    table = pa.table({"a": pa.chunked_array([["x", "y"], ["y", "z"]])})
    assert read_columns(table).codes("a").tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (pa.array(["1", "2.5"]), [1, 2.5]),
        (pa.array(["2020-01-02", "2020-01-03"]), [18263, 18264]),
        (pa.array(["2020-01-02 12:00:00", "2020-01-03 00:00:00"]), [18263.5, 18264]),
        (pa.array([True, False]), [1, 0]),
        (pa.array([datetime.datetime(2020, 1, 2, 6), None]), [18263.25, np.nan]),
        (pa.array([1, 2]).dictionary_encode(), [1, 2]),
        (pa.array([1, 2], pa.decimal128(5, 1)), [1, 2]),
    ],
    ids=["text", "date text", "instant text", "bool", "instant", "dictionary", "decimal"],
)
def test_numbers(values: Any, numbers: list[float]) -> None:
    np.testing.assert_array_equal(read_columns(pa.table({"a": values})).numbers("a"), numbers)


@pytest.mark.parametrize(
    "values",
    [pa.array(["1", "x"]), pa.array([b"x"]), pa.array([[1]])],
    ids=["text", "bytes", "list"],
)
def test_what_is_no_number_is_refused(values: Any) -> None:
    with pytest.raises(Refused, match=r"attacks\.number"):
        read_columns(pa.table({"a": values})).numbers("a")


def test_some_rows() -> None:
    read = read_columns({"a": [1, 2, 3]})
    assert read.select_rows(np.array([2, 0]))["a"].tolist() == [3, 1]
    assert read.select_rows(np.array([True, False, True]))["a"].tolist() == [1, 3]
    assert isinstance(read_columns(read, ["a"]), Columns)


def test_no_rows_are_refused() -> None:
    with pytest.raises(Refused, match=r"attacks\.empty"):
        read_columns({"a": []})


@pytest.mark.parametrize(
    ("values", "numeric"),
    [
        ([1, 2], True),
        ([0.5, 1], True),
        (pa.array([1], pa.decimal128(5, 1)), True),
        (["1"], False),
        ([True], False),
        ([datetime.date(2020, 1, 1)], False),
    ],
    ids=["integer", "float", "decimal", "text", "bool", "date"],
)
def test_numeric(values: Any, numeric: bool) -> None:
    assert read_columns(pa.table({"a": values})).numeric("a") is numeric


def test_the_value_of_about_a_half() -> None:
    rows, value = read_columns({"a": ["x", "y", "y", "z", None]}).halving("a")
    assert (rows.tolist(), value) == ([False, True, True, False, False], "y")
    assert read_columns({"a": [None, None, 1]}).halving("a")[1] is None
