"""Means, plain and weighted: a sum from the centre over a number of rows, or over their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ...exact.exact_ratios import Ratios, as_python_ints
from ...exact.numbers import Number, text
from ..expr.expressions import Expr, as_expr, python_text
from ..query.aggregate import Aggregate, bounds_of
from ..query.stages import Rows
from . import aggregate_refusals as refusals
from .column_kind import (
    AggregateKind,
    Box,
    BoxEnd,
    Numbers,
    Side,
    SqlCall,
    Tracer,
    move_quotient,
    positive_rows,
    trace_quotient,
    value_bounds,
)
from .column_parts import centred_sum, component_name, end_numbers, grid_for, value_sum
from .component import Component


def mean(
    of: str | Expr,
    *,
    weight: str | Expr | None = None,
    low: Number | None = None,
    high: Number | None = None,
) -> Aggregate:
    """The mean of a column, each value clipped to its bounds; with `weight`, each counts with its
    weight, which is clipped to its own.
    """
    if weight is None:
        return Aggregate("mean", as_expr(of), None, *bounds_of(low, high))
    return Aggregate("weighted_mean", as_expr(of), None, *bounds_of(low, high), by=as_expr(weight))


def _weighted(
    of: Expr, weight: Expr, *, low: Number | None = None, high: Number | None = None
) -> Aggregate:
    return mean(of, weight=weight, low=low, high=high)


def _weighted_components(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Numbers]:
    """Return the sum of weight times centred value, and the sum of the weights of rows that have a
    value.
    """
    assert aggregate.of is not None
    assert aggregate.by is not None
    grid, _ = grid_for(aggregate, rows)
    (weights,), ends = value_sum(
        replace(aggregate, of=aggregate.by, low=None, high=None).filter(~aggregate.of.is_null()),
        rows,
    )
    assert weights.grid is not None
    if weights.grid.low < 0:
        raise refusals.WEIGHT_BELOW_ZERO(
            aggregate=aggregate.text,
            weight=aggregate.by.text,
            python=python_text(aggregate.by),
        )
    value, weight = (
        of.clip(*(grid.constant(end) for end in (grid.low, grid.high)))
        for of, grid in ((aggregate.of, grid), (aggregate.by, weights.grid))
    )
    product = weight * (value - grid.constant(grid.centre))
    far = max(grid.high - grid.centre, grid.centre - grid.low) * grid.step * ends["high"]
    (products,), _ = value_sum(replace(aggregate, of=product, low=-far, high=far), rows)
    weighted = replace(
        products,
        name=component_name("weighted sum", aggregate, grid) + f" by {aggregate.by.text}",
        rule=(
            f"{aggregate.of.text} clipped to [{text(grid.low * grid.step)}, "
            f"{text(grid.high * grid.step)}] before it is weighted"
        ),
        missing="rows without a value or without a weight are left out of the weighted mean",
    )
    return [weighted, weights], {
        **end_numbers(grid),
        "centre": grid.centre * grid.step,
        "by_low": ends["low"],
        "by_high": ends["high"],
    }


def _finish(numbers: Numbers, boxes: Sequence[Box], side: Side) -> BoxEnd:
    """centre + S/N: the least quotient has the least S, over the largest N if it is positive."""
    s, n = boxes
    valid, rows = positive_rows(n)
    top = as_python_ints(s.low if side == "low" else s.high)
    bottom = np.where((top >= 0) == (side == "low"), rows[1], rows[0])
    unit = s.step / n.step
    return BoxEnd(
        Ratios(top * unit.numerator, bottom * unit.denominator).plus(numbers["centre"]), valid
    )


def _trace(numbers: Numbers, pieces: Sequence[Tracer]) -> Tracer:
    return trace_quotient(numbers, pieces) + numbers["centre"]


def mean_error(half: Fraction, widths: Sequence[Fraction], size: Fraction | int) -> Fraction:
    """Return the error of a mean of values within `half` of their centre, from the half-widths of
    the sum and of the number of rows; all of the range if there may be no row.
    """
    total, rows = widths
    if size <= rows:
        return 2 * half
    return min(2 * half, (total + half * rows) / (size - rows))


def _extreme_means(numbers: Numbers) -> Sequence[Fraction]:
    """Return the means from the centre: at the bounds and in the middle."""
    centre = numbers["centre"]
    return numbers["low"] - centre, Fraction(0), numbers["high"] - centre


def _error(numbers: Numbers, widths: Sequence[Fraction], size: int) -> Fraction:
    """Return the error of a mean of so many rows, from the noise of S − θ·N."""
    return min(numbers["high"] - numbers["low"], widths[0] / size)


def _weighted_error(numbers: Numbers, widths: Sequence[Fraction], size: int) -> Fraction:
    """Assume weights in the middle of their bounds."""
    weights = size * (numbers["by_low"] + numbers["by_high"]) / 2
    span = numbers["high"] - numbers["low"]
    return min(span, widths[0] / weights) if weights else span


MEAN = AggregateKind(
    name="mean",
    components=centred_sum,
    finish=_finish,
    trace=_trace,
    pieces=2,
    is_quotient=True,
    keeps_limits=True,
    extreme_quotients=_extreme_means,
    directions=move_quotient,
    limits=value_bounds,
    numbers=("low", "high", "centre"),
    error=_error,
    error_of="size",
    calls=(SqlCall("AVG", "mean", "column", mean, nodes=("Avg",), names=("mean",)),),
    client="AVG({of})",
    about="the mean of the clipped values",
    example="sf.mean('age')",
)
WEIGHTED_MEAN = AggregateKind(
    name="weighted_mean",
    components=_weighted_components,
    finish=_finish,
    pieces=2,
    is_quotient=True,
    extreme_quotients=_extreme_means,
    directions=move_quotient,
    limits=value_bounds,
    numbers=("low", "high", "centre"),
    error=_weighted_error,
    error_of="size",
    calls=(
        SqlCall(
            "WEIGHTED_AVG",
            "weighted mean",
            "pair",
            _weighted,
            names=("weighted_avg", "wavg", "avg_weighted"),
        ),
    ),
    client="WEIGHTED_AVG({of}, {by})",
    about="the mean of the clipped values, each with its weight",
    example="sf.mean('age', weight='visits')",
)
