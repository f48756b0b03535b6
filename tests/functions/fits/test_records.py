"""Data of a fit: every kind of table, every kind of value, by one rule."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sfumato.errors import Refused
from sfumato.functions.fits.records import box_of, clipped, known_ends, known_records, rows

ROWS = [(0.5, 1.0), (0.25, 2.0), (1.0, 3.0)]


@pytest.mark.parametrize(
    "data",
    [ROWS, np.array(ROWS), pd.DataFrame(ROWS, columns=["x", "y"]), pl.DataFrame(ROWS, schema=["x", "y"], orient="row")],
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
    assert clipped(np.array([-5, -1, 0.5, 2, 9, np.nan, np.inf, -np.inf]), ends).tolist() == [-1, -1, 0.5, 2, 2, -1, 2, -1]


def test_public_things_are_checked() -> None:
    assert known_records(None) is None
    assert known_records(np.int64(5)) == 5
    for wrong in (0, -1, 1.5, True, "5", 2**31):
        with pytest.raises(Refused, match=r"fit\.records"):
            known_records(wrong)
    assert known_ends((0, "1/2")) == (Fraction(0), Fraction(1, 2))
    assert box_of([(0, 1), (2, 3)]) == ((Fraction(0), Fraction(1)), (Fraction(2), Fraction(3)))
    with pytest.raises(Refused, match=r"bernstein\.bounds"):
        known_ends((1, 0))
