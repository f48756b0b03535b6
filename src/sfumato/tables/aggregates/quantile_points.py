"""Quantiles: one alone, the ends MIN and MAX, or several from one noisy count of all values."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from ...exact.numbers import Number, probability, shown
from ..expr.expressions import Expr, as_expr
from ..query.aggregate import Aggregate, Aggregates, bounds_of
from ..query.stages import Rows
from . import aggregate_refusals as refusals
from .column_kind import AggregateKind, Numbers, SqlCall, value_bounds
from .column_parts import (
    component_name,
    end_numbers,
    grid_for,
    half_step,
    slack_numbers,
    tree_grid,
)
from .component import Component
from .count_tree import CountTree
from .date_quantiles import count_days, days_rule, value_text

MOST_PARTS = 10_000  # the largest denominator of a quantile
FINE_BITS, DIGITS = 40, 14
"""A quantile of floats keeps 14 binary digits of a value's distance from 0, down to 2^-40 of the
width of its bounds: wide bounds cost no precision where values are small.
"""
_USUAL = Fraction(19, 20)


def quantile(
    of: str | Expr,
    q: Number,
    *,
    low: Number | None = None,
    high: Number | None = None,
    interval: bool = True,
    confidence: Number = 0.95,
) -> Aggregate:
    """A quantile of a column with an interval. `interval=False` spends the whole cost on the
    value.
    """
    part = probability(q, "q", one=True)
    if part.denominator > MOST_PARTS:
        raise refusals.QUANTILE_TOO_FINE(q=shown(q), most=MOST_PARTS)
    return Aggregate(
        "quantile",
        as_expr(of),
        None,
        *bounds_of(low, high),
        part,
        (),
        interval,
        probability(confidence, "confidence", zero=False),
    )


def median(
    of: str | Expr,
    *,
    low: Number | None = None,
    high: Number | None = None,
    interval: bool = True,
    confidence: Number = 0.95,
) -> Aggregate:
    """The quantile at one half."""
    return quantile(of, "1/2", low=low, high=high, interval=interval, confidence=confidence)


def min(  # noqa: A001  # users write sf.min
    of: str | Expr,
    *,
    low: Number | None = None,
    high: Number | None = None,
    confidence: Number = 0.95,
) -> Aggregate:
    """The approximate minimum: a quantile that, with this confidence, is not below the least value.
    The plan says how many rows lie below it.
    """
    return Aggregate(
        "quantile",
        as_expr(of),
        None,
        *bounds_of(low, high),
        Fraction(0),
        (),
        True,
        probability(confidence, "confidence", zero=False),
        beyond="min",
    )


def max(  # noqa: A001  # users write sf.max
    of: str | Expr,
    *,
    low: Number | None = None,
    high: Number | None = None,
    confidence: Number = 0.95,
) -> Aggregate:
    """The approximate maximum: a quantile that, with this confidence, is not above the largest
    value. The plan says how many rows lie above it.
    """
    return Aggregate(
        "quantile",
        as_expr(of),
        None,
        *bounds_of(low, high),
        Fraction(1),
        (),
        True,
        probability(confidence, "confidence", zero=False),
        beyond="max",
    )


def quantiles(
    of: str | Expr,
    probabilities: Iterable[Number],
    *,
    low: Number | None = None,
    high: Number | None = None,
) -> Aggregates:
    """Several quantiles of a column from one noisy count of its values: any number for one price,
    in increasing order.

    `aggregate(p=sf.quantiles("age", [0.25, 0.5]))` has the columns p_25 and p_50.
    """
    parts = tuple(quantile(of, q).q or Fraction(0) for q in probabilities)
    if not parts or len(set(parts)) < len(parts):
        raise refusals.PROBABILITIES_MISSING_OR_TWICE(count=len(parts))
    return Aggregates(
        Aggregate("percentile", as_expr(of), None, *bounds_of(low, high), q) for q in parts
    )


def _point(stated: Aggregate, rows: Rows) -> tuple[list[Component], Numbers]:
    aggregate, days = count_days(stated, rows)
    grid, filled = grid_for(aggregate, rows, FINE_BITS, DIGITS)
    component = Component(
        stated.text,
        "point",
        0 if grid.digits else grid.low,
        grid.count_marks - 1 if grid.digits else grid.high,
        grid.step,
        aggregate.of,
        aggregate.where,
        grid,
        filled=filled,
        aggregate=aggregate,
        rule=days_rule(stated, grid) if days else "",
        missing=f"rows without a {value_text(aggregate)} are skipped" if days else "",
    )
    return [component], {
        **end_numbers(grid),
        **days,
        "confidence": aggregate.confidence,
        **slack_numbers(half_step(grid)),
    }


def _tree(stated: Aggregate, rows: Rows) -> tuple[list[Component], Numbers]:
    aggregate, days = count_days(stated, rows)
    grid, filled = tree_grid(aggregate, rows, is_dated=bool(days))
    assert aggregate.q is not None
    tree = CountTree.over(grid.count_marks)
    name = component_name("tree", aggregate, grid)
    component = Component(
        name,
        "tree",
        step=Fraction(1),
        of=aggregate.of,
        where=aggregate.where,
        grid=grid,
        cells=tree.cells,
        filled=filled,
        tree=tree,
        rule=days_rule(stated, grid) if days else "",
        missing=f"rows without a {value_text(aggregate)} are skipped" if days else "",
    )
    shape = {
        "step": grid.step,
        **{
            name: Fraction(getattr(tree, name))
            for name in ("leaves", "branching", "levels", "shift")
        },
    }
    level = aggregate.confidence  # of a single quantile that is read from a tree
    return [component], {
        **end_numbers(grid),
        "q": aggregate.q,
        **shape,
        **days,
        **slack_numbers(half_step(grid)),
        **({"digits": Fraction(grid.digits)} if grid.digits else {}),
        **({} if level == _USUAL else {"confidence": level}),
    }


QUANTILE = AggregateKind(
    name="quantile",
    components=_point,
    limits=value_bounds,
    numbers=("low", "high", "confidence"),
    error_of="rank",
    ranks_groups=False,
    calls=(
        SqlCall("MIN", "a low quantile", "column", min, nodes=("Min",)),
        SqlCall("MAX", "a high quantile", "column", max, nodes=("Max",)),
        SqlCall("MEDIAN", "middle value", "median", median, nodes=("Median",)),
        SqlCall(
            "QUANTILE",
            "a quantile",
            "quantile",
            quantile,
            nodes=("Quantile", "ApproxQuantile", "PercentileCont", "PercentileDisc"),
        ),
    ),
    client="QUANTILE({of}, {q})",
    client_beyond={"min": "MIN({of})", "max": "MAX({of})"},
    about="a point below which a part q of the rows lies",
    example="sf.quantile('age', 0.9)",
)
PERCENTILE = AggregateKind(
    name="percentile",  # from all cells of its piece: see `answers.percentiles`
    components=_tree,
    limits=value_bounds,
    numbers=("low", "high", "q", "step", "leaves", "branching", "levels", "shift"),
    error_of="rank",
    ranks_groups=False,
    calls=(SqlCall("QUANTILES", "several at once", "quantiles", names=("quantiles",)),),
    client="QUANTILES({of}, [{q}])",
    about="one of several quantiles that share their cost",
    example="sf.quantiles('age', [0.25, 0.5, 0.75])",
)
