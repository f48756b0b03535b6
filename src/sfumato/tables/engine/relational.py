"""Steps of an expression for the engine: rows that meet conditions, with columns computed from
them; and sums of rows by key.

*One step*  Ibis makes a filter and a projection of a SELECT … WHERE …, and turns both into this one
            node when it writes the statement, with everything that stands on them made anew. Here
            the node is used at once: half of the time in which a statement is made and written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def select(
    table: Any, columns: Mapping[str, Any], where: Sequence[Any] = (), *, distinct: bool = False
) -> Any:
    """SELECT columns FROM table WHERE all conditions hold."""
    from ibis.backends.sql.rewrites import Select
    from ibis.expr.operations import Alias

    # a name of its own would be taken off when the statement is written, and everything that stands
    # on it made anew
    bare = {
        name: value.op().arg if isinstance(value.op(), Alias) else value
        for name, value in columns.items()
    }
    return Select(table, selections=bare, predicates=tuple(where), distinct=distinct).to_expr()


def group(table: Any, keys: Sequence[str], sums: Mapping[str, Any]) -> Any:
    """SELECT keys, sums FROM table GROUP BY keys."""
    from ibis.expr.operations import Aggregate

    return Aggregate(
        table, groups={name: table[name] for name in keys}, metrics=dict(sums)
    ).to_expr()
