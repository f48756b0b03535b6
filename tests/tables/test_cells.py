"""Cells: what a row adds to them, what all of them may move together, and what is read from them.

Every row integer is computed here by its definition, in Python's integers, so that neither an
engine nor the planner's own formulas decide.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction as F
from math import isqrt
from typing import Any

import pytest

from sfumato.guarantees import GDP, Approx, Guarantee, Pure
from sfumato.tables import aggregates as ag
from sfumato.tables.aggregates.component import Component, cell_steps
from sfumato.tables.declare.declaration import declare
from sfumato.tables.expr.expressions import col
from sfumato.tables.expr.types import Type
from sfumato.tables.plan.cell_pairs import SPARE, add_pair, common_row, pairs_of
from sfumato.tables.plan.cells import Builder, Measurement, add_family, families_of
from sfumato.tables.plan.choose_noise import calibrate
from sfumato.tables.plan.components import QueryComponents, components_of
from sfumato.tables.query.aggregate import Aggregate
from sfumato.tables.query.stages import Query, Rows

from .worlds import Nobody

Row = Mapping[str, int | None]

CELL_STEPS = cell_steps(1)
QUESTIONS: dict[str, dict[str, Aggregate]] = {
    "count, sum, mean": {"n": ag.count(), "s": ag.sum("x"), "m": ag.mean("x")},
    "mean": {"m": ag.mean("y")},
    "filtered mean": {"n": ag.count(), "m": ag.mean("x").filter(col("y") > 5), "k": ag.count("x")},
    "variance": {"n": ag.count(), "v": ag.var("x"), "m": ag.mean("x")},
    "two means": {"m": ag.mean("x"), "k": ag.mean("y"), "n": ag.count()},
    "covariance": {"c": ag.covar("x", "y")},
    "correlation": {"r": ag.corr("x", "y"), "n": ag.count(), "s": ag.sum("y")},
    "counts": {"n": ag.count(), "k": ag.count("x"), "b": ag.count_if(col("y") > 5)},
    "far apart": {"m": ag.mean("w"), "k": ag.mean("y")},
}
SCHEMA = {
    "user": Type.of("int64"),
    "x": Type.of("int32"),
    "y": replace(Type.of("int32"), nullable=False),
    "w": Type.of("int64"),
}
BOUNDS = {"x": (-3, 4), "y": (0, 10), "w": (-5000, 60_000_000)}
VALUES: dict[str, Sequence[int | None]] = {
    "x": [None, *range(-3, 5)],
    "y": range(11),
    "w": [None, -5000, -4999, 0, 1, 30_000_001, 59_999_999, 60_000_000],
}


def question_of(question: str, **about: Any) -> Query:
    declared = declare(name="t", schema=SCHEMA, bounds=BOUNDS, **about)
    return Rows.of(declared, Nobody()).group_by().aggregate(**QUESTIONS[question])


def row_integer(component: Component, row: Row) -> int:
    """Return what a row adds to a component, by definition."""
    if component.form == "product":
        cells = [
            cell_of(factor.column, factor.degree, factor.times, factor.row, row)
            for factor in component.factors
        ]
        if any(cell is None for cell in cells):
            return 0
        values = [
            cell[factor.place]
            for cell, factor in zip(cells, component.factors, strict=True)
            if cell is not None
        ]
        top, bottom = values[0] * values[-1], component.factors[0].row
        return values[0] if len(values) == 1 else (2 * top + bottom) // (2 * bottom)
    if component.pair is not None:
        return row_integer(component.pair[0], row) * row_integer(component.pair[1], row)
    if not counts(component, row):
        return 0
    if component.form == "one":
        return 1
    grid = component.grid
    assert component.of is not None
    assert grid is not None
    value = row[component.of.text]
    assert value is not None
    if component.form == "value":
        return value
    if component.form == "centred":
        return value - grid.centre
    steps = grid.high - grid.low
    return (2 * component.times * (value - grid.low) ** 2 + steps) // (2 * steps)


def counts(component: Component, row: Row) -> bool:
    """Tell whether a row is counted: it meets the condition and has a value."""
    conditions = {"": True, "y > 5": (row["y"] or 0) > 5, "x IS NOT NULL": row["x"] is not None}
    where = "" if component.where is None else component.where.text
    return conditions[where] and (component.of is None or row[component.of.text] is not None)


def cell_of(
    column: Component, degree: int, times: int, total: int, row: Row
) -> tuple[int, ...] | None:
    if not counts(column, row):
        return None
    assert column.of is not None
    assert column.grid is not None
    value = row[column.of.text]
    assert value is not None
    distance = times * (value - column.grid.low)
    if degree == 1:
        return total - distance, distance
    top = (2 * distance**2 + total) // (2 * total)
    return total - 2 * distance + top, 2 * (distance - top), top


def rows_of(question: str) -> Iterator[Row]:
    names = {name for each in QUESTIONS[question].values() for name in columns(each)} | {"y"}
    for values in itertools.product(*(VALUES[name] for name in sorted(names))):
        yield {"x": 0, "y": 0, "w": 0} | dict(zip(sorted(names), values, strict=True))


def columns(aggregate: Aggregate) -> set[str]:
    parts = [part for part in (aggregate.of, aggregate.by, aggregate.where) if part is not None]
    return {name for part in parts for name in part.columns}


def measured(question: str, *, paired: bool) -> tuple[QueryComponents, Measurement]:
    needed = components_of(question_of(question))
    families = families_of(needed.components)
    pairs = sum(pairs_of(needed.components, families, CELL_STEPS), ()) if paired else ()
    builder = Builder(needed.components)
    for pair in pairs:
        add_pair(builder, pair, CELL_STEPS)
    paired_columns = [family for pair in pairs for family in pair.families]
    for family in families:
        if family not in paired_columns:
            add_family(builder, family)
    return needed, builder.finish()


EVERY = [(question, paired) for question in QUESTIONS for paired in (False, True)]


@pytest.mark.parametrize(("question", "paired"), EVERY)
def test_the_cells_of_a_row_move_as_one_count(question: str, paired: bool) -> None:
    """No row moves a block by more than its `row`, in either norm; some row attains it."""
    _, measurement = measured(question, paired=paired)
    for block in measurement.blocks:
        if not block.cells:
            continue
        most, least = 0, 0
        for row in rows_of(question):
            sums = [row_integer(measurement.components[place], row) for place in block.places]
            cells = [
                sum(weight * each for weight, each in zip(weights, sums, strict=True))
                for weights in block.cells
            ]
            total = sum(map(abs, cells))
            assert total <= block.row
            assert sum(cell**2 for cell in cells) <= block.row**2
            negative = -sum(min(cell, 0) for cell in cells)
            assert 3 * negative <= SPARE
            assert sum(cells) in (0, block.row, block.row - SPARE)
            most, least = max(most, total), max(least, negative)
        assert most >= block.row - SPARE
        assert paired or not least


@pytest.mark.parametrize(("question", "paired"), EVERY)
def test_components_are_read_exactly(question: str, paired: bool) -> None:
    """Without noise a reading is the sum itself; products and squares within their roundings."""
    needed, measurement = measured(question, paired=paired)
    for place, readings in enumerate(measurement.readings):
        component = needed.components[place]
        if component.pooled:
            continue
        for reading in readings:
            for row in rows_of(question):
                integer = 0
                for number, weights in reading.parts:
                    block = measurement.blocks[number]
                    sums = [row_integer(measurement.components[i], row) for i in block.places]
                    cells = [
                        sum(a * b for a, b in zip(line, sums, strict=True)) for line in block.cells
                    ] or sums
                    integer += sum(a * b for a, b in zip(weights, cells, strict=True))
                exact, slack = exact_value(component, row)
                assert abs(integer * reading.step - exact) <= slack


def exact_value(component: Component, row: Row) -> tuple[F, F]:
    """Return what a row adds, in the unit of its column, and how far rounding may move it."""
    if component.pair is not None:
        factors = []
        for column in component.pair:
            assert column.grid is not None
            if not counts(column, row):
                return F(0), F(0)
            factors.append(row_integer(column, row) * column.grid.step)
        spans = [column.largest * column.step for column in component.pair]
        return factors[0] * factors[1], 16 * spans[0] * spans[1] / CELL_STEPS
    if component.form != "square":
        return row_integer(component, row) * component.step, F(0)
    grid = component.grid
    assert component.of is not None
    assert grid is not None
    value = row[component.of.text]
    if value is None or not counts(component, row):
        return F(0), F(0)
    span = (grid.high - grid.low) * grid.step
    return F(value - grid.centre) ** 2 * grid.step**2, 4 * span**2 / CELL_STEPS


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("promise", [Pure(1), GDP(1)], ids=["L1", "L2"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_neighbours_stay_within_the_joint_sensitivity(
    question: str, promise: Guarantee, relation: Any
) -> None:
    """All pairs of one unit's rows: the cells of all blocks move by no more than the noise covers,
    whatever the relation and the norm.
    """
    query = question_of(question, unit="user", max_rows=1, relation=relation)
    needed = components_of(query)
    calibration = calibrate(query, needed.components, needed.columns, promise)
    rows: list[Row | None] = [None, *rows_of(question)]
    weight = calibration.bounding.weight
    for block, (noise, *_) in zip(calibration.blocks, calibration.noise, strict=True):
        if not block.cells:
            continue
        vectors = set()
        for row in rows:
            sums = [
                0 if row is None else weight * row_integer(calibration.components[i], row)
                for i in block.places
            ]
            vectors.add(
                tuple(sum(a * b for a, b in zip(line, sums, strict=True)) for line in block.cells)
            )
        zero = (0,) * len(block.cells)
        starts = vectors if relation == "replace" else {zero}
        moves = (
            [a - b for a, b in zip(first, second, strict=True)]
            for first in starts
            for second in vectors
        )
        sensitivity = noise.sensitivity  # type: ignore[attr-defined]  # of additive noise
        if calibration.bounding.norm == "L1":
            most = max(sum(map(abs, move)) for move in moves)
            assert most <= sensitivity
        else:
            most = max(sum(part**2 for part in move) for move in moves)
            assert most <= sensitivity**2
            most = isqrt(most)
        slack = 2 * SPARE * weight
        assert most + slack >= sensitivity * (F(1, 2) if relation == "replace" else 1)


def test_a_common_row_widens_ranges_a_little() -> None:
    for steps in itertools.product([1, 7, 100, 4097, 819_200, 1_000_003, 1 << 26], repeat=2):
        wide, row = common_row(steps, CELL_STEPS) or ([], 0)
        assert CELL_STEPS / 2 < row <= CELL_STEPS
        for narrow, widened in zip(steps, wide, strict=True):
            assert row % widened == 0
            assert narrow <= widened
            assert widened <= narrow * F(33, 32) or max(steps) > 1 << 20


def test_units_with_many_rows_have_coarser_cells() -> None:
    """So that the noise of a unit's rows together fits the samplers."""
    steps = [cell_steps(rows) for rows in (1, 2, 3, 1000, 10**6)]
    assert steps == [1 << 26, 1 << 23, 1 << 22, 1 << 20, 1 << 20]
    assert common_row((1 << 21, 5), cell_steps(1000)) is None


def test_an_exact_square_needs_no_rounding() -> None:
    """Of a small range, squares are whole numbers of steps."""
    needed, _ = measured("variance", paired=False)
    (squares,) = (each for each in needed.components if each.form == "square")
    assert squares.grid is not None
    assert squares.times == squares.grid.high - squares.grid.low == 7
    for value in range(-3, 5):
        assert row_integer(squares, {"x": value, "y": 0, "w": 0}) == (value + 3) ** 2


@pytest.mark.parametrize("promise", [Pure(1), GDP(1), Approx(1, "1e-6")])
@pytest.mark.parametrize("question", QUESTIONS)
def test_no_column_is_worse_than_with_components_apart(question: str, promise: Guarantee) -> None:
    query = question_of(question)
    needed = components_of(query)
    gains = calibrate(query, needed.components, needed.columns, promise).gains
    assert all(gain <= 1 + 1e-6 for gain in gains)
    if isinstance(promise, Pure):
        assert min(gains) < 0.75
