"""Sums, and the ratio of two sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ...exact.exact_ratios import Ratios, as_python_ints
from ...exact.numbers import Number
from ..expr.expressions import Expr, as_expr
from ..query.aggregate import Aggregate, bounds_of
from ..query.stages import Rows
from .column_kind import (
    AggregateKind,
    Box,
    BoxEnd,
    Limits,
    Numbers,
    Side,
    SqlCall,
    assume_value,
    move_quotient,
    trace_quotient,
    trace_sum,
)
from .column_parts import value_sum
from .component import Component


def sum(  # noqa: A001  # users write sf.sum
    of: str | Expr,
    *,
    weight: str | Expr | None = None,
    low: Number | None = None,
    high: Number | None = None,
) -> Aggregate:
    """The sum of a column, each value clipped to its bounds; with `weight`, of weight times value,
    and `low` and `high` are those of the product.
    """
    return Aggregate(
        "sum",
        as_expr(of) if weight is None else as_expr(weight) * as_expr(of),
        None,
        *bounds_of(low, high),
    )


def ratio(
    of: str | Expr, by: str | Expr, *, low: Number | None = None, high: Number | None = None
) -> Aggregate:
    """The sum of one column over the sum of another; `low` and `high` are those of the first."""
    return Aggregate("ratio", as_expr(of), None, *bounds_of(low, high), by=as_expr(by))


def _two_sums(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Numbers]:
    """Return two sums, each over the rows that have a value."""
    (top,), ends = value_sum(aggregate, rows)
    (bottom,), others = value_sum(replace(aggregate, of=aggregate.by, low=None, high=None), rows)
    return [top, bottom], {**ends, "by_low": others["low"], "by_high": others["high"]}


def _finish_ratio(_: Numbers, boxes: Sequence[Box], side: Side) -> BoxEnd:
    """S/N: as in a mean, with both signs changed where N is negative. Invalid where N may be 0."""
    s, n = boxes
    negative = np.asarray(n.high < 0, dtype=np.bool_)
    valid = np.asarray(n.low > 0, dtype=np.bool_) | negative
    low, high = (
        np.where(negative, -as_python_ints(n.high), as_python_ints(n.low)),
        np.where(negative, -as_python_ints(n.low), as_python_ints(n.high)),
    )
    top = (
        np.where(negative, -as_python_ints(s.high), as_python_ints(s.low))
        if side == "low"
        else np.where(negative, -as_python_ints(s.low), as_python_ints(s.high))
    )
    bottom = np.where(valid, np.where((top >= 0) == (side == "low"), high, low), 1)
    unit = s.step / n.step
    return BoxEnd(Ratios(top * unit.numerator, bottom * unit.denominator), valid)


def _ratio_error(numbers: Numbers, widths: Sequence[Fraction], size: int) -> Fraction | None:
    """Return the error of the quotient of values in the middle of their bounds."""
    divisor = abs(size * (numbers["by_low"] + numbers["by_high"]) / 2)
    return widths[0] / divisor if divisor else None


def _middle_ratio(numbers: Numbers) -> Sequence[Fraction]:
    divisor = numbers["by_low"] + numbers["by_high"]
    return ((numbers["low"] + numbers["high"]) / divisor if divisor else Fraction(0),)


def _assume_sum(numbers: Numbers, size: int, place: Fraction) -> Fraction:
    return size * (numbers["low"] + place * (numbers["high"] - numbers["low"]))


def _assume_ratio(numbers: Numbers, size: int, place: Fraction) -> Fraction | None:
    divisors = {"low": numbers["by_low"], "high": numbers["by_high"]}
    top, bottom = assume_value(numbers, size, place), assume_value(divisors, size, place)
    return top / bottom if bottom else None


def _sum_range(numbers: Numbers) -> Limits:
    """Return between which a sum lies, if its values all have one sign."""
    zero = Fraction(0)
    least = zero if numbers.get("low", -1) >= 0 else None
    return least, zero if numbers.get("high", 1) <= 0 else None


SUM = AggregateKind(
    name="sum",
    components=value_sum,
    trace=trace_sum,
    possible=_sum_range,
    adds=True,
    assume=_assume_sum,
    calls=(SqlCall("SUM", "total", "column", sum, nodes=("Sum",)),),
    client="SUM({of})",
    about="the sum of the clipped values",
    example="sf.sum('spend')",
)
RATIO = AggregateKind(
    name="ratio",
    components=_two_sums,
    finish=_finish_ratio,
    trace=trace_quotient,
    pieces=2,
    is_quotient=True,
    extreme_quotients=_middle_ratio,
    directions=move_quotient,
    error=_ratio_error,
    error_of="size",
    assume=_assume_ratio,
    ranks_groups=False,
    calls=(SqlCall("RATIO", "of two sums", "pair", ratio, names=("ratio",)),),
    client="RATIO({of}, {by})",
    about="the sum of one column over the sum of another",
    example="sf.ratio('spend', 'visits')",
)
