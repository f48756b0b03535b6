"""Arrays made without pandas are those that pyarrow makes."""

from __future__ import annotations

import datetime
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.tables.plan.arrow_arrays import array, numbers, zero


@pytest.mark.parametrize(
    ("values", "known"),
    [
        (["Roma", "città", "", None, "漢字"], pa.string()),
        (["a"], pa.string()),
        ([], pa.string()),
        ([None, None], pa.string()),
        ([1, -1, None, 2**63 - 1, -(2**63)], pa.int64()),
        ([1, 2, 3], pa.int8()),
        ([], pa.int64()),
        ([0, 1, -1, 10**38 - 1, 1 - 10**38, 2**64], pa.decimal128(38, 0)),
        ([], pa.decimal128(38, 0)),
        ([Decimal("0.5"), None], pa.decimal128(5, 2)),
        ([0.5, None], pa.float64()),
        ([True, None], pa.bool_()),
        ([datetime.date(2026, 1, 31), None], pa.date32()),
    ],
)
def test_arrays(monkeypatch: pytest.MonkeyPatch, values: list[Any], known: pa.DataType) -> None:
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    assert array(values, known).equals(pa.array(values, type=known))
    assert array(values, known).null_count == values.count(None)


@pytest.mark.parametrize("known", [pa.int8(), pa.int64(), pa.decimal128(38, 0), pa.float64()])
def test_zero(known: pa.DataType) -> None:
    assert zero(known) == pa.scalar(0, known)


def test_numbers() -> None:
    whole = pa.array([5, -6, 7, 8], pa.int32())
    assert numbers(whole).tolist() == [5, -6, 7, 8]
    assert numbers(whole.slice(1, 2)).tolist() == [-6, 7]
    assert numbers(pa.array([], pa.int64())).dtype == np.int64
