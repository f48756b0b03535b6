"""Joined rows as a sub-query: each step a SELECT of its own, so that the reader of SQL takes the
same steps in the same order.

*Names*     Of the rows here and of the other rows every column is listed by the name that it has
            after the join, so that outside no name is said twice.
*Unsaid*    A column that is made before a join, a join on what is computed or on a further
            condition, a union, rows of each unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..tables.expr.expressions import Column
from ..tables.query.join_steps import Join, Match, Pairs
from ..tables.query.joins import joined, match
from ..tables.query.stages import Rows, Step
from .sql_forms import name, unsaid, written

KINDS = {
    "inner": "JOIN",
    "left": "LEFT JOIN",
    "cross": "CROSS JOIN",
    "semi": "SEMI JOIN",
    "anti": "ANTI JOIN",
}
INSTEAD = "the same question in SQL: sql('SELECT … FROM … JOIN …', epsilon=…)"


def joins(rows: Rows) -> int:
    """How many of the steps there are up to the last that is more than a condition or a made
    column.
    """
    return max(
        (place + 1 for place, step in enumerate(rows.steps) if not isinstance(step, Step)),
        default=0,
    )


def relation(rows: Rows, steps: Sequence[Any]) -> str:
    """What stands in FROM for a table after these steps."""
    text, known = name(rows.declaration.name), dict(rows.declaration.schema)
    for step in steps:
        if isinstance(step, Step) and step.column is None:
            text = f"(SELECT * FROM {text} AS s WHERE {written(step.expression)})"
            continue
        if (
            not isinstance(step, Join | Match)
            or step.where is not None
            or getattr(step, "nulls", False)
        ):
            raise unsaid(
                f"{step.text:.80}",
                "before a join there are conditions only, and it is on columns that are equal",
                INSTEAD,
            )
        other = (
            f"{KINDS[step.how if isinstance(step, Join) else step.kind]} "
            f"{relation(step.right, step.right.steps)} AS r{_on(step.pairs)}"
        )
        if isinstance(step, Match):
            text = f"(SELECT * FROM {text} AS l {other})"
            continue
        here, there = (
            (f"l.{name(one)} AS {name(one)}" for one in known),
            (f"r.{name(old)} AS {name(new)}" for new, old in step.columns),
        )
        text, known = (
            f"(SELECT {', '.join([*here, *there])} FROM {text} AS l {other})",
            step.schema(known),
        )
    return text


def again(rows: Rows, steps: Sequence[Any]) -> Rows:
    """The same steps, taken from the beginning."""
    for step in steps:
        if isinstance(step, Join):
            rows = joined(rows, step.right, step.pairs, step.how, step.where)[0]
        elif isinstance(step, Match):
            rows = match(rows, step.right, step.pairs, step.kind, step.where, nulls=step.nulls)
        else:
            rows = rows.where(step.expression)
    return rows


def _on(pairs: Pairs) -> str:
    for one, two in pairs:
        if not isinstance(one, Column) or not isinstance(two, Column):
            raise unsaid(f"{one.text:.40} = {two.text:.40}", "a join is on columns", INSTEAD)
    listed = " AND ".join(f"l.{name(one.name)} = r.{name(two.name)}" for one, two in pairs)  # type: ignore[attr-defined]
    return f" ON {listed}" if listed else ""
