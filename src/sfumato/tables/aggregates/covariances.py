"""Covariance of two columns: of the rows themselves, or of the population they are a sample of.

*Rows*        A row counts if it has both values.
*Components*  Each value is clipped to its bounds and measured from their centre: the product of the
              two, both sums, and the number of rows. A row's product is at most far_x·far_y.
*Order*       Neither order of the two columns is special: both need the same components, so
              CORR(x, y) and REGR_SLOPE(y, x) share them.
*Limits*      At most (half the range of x)·(half the range of y), by Cauchy and Schwarz.
*Proof*       docs/proofs/covariance.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

import numpy as np

from ...exact.exact_ratios import Integers, Ratios, as_python_ints
from ...exact.numbers import Number, text
from ..expr.expressions import Expr, as_expr, python_text
from ..query.aggregate import Aggregate, bounds_of
from ..query.stages import Rows
from . import aggregate_refusals as refusals
from .averages import mean_error
from .column_kind import (
    AggregateKind,
    Box,
    BoxEnd,
    Directions,
    Numbers,
    Side,
    SqlCall,
    positive_rows,
)
from .column_parts import (
    cell_steps_of,
    centred_sum,
    half_step,
    row_count,
    slack_numbers,
    value_sum,
)
from .component import Component
from .spreads import correct_sample, half_range, quotient_end, sample_factor


def covar(
    of: str | Expr,
    by: str | Expr,
    *,
    sample: bool = False,
    low: Number | None = None,
    high: Number | None = None,
) -> Aggregate:
    """The covariance of two columns; with `sample`, times n/(n − 1). `low` and `high` are those of
    the first; the second has its declared bounds, or those of its `clip`.
    """
    kind = "sample_covariance" if sample else "covariance"
    return Aggregate(kind, as_expr(of), None, *bounds_of(low, high), by=as_expr(by))


def _sample_covar(
    of: Expr, by: Expr, *, low: Number | None = None, high: Number | None = None
) -> Aggregate:
    return covar(of, by, sample=True, low=low, high=high)


@dataclass(frozen=True, slots=True)
class PairedAggregates:
    """The two aggregates of a pair of columns, each over the rows that have both values, and their
    components.
    """

    aggregates: tuple[Aggregate, Aggregate]
    products: Component
    sums: tuple[Component, Component]
    rows: Component
    numbers: Numbers
    slack: Fraction  # how far rounding of values and products may move the covariance

    @classmethod
    def of(cls, aggregate: Aggregate, rows: Rows) -> PairedAggregates:
        """Return the components that covariances, correlations and regressions share."""
        aggregates = aggregate_both(aggregate, rows)
        first, second = aggregate.of, aggregate.by
        if first is not None and second is not None and first.text == second.text:
            raise refusals.PAIR_OF_ONE_COLUMN(of=first.text, python=python_text(first))
        (x, _), ends = centred_sum(aggregates[0], rows)
        (y, _), others = centred_sum(aggregates[1], rows)
        products = _products(aggregate, x, y, rows)
        assert products.grid is not None
        # Half a step of the product, and what doubles err; twice for the sums and for the product.
        slack = products.step if products.grid.floating else Fraction(0)
        slack += 16 * x.largest * x.step * y.largest * y.step / cell_steps_of(rows)  # of cells
        for value, factor in ((x, y), (y, x)):
            assert value.grid is not None
            slack += 2 * half_step(value.grid) * factor.largest * factor.step
        numbers = {
            "low": ends["low"],
            "high": ends["high"],
            "by_low": others["low"],
            "by_high": others["high"],
        }
        return cls(aggregates, products, (x, y), count_both(aggregates, rows), numbers, slack)


def aggregate_both(aggregate: Aggregate, rows: Rows) -> tuple[Aggregate, Aggregate]:
    """Return the aggregate of each column, over the rows that have both values."""
    first, second = aggregate.of, aggregate.by
    assert first is not None
    assert second is not None
    return (
        _with_value(replace(aggregate, by=None), second, rows),
        _with_value(replace(aggregate, of=second, by=None, low=None, high=None), first, rows),
    )


def count_both(aggregates: tuple[Aggregate, Aggregate], rows: Rows) -> Component:
    """Return the component that counts the rows with both values. Its name does not depend on the
    order of the columns; a column that is never missing is not in it.
    """

    def order(aggregate: Aggregate) -> tuple[bool, str]:
        assert aggregate.of is not None
        return not aggregate.of.type(rows.schema).nullable, aggregate.of.text

    return row_count(min(aggregates, key=order), rows)


def _with_value(aggregate: Aggregate, column: Expr, rows: Rows) -> Aggregate:
    """Leave out the rows without a value of the other column, if there may be any."""
    return aggregate.filter(column.not_null()) if column.type(rows.schema).nullable else aggregate


def _products(aggregate: Aggregate, x: Component, y: Component, rows: Rows) -> Component:
    """Return the sum of the products of centred values, the same for both orders of columns."""
    factors, names = [], []
    x, y = sorted((x, y), key=lambda component: component.name)
    for value in (x, y):
        of, grid = value.of, value.grid
        assert of is not None
        assert grid is not None
        number = of.cast("int64") if of.type(rows.schema).kind == "bool" else of
        clipped = number.clip(*(grid.constant(end) for end in (grid.low, grid.high)))
        factors.append(clipped - grid.constant(grid.centre))
        ends = f"[{text(grid.low * grid.step)}, {text(grid.high * grid.step)}]"
        names.append(f"{of.text} {ends}")
    far = x.largest * x.step * y.largest * y.step
    product = replace(aggregate, of=factors[0] * factors[1], by=None, low=-far, high=far)
    (products,), _ = value_sum(product, rows)
    where = "" if aggregate.where is None else f" where {aggregate.where.text}"
    return replace(
        products,
        name=f"products {' and '.join(names)}{where}",
        pair=(x, y),
        missing="rows without one of the two values are left out of aggregates of the two",
    )


def _components(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Numbers]:
    pair = PairedAggregates.of(aggregate, rows)
    slack = pair.slack * (2 if aggregate.kind == "sample_covariance" else 1)
    return [pair.products, *pair.sums, pair.rows], {**pair.numbers, **slack_numbers(slack)}


def covariance_end(boxes: Sequence[Box], side: Side) -> BoxEnd:
    """P/N − S·T/N²: the least has the least P and the largest S·T, the largest the other ends."""
    p, s, t, n = boxes
    corners = [
        as_python_ints(a) * as_python_ints(b) for a in (s.low, s.high) for b in (t.low, t.high)
    ]
    a, b = p.step / n.step, s.step * t.step / n.step**2
    top = as_python_ints(p.low if side == "low" else p.high)
    product = reduce(np.maximum if side == "low" else np.minimum, corners)
    linear, bent = top * (a.numerator * b.denominator), product * (b.numerator * a.denominator)
    return quotient_end(linear, bent, a.denominator * b.denominator, n, side)


def deviation_products_end(
    boxes: Sequence[Box], side: Side, slack: Fraction = Fraction(0)
) -> BoxEnd:
    """P − S·T/N, the sum of the products of both deviations from their means: N times the
    covariance. `slack` is how far rounding may have moved the covariance.
    """
    p, s, t, n = boxes
    corners = [
        as_python_ints(a) * as_python_ints(b) for a in (s.low, s.high) for b in (t.low, t.high)
    ]
    bent = reduce(np.maximum if side == "low" else np.minimum, corners)
    return _deviations_end(p, bent, s.step * t.step, n, side, slack)


def deviation_squares_end(
    boxes: Sequence[Box], side: Side, slack: Fraction = Fraction(0)
) -> BoxEnd:
    """Q − S²/N, the sum of the squares of the deviations from the mean: N times the variance.
    `slack` is how far rounding may have moved the variance.
    """
    q, s, n = boxes
    low, high = as_python_ints(s.low), as_python_ints(s.high)
    if side == "low":
        bent = np.maximum(low**2, high**2)
    else:
        bent = np.where((low <= 0) & (high >= 0), 0, np.minimum(low**2, high**2))
    return _deviations_end(q, bent, s.step**2, n, side, slack)


def _deviations_end(
    total: Box, bent: Integers, step: Fraction, rows: Box, side: Side, slack: Fraction
) -> BoxEnd:
    """Return the extreme of total − bent/N over a box of the total and of N, and N·slack more."""
    valid, (fewest, most) = positive_rows(rows)
    top = as_python_ints(total.low if side == "low" else total.high)
    n = np.where((bent > 0) == (side == "high"), most, fewest)
    linear, curve, extra = total.step, step / rows.step, slack * rows.step
    common = math.lcm(linear.denominator, curve.denominator, extra.denominator)
    ratios = Ratios(
        top * n * int(linear * common)
        - bent * int(curve * common)
        + (-1 if side == "low" else 1) * most * n * int(extra * common),
        n * common,
    )
    return BoxEnd(ratios, valid)


def _finish(_: Numbers, boxes: Sequence[Box], side: Side) -> BoxEnd:
    return covariance_end(boxes, side)


def _finish_sample(_: Numbers, boxes: Sequence[Box], side: Side) -> BoxEnd:
    return correct_sample(covariance_end(boxes, side), boxes[-1], side)


def move_covariance(_: Numbers, largest: Sequence[float]) -> Directions:
    """Return how a covariance of 0 moves: like P − n·S − m·T + m·n·N, for means m and n of half the
    largest distance.
    """
    x, y = largest[1:3]
    return [(1.0, -b * y / 2, -a * x / 2, a * b * x * y / 4) for a in (-1, 1) for b in (-1, 1)]


def largest_covariance(numbers: Numbers) -> Fraction:
    """Return the largest covariance of values between these bounds."""
    return half_range(numbers) * half_range(numbers, "by_")


def covariance_error(numbers: Numbers, widths: Sequence[Fraction], size: int) -> Fraction:
    """Return the expected error, from the half-widths of P, S, T and N."""
    products, first, second, rows = widths
    most = largest_covariance(numbers)
    if size <= rows:
        return 2 * most
    x, y = half_range(numbers), half_range(numbers, "by_")
    means = x * mean_error(y, (second, rows), size) + y * mean_error(x, (first, rows), size)
    return min(2 * most, (products + most * rows) / (size - rows) + means)


NUMBERS = ("low", "high", "by_low", "by_high")

COVARIANCE = AggregateKind(
    name="covariance",
    components=_components,
    finish=_finish,
    pieces=4,
    directions=move_covariance,
    limits=lambda numbers: (-largest_covariance(numbers), largest_covariance(numbers)),
    numbers=NUMBERS,
    error=covariance_error,
    error_of="size",
    assume=lambda numbers, _, place: (2 * place - 1) * largest_covariance(numbers),
    calls=(SqlCall("COVAR_POP", "covariance of the rows", "pair", covar, names=("covar_pop",)),),
    client="COVAR_POP({of}, {by})",
    about="the covariance of two columns, of the rows themselves",
    example="sf.covar('age', 'spend')",
)
SAMPLE_COVARIANCE = AggregateKind(
    name="sample_covariance",
    components=_components,
    finish=_finish_sample,
    pieces=4,
    directions=move_covariance,
    limits=lambda numbers: (-2 * largest_covariance(numbers), 2 * largest_covariance(numbers)),
    numbers=NUMBERS,
    error=lambda numbers, widths, size: (
        sample_factor(size) * covariance_error(numbers, widths, size)
    ),
    error_of="size",
    assume=lambda numbers, size, place: (
        sample_factor(size) * (2 * place - 1) * largest_covariance(numbers)
    ),
    calls=(SqlCall("COVAR_SAMP", "covariance", "pair", _sample_covar, names=("covar_samp",)),),
    client="COVAR_SAMP({of}, {by})",
    about="the covariance times n/(n − 1)",
    example="sf.covar('age', 'spend', sample=True)",
)
