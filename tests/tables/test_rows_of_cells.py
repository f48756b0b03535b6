"""What one row adds to cells: every row is a group of its own here, so the engine's sums are those
of single rows.

*Sensitivity*  The cells of a row sum to exactly S, or are all 0. They are not negative but for
               roundings of products, which the noise covers.
*Readings*     Without noise a reading is the component itself; of squares and products within the
               slack of their column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.release import _tally
from sfumato.tables.aggregates.component import Component, cell_steps
from sfumato.tables.aggregates.spreads import _square_slack
from sfumato.tables.plan.cell_pairs import SPARE, common_row
from sfumato.tables.plan.cells import column_key
from sfumato.tables.plan.query_plan import Plan
from sfumato.tables.plan.read_results import combine_sums, read_component

NAN, INF = float("nan"), float("inf")
HOSTILE = [None, NAN, INF, -INF, -1.0, 0.0, 1.0, 37.3, 99.99, 100.0, 1e300]
INTEGERS = [None, -5, 0, 1, 3, 7, 8, 20]
MOST_BELOW = 6  # what the rest cells of a row lie below 0, together, at most
BOUNDS = {"x": (0, 100), "y": (0, 37.3), "i": (0, 17), "j": (-3, 7), "filled": (-1, 2)}

c = sf.col
QUESTIONS: dict[str, dict[str, Any]] = {
    "a mean and a sum": {"m": sf.mean("x"), "s": sf.sum("x"), "n": sf.count()},
    "a variance": {"v": sf.var("x"), "n": sf.count(), "m": sf.mean("x").filter(c("b"))},
    "exact squares": {"v": sf.std("i"), "n": sf.count()},
    "a chain": {"m": sf.mean("x").filter(c("b")), "k": sf.count_if(c("b")), "n": sf.count()},
    "two means": {"x": sf.mean("x"), "i": sf.mean("i"), "n": sf.count(), "k": sf.count("x")},
    "a filled column": {"x": sf.mean("filled"), "i": sf.mean("i"), "n": sf.count()},
    "a covariance": {"v": sf.covar("x", "y").filter(c("b")), "n": sf.count()},
    "a correlation": {"r": sf.corr("x", "y")},
    "a correlation with integers": {"r": sf.corr("x", "i"), "n": sf.count()},
    "a correlation of integers": {"r": sf.corr("i", "j"), "x": sf.mean("x"), "b": sf.mean("b")},
    "a correlation with a filled column": {"r": sf.corr("filled", "x")},
    "NaN by an expression": {"r": sf.corr(c("x").sqrt().clip(0, 10), "y", low=0, high=5)},
}


def rows_of_every_kind() -> list[dict[str, Any]]:
    random = np.random.default_rng(7)
    flags = [None, True, False]
    hostile = [
        {"x": x, "y": y, "i": INTEGERS[k % 8], "j": INTEGERS[(k // 3) % 8], "b": flags[k % 3]}
        for k, (x, y) in enumerate(product(HOSTILE, HOSTILE))
    ]
    plain = [
        {
            "x": float(random.uniform(0, 100)),
            "y": float(random.uniform(0, 37.3)),
            "i": int(random.integers(0, 18)),
            "j": int(random.integers(-3, 8)),
            "b": bool(random.integers(2)),
        }
        for _ in range(400)
    ]
    rows = hostile + plain
    return [{"g": k, "filled": -1 + 3 * k / len(rows), **row} for k, row in enumerate(rows)]


CELL_STEPS = cell_steps(1)
ROWS = rows_of_every_kind()
Exact = Callable[[int], np.ndarray[Any, np.dtype[Any]]]


@pytest.fixture(scope="module")
def table() -> Iterator[Any]:
    kinds = {"g": "int64", "x": "float64", "y": "float64", "i": "int64", "j": "int64", "b": "bool"}
    fields = [pa.field(name, pa.type_for_alias(kind)) for name, kind in kinds.items()]
    schema = pa.schema([*fields, pa.field("filled", pa.float64())])
    rows = pa.Table.from_pylist(ROWS, schema=schema)
    types = {"filled": "float64 not null"}
    with sf.protect(rows, name="t", types=types, bounds=BOUNDS, budget=sf.Pure(1)) as protected:
        yield protected


def planned(table: Any, question: str) -> tuple[Plan, Exact]:
    """Return a plan, and a function that gives the exact integers of a component, row by row."""
    query = table.group_by(g=range(len(ROWS))).aggregate(**QUESTIONS[question])
    plan = query.plan(promise=sf.Pure(1))
    tally = _tally(plan, plan.statements, None)
    at = {place: i for i, each in enumerate(plan.statements) for place in each.components}

    def read(place: int) -> np.ndarray[Any, np.dtype[Any]]:
        return read_component(
            plan.statements[at[place]],
            tally[at[place]],
            plan.components[place],
            place,
            plan.groups,
            plan.calibration.bounding,
            public=True,
        )

    return plan, read


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_cells_of_a_row_sum_to_the_same_number(table: Any, question: str) -> None:
    plan, read = planned(table, question)
    blocks = [block for block in plan.calibration.blocks if block.cells]
    assert blocks
    for block in blocks:
        cells = combine_sums([read(i) for i in block.places], block.cells, wide=False)
        spare = SPARE if any(plan.components[i].form == "product" for i in block.places) else 0
        total, below = cells.sum(axis=1), -np.minimum(cells, 0).sum(axis=1)
        assert set(total.tolist()) <= {0, block.row - spare}
        assert not cells[total == 0].any()
        assert below.max() <= (MOST_BELOW if spare else 0)
        assert np.abs(cells).sum(axis=1).max() <= block.row


@pytest.mark.parametrize("question", QUESTIONS)
def test_readings_without_noise_are_the_components(table: Any, question: str) -> None:
    plan, read = planned(table, question)
    calibration = plan.calibration
    for place, reading in enumerate(calibration.readings):
        component = plan.components[place]
        value = np.zeros(len(ROWS), dtype=object)
        if not all(calibration.blocks[block].cells for block, _ in reading.parts):
            continue
        for number, weights in reading.parts:
            block = calibration.blocks[number]
            cells = combine_sums([read(i) for i in block.places], block.cells, wide=True)
            value += cells @ np.array(weights, dtype=object)
        if component.form == "square" or component.pair is not None:
            exact, slack = exact_products(plan, component, read)
        else:
            exact = read(place)[:, 0].astype(object) * component.step
            slack = Fraction(0)
        errors = [abs(a * reading.step - b) for a, b in zip(value, exact, strict=True)]
        assert max(errors) <= slack


def exact_products(
    plan: Plan, component: Component, read: Exact
) -> tuple[list[Fraction], Fraction]:
    """Return the squares or products of the centred grid integers of each row, and their slack."""
    pair = component.pair or tuple(
        each
        for each in plan.components
        if each.form == "centred" and column_key(each) == column_key(component)
    )
    names = [each.name for each in plan.components]
    places = [names.index(each.name) for each in pair]
    values = [read(i)[:, 0].astype(object) * plan.components[i].step for i in places]
    products = values[0] * values[-1]
    if component.pair is None:
        return list(products), _square_slack(component, plan.query.rows)
    first, second = (each.largest * each.step for each in component.pair)
    is_floating = component.grid is not None and component.grid.floating
    rounding = component.step if is_floating else Fraction(0)
    return list(products), 16 * first * second / CELL_STEPS + rounding


def divide(number: Any, divisor: int) -> Any:
    return (number + divisor // 2) // divisor


@pytest.mark.parametrize("total", range(1, 40))
def test_products_of_cells(total: int) -> None:
    """Every pair of distances, for cells of one column with two cells, squares, or nulls."""
    a = np.arange(total + 1)
    top = divide(a * a, total)
    columns = {"two": [a], "squares": [2 * (a - top), top], "nulls": [total - a, a]}
    for (first, x), (second, y) in product(columns.items(), repeat=2):
        xs, ys = [v[:, None] for v in x], [v[None, :] for v in y]
        inner = [[divide(v * w, total) for w in ys] for v in xs]
        rest = [v - sum(row) for v, row in zip(xs, inner, strict=True)]
        rest += [w - sum(row[j] for row in inner) for j, w in enumerate(ys)]
        rest.append(total - sum(xs) - sum(ys) + sum(map(sum, inner)))
        below = -sum(np.minimum(cell, 0) for cell in rest)
        size = len(x) * len(y)
        assert below.max() <= {1: 0, 2: 2, 4: MOST_BELOW}[size], (first, second)
        assert all((cell >= 0).all() for row in inner for cell in row)
        assert (sum(rest) + sum(map(sum, inner)) == total).all()


def test_spare_covers_three_times_what_lies_below_zero() -> None:
    assert 3 * MOST_BELOW <= SPARE


@pytest.mark.parametrize("bits", range(20, 27))
def test_the_slack_covers_products_of_widened_ranges(bits: int) -> None:
    """A product of nine cells moves by at most 9/8·R′_x·R′_y/S."""
    random = np.random.default_rng(bits)
    most = 1 << bits
    cases = [[(most >> 1) + 1, (3 * most >> 2) + 1], [(most >> 1) + 1, (most >> 1) + 1], [9, most]]
    cases += [
        [int(2 ** random.uniform(0, bits)), int(2 ** random.uniform(0, bits))] for _ in range(4000)
    ]
    for steps in cases:
        wide, row = common_row(steps, most) or ([], 0)
        far = [Fraction(each, 2) for each in steps]
        assert Fraction(9, 8) * wide[0] * wide[1] / row < 16 * far[0] * far[1] / most
        assert all(
            w * w / (2 * row) < 4 * each**2 / most for each, w in zip(steps, wide, strict=True)
        )


def test_ranges_are_widened_to_less_than_twice() -> None:
    random = np.random.default_rng(5)
    cases = [[1, CELL_STEPS], [CELL_STEPS, CELL_STEPS], [CELL_STEPS - 1, 3], [17, (1 << 25) + 1]]
    cases += [
        [int(2 ** random.uniform(0, 26)), int(2 ** random.uniform(0, 26))] for _ in range(2000)
    ]
    for steps in cases:
        wide, row = common_row(steps, CELL_STEPS) or ([], 0)
        assert CELL_STEPS // 2 < row <= CELL_STEPS
        assert all(row % each == 0 for each in wide)
        assert all(each <= w < 2 * each or w == each for each, w in zip(steps, wide, strict=True))
