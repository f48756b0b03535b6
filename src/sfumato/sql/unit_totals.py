"""Totals of one unit's rows, which a sub-query grouped by the unit may have. None of them depends
on the order of rows, and none can fail.
"""

from __future__ import annotations

from sqlglot import exp

from ..errors import Refused
from ..tables.query.per_unit import Total
from .aggregate_calls import Reader
from .sql_text import Node, arguments


def total(node: Node, reader: Reader) -> Total:
    """A total of one unit's rows."""
    if isinstance(node, exp.Filter):
        reader.closed(node, "this", "expression")
        inner = total(node.this, reader)
        condition = reader.scope.read(node.expression.this, reader.scalars)
        return Total(
            inner.kind, inner.of, condition if inner.where is None else inner.where & condition
        )
    found = _total(node, reader)
    if found is None:
        reason = (
            "of the rows of one unit there are COUNT, SUM, AVG, MIN and MAX: none of them "
            "depends on the order of rows"
        )
        raise reader.source.refuse("sql.aggregate", node, "", reason, reader.source.example)
    try:
        found.type(reader.scope.rows.schema, reader.scope.rows.ranges)
    except Refused as refusal:
        clamp = (
            (
                f"{reader.source.words_of(node).partition('(')[0]}(CLAMP({reader.source.words_of(node.this)}, "
                f"0, 100))"
            )
            if isinstance(node.this, Node)
            else ""
        )
        raise reader.source.moved(
            refusal, node, reader.source.replaced(node, clamp) if clamp else reader.source.example
        ) from None
    return found


def _total(node: Node, reader: Reader) -> Total | None:
    """A total, or None where there is none of that kind."""
    if isinstance(node, exp.Count):
        reader.closed(node, "this")
        inner = node.this
        if inner is None or isinstance(inner, exp.Star):
            return Total("count")
        if isinstance(inner, exp.Distinct):
            if len(inner.expressions) != 1 or set(arguments(inner)) - {"expressions"}:
                return None
            return Total("count_distinct", reader.scope.read(inner.expressions[0], reader.scalars))
        return Total("count", reader.value(inner))
    if isinstance(node, exp.CountIf):
        reader.closed(node, "this")
        return Total("count", None, reader.value(node.this))
    kinds: dict[type[Node], str] = {exp.Sum: "sum", exp.Avg: "mean", exp.Min: "min", exp.Max: "max"}
    kind = kinds.get(type(node))
    if kind is None:
        return None
    reader.closed(node, "this")
    return Total(kind, reader.value(node.this))  # type: ignore[arg-type]
