"""UNION ALL: rows of one SELECT and rows of another, column by column. Both are rows of units, and
stay theirs.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ..errors import Refused
from ..tables.query.joins import related
from ..tables.query.unions import united as united_rows
from .row_expressions import Scalars
from .scope import Scope
from .sql_text import Node, arguments


def united(node: exp.SetOperation, rows_of: Callable[[Node], Scope], scalars: Scalars) -> Scope:
    """The rows of both sides, by the names of the first."""
    source = scalars.source
    if not isinstance(node, exp.Union) or node.args.get("distinct"):
        reason = (
            "which rows two tables have in common, or only once, is about many people: UNION "
            "ALL keeps every row, and whose it is"
        )
        raise source.refuse("sql.set", node, "", reason, source.example)
    more = set(arguments(node)) - {"this", "expression", "with_"}
    if more:
        raise source.refuse(
            "sql.set",
            node,
            "",
            (
                f"UNION ALL with {min(more).strip('_')} is not on the list: its columns go "
                f"by their places"
            ),
            source.example,
        )
    one, other = rows_of(node.this), rows_of(node.expression)
    if len(one.names) != len(other.names):
        raise source.refuse(
            "sql.set",
            node,
            "",
            f"the one has {len(one.names)} columns, the other {len(other.names)}",
            source.example,
        )
    columns = [
        (name, made, there)
        for (name, made), there in zip(one.names.items(), other.names.values(), strict=True)
    ]
    try:
        rows, found = united_rows(one.rows, related(one.rows, other.rows), columns)
    except Refused as refusal:
        raise source.moved(refusal, node, source.example) from None
    return Scope(rows, dict(zip(one.names, found, strict=True)), frozenset())
