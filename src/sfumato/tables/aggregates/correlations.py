"""Correlation of two columns: their covariance over the roots of both variances.

*Rows*        A row counts if it has both values.
*Components*  Those of the covariance, and the squares of both columns.
*Interval*    The covariance and both variances lie between their ends, all at once: the quotient
              lies between those of the ends that move it outward. Where a variance may be zero, the
              end is −1 or 1: nothing is known.
*Proof*       docs/proofs/covariance.md
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ...exact.exact_ratios import Ratios, square_roots
from ...exact.numbers import Number
from ..expr.expressions import Expr, as_expr
from ..query.aggregate import Aggregate, bounds_of
from ..query.stages import Rows
from .column_kind import AggregateKind, Box, BoxEnd, Directions, Numbers, Side, SqlCall
from .component import Component
from .covariances import (
    NUMBERS,
    PairedAggregates,
    covariance_end,
    covariance_error,
    largest_covariance,
    move_covariance,
)
from .spreads import squares_of, variance_end, variance_slack

_NONE = Fraction(0)


def corr(
    of: str | Expr, by: str | Expr, *, low: Number | None = None, high: Number | None = None
) -> Aggregate:
    """The correlation of two columns. `low` and `high` are those of the first; the second has its
    declared bounds, or those of its `clip`.
    """
    return Aggregate("correlation", as_expr(of), None, *bounds_of(low, high), by=as_expr(by))


def _components(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Numbers]:
    pair = PairedAggregates.of(aggregate, rows)
    squares = [
        squares_of(part, centred, rows)
        for part, centred in zip(pair.aggregates, pair.sums, strict=True)
    ]
    slack = {
        "slack_product": pair.slack,
        "slack_first": variance_slack(squares[0], pair.sums[0], rows),
        "slack_second": variance_slack(squares[1], pair.sums[1], rows),
    }
    return [pair.products, *pair.sums, *squares, pair.rows], {
        **pair.numbers,
        **{name: number for name, number in slack.items() if number},
    }


def _finish(numbers: Numbers, boxes: Sequence[Box], side: Side) -> BoxEnd:
    p, s, t, q, r, n = boxes
    away = -1 if side == "low" else 1
    covariance, valid = covariance_end((p, s, t, n), side)
    assert valid is not None
    top = covariance.plus(away * numbers.get("slack_product", _NONE))
    outward = (top.top >= 0) == (side == "high")  # smaller variances move the end outward
    square = Ratios(top.top * top.top, top.bottom * top.bottom)
    flat = np.zeros(np.shape(valid), dtype=np.bool_)  # a variance is not above 0
    for pieces, name in (((q, s, n), "slack_first"), ((r, t, n), "slack_second")):
        slack = numbers.get(name, _NONE)
        least = variance_end(pieces, "low").ratios.plus(-slack)
        most = variance_end(pieces, "high").ratios.plus(slack)
        over = np.where(outward, least.top, most.top)
        flat |= np.asarray(over <= 0, dtype=np.bool_)
        square = Ratios(
            square.top * np.where(outward, least.bottom, most.bottom),
            square.bottom * np.where(over > 0, over, 1),
        )
    # A released variance of 0 or less: the value is the limit on the side of the covariance.
    is_value = np.asarray((q.low == q.high) & (r.low == r.high), dtype=np.bool_)
    square = Ratios(
        np.where(flat, np.where(top.top == 0, 0, 4), square.top), np.where(flat, 1, square.bottom)
    )
    valid = valid & (~flat | is_value)
    up, down = square_roots(square, up=True), square_roots(square, up=False)
    size = Ratios(np.where(outward, up.top, down.top), np.where(outward, up.bottom, down.bottom))
    return BoxEnd(Ratios(np.where(top.top >= 0, size.top, -size.top), size.bottom), valid)


def _directions(numbers: Numbers, largest: Sequence[float]) -> Directions:
    """Return how a correlation r of ±1/2 moves, where both spreads are half of the largest ones:
    like the covariance, minus r/2 times each variance in units of the other.
    """
    product, x, y, _, _, rows = largest
    return [
        (p, s, t, -sign * y / x / 4, -sign * x / y / 4, n)
        for p, s, t, n in move_covariance(numbers, (product, x, y, rows))
        for sign in (-1, 1)
    ]


def _error(numbers: Numbers, widths: Sequence[Fraction], size: int) -> Fraction:
    """Return the error of a correlation near 0, where both spreads are half of the largest
    possible ones.
    """
    products, first, second, _, _, rows = widths
    error = covariance_error(numbers, (products, first, second, rows), size)
    return min(Fraction(1), 4 * error / largest_covariance(numbers))


CORRELATION = AggregateKind(
    name="correlation",
    components=_components,
    finish=_finish,
    pieces=6,
    directions=_directions,
    limits=lambda _: (Fraction(-1), Fraction(1)),
    numbers=NUMBERS,
    error=_error,
    error_of="size",
    assume=lambda _, __, place: 2 * place - 1,
    calls=(SqlCall("CORR", "correlation", "pair", corr, names=("corr",)),),
    client="CORR({of}, {by})",
    about="the correlation of two columns",
    example="sf.corr('age', 'spend')",
)
