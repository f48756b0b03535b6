"""Variance and standard deviation: of the rows themselves, or of the population they are a sample
of.

*Sample*    The variance of n rows times n/(n − 1), as VAR_SAMP has it; n is the weighted number of
            rows. Fewer than two rows have no sample variance: there the factor is 2, that of two
            rows, so the largest value is twice the largest variance.
*Proof*     docs/proofs/answer-intervals.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from ...exact.balls import sqrt_up
from ...exact.exact_ratios import Integers, Ratios, as_python_ints, square_roots
from ...exact.numbers import Number
from ..expr.expressions import Expr, as_expr
from ..query.aggregate import Aggregate, bounds_of
from ..query.stages import Rows
from .averages import mean_error
from .column_kind import (
    AggregateKind,
    Box,
    BoxEnd,
    Directions,
    Limits,
    Numbers,
    Side,
    SqlCall,
    Tracer,
    extreme,
    positive_rows,
)
from .column_parts import cell_steps_of, centred_sum, component_name, half_step, slack_numbers
from .component import Component

_ROOT_OF_TWO = Fraction(math.isqrt(2 << 128) + 1, 1 << 64)  # not below it


def var(
    of: str | Expr,
    *,
    sample: bool = False,
    low: Number | None = None,
    high: Number | None = None,
) -> Aggregate:
    """The variance of a column: mean square minus squared mean of the clipped values; with
    `sample`, times n/(n − 1).
    """
    kind = "sample_variance" if sample else "variance"
    return Aggregate(kind, as_expr(of), None, *bounds_of(low, high))


def std(
    of: str | Expr,
    *,
    sample: bool = False,
    low: Number | None = None,
    high: Number | None = None,
) -> Aggregate:
    """The standard deviation of a column: the root of its variance; with `sample`, of its sample
    variance.
    """
    kind = "sample_std" if sample else "std"
    return Aggregate(kind, as_expr(of), None, *bounds_of(low, high))


def _sample_var(of: Expr, *, low: Number | None = None, high: Number | None = None) -> Aggregate:
    return var(of, sample=True, low=low, high=high)


def _sample_std(of: Expr, *, low: Number | None = None, high: Number | None = None) -> Aggregate:
    return std(of, sample=True, low=low, high=high)


def squares_of(aggregate: Aggregate, centred: Component, rows: Rows) -> Component:
    """Return the component of the squares beside a centred sum."""
    grid = centred.grid
    assert grid is not None
    steps, most = grid.high - grid.low, cell_steps_of(rows)
    times = steps if steps**2 <= most else max(1, most // steps)
    return Component(
        component_name("squares", aggregate, grid),
        "square",
        0,
        times * steps,
        grid.step**2 * Fraction(steps, times),
        aggregate.of,
        aggregate.where,
        grid,
        times,
        filled=centred.filled,
    )


def variance_slack(squares: Component, centred: Component, rows: Rows) -> Fraction:
    """Return how far rounding of values and squares may move the variance."""
    assert centred.grid is not None
    values = 4 * centred.largest * centred.step * half_step(centred.grid)
    return values + _square_slack(squares, rows)


def _std_slack(squares: Component, centred: Component, rows: Rows) -> Fraction:
    assert centred.grid is not None
    return half_step(centred.grid) + sqrt_up(_square_slack(squares, rows))


def _square_slack(squares: Component, rows: Rows) -> Fraction:
    """Return how far rounding of squares may move a mean square, in the cells of one or two
    columns: by less than two of the steps that the cells of a row sum to.
    """
    assert squares.grid is not None
    span = (squares.grid.high - squares.grid.low) * squares.grid.step
    return 4 * span**2 / cell_steps_of(rows)


def _components(
    slack: Callable[[Component, Component, Rows], Fraction], times: Fraction = Fraction(1)
) -> Callable[[Aggregate, Rows], tuple[list[Component], Numbers]]:
    def build(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Numbers]:
        (centred, ones), numbers = centred_sum(aggregate, rows)
        squares = squares_of(aggregate, centred, rows)
        widening = slack_numbers(times * slack(squares, centred, rows))
        inner = {"inner_slack": variance_slack(squares, centred, rows)}
        return [squares, centred, ones], {**numbers, **widening, **inner}

    return build


def quotient_end(linear: Integers, bent: Integers, common: int, rows: Box, side: Side) -> BoxEnd:
    """Return the extreme of (linear·N − bent)/(common·N²) over a box of N. In 1/N it is a parabola:
    its extremes are at the ends of N, or where linear·N = 2·bent.
    """
    valid, (fewest, most) = positive_rows(rows)
    sign = 1 if side == "high" else -1  # the least value is minus the largest of the negative
    linear, bent = sign * linear, sign * bent
    at_fewest, at_most = (Ratios(linear * n - bent, common * n * n) for n in (fewest, most))
    best = extreme(at_fewest, at_most, "high")
    inside = (bent > 0) & (linear * fewest < 2 * bent) & (2 * bent < linear * most)
    best = Ratios(
        np.where(inside, linear * linear, best.top),
        np.where(inside, 4 * common * np.where(inside, bent, 1), best.bottom),
    )
    return BoxEnd(Ratios(sign * best.top, best.bottom), valid)


def variance_end(boxes: Sequence[Box], side: Side) -> BoxEnd:
    """Q/N − (S/N)²: the least has the least Q and the largest S², the largest the other ends."""
    q, s, n = boxes
    squares = as_python_ints(s.low) ** 2, as_python_ints(s.high) ** 2
    a, b = (q.step / n.step), (s.step / n.step) ** 2
    if side == "low":
        top, square = as_python_ints(q.low), np.maximum(*squares)
    else:
        around = (as_python_ints(s.low) <= 0) & (as_python_ints(s.high) >= 0)
        top, square = as_python_ints(q.high), np.where(around, 0, np.minimum(*squares))
    linear, bent = top * (a.numerator * b.denominator), square * (b.numerator * a.denominator)
    return quotient_end(linear, bent, a.denominator * b.denominator, n, side)


def correct_sample(end: BoxEnd, rows: Box, side: Side) -> BoxEnd:
    """Multiply an end by n/(n − 1), at most 2: by the end of that factor that moves it outward."""
    _, (fewest, most) = positive_rows(rows)
    top, bottom = end.ratios
    n = np.where((top >= 0) == (side == "high"), fewest, most) * rows.step.numerator
    several = n >= 2 * rows.step.denominator
    return BoxEnd(
        Ratios(
            top * np.where(several, n, 2),
            bottom * np.where(several, n - rows.step.denominator, 1),
        ),
        end.valid,
    )


def _trace_variance(numbers: Numbers, pieces: Sequence[Tracer]) -> Tracer:
    """Write the variance of unrounded values. Answers of older versions have no number for it."""
    squares, centred, rows = pieces
    mean = centred / rows
    return (squares / rows - mean * mean).widened(numbers.get("inner_slack", Fraction(0)))


def _trace_sample(numbers: Numbers, pieces: Sequence[Tracer]) -> Tracer:
    """Write the variance times 1 + 1/(n − 1); two rows or more are surely there where n − 1 is 1 or
    more.
    """
    variance = _trace_variance(numbers, pieces)
    return variance + variance / (pieces[-1] - 1).at_least_one()


def _trace_std(numbers: Numbers, pieces: Sequence[Tracer]) -> Tracer:
    return _trace_variance(numbers, pieces).root()


def _trace_sample_std(numbers: Numbers, pieces: Sequence[Tracer]) -> Tracer:
    return _trace_sample(numbers, pieces).root()


def sample_factor(size: int) -> Fraction:
    """Return n/(n − 1), at most 2."""
    return Fraction(size, size - 1) if size >= 2 else Fraction(2)


def _finish_variance(_: Numbers, boxes: Sequence[Box], side: Side) -> BoxEnd:
    return variance_end(boxes, side)


def _finish_std(_: Numbers, boxes: Sequence[Box], side: Side) -> BoxEnd:
    variance, valid = variance_end(boxes, side)
    return BoxEnd(square_roots(variance, up=side == "high"), valid)


def _finish_sample_variance(_: Numbers, boxes: Sequence[Box], side: Side) -> BoxEnd:
    return correct_sample(variance_end(boxes, side), boxes[-1], side)


def _finish_sample_std(numbers: Numbers, boxes: Sequence[Box], side: Side) -> BoxEnd:
    variance, valid = _finish_sample_variance(numbers, boxes, side)
    return BoxEnd(square_roots(variance, up=side == "high"), valid)


def move_variance(_: Numbers, largest: Sequence[float]) -> Directions:
    """Return how a variance moves: like Q − 2m·S + (m² − v)·N, for means m of 0 and of half the
    largest distance d, and variances v of d²/4.
    """
    far = largest[1]
    return [(1.0, 0.0, -far * far / 4), (1.0, -far, 0.0), (1.0, far, 0.0)]


def half_range(numbers: Numbers, by: str = "") -> Fraction:
    """Return half of the range between the bounds of a column."""
    return (numbers[f"{by}high"] - numbers[f"{by}low"]) / 2


def _variance_limits(numbers: Numbers) -> Limits:
    """Return the limits of a variance: at most (half the range)²."""
    return Fraction(0), half_range(numbers) ** 2


def _std_limits(numbers: Numbers) -> Limits:
    return Fraction(0), half_range(numbers)


def _variance_error(numbers: Numbers, widths: Sequence[Fraction], size: int) -> Fraction:
    half = half_range(numbers)
    if size <= widths[-1]:
        return half**2
    mean = mean_error(half, widths[1:], size)
    squares = (widths[0] + half**2 * widths[-1]) / (size - widths[-1])
    return min(half**2, squares + 2 * half * mean)


def _std_error(numbers: Numbers, widths: Sequence[Fraction], size: int) -> Fraction:
    """Return the error of a root, where the spread is half of the largest possible one."""
    return _variance_error(numbers, widths, size) / half_range(numbers)


VARIANCE = AggregateKind(
    name="variance",
    components=_components(variance_slack),
    finish=_finish_variance,
    trace=_trace_variance,
    pieces=3,
    directions=move_variance,
    limits=_variance_limits,
    numbers=("low", "high"),
    error=_variance_error,
    error_of="size",
    assume=lambda numbers, _, place: place * half_range(numbers) ** 2,
    calls=(SqlCall("VAR_POP", "variance of the rows", "column", var, nodes=("VariancePop",)),),
    client="VAR_POP({of})",
    about="the variance of the rows themselves",
    example="sf.var('age')",
)
STD = AggregateKind(
    name="std",
    components=_components(_std_slack),
    finish=_finish_std,
    trace=_trace_std,
    pieces=3,
    directions=move_variance,
    limits=_std_limits,
    numbers=("low", "high"),
    error=_std_error,
    error_of="size",
    assume=lambda numbers, _, place: place * half_range(numbers),
    calls=(SqlCall("STDDEV_POP", "deviation of the rows", "column", std, nodes=("StddevPop",)),),
    client="STDDEV_POP({of})",
    about="the root of the variance",
    example="sf.std('age')",
)
SAMPLE_VARIANCE = AggregateKind(
    name="sample_variance",
    components=_components(variance_slack, Fraction(2)),
    finish=_finish_sample_variance,
    trace=_trace_sample,
    pieces=3,
    directions=move_variance,
    limits=lambda numbers: (Fraction(0), 2 * half_range(numbers) ** 2),
    numbers=("low", "high"),
    error=lambda numbers, widths, size: (
        sample_factor(size) * _variance_error(numbers, widths, size)
    ),
    error_of="size",
    assume=lambda numbers, size, place: sample_factor(size) * place * half_range(numbers) ** 2,
    calls=(
        SqlCall("VARIANCE", "variance", "column", _sample_var, nodes=("Variance",), names=("var",)),
    ),
    client="VAR_SAMP({of})",
    about="the variance times n/(n − 1)",
    example="sf.var('age', sample=True)",
)
SAMPLE_STD = AggregateKind(
    name="sample_std",
    components=_components(_std_slack, _ROOT_OF_TWO),
    finish=_finish_sample_std,
    trace=_trace_sample_std,
    pieces=3,
    directions=move_variance,
    limits=lambda numbers: (Fraction(0), _ROOT_OF_TWO * half_range(numbers)),
    numbers=("low", "high"),
    error=lambda numbers, widths, size: sample_factor(size) * _std_error(numbers, widths, size),
    error_of="size",
    assume=lambda numbers, size, place: sample_factor(size) * place * half_range(numbers),
    calls=(
        SqlCall(
            "STDDEV", "standard deviation", "column", _sample_std, nodes=("Stddev", "StddevSamp")
        ),
    ),
    client="STDDEV_SAMP({of})",
    about="the root of the sample variance",
    example="sf.std('age', sample=True)",
)
