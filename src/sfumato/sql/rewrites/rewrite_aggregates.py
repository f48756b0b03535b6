"""Rules for refused aggregates."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from sqlglot import exp

from ..scope import has_aggregate
from ..sql_text import Node
from .rewrite_columns import counts_of
from .rewrite_trees import (
    call_name,
    column_in,
    copy_of,
    item_of,
    operands_of,
    read_expression,
    replaced,
    root_of,
    select_of,
    write,
)

NEAR_AGGREGATES = {
    "approx_count_distinct": ("COUNT(DISTINCT {0})",),
    "approxdistinct": ("COUNT(DISTINCT {0})",),
    "hll": ("COUNT(DISTINCT {0})",),
    "kurtosis": ("STDDEV({0})",),
    "skewness": ("QUANTILES({0}, [0.1, 0.5, 0.9])",),
    "mad": ("STDDEV({0})",),
    "iqr": ("QUANTILES({0}, [0.25, 0.75])",),
    "geomean": ("AVG(CLAMP(LN({0}), 0, 20))",),
    "geometric_mean": ("AVG(CLAMP(LN({0}), 0, 20))",),
    "product": ("SUM(CLAMP(LN({0}), 0, 20))",),
    "first": ("MEDIAN({0})", "MIN({0})"),
    "firstvalue": ("MEDIAN({0})", "MIN({0})"),
    "anyvalue": ("MEDIAN({0})", "MIN({0})"),
    "last": ("MEDIAN({0})", "MAX({0})"),
    "lastvalue": ("MEDIAN({0})", "MAX({0})"),
    "argmin": ("MEDIAN({0})", "MIN({0})"),
    "argmax": ("MEDIAN({0})", "MAX({0})"),
    "logicalor": ("COUNT_IF({0})",),
    "logicaland": ("COUNT_IF({0})",),
    "sum_if": ("SUM({0}) FILTER (WHERE {1})",),
    "avg_if": ("AVG({0}) FILTER (WHERE {1})",),
    "favg": ("AVG({0})",),
    "fsum": ("SUM({0})",),
}
"""Aggregates of other systems → what tells nearly the same, the nearest first."""


def name_nearest_aggregate(part: Node) -> Iterator[Node]:
    """Write an aggregate that tells nearly the same of the same column."""
    call = part if isinstance(part, exp.Func) else part.find(exp.Func)
    if call is None:
        return
    operands = [write(operand) for operand in operands_of(call)]
    if not operands:
        return
    forms = NEAR_AGGREGATES.get(call_name(call), NEAR_AGGREGATES.get(_joined(call), ()))
    for form in forms:
        yield replaced(call, form.format(*operands, *operands))


def _joined(node: Node) -> str:
    return call_name(node).replace("_", "")


def average_argument(part: Node) -> Iterator[Node]:
    """Average the argument of a function that stands where an aggregate is needed."""
    item = item_of(part)
    if item is not None and not has_aggregate(item) and isinstance(part, exp.Func):
        for operand in operands_of(part):
            if isinstance(operand, exp.Column):
                yield replaced(part, f"AVG({write(operand)})")


def count_distinct_by_key(part: Node) -> Iterator[Node]:
    """Count the units by the other columns of COUNT(DISTINCT unit, other)."""
    distinct = part if isinstance(part, exp.Distinct) else part.find(exp.Distinct)
    if distinct is None:
        return
    columns = [
        column
        for node in distinct.expressions
        for column in (node.expressions if isinstance(node, exp.Tuple) else [node])
    ]
    for unit in columns if len(columns) > 1 else ():
        copied = copy_of(distinct)
        select = select_of(copied)
        if select is None:
            continue
        copied.set("expressions", [unit.copy()])
        keys = [column.copy() for column in columns if column is not unit]
        select.set("expressions", [*keys, *select.expressions])
        select.group_by(*[key.copy() for key in keys], copy=False)
        yield root_of(select)


def ask_for_variance(part: Node) -> Iterator[Node]:
    """Ask for the variance of a column that stands beside itself: CORR(x, x)."""
    yield from (replaced(part, f"VAR_POP({write(of)})") for of in operands_of(part)[:1])


def summarize_by_name(part: Node) -> Iterator[Node]:
    """Call the aggregate of the nearest name."""
    call = part if isinstance(part, exp.Func) else part.find(exp.Func)
    operands = [] if call is None else operands_of(call)
    names = ("sum", "avg", "min", "max", "median", "count", "stddev", "variance", "corr")
    if call is not None and operands:
        for near in get_close_matches(call_name(call), names, n=2, cutoff=0.75):
            yield replaced(call, f"{near.upper()}({', '.join(map(write, operands))})")


def count_by_argument(part: Node) -> Iterator[Node]:
    """Count how often each value of the aggregate's column occurs."""
    column = column_in(part)
    select = select_of(part)
    if column is None or select is None or select.args.get("group") is not None:
        return
    yield counts_of(part, [column])


def count_values(part: Node) -> Iterator[Node]:
    """Count the rows that have a value."""
    column = column_in(part)
    if column is not None:
        yield replaced(part, f"COUNT({write(column)})")


def count_days(part: Node) -> Iterator[Node]:
    """Count days since 1970 in all aggregates of a moment, which has no bounds of its copied."""
    column = column_in(part)
    if column is None:
        return
    root = root_of(part).copy()
    days = f"CLAMP(DATE_DIFF('day', DATE '1970-01-01', {write(column)}), 0, 40000)"
    for node in list(root.find_all(exp.Column)):
        call = node.find_ancestor(exp.AggFunc, exp.WithinGroup, exp.Anonymous)
        if node == column and call is not None and not isinstance(call, exp.Count):
            node.replace(read_expression(days))
    yield root


def move_filter(part: Node) -> Iterator[Node]:
    """Put the condition of FILTER into WHERE, where it holds for the whole question."""
    if not isinstance(part, exp.Filter):
        return
    copied = copy_of(part)
    select, condition = copied.find_ancestor(exp.Select), copied.expression.this
    copied.replace(copied.this)
    if select is not None:
        select.where(condition, copy=False)
        yield root_of(select)
