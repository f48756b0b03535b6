"""How values become integers: total, within the declared range, rounded to the nearest step, the same in every engine."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import ibis
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.tables.grids import grid_of
from sfumato.tables.types import Type

CON = ibis.duckdb.connect()
NAN, INF = math.nan, math.inf
FLOATS = [
    None,
    NAN,
    INF,
    -INF,
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    1e308,
    -1e308,
    0.1,
    0.3,
    63.99999999999999,
    64.0,
    64.00000000000001,
    2.0**52 + 1,
    2.0**53,
    -1e-300,
    17.5,
]


def _built(values: list[object], kind: pa.DataType, build: object) -> list[object]:
    table = ibis.memtable(pa.table({"x": pa.array(values, type=kind)}))
    return [None if v is None else v for v in CON.to_pyarrow(table.select(y=build(table.x)))["y"].to_pylist()]  # type: ignore[operator]


def _expected(value: float | None, grid: object) -> int | None:
    if value is None or math.isnan(value):
        return None
    low, high = grid.low * grid.step, grid.high * grid.step  # type: ignore[attr-defined]
    clipped = low if value <= low else high if value >= high else Fraction(value)
    return round(Fraction(clipped) / grid.step)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("low", "high"), [(0, 64), (-1, 1), (0, "0.1"), ("-7.3", "1e6"), (2**50, 2**50 + 1), (-(10**12), 10**12), ("1e-30", "3e-30")])
def test_floats_are_clipped_then_rounded_and_nan_is_nothing(low: object, high: object) -> None:
    ends = Fraction(low), Fraction(high)  # type: ignore[arg-type]
    grid = grid_of("x", Type("float"), *ends)
    inside = [float(ends[0] + (ends[1] - ends[0]) * Fraction(i, 977)) for i in range(978)]
    values = [*FLOATS, *inside, *(math.nextafter(float(end), way) for end in ends for way in (-INF, INF))]
    found = _built(values, pa.float64(), grid.integers)
    assert found == [_expected(v, grid) for v in values]
    assert all(grid.low <= v <= grid.high for v in found if v is not None)
    doubles = _built(values, pa.float64(), grid.doubles)
    assert [None if v is None else int(Fraction(v) / grid.step) for v in doubles] == found
    assert all(v is None or Fraction(v) % grid.step == 0 for v in doubles)


def test_a_number_just_below_one_half_step_is_not_rounded_up() -> None:
    """0.49999999999999994 + 0.5 is 1 in doubles, so ⌊y + ½⌋ is wrong there; two additions around a shift are not."""
    grid = grid_of("x", Type("float"), Fraction(0), Fraction(2**20))
    assert grid.step == 1
    assert _built([0.49999999999999994, 0.5, 1.5, 2.5], pa.float64(), grid.integers) == [0, 0, 2, 2]
    assert math.floor(0.49999999999999994 + 0.5) == 1


def test_what_lies_outside_is_seen() -> None:
    grid = grid_of("x", Type("float"), Fraction(0), Fraction(64))
    below = _built(FLOATS, pa.float64(), lambda x: grid.outside(x)[0])
    above = _built(FLOATS, pa.float64(), lambda x: grid.outside(x)[1])
    assert [bool(v) for v in below] == [v is not None and v < 0 for v in FLOATS]
    assert [bool(v) for v in above] == [v is not None and v > 64 for v in FLOATS]


@pytest.mark.parametrize("kind", [pa.int8(), pa.int16(), pa.int32(), pa.int64()])
def test_integers_stay_integers(kind: pa.DataType) -> None:
    bits = kind.bit_width
    values = [None, -(2 ** (bits - 1)), -11, -10, 0, 7, 99, 100, 2 ** (bits - 1) - 1]
    grid = grid_of("x", Type("integer", bits), Fraction(-10), Fraction(99))
    assert _built(values, kind, grid.integers) == [None if v is None else max(-10, min(99, v)) for v in values]


def test_wide_integers_are_rounded() -> None:
    grid = grid_of("x", Type("integer"), Fraction(0), Fraction(10**18))
    assert grid.floating
    found = _built([None, -5, 0, 10**17, 10**18, 2**63 - 1], pa.int64(), grid.integers)
    assert found[:3] == [None, 0, 0]
    assert found[4] == found[5] == grid.high
    assert abs(found[3] * grid.step - 10**17) <= grid.step / 2  # type: ignore[operator]


def test_decimals_are_integers_of_their_last_digit() -> None:
    kind = pa.decimal128(18, 2)
    values = [None, Decimal("-0.01"), Decimal("0.00"), Decimal("0.29"), Decimal("199999.99"), Decimal("200000.01"), Decimal("9999999999999999.99")]
    grid = grid_of("x", Type("decimal", precision=18, scale=2), Fraction(0), Fraction(200_000))
    assert _built(values, kind, grid.integers) == [None, 0, 0, 29, 19_999_999, 20_000_000, 20_000_000]
    assert [bool(v) for v in _built(values, kind, lambda x: grid.outside(x)[1])] == [False, False, False, False, False, True, True]


@pytest.mark.parametrize(
    ("kind", "low", "high", "code"),
    [("string", 0, 1, "type"), ("date", 0, 1, "type"), ("integer", "0.2", "0.8", "bounds"), ("float", "1e250", "1e300", "bounds")],
)
def test_what_has_no_grid_is_refused(kind: str, low: object, high: object, code: str) -> None:
    with pytest.raises(sf.Refused) as refused:
        grid_of("x", Type(kind), Fraction(low), Fraction(high))  # type: ignore[arg-type]
    assert refused.value.code == f"aggregate.{code}"
