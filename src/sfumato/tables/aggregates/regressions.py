"""Linear regression of a column y on a column x: slope, intercept, R² and the means of both.

*Order*       SQL's: first y, which depends, then x, which explains it.
*Rows*        A row counts if it has both values.
*Components*  Those of the covariance, and the squares of x; for R² those of the correlation. A
              question with several of them pays for each component once.
*Interval*    The sums of products and of squares of deviations lie between their ends, all at once:
              the slope lies between the quotients of the ends that move it outward. It has no
              limits: where x may be constant, an end is infinite, and so is one of the intercept.
*Proof*       docs/proofs/regression.md
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ...exact.exact_ratios import Ratios
from ...exact.numbers import Number
from ..expr.expressions import Expr, as_expr
from ..query.aggregate import Aggregate, bounds_of
from ..query.stages import Rows
from .averages import MEAN
from .column_kind import (
    AggregateKind,
    Box,
    BoxEnd,
    Numbers,
    Side,
    SqlCall,
    assume_value,
    extreme,
)
from .column_parts import NOTHING, centred_sum, check_condition_type, half_step, slack_numbers
from .component import Component
from .correlations import CORRELATION
from .counts import COUNT
from .covariances import (
    NUMBERS,
    PairedAggregates,
    aggregate_both,
    count_both,
    deviation_products_end,
    deviation_squares_end,
)
from .spreads import half_range, squares_of, variance_slack

_NONE = Fraction(0)
_OPPOSITE: dict[Side, Side] = {"low": "high", "high": "low"}


def regr_slope(
    y: str | Expr, x: str | Expr, *, low: Number | None = None, high: Number | None = None
) -> Aggregate:
    """The slope of the line that fits y best, given x: their covariance over the variance of x.
    `low` and `high` are those of y; x has its declared bounds, or those of its `clip`.
    """
    return Aggregate("regression_slope", as_expr(y), None, *bounds_of(low, high), by=as_expr(x))


def regr_intercept(
    y: str | Expr, x: str | Expr, *, low: Number | None = None, high: Number | None = None
) -> Aggregate:
    """The height at x = 0 of the line that fits y best, given x. `low` and `high` are those of y; x
    has its declared bounds, or those of its `clip`.
    """
    return Aggregate("regression_intercept", as_expr(y), None, *bounds_of(low, high), by=as_expr(x))


def regr_r2(
    y: str | Expr, x: str | Expr, *, low: Number | None = None, high: Number | None = None
) -> Aggregate:
    """The part of the variance of y that the line explains: the square of the correlation. `low`
    and `high` are those of y; x has its declared bounds, or those of its `clip`.
    """
    return Aggregate("regression_r2", as_expr(y), None, *bounds_of(low, high), by=as_expr(x))


def regr_count(y: str | Expr, x: str | Expr) -> Aggregate:
    """The number of rows that have both values. Neither column needs bounds."""
    return Aggregate("regression_count", as_expr(y), by=as_expr(x))


def regr_avgx(y: str | Expr, x: str | Expr) -> Aggregate:
    """The mean of x over the rows that have both values. Only x needs bounds, declared or of its
    `clip`.
    """
    return Aggregate("regression_mean_x", as_expr(y), by=as_expr(x))


def regr_avgy(
    y: str | Expr, x: str | Expr, *, low: Number | None = None, high: Number | None = None
) -> Aggregate:
    """The mean of y over the rows that have both values. Only y needs bounds."""
    return Aggregate("regression_mean_y", as_expr(y), None, *bounds_of(low, high), by=as_expr(x))


def _without_bounds(build: Callable[[Expr, Expr], Aggregate]) -> Callable[..., Aggregate]:
    """Return a function that ignores the bounds of y, which cannot change the aggregate."""

    def call(
        y: Expr, x: Expr, *, low: Number | None = None, high: Number | None = None
    ) -> Aggregate:
        bounds_of(low, high)
        return build(y, x)

    return call


def _slope_components(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Numbers]:
    pair = PairedAggregates.of(aggregate, rows)
    squares = squares_of(pair.aggregates[1], pair.sums[1], rows)
    slack = {
        "slack_product": pair.slack,
        "slack_second": variance_slack(squares, pair.sums[1], rows),
    }
    return [pair.products, *pair.sums, squares, pair.rows], {
        **pair.numbers,
        **{name: number for name, number in slack.items() if number},
    }


def _intercept_components(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Numbers]:
    components, numbers = _slope_components(aggregate, rows)
    y, x = (component.grid for component in components[1:3])
    assert y is not None
    assert x is not None
    mean_slack = {"slack_mean": half_step(x)} if half_step(x) else {}
    return components, {
        **numbers,
        "centre": y.centre * y.step,
        "by_centre": x.centre * x.step,
        **mean_slack,
        **slack_numbers(half_step(y)),
    }


def _count_components(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Numbers]:
    both = aggregate_both(aggregate, rows)
    for part in both:
        check_condition_type(part, rows)
    return [count_both(both, rows)], NOTHING


def _mean_components(
    place: int,
) -> Callable[[Aggregate, Rows], tuple[list[Component], Numbers]]:
    """Return what builds the components of the mean of the first or second column."""

    def build(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Numbers]:
        both = aggregate_both(aggregate, rows)
        (centred, _), numbers = centred_sum(both[place], rows)
        return [centred, count_both(both, rows)], numbers

    return build


def _finish_slope(numbers: Numbers, boxes: Sequence[Box], side: Side) -> BoxEnd:
    """C/V: the larger C, over the least V if C is above 0 and over the largest if it is below."""
    p, s, t, r, n = boxes
    top, valid = deviation_products_end((p, s, t, n), side, numbers.get("slack_product", _NONE))
    assert valid is not None
    outward = (top.top >= 0) == (side == "high")  # smaller squares move the end outward
    slack = numbers.get("slack_second", _NONE)
    least, most = (deviation_squares_end((r, t, n), at, slack).ratios for at in ("low", "high"))
    over = np.where(outward, least.top, most.top)
    sloped = np.asarray(over > 0, dtype=np.bool_)
    ratios = Ratios(
        top.top * np.where(outward, least.bottom, most.bottom),
        top.bottom * np.where(sloped, over, 1),
    )
    return BoxEnd(ratios, valid & sloped)


def _finish_intercept(numbers: Numbers, boxes: Sequence[Box], side: Side) -> BoxEnd:
    """ȳ − b·x̄: the largest has the largest ȳ and the least b·x̄, which is at a corner."""
    _, s, t, _, n = boxes
    opposite = _OPPOSITE[side]
    mean, valid = MEAN.finish(numbers, (s, n), side)
    slack = numbers.get("slack_mean", _NONE)
    of_x = {"centre": numbers["by_centre"]}
    least, most = (
        MEAN.finish(of_x, (t, n), "low").ratios.plus(-slack),
        MEAN.finish(of_x, (t, n), "high").ratios.plus(slack),
    )
    first, second = _finish_slope(numbers, boxes, opposite), _finish_slope(numbers, boxes, side)
    assert valid is not None
    assert first.valid is not None
    assert second.valid is not None
    # An x̄ above 0 needs the first slope, one below 0 the second; the other slope may be infinite.
    valid = valid & np.asarray(first.valid | ((most.top <= 0) & second.valid), dtype=np.bool_)
    valid = valid & np.asarray(second.valid | ((least.top >= 0) & first.valid), dtype=np.bool_)
    slopes = (
        _choose(first.valid, first.ratios, second.ratios),
        _choose(second.valid, second.ratios, first.ratios),
    )
    corners = [_times(slope, x) for slope in slopes for x in (least, most)]
    product = reduce(lambda a, b: extreme(a, b, opposite), corners)
    return BoxEnd(
        Ratios(mean.top * product.bottom - product.top * mean.bottom, mean.bottom * product.bottom),
        valid,
    )


def _finish_r2(numbers: Numbers, boxes: Sequence[Box], side: Side) -> BoxEnd:
    """C²/(V·W): the largest |C| over the least sums of squares, or the other ends."""
    p, s, t, q, r, n = boxes
    slack = numbers.get("slack_product", _NONE)
    least, most = (deviation_products_end((p, s, t, n), at, slack) for at in ("low", "high"))
    valid = least.valid
    assert valid is not None
    squares = [_times(end.ratios, end.ratios) for end in (least, most)]
    top = extreme(squares[0], squares[1], side)
    if side == "low":
        around = (least.ratios.top <= 0) & (most.ratios.top >= 0)
        top = Ratios(np.where(around, 0, top.top), top.bottom)
    opposite = _OPPOSITE[side]
    first = deviation_squares_end((q, s, n), opposite, numbers.get("slack_first", _NONE)).ratios
    second = deviation_squares_end((r, t, n), opposite, numbers.get("slack_second", _NONE)).ratios
    positive = np.asarray((first.top > 0) & (second.top > 0), dtype=np.bool_)
    ratios = Ratios(
        top.top * first.bottom * second.bottom,
        top.bottom * np.where(positive, first.top * second.top, 1),
    )
    # Released squares of 0 or less: the value is 1, as in SQL for a constant y, but 0 where x is
    # constant and nothing speaks for a line.
    is_value = np.asarray((q.low == q.high) & (r.low == r.high), dtype=np.bool_)
    level = np.where((second.top <= 0) & (top.top == 0), 0, 1)
    return BoxEnd(_choose(positive, ratios, Ratios(level, 1)), valid & (positive | is_value))


def _choose(where: NDArray[np.bool_], first: Ratios, second: Ratios) -> Ratios:
    """Return the first ratios where a condition holds, and the second elsewhere."""
    return Ratios(
        np.where(where, first.top, second.top), np.where(where, first.bottom, second.bottom)
    )


def _times(a: Ratios, b: Ratios) -> Ratios:
    return Ratios(a.top * b.top, a.bottom * b.bottom)


def _spread(half: Fraction, widths: Sequence[Fraction], size: int) -> Fraction:
    """Return the least sum of squared deviations of a group whose mean is the middle of its bounds
    and whose deviation is half of the largest possible one.
    """
    squares, total, rows = widths
    return size * half**2 / 4 - squares - total**2 / (size - rows)


def _slope_error(numbers: Numbers, widths: Sequence[Fraction], size: int) -> Fraction | None:
    """Return the error of a slope near 0, where the means are the middle of their bounds and the
    spread of x is half of the largest possible one; None if x may be constant.
    """
    products, first, second, squares, rows = widths
    if size <= rows:
        return None
    spread = _spread(half_range(numbers, "by_"), (squares, second, rows), size)
    return (products + first * second / (size - rows)) / spread if spread > 0 else None


def _intercept_error(numbers: Numbers, widths: Sequence[Fraction], size: int) -> Fraction | None:
    """Return the error of the mean of y, and that of the slope times the mean of x."""
    slope = _slope_error(numbers, widths, size)
    if slope is None:
        return None
    _, first, second, _, rows = widths
    return (first + (abs(numbers["by_centre"]) * (size - rows) + second) * slope) / (size - rows)


def _r2_error(numbers: Numbers, widths: Sequence[Fraction], size: int) -> Fraction:
    """Return the error where a quarter is explained, with means and spreads as for a slope."""
    products, first, second, first_squares, second_squares, rows = widths
    if size <= rows:
        return Fraction(1)
    y, x = half_range(numbers), half_range(numbers, "by_")
    spreads = (
        _spread(y, (first_squares, first, rows), size),
        _spread(x, (second_squares, second, rows), size),
    )
    if min(spreads) <= 0:
        return Fraction(1)
    product = size * x * y / 8 + products + first * second / (size - rows)
    return min(Fraction(1), product**2 / (spreads[0] * spreads[1]) - Fraction(1, 4))


REGRESSION_SLOPE = AggregateKind(
    name="regression_slope",
    components=_slope_components,
    finish=_finish_slope,
    pieces=5,
    numbers=NUMBERS,
    error=_slope_error,
    error_of="size",
    assume=lambda numbers, _, place: (
        (2 * place - 1) * half_range(numbers) / half_range(numbers, "by_")
    ),
    ranks_groups=False,
    calls=(SqlCall("REGR_SLOPE", "slope of y on x", "pair", regr_slope, names=("regr_slope",)),),
    client="REGR_SLOPE({of}, {by})",
    about="the slope of the line that fits the first column best, given the second",
    example="sf.regr_slope('spend', 'age')",
)
REGRESSION_INTERCEPT = AggregateKind(
    name="regression_intercept",
    components=_intercept_components,
    finish=_finish_intercept,
    pieces=5,
    numbers=(*NUMBERS, "centre", "by_centre"),
    error=_intercept_error,
    error_of="size",
    assume=assume_value,
    ranks_groups=False,
    calls=(
        SqlCall(
            "REGR_INTERCEPT",
            "height of the line at x = 0",
            "pair",
            regr_intercept,
            names=("regr_intercept",),
        ),
    ),
    client="REGR_INTERCEPT({of}, {by})",
    about="the height of that line where the second column is 0",
    example="sf.regr_intercept('spend', 'age')",
)
REGRESSION_R2 = AggregateKind(
    name="regression_r2",
    components=CORRELATION.components,
    finish=_finish_r2,
    pieces=6,
    limits=lambda _: (Fraction(0), Fraction(1)),
    numbers=NUMBERS,
    error=_r2_error,
    error_of="size",
    assume=lambda _, __, place: place,
    calls=(SqlCall("REGR_R2", "part explained by the line", "pair", regr_r2, names=("regr_r2",)),),
    client="REGR_R2({of}, {by})",
    about="the part of the variance of the first column that the line explains",
    example="sf.regr_r2('spend', 'age')",
)
REGRESSION_COUNT = replace(
    COUNT,
    name="regression_count",
    components=_count_components,
    calls=(
        SqlCall(
            "REGR_COUNT",
            "rows with both values",
            "pair",
            _without_bounds(regr_count),
            names=("regr_count",),
        ),
    ),
    client="REGR_COUNT({of}, {by})",
    about="the number of rows that have both values",
    example="sf.regr_count('spend', 'age')",
)
REGRESSION_MEAN_X = replace(
    MEAN,
    name="regression_mean_x",
    components=_mean_components(1),
    calls=(
        SqlCall(
            "REGR_AVGX",
            "mean of x where y has a value",
            "pair",
            _without_bounds(regr_avgx),
            names=("regr_avgx",),
        ),
    ),
    client="REGR_AVGX({of}, {by})",
    about="the mean of the second column over the rows that have both values",
    example="sf.regr_avgx('spend', 'age')",
)
REGRESSION_MEAN_Y = replace(
    MEAN,
    name="regression_mean_y",
    components=_mean_components(0),
    calls=(
        SqlCall(
            "REGR_AVGY", "mean of y where x has a value", "pair", regr_avgy, names=("regr_avgy",)
        ),
    ),
    client="REGR_AVGY({of}, {by})",
    about="the mean of the first column over the rows that have both values",
    example="sf.regr_avgy('spend', 'age')",
)
