"""How values become integers: total, within the declared range, rounded to the nearest step, the
same in every engine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.tables import aggregates as ag
from sfumato.tables.expr.grids import Grid, grid_of
from sfumato.tables.expr.types import Type
from sfumato.testing.exact_checks import through_the_door

from .replay import moved

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


def _built(values: Sequence[object], kind: pa.DataType, build: Callable[[Any], Any]) -> list[Any]:
    table = ibis.memtable(pa.table({"x": pa.array(values, type=kind)}))
    return [
        None if v is None else v
        for v in CON.to_pyarrow(table.select(y=build(table.x)))["y"].to_pylist()
    ]


def _expected(value: float | None, grid: Grid) -> int | None:
    if value is None or math.isnan(value):
        return None
    low, high = grid.low * grid.step, grid.high * grid.step
    clipped = low if value <= low else high if value >= high else Fraction(value)
    return round(Fraction(clipped) / grid.step)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (0, 64),
        (-1, 1),
        (0, "0.1"),
        ("-7.3", "1e6"),
        (2**50, 2**50 + 1),
        (-(10**12), 10**12),
        ("1e-30", "3e-30"),
    ],
)
def test_floats_are_clipped_then_rounded_and_nan_is_nothing(
    low: int | str, high: int | str
) -> None:
    ends = Fraction(low), Fraction(high)
    grid = grid_of("x", Type("float"), *ends)
    inside = [float(ends[0] + (ends[1] - ends[0]) * Fraction(i, 977)) for i in range(978)]
    values = [
        *FLOATS,
        *inside,
        *(math.nextafter(float(end), way) for end in ends for way in (-INF, INF)),
    ]
    integers = _built(values, pa.float64(), grid.integers)
    assert integers == [_expected(v, grid) for v in values]
    assert all(grid.low <= v <= grid.high for v in integers if v is not None)
    doubles = _built(values, pa.float64(), grid.doubles)
    assert [None if v is None else int(Fraction(v) / grid.step) for v in doubles] == integers
    assert all(v is None or Fraction(v) % grid.step == 0 for v in doubles)


def test_a_number_just_below_one_half_step_is_not_rounded_up() -> None:
    """0.49999999999999994 + 0.5 is 1 in doubles, so ⌊y + ½⌋ is wrong there; two additions around a
    shift are not.
    """
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
    assert _built(values, kind, grid.integers) == [
        None if v is None else max(-10, min(99, v)) for v in values
    ]


def test_wide_integers_are_rounded() -> None:
    grid = grid_of("x", Type("integer"), Fraction(0), Fraction(10**18))
    assert grid.floating
    integers = _built([None, -5, 0, 10**17, 10**18, 2**63 - 1], pa.int64(), grid.integers)
    assert integers[:3] == [None, 0, 0]
    assert integers[4] == integers[5] == grid.high
    assert abs(integers[3] * grid.step - 10**17) <= grid.step / 2


def test_decimals_are_integers_of_their_last_digit() -> None:
    kind = pa.decimal128(18, 2)
    values = [
        None,
        Decimal("-0.01"),
        Decimal("0.00"),
        Decimal("0.29"),
        Decimal("199999.99"),
        Decimal("200000.01"),
        Decimal("9999999999999999.99"),
    ]
    grid = grid_of("x", Type("decimal", precision=18, scale=2), Fraction(0), Fraction(200_000))
    assert _built(values, kind, grid.integers) == [
        None,
        0,
        0,
        29,
        19_999_999,
        20_000_000,
        20_000_000,
    ]
    assert [bool(v) for v in _built(values, kind, lambda x: grid.outside(x)[1])] == [
        False,
        False,
        False,
        False,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("kind", "low", "high", "code"),
    [
        ("string", 0, 1, "type"),
        ("date", 0, 1, "type"),
        ("integer", "0.2", "0.8", "bounds"),
        ("float", "1e250", "1e300", "bounds"),
    ],
)
def test_what_has_no_grid_is_refused(kind: Any, low: int | str, high: int | str, code: str) -> None:
    with pytest.raises(sf.Refused) as refused:
        grid_of("x", Type(kind), Fraction(low), Fraction(high))
    assert refused.value.code == f"aggregate.{code}"


STATED = {
    "all below": [-5.0, -7.0],
    "all above": [500.0, 700.0],
    "all inside": [3.0, 9.0],
    "one value": [3.0, 3.0],
    "none": [],
}


@pytest.mark.parametrize("name", STATED)
@pytest.mark.parametrize("unit", [True, False], ids=["units", "rows"])
def test_nan_beside_what_a_file_states(name: str, unit: bool, tmp_path: Path) -> None:
    """The least and the largest value that a Parquet file states leave NaN out, and DuckDB decides
    comparisons by them. So fifty units whose value is NaN must bring nothing to any sum, whatever
    the others hold: else one of the others could move all of them.
    """
    outcomes = []
    for others in (STATED[name], [*STATED[name], 50.0]):
        values, path = [*others, *[NAN] * 50, None], tmp_path / f"{len(outcomes)}.parquet"
        pq.write_table(
            pa.table({"u": range(len(values)), "x": pa.array(values, pa.float64())}), path
        )
        about = {"unit": "u", "max_rows": 1} if unit else {}
        with sf.protect(
            path, name="t", bounds={"x": (2, 100)}, budget=100, table_rows=2**20, **about
        ) as table:
            query = table.aggregate(
                n=ag.count("x"),
                total=ag.sum("x"),
                mean=ag.mean("x"),
                spread=ag.var("x"),
                middle=ag.median("x"),
            )
            release_plan = query.plan(promise=sf.Pure(1))
            through = through_the_door(release_plan)
            bits = release_plan.calibration.bounding.bits
            assert through.integers("count x").tolist() == [[len(others) << bits]]
            sides = next(
                piece.values.tolist()[0]
                for piece in through.pieces
                if piece.name.startswith("clipped")
            )
            assert sides == [
                sum(x < 2 for x in others) << bits,
                sum(2 <= x <= 100 for x in others) << bits,
                sum(x > 100 for x in others) << bits,
            ]
            outcomes.append((release_plan, through))
    (release_plan, before), (_, after) = outcomes
    calls = tuple(
        replace(b, mechanism=a.mechanism) for a, b in zip(before.calls, after.calls, strict=True)
    )
    assert not moved(release_plan, before, replace(after, calls=calls)).wrong


def test_comparing_nan_depends_on_other_rows(tmp_path: Path) -> None:
    """The twin: the same comparison of the same row, in two files."""
    comparisons = []
    for others in ([-5.0], [-5.0, 50.0]):
        path = tmp_path / f"{len(others)}.parquet"
        pq.write_table(pa.table({"x": [NAN, *others]}), path)
        table = ibis.duckdb.connect().read_parquet(str(path))
        comparisons.append(
            table.filter(table.x.isnan()).select(y=table.x < 2.0).to_pyarrow()["y"].to_pylist()
        )
    assert comparisons == [[True], [False]]


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        ("int64", 3, 3),
        ("int64", Fraction(1, 4), Fraction(3, 4)),
        ("float64", 0, 0),
        ("float64", -5, -5),
        ("float64", 7, 7),
        ("decimal(9, 2)", 1, 1),
    ],
)
def test_the_bounds_that_a_refusal_suggests_are_wide_enough(kind: str, low: Any, high: Any) -> None:
    with pytest.raises(Refused) as caught:
        grid_of("x", Type.of(kind), Fraction(low), Fraction(high))
    ends = eval(f"dict({caught.value.rewrite})")  # low=…, high=…
    assert grid_of("x", Type.of(kind), Fraction(ends["low"]), Fraction(ends["high"]))


MARKED = [
    (0, 1, 40, 14),
    (-50, 100, 40, 14),
    (16, 90, 40, 14),
    (0, 10**9, 40, 14),
    (-7, Fraction(-1, 2), 22, 9),
    (Fraction(-1, 1000), 10**6, 22, 9),
]


@pytest.mark.parametrize(("low", "high", "bits", "digits"), MARKED)
def test_marks_rise_and_cover_what_is_rounded_to_them(
    low: Fraction, high: Fraction, bits: int, digits: int
) -> None:
    grid = grid_of("x", Type("float"), Fraction(low), Fraction(high), bits, digits)
    random = np.random.default_rng(5)
    width = grid.high - grid.low
    near = (random.lognormal(-9, 4, 4000).clip(0, 1) * width).astype(np.int64)
    spread = random.integers(0, width + 1, 4000)
    integers = np.unique(np.clip(np.concatenate([near, spread]) + grid.low, grid.low, grid.high))
    marks = grid.marks(integers)
    assert (np.diff(marks) >= 0).all()
    assert marks.min() >= 0
    assert marks.max() < grid.count_marks
    at, first, last = grid.at_marks(marks)
    assert ((first <= integers) & (integers <= last)).all()
    assert (grid.marks(at) == marks).all()
    distance = np.maximum(np.abs(integers - grid.origin), 1)
    assert (np.abs(at - integers) <= distance / 2.0**digits).all()
    every = grid.at_marks(np.arange(grid.count_marks))[0]
    assert (np.diff(every) > 0).all()


@pytest.mark.parametrize(("low", "high", "bits", "digits"), MARKED)
def test_the_engine_rounds_to_marks_as_fractions_do(
    low: Fraction, high: Fraction, bits: int, digits: int
) -> None:
    """Veltkamp's splitting against rounding of exact fractions to the same digits."""
    grid = grid_of("x", Type("float"), Fraction(low), Fraction(high), bits, digits)
    random = np.random.default_rng(7)
    ends = float(low), float(high)
    values = [*random.uniform(*ends, 500), *(ends[0] + random.lognormal(-9, 4, 500)), *ends, 0.0]
    values = [min(max(value, ends[0]), ends[1]) for value in values]
    table = ibis.memtable(pa.table({"x": values}))
    places = CON.to_pyarrow(table.select(v=grid.places(table.x)))["v"].to_pylist()
    for value, place in zip(values, places, strict=True):
        distance = round(Fraction(value) / grid.step) - grid.origin
        shift = max(abs(distance).bit_length() - digits, 0)
        rounded = round(Fraction(abs(distance), 1 << shift)) << shift
        assert place == (rounded if distance >= 0 else -rounded)
        assert grid.marks(np.array([place + grid.origin]))[0] < grid.count_marks


def test_wide_bounds_cost_a_quantile_no_precision() -> None:
    """At ε = 100 noise is little: what is left is the grid. An even grid of 65,536 points between
    these bounds has its second point at 15,259.
    """
    values = np.random.default_rng(0).lognormal(10, 1, 5000)
    with sf.protect(
        pa.table({"x": values}),
        name="t",
        bounds={"x": (0, 10**9)},
        budget=10**6,
        each_row_a_person=True,
    ) as table:
        median = table.sql("SELECT MEDIAN(x) AS m FROM t", epsilon=100)
        quartiles = table.sql("SELECT QUANTILES(x, [0.25, 0.5, 0.75]) AS q FROM t", epsilon=100)
    assert abs(median["m"][0] / np.median(values) - 1) < 0.002
    for name, part in (("q_25", 0.25), ("q_50", 0.5), ("q_75", 0.75)):
        exact = float(np.quantile(values, part))
        (low,), (high,) = quartiles.interval(name)
        assert low <= exact <= high
        assert high - low < 0.08 * exact
        assert abs(quartiles[name][0] / exact - 1) < 0.02
