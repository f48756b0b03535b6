"""Counts: of rows, of units, of different values."""

from __future__ import annotations

from fractions import Fraction

from ..expr.expressions import Expr, as_expr
from ..query.aggregate import Aggregate, check_condition
from ..query.stages import Rows
from . import aggregate_refusals as refusals
from .column_kind import (
    AggregateKind,
    Limits,
    Numbers,
    SqlCall,
    count_range,
    trace_sum,
)
from .column_parts import NOTHING, check_condition_type, row_count
from .component import Component


def count(of: str | Expr | None = None) -> Aggregate:
    """The number of rows, or of rows with a value."""
    return Aggregate("count", None if of is None else as_expr(of))


def count_if(where: Expr) -> Aggregate:
    """The number of rows for which a condition holds."""
    check_condition(where, "count_if")
    return Aggregate("count", where=where)


def count_units() -> Aggregate:
    """The number of units: each counts once in a group, and in at most `max_groups` groups."""
    return Aggregate("count_units")


def count_distinct(of: str | Expr) -> Aggregate:
    """The number of different values in a group. At most `max_rows` values of a unit count, over
    all groups; a value counts once, however many units have it.
    """
    return Aggregate("count_distinct", as_expr(of))


def _rows(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Numbers]:
    check_condition_type(aggregate, rows)
    return [row_count(aggregate, rows)], NOTHING


def _units(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Numbers]:
    if aggregate.where is not None:
        raise refusals.UNITS_WITH_CONDITION(
            aggregate=aggregate.text, condition=aggregate.where.text
        )
    return [
        Component("units", "unit") if rows.declaration.unit else Component("count", "one")
    ], NOTHING


def _different_values(aggregate: Aggregate, rows: Rows) -> tuple[list[Component], Numbers]:
    assert aggregate.of is not None
    check_condition_type(aggregate, rows)
    if aggregate.of.columns & set(rows.declaration.unit):
        raise refusals.DISTINCT_UNITS(aggregate=aggregate.text)
    about = "" if aggregate.where is None else f" where {aggregate.where.text}"
    is_bool = aggregate.of.type(rows.schema).kind == "bool"
    return [
        Component(
            f"different {aggregate.of.text}{about}",
            "distinct",
            of=aggregate.of,
            where=aggregate.where,
        )
    ], {"most": Fraction(2)} if is_bool else NOTHING


def _distinct_limits(numbers: Numbers) -> Limits:
    """Return the limits of a number of different values: true and false are two."""
    return Fraction(0), numbers.get("most")


def _assume_size(_: Numbers, size: int, __: Fraction) -> Fraction:
    return Fraction(size)


COUNT = AggregateKind(
    name="count",
    components=_rows,
    trace=trace_sum,
    possible=count_range,
    counts=True,
    adds=True,
    assume=_assume_size,
    calls=(
        SqlCall("COUNT", "rows", "count", count, nodes=("Count",), typed="COUNT(*)"),
        SqlCall("COUNT_IF", "rows for which it holds", "condition", count_if, nodes=("CountIf",)),
    ),
    client="COUNT({of})",
    about="the number of rows, or of rows with a value",
    example="sf.count()",
)
COUNT_UNITS = AggregateKind(
    name="count_units",
    components=_units,
    trace=trace_sum,
    possible=count_range,
    counts=True,
    assume=_assume_size,
    calls=(),  # COUNT reads COUNT(DISTINCT x)
    client="COUNT(DISTINCT {unit})",
    about="the number of units",
    example="sf.count_units()",
)
COUNT_DISTINCT = AggregateKind(
    name="count_distinct",
    components=_different_values,
    trace=trace_sum,
    limits=_distinct_limits,
    counts=True,
    assume=_assume_size,
    calls=(SqlCall("COUNT(DISTINCT x)", "units, or values", typed="COUNT(DISTINCT "),),
    client="COUNT(DISTINCT {of})",
    about="the number of different values",
    example="sf.count_distinct('city')",
)
