"""Build rows for an engine: apply the steps of a query, and leave out rows without a unit.

*Ownership*  Protected rows belong to units: `declaration.unit` names the columns that say whose row
             it is. Every step keeps those columns, or is refused. Public rows belong to nobody and
             may be joined with any others of the same engine.
*Nobody's*   A protected row without a unit is left out before it meets another table.
*Views*      Every use of a table is a view of its own: engines would keep the rows that two uses
             share in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from ..expr.expressions import col
from ..expr.relational import select
from ..expr.types import Type

if TYPE_CHECKING:
    from .stages import Rows

Schema = Mapping[str, Type]


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Where rows come from: the engine's table, the declaration of the database if there are
    several tables, and whether the rows are public.
    """

    source: Any = field(repr=False)
    database: Any = None
    public: bool = False
    counts: dict[Any, int] = field(
        default_factory=dict, repr=False
    )  # of a public table: how many rows agree in some values


def apply_steps(
    table: Any, schema: Schema, steps: Sequence[Any]
) -> tuple[Any, dict[str, Type], list[Any]]:
    """Apply steps to an engine's table. Returns the table, the types of its columns, and the
    conditions that its rows have yet to meet.
    """
    types: dict[str, Type] = dict(schema)
    conditions: list[Any] = []  # conditions on the table as it is now
    first, many = table, False
    for place, step in enumerate(steps):
        if hasattr(
            step, "build"
        ):  # other rows: of each unit, of two tables, of one after the other
            now = select(table, columns_of(table), conditions) if conditions else table
            again = (
                partial(_same_table, now)
                if many
                else partial(_read_again, first, schema, steps[:place])
            )
            table, types = step.build(now, types, again), step.schema(types)
            many |= hasattr(step, "right")
        elif step.column is None:
            conditions.append(step.expression.build(table, types))
            continue
        else:
            table = select(
                table,
                columns_of(table) | {step.column: step.expression.build(table, types)},
                conditions,
            )
            types[step.column] = step.expression.type(types)
        conditions = []
    return table, types, conditions


def _read_again(first: Any, schema: Schema, steps: Sequence[Any]) -> Any:
    """Build the rows after these steps a second time, from a new view: the engine need not keep
    them.
    """
    table, _, conditions = apply_steps(first.view(), schema, steps)
    return select(table, columns_of(table), conditions) if conditions else table


def _same_table(table: Any) -> Any:
    """Return the same table. After a join or a union the rows are shared: building them again at
    each step would double the work each time.
    """
    return table


def engine_rows(rows: Rows) -> tuple[Any, dict[str, Type]]:
    """Build rows for an engine, as one side of a join or a union. Leaves out rows without a
    unit.
    """
    assert rows.origin is not None
    table, schema, conditions = apply_steps(
        rows.origin.source.table.view(), rows.declaration.schema, rows.steps
    )
    conditions += [] if rows.public else [table[name].notnull() for name in rows.declaration.unit]
    return (select(table, columns_of(table), conditions) if conditions else table), schema


def columns_of(table: Any) -> dict[str, Any]:
    return {name: table[name] for name in table.columns}


def text_of(rows: Rows) -> str:
    """Return rows as text in one line; equal rows have equal texts."""
    return "; ".join(
        [f"from {col(rows.declaration.name).text}", *(step.text for step in rows.steps)]
    )


def tables_in(rows: Rows) -> int:
    """Return how many times the engine reads a table for these rows."""
    return 1 + sum(tables_in(step.right) for step in rows.steps if hasattr(step, "right"))
