"""Write joined rows as a sub-query: each step is its own SELECT, so that the SQL parser takes the
same steps in the same order.

*Names*     A join lists every column of both sides by its name after the join, so no name occurs
            twice outside.
*Unsaid*    A column derived before a join, a join on computed values or with a further condition, a
            union, rows of each unit.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..tables.expr.expressions import ColumnRef
from ..tables.query.join_steps import Join, Match, Pairs
from ..tables.query.joins import join_rows, match_rows
from ..tables.query.stages import Rows, RowStep, Step
from ..tables.query.unit_windows import UnitWindow
from . import client_refusals as refusals
from .sql_forms import expression_sql, quote_name

KINDS = {
    "inner": "JOIN",
    "left": "LEFT JOIN",
    "cross": "CROSS JOIN",
    "semi": "SEMI JOIN",
    "anti": "ANTI JOIN",
}


def count_join_steps(rows: Rows) -> int:
    """Count the steps up to the last one that is neither a condition nor a derived column."""
    return max(
        (place + 1 for place, step in enumerate(rows.steps) if not isinstance(step, RowStep)),
        default=0,
    )


def from_item(rows: Rows, steps: Sequence[Step]) -> str:
    """Write a table after these steps as an item of FROM."""
    text, schema = quote_name(rows.declaration.name), dict(rows.declaration.schema)
    for step in steps:
        if isinstance(step, RowStep) and step.column is None:
            text = f"(SELECT * FROM {text} AS s WHERE {expression_sql(step.expression)})"
            continue
        if isinstance(step, UnitWindow):
            text = f"(SELECT *, {_window_sql(step)} AS {quote_name(step.column)} FROM {text} AS s)"
            schema = step.schema(schema)
            continue
        if (
            not isinstance(step, Join | Match)
            or step.where is not None
            or getattr(step, "nulls", False)
        ):
            raise refusals.JOIN_NOT_PLAIN(step=step.text)
        clause = (
            f"{KINDS[step.how if isinstance(step, Join) else step.kind]} "
            f"{from_item(step.right, step.right.steps)} AS r{_on(step.pairs)}"
        )
        if isinstance(step, Match):
            text = f"(SELECT * FROM {text} AS l {clause})"
            continue
        left = (f"l.{quote_name(column)} AS {quote_name(column)}" for column in schema)
        right = (f"r.{quote_name(old)} AS {quote_name(new)}" for new, old in step.columns)
        text = f"(SELECT {', '.join([*left, *right])} FROM {text} AS l {clause})"
        schema = step.schema(schema)
    return text


def replay_steps(rows: Rows, steps: Sequence[Step]) -> Rows:
    """Apply the same steps to the rows of a table."""
    for step in steps:
        if isinstance(step, Join):
            rows = join_rows(rows, step.right, step.pairs, step.how, step.where)[0]
        elif isinstance(step, Match):
            rows = match_rows(rows, step.right, step.pairs, step.kind, step.where, nulls=step.nulls)
        elif isinstance(step, UnitWindow):
            rows = rows.look_along(step.column, step.op, step.order, step.of)
        else:
            assert isinstance(step, RowStep)  # `from_item` refuses all others
            rows = rows.where(step.expression)
    return rows


def _window_sql(step: UnitWindow) -> str:
    value = "" if step.of is None else expression_sql(step.of)
    parts = [*map(quote_name, step.unit), *map(expression_sql, step.order.within)]
    keys = (expression_sql(key) + " DESC" * falls for key, falls in step.order.by)
    over = f"PARTITION BY {', '.join(parts)} ORDER BY {', '.join(keys)}"
    return f"{step.op.upper()}({value}) OVER ({over})"


def _on(pairs: Pairs) -> str:
    equalities = []
    for left, right in pairs:
        if not isinstance(left, ColumnRef) or not isinstance(right, ColumnRef):
            raise refusals.JOIN_ON_EXPRESSION(left=left.text, right=right.text)
        equalities.append(f"l.{quote_name(left.name)} = r.{quote_name(right.name)}")
    return f" ON {' AND '.join(equalities)}" if equalities else ""
