"""Whose rows they are, and how they are made for an engine.

*Ownership*  is part of what a relation is. Protected rows belong to units: `declaration.unit` names
             the columns that say whom, and whatever is done to rows keeps those columns, or is
             refused. Public rows belong to nobody and may be joined with any others of the same
             engine.
*Nobody's*   A protected row without a unit is left out, before it meets any other table.
*Views*      Every use of a table is a view of its own: engines would keep what two uses share, with
             all its rows, in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from ..engine.relational import select
from ..expr.expressions import col
from ..expr.types import Type

if TYPE_CHECKING:
    from .stages import Rows

Schema = Mapping[str, Type]


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Where rows come from: the table as its engine has it, the declaration of all tables where
    there are several, and whether they are public.
    """

    source: Any = field(repr=False)
    whole: Any = None
    public: bool = False
    counts: dict[Any, int] = field(
        default_factory=dict, repr=False
    )  # of a public table: how many rows agree in some values


def built(
    table: Any, schema: Schema, steps: Sequence[Any]
) -> tuple[Any, dict[str, Type], list[Any]]:
    """The table after all steps, the types of its columns, and the conditions that its rows have
    yet to meet.
    """
    known: dict[str, Type] = dict(schema)
    kept: list[Any] = []  # conditions on the table as it is now
    first, many = table, False
    for place, step in enumerate(steps):
        if hasattr(
            step, "build"
        ):  # other rows: of each unit, of two tables, of one after the other
            now = select(table, columns_of(table), kept) if kept else table
            again = partial(_again, now) if many else partial(_view, first, schema, steps[:place])
            table, known = step.build(now, known, again), step.schema(known)
            many |= hasattr(step, "right")
        elif step.column is None:
            kept.append(step.expression.build(table, known))
            continue
        else:
            table = select(
                table, columns_of(table) | {step.column: step.expression.build(table, known)}, kept
            )
            known[step.column] = step.expression.type(known)
        kept = []
    return table, known, kept


def _view(first: Any, schema: Schema, steps: Sequence[Any]) -> Any:
    """The rows after these steps once more, read anew: an engine need not keep them."""
    table, _, kept = built(first.view(), schema, steps)
    return select(table, columns_of(table), kept) if kept else table


def _again(table: Any) -> Any:
    """The same rows once more. Behind a step that brought in other rows they are shared: made anew
    each time, they would be made ever more often.
    """
    return table


def engine_rows(rows: Rows) -> tuple[Any, dict[str, Type]]:
    """Rows for an engine, as one side of a join or a union; those that are nobody's are left
    out.
    """
    assert rows.origin is not None
    table, schema, kept = built(
        rows.origin.source.table.view(), rows.declaration.schema, rows.steps
    )
    kept += [] if rows.public else [table[name].notnull() for name in rows.declaration.unit]
    return (select(table, columns_of(table), kept) if kept else table), schema


def columns_of(table: Any) -> dict[str, Any]:
    return {name: table[name] for name in table.columns}


def text_of(rows: Rows) -> str:
    """Rows in the midst of a line; equal rows have equal texts."""
    return "; ".join(
        [f"from {col(rows.declaration.name).text}", *(step.text for step in rows.steps)]
    )


def tables_in(rows: Rows) -> int:
    """How often a table is read for these rows."""
    return 1 + sum(tables_in(step.right) for step in rows.steps if hasattr(step, "right"))
