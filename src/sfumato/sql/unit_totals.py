"""Read the totals of one unit's rows in a sub-query grouped by the unit. No total depends on the
order of rows, and none can fail.
"""

from __future__ import annotations

from sqlglot import exp

from ..errors import Refused
from ..tables.query.per_unit import Total, TotalKind
from . import sql_refusals as refusals
from .aggregate_calls import AggregateReader
from .sql_text import Node, arguments

TOTAL_KINDS: dict[type[Node], TotalKind] = {
    exp.Sum: "sum",
    exp.Avg: "mean",
    exp.Min: "min",
    exp.Max: "max",
}


def read_total(node: Node, reader: AggregateReader) -> Total:
    """Read a total of one unit's rows."""
    if isinstance(node, exp.Filter):
        reader.check_arguments(node, "this", "expression")
        inner = read_total(node.this, reader)
        condition = reader.scope.read(node.expression.this, reader.scalars)
        return Total(
            inner.kind, inner.of, condition if inner.where is None else inner.where & condition
        )
    total = _find_total(node, reader)
    if total is None:
        raise reader.source.refuse(refusals.TOTAL_UNSUPPORTED, node)
    try:
        total.type(reader.scope.rows.schema, reader.scope.rows.ranges)
    except Refused as refusal:
        rewrite = reader.source.example
        if isinstance(node.this, Node):
            name = reader.source.words_of(node).partition("(")[0]
            value = reader.source.words_of(node.this)
            rewrite = reader.source.replace_text(node, f"{name}(CLAMP({value}, 0, 100))")
        raise reader.source.relocate(refusal, node, rewrite) from None
    return total


def _find_total(node: Node, reader: AggregateReader) -> Total | None:
    """Read a total; None if there is none of that kind."""
    if isinstance(node, exp.Count):
        reader.check_arguments(node, "this")
        inner = node.this
        if inner is None or isinstance(inner, exp.Star):
            return Total("count")
        if isinstance(inner, exp.Distinct):
            if len(inner.expressions) != 1 or set(arguments(inner)) - {"expressions"}:
                return None
            return Total("count_distinct", reader.scope.read(inner.expressions[0], reader.scalars))
        return Total("count", reader.value(inner))
    if isinstance(node, exp.CountIf):
        reader.check_arguments(node, "this")
        return Total("count", None, reader.value(node.this))
    kind = TOTAL_KINDS.get(type(node))
    if kind is None:
        return None
    reader.check_arguments(node, "this")
    return Total(kind, reader.value(node.this))
