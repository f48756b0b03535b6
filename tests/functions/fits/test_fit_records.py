"""Data of a fit: every kind of table, every kind of value, by one rule."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sfumato.errors import Refused
from sfumato.functions.fits.fit_records import (
    box_of,
    check_ends,
    check_record_count,
    check_table,
    clip,
    rows,
)

ROWS = [(0.5, 1.0), (0.25, 2.0), (1.0, 3.0)]


@pytest.mark.parametrize(
    "data",
    [
        ROWS,
        np.array(ROWS),
        pd.DataFrame(ROWS, columns=["x", "y"]),
        pl.DataFrame(ROWS, schema=["x", "y"], orient="row"),
    ],
    ids=["list", "array", "pandas", "polars"],
)
def test_tables_of_every_kind(data: Any) -> None:
    assert rows(data, 2).tolist() == [list(row) for row in ROWS]


def test_columns_of_one() -> None:
    assert rows([1, 2, 3], 1).tolist() == [[1], [2], [3]]
    assert rows(pd.Series([1.5, 2.5]), 1).tolist() == [[1.5], [2.5]]
    assert rows([], 2).shape == (0, 2)


def test_every_value_is_within_its_ends() -> None:
    ends = (Fraction(-1), Fraction(2))
    assert clip(np.array([-5, -1, 0.5, 2, 9, np.nan, np.inf, -np.inf]), ends).tolist() == [
        -1,
        -1,
        0.5,
        2,
        2,
        -1,
        2,
        -1,
    ]


def test_public_things_are_checked() -> None:
    assert check_record_count(None) is None
    assert check_record_count(np.int64(5)) == 5
    for wrong in (0, -1, 1.5, True, "5", 2**31):
        with pytest.raises(Refused, match=r"fit\.records"):
            check_record_count(wrong)
    assert check_ends((0, "1/2")) == (Fraction(0), Fraction(1, 2))
    assert box_of([(0, 1), (2, 3)]) == ((Fraction(0), Fraction(1)), (Fraction(2), Fraction(3)))
    with pytest.raises(Refused, match=r"bernstein\.bounds"):
        check_ends((1, 0))


STRANGE = [
    "abc",
    "0.5",
    10**400,
    [1, 2],
    [],
    [[1]],
    None,
    1 + 1j,
    np.complex128(1j),
    b"x",
    {},
    set(),
    object(),
    np.array([1.0, 2.0]),
    pd.NA,
    Fraction(1, 3),
    True,
]


@pytest.mark.parametrize(
    "place", range(len(STRANGE)), ids=lambda i: f"{i}-{type(STRANGE[i]).__name__}"
)
@pytest.mark.parametrize("columns", [1, 2])
def test_a_strange_record_changes_one_row(place: int, columns: int) -> None:
    """Whatever it is, as a record and as a cell: there is a row for each record, and the others are
    what they were.
    """
    plain: Any = [0.25, 2.5, 7] if columns == 1 else [(0.25, 1), (2.5, 3), (7, 2**60)]
    expected = rows(plain, columns)
    for record in (STRANGE[place], (STRANGE[place], 0.5)):
        for data in ([record, *plain], (record, *plain)):
            table = rows(data, columns)
            assert table.shape == (4, columns)
            assert table.dtype == np.float64
            assert table[1:].tolist() == expected.tolist()
            assert np.array_equal(
                rows([record], columns), table[:1], equal_nan=True
            )  # beside others as alone


@pytest.mark.parametrize(
    ("record", "columns", "expected"),
    [
        ("0.5", 1, [np.nan]),
        (None, 1, [np.nan]),
        (Fraction(1, 4), 1, [0.25]),
        (True, 1, [1.0]),
        ((0.5, 7, 8), 1, [0.5]),
        ((0.5, 7, 8), 2, [0.5, 7]),
        ((0.5,), 2, [np.nan, np.nan]),
        (0.5, 2, [np.nan, np.nan]),
        ((0.5, "x"), 2, [0.5, np.nan]),
        ([(1, 2), (3, 4)], 2, [np.nan, np.nan]),
    ],
    ids=repr,
)
def test_the_rule_for_a_record(record: Any, columns: int, expected: list[float]) -> None:
    for data in ([record], [record, record], [record, "something else"]):
        assert np.array_equal(rows(data, columns)[0], expected, equal_nan=True)


@pytest.mark.parametrize(
    ("data", "columns", "expected"),
    [
        (np.arange(6.0).reshape(2, 3), 1, [[0], [3]]),
        (np.arange(6.0).reshape(2, 3), 2, [[0, 1], [3, 4]]),
        (np.arange(6.0).reshape(2, 3), 4, [[np.nan] * 4] * 2),
        (np.arange(4.0), 2, [[np.nan] * 2] * 4),
        (np.ones((2, 2, 2)), 2, [[np.nan] * 2] * 2),
        (np.array([[1, 2j]]), 2, [[np.nan, np.nan]]),
        (pd.DataFrame({"x": [1, None], "y": ["a", 2]}), 2, [[1, np.nan], [np.nan, 2]]),
        (pd.Series([1, None], dtype="Int64"), 1, [[1], [np.nan]]),
        (pl.DataFrame({"x": [1, None], "y": ["a", "2"]}), 2, [[1, np.nan], [np.nan, np.nan]]),
        (None, 2, []),
        (5, 1, []),
    ],
    ids=lambda v: type(v).__name__,
)
def test_one_row_for_each_record(data: Any, columns: int, expected: Any) -> None:
    table = rows(data, columns)
    assert table.shape == (len(expected), columns)
    assert np.array_equal(
        table, np.array(expected, dtype=float).reshape(-1, columns), equal_nan=True
    )


@pytest.mark.parametrize(
    ("data", "columns"),
    [
        (np.ones((2, 2)), 3),
        (np.ones(4), 2),
        (np.ones((2, 2, 2)), 2),
        (np.array(1.0), 1),
        (None, 1),
        ("abc", 1),
        ({"x": 1}, 1),
        (pd.Series([1]), 2),
    ],
    ids=["few", "flat", "deep", "number", "none", "text", "mapping", "series"],
)
def test_what_is_no_table_is_refused_by_its_public_shape(data: Any, columns: int) -> None:
    with pytest.raises(Refused, match=r"fit\.inputs"):
        check_table(data, columns)


def test_tables_are_not_refused_for_what_they_hold() -> None:
    for data in (
        [],
        [1],
        ["abc", [1, 2]],
        (1, 2),
        np.ones(3),
        np.ones((3, 2)),
        np.array(["a"]),
        pd.Series([1]),
        pl.DataFrame({"x": [1]}),
    ):
        check_table(data, 1)
