"""Parts that several aggregates share: the grid of a column, its components, and their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from ...errors import Refused
from ...exact.numbers import text
from ..expr.expressions import ColumnRef, Expr, python_text
from ..expr.grids import BITS, Grid, grid_of
from ..expr.types import Type
from ..query.aggregate import Aggregate
from ..query.stages import Rows
from . import aggregate_refusals as refusals
from .column_kind import Numbers
from .component import Component, cell_steps
from .count_tree import TREE_BITS

NOTHING: Mapping[str, Fraction] = {}

_FINE_TREE_BITS, _LEAST_DIGITS = 22, 6
"""The steps of a tree's grid of floats before it keeps digits, and the fewest digits."""


def value_sum(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Numbers]:
    """Return the sum of a column, and its bounds."""
    grid, filled = grid_for(aggregate, rows)
    name = component_name("sum", aggregate, grid)
    component = Component(
        name,
        "value",
        grid.low,
        grid.high,
        grid.step,
        aggregate.of,
        aggregate.where,
        grid,
        filled=filled,
    )
    return [component], end_numbers(grid)


def centred_sum(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Numbers]:
    """Return the sum of a column from the centre of its bounds, and the number of its rows."""
    grid, filled = grid_for(aggregate, rows)
    low, high = grid.low - grid.centre, grid.high - grid.centre
    name = component_name("centred sum", aggregate, grid)
    centred = Component(
        name, "centred", low, high, grid.step, aggregate.of, aggregate.where, grid, filled=filled
    )
    return [centred, row_count(aggregate, rows)], {
        **end_numbers(grid),
        "centre": grid.centre * grid.step,
        **slack_numbers(half_step(grid)),
    }


def cell_steps_of(rows: Rows) -> int:
    """Return what the cells of squares, or of two columns, sum to at most for each row."""
    declared = rows.declaration
    is_one = not declared.unit or rows.once or declared.max_rows is None
    return cell_steps(1 if is_one or declared.max_rows is None else declared.max_rows)


def row_count(aggregate: Aggregate, rows: Rows) -> Component:
    """Return the component that counts rows, or rows with a value."""
    of = aggregate.of
    if of is not None and not of.type(rows.schema).nullable:
        of = None
    about = ([] if of is None else [of.text]) + (
        [] if aggregate.where is None else [f"where {aggregate.where.text}"]
    )
    return Component(" ".join(["count", *about]), "one", of=of, where=aggregate.where)


def grid_for(
    aggregate: Aggregate, rows: Rows, bits: int = BITS, digits: int = 0
) -> tuple[Grid, bool]:
    """Return the grid of the aggregated values between their bounds, and whether a missing value
    counts as the lower bound.
    """
    assert aggregate.of is not None
    of, column_type = aggregate.of.text, aggregate.of.type(rows.schema)
    check_condition_type(aggregate, rows)
    if not column_type.numeric and column_type.kind != "bool":
        raise _refuse_sum(aggregate.of, column_type)
    low, high = aggregate.low, aggregate.high
    if low is None or high is None:
        ends = (
            (Fraction(0), Fraction(1))
            if column_type.kind == "bool"
            else aggregate.of.widest_range(rows.ranges)
            if aggregate.kind == "quantile"  # its noise is in ranks, whatever the bounds
            else aggregate.of.range(rows.ranges)
        )
        if ends is None:
            raise refusals.BOUNDS_UNKNOWN(aggregate=aggregate.text, of=of)
        low, high = ends
    return grid_of(of, column_type, low, high, bits, digits), not column_type.nullable


def tree_grid(aggregate: Aggregate, rows: Rows, *, is_dated: bool) -> tuple[Grid, bool]:
    """Return the grid of a tree of counts. Many values are counted by as many binary digits of
    their distance from 0 as its leaves can hold; dates, which begin in 1970, by days in a row.
    """
    grid, filled = grid_for(aggregate, rows, TREE_BITS if is_dated else _FINE_TREE_BITS)
    if is_dated or grid.count_marks <= 1 << TREE_BITS:
        return grid, filled
    grids = (replace(grid, digits=digits) for digits in range(TREE_BITS, _LEAST_DIGITS, -1))
    fine = replace(grid, digits=_LEAST_DIGITS)
    return next((each for each in grids if each.count_marks <= 1 << TREE_BITS), fine), filled


def _refuse_sum(of: Expr, column_type: Type) -> Refused:
    """Build the refusal to sum values that are no numbers."""
    if column_type.kind != "string":
        return refusals.VALUE_NOT_SUMMABLE(of=of.text, type=column_type, python=python_text(of))
    if isinstance(of, ColumnRef):
        return refusals.TEXT_NOT_SUMMABLE(of=of.text, column=of.name)
    return refusals.TEXT_EXPRESSION_NOT_SUMMABLE(of=of.text, python=python_text(of))


def check_condition_type(aggregate: Aggregate, rows: Rows) -> None:
    """Refuse a condition that is not true or false, and a value without a type."""
    if aggregate.of is not None:
        aggregate.of.type(rows.schema)
    if aggregate.where is not None and aggregate.where.type(rows.schema).kind != "bool":
        raise refusals.CONDITION_NOT_TRUE_OR_FALSE(aggregate=aggregate.text)


def end_numbers(grid: Grid) -> Numbers:
    """Return the bounds of a column: the ends of its grid."""
    return {"low": grid.low * grid.step, "high": grid.high * grid.step}


def half_step(grid: Grid) -> Fraction:
    """Return how far rounding to the grid may move a value."""
    return grid.step / 2 if grid.floating else Fraction(0)


def slack_numbers(by: Fraction) -> Numbers:
    """Return how much finishing widens intervals, so that they cover the rounding to the grid."""
    return {"slack": by} if by else NOTHING


def component_name(what: str, aggregate: Aggregate, grid: Grid) -> str:
    """Name a component; equal components have equal names."""
    assert aggregate.of is not None
    ends = f"[{text(grid.low * grid.step)}, {text(grid.high * grid.step)}]"
    return " ".join(
        [
            what,
            aggregate.of.text,
            ends,
            *(["where", aggregate.where.text] if aggregate.where is not None else []),
        ]
    )
