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
from typing import TYPE_CHECKING, Protocol, cast

from ..expr.expressions import col
from ..expr.relational import select
from ..expr.types import Type

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from ..declare.declared_database import DatabaseDeclaration
    from ..engine.sources import TableSource
    from .stages import Rows, Step

Schema = Mapping[str, Type]

CountKey = tuple[str, tuple[tuple[str, str], ...]]
"""Rows of a public table as text, and the expressions that agree in them, each with its type."""


class Source(Protocol):
    """Where rows come from. Rows of one engine may be joined; that of a client is its connection,
    and only a `TableSource` has a table to read.
    """

    @property
    def engine(self) -> object: ...


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Where rows come from: the engine's table, the declaration of the database if there are
    several tables, whether the rows are public, and the account of the part of a table that they
    are.
    """

    source: Source = field(repr=False)
    database: DatabaseDeclaration | None = None
    public: bool = False
    part: str = ""
    counts: dict[CountKey, int] = field(
        default_factory=dict, repr=False
    )  # of a public table: how many rows agree in some values


def apply_steps(
    table: ir.Table, schema: Schema, steps: Sequence[Step]
) -> tuple[ir.Table, dict[str, Type], list[ir.BooleanValue]]:
    """Apply steps to an engine's table. Returns the table, the types of its columns, and the
    conditions that its rows have yet to meet.
    """
    from .stages import RowStep

    types: dict[str, Type] = dict(schema)
    conditions: list[ir.BooleanValue] = []  # conditions on the table as it is now
    first, many = table, False
    for place, step in enumerate(steps):
        if not isinstance(step, RowStep):  # of each unit, of two tables, of one after the other
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


def _read_again(first: ir.Table, schema: Schema, steps: Sequence[Step]) -> ir.Table:
    """Build the rows after these steps a second time, from a new view: the engine need not keep
    them.
    """
    table, _, conditions = apply_steps(first.view(), schema, steps)
    return select(table, columns_of(table), conditions) if conditions else table


def _same_table(table: ir.Table) -> ir.Table:
    """Return the same table. After a join or a union the rows are shared: building them again at
    each step would double the work each time.
    """
    return table


def table_source(rows: Rows) -> TableSource:
    """Return the source of rows that an engine of this process reads: nobody builds the rows of a
    client.
    """
    assert rows.origin is not None
    return cast("TableSource", rows.origin.source)


def engine_rows(rows: Rows) -> tuple[ir.Table, dict[str, Type]]:
    """Build rows for an engine, as one side of a join or a union. Leaves out rows without a
    unit.
    """
    table, schema, conditions = apply_steps(
        table_source(rows).table.view(), rows.declaration.schema, rows.steps
    )
    conditions += [] if rows.public else [table[name].notnull() for name in rows.declaration.unit]
    return (select(table, columns_of(table), conditions) if conditions else table), schema


def columns_of(table: ir.Table) -> dict[str, ir.Value]:
    return {name: table[name] for name in table.columns}


def text_of(rows: Rows) -> str:
    """Return rows as text in one line; equal rows have equal texts."""
    return "; ".join(
        [f"from {col(rows.declaration.name).text}", *(step.text for step in rows.steps)]
    )


def tables_in(rows: Rows) -> int:
    """Return how many times the engine reads a table for these rows."""
    return 1 + sum(tables_in(step.right) for step in rows.steps if hasattr(step, "right"))
