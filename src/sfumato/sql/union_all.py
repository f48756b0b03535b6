"""Read UNION ALL in a sub-query: the rows of two SELECTs, column by column. Each row keeps its
owner.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ..errors import Refused
from ..tables.query.joins import check_related
from ..tables.query.unions import union_rows
from . import sql_refusals as refusals
from .row_expressions import RowReader
from .scope import Scope
from .sql_text import Node, arguments


def union_scopes(
    node: exp.SetOperation, rows_of: Callable[[Node], Scope], scalars: RowReader
) -> Scope:
    """Return the rows of both sides, with the names of the first."""
    source = scalars.source
    if not isinstance(node, exp.Union) or node.args.get("distinct"):
        raise source.refuse(refusals.UNION_WITHOUT_ALL, node)
    more = set(arguments(node)) - {"this", "expression", "with_"}
    if more:
        raise source.refuse(refusals.UNION_CLAUSE, node, clause=min(more).strip("_").upper())
    first, second = rows_of(node.this), rows_of(node.expression)
    if len(first.names) != len(second.names):
        raise source.refuse(
            refusals.UNION_COLUMNS, node, first=len(first.names), second=len(second.names)
        )
    columns = [
        (name, here, there)
        for (name, here), there in zip(first.names.items(), second.names.values(), strict=True)
    ]
    try:
        rows, merged = union_rows(first.rows, check_related(first.rows, second.rows), columns)
    except Refused as refusal:
        raise source.relocate(refusal, node, source.example) from None
    return Scope(rows, dict(zip(first.names, merged, strict=True)), frozenset())
