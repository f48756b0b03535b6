"""Build SELECT … WHERE and GROUP BY as single Ibis nodes.

*One step*  For SELECT … WHERE … Ibis builds a filter and a projection, and merges them into this
            one node when it writes the statement, rebuilding everything above. Using the node at
            once halves the time to build and write a statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ibis.expr.types as ir


def select(
    table: ir.Table,
    columns: Mapping[str, ir.Value],
    where: Sequence[ir.BooleanValue] = (),
    *,
    distinct: bool = False,
) -> ir.Table:
    """SELECT columns FROM table WHERE all conditions hold."""
    from ibis.backends.sql.rewrites import Select
    from ibis.expr.operations import Alias

    # drop aliases now: Ibis would drop them when it writes the statement, and rebuild everything
    # above them
    bare = {
        name: value.op().arg if isinstance(value.op(), Alias) else value
        for name, value in columns.items()
    }
    return Select(table, selections=bare, predicates=tuple(where), distinct=distinct).to_expr()


def group(table: ir.Table, keys: Sequence[str], sums: Mapping[str, ir.Value]) -> ir.Table:
    """SELECT keys, sums FROM table GROUP BY keys."""
    from ibis.expr.operations import Aggregate

    return Aggregate(
        table, groups={name: table[name] for name in keys}, metrics=dict(sums)
    ).to_expr()
