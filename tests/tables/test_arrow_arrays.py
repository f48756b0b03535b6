"""Arrays made without pandas are those that pyarrow makes."""

from __future__ import annotations

import datetime
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.tables.engine.arrow_arrays import array, numbers, zero


@pytest.mark.parametrize(
    ("values", "arrow_type"),
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
def test_arrays(
    monkeypatch: pytest.MonkeyPatch, values: list[Any], arrow_type: pa.DataType
) -> None:
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    assert array(values, arrow_type).equals(pa.array(values, type=arrow_type))
    assert array(values, arrow_type).null_count == values.count(None)


@pytest.mark.parametrize("arrow_type", [pa.int8(), pa.int64(), pa.decimal128(38, 0), pa.float64()])
def test_zero(arrow_type: pa.DataType) -> None:
    assert zero(arrow_type) == pa.scalar(0, arrow_type)


def test_numbers() -> None:
    integers = pa.array([5, -6, 7, 8], pa.int32())
    assert numbers(integers).tolist() == [5, -6, 7, 8]
    assert numbers(integers.slice(1, 2)).tolist() == [-6, 7]
    assert numbers(pa.array([], pa.int64())).dtype == np.int64
