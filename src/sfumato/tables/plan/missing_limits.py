"""Find the limits that a query misses before it can be planned: rows per unit, or column bounds.

Without bounds of a column, one row could move the answer by any amount. The session learns missing
limits before it plans.

*Same query*   on other declarations: `redeclare_query` replays its steps one by one, so that the
               types and bounds of new columns follow from the new declaration, also for joined
               tables.
*Needed*       The search drops one missing limit after the other as long as the query can still be
               planned. What is left is necessary.
*Stand-ins*    Placeholder bounds lie around 0, as learned bounds do. A query that is refused with
               them would be refused after learning, too, so it is refused before anything is paid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from ...errors import Refused
from ..declare.declaration import Declaration
from ..expr.expressions import Expr
from ..query.join_steps import Join, Match, Union
from ..query.joins import join_rows, match_rows
from ..query.per_unit import PerUnit
from ..query.stages import Groups, Query, Rows, RowStep
from ..query.unions import union_rows
from ..query.unit_windows import UnitWindow
from .bounding import Bounding
from .components import components_of

Declared = Mapping[str, Declaration]
"""The declarations of protected tables, by name."""
MakeQuery = Callable[[Declared], Query]
"""Builds the query again, on other declarations of its tables."""

LEARNABLE = frozenset({"aggregate.bounds", "sql.bounds", "stage.total", "table.max-rows"})
"""Codes of refusals that learned limits may resolve."""


@dataclass(frozen=True, slots=True, order=True)
class MissingLimit:
    """A limit to learn: rows per unit, groups per unit by some columns, or the bounds of a column.
    `table` names the table if there are several.
    """

    kind: Literal["max_rows", "max_groups", "bounds"]
    of: tuple[str, ...] = ()
    table: str = ""

    @property
    def words(self) -> str:
        named = " and ".join(f"{self.table}.{name}" if self.table else name for name in self.of)
        rows = f"rows of {self.table}" if self.table else "rows"
        return {
            "max_rows": f"{rows} per unit",
            "max_groups": f"groups by {named} per unit",
            "bounds": f"bounds of {named}",
        }[self.kind]


ROWS = MissingLimit("max_rows")


def unbounded_columns(declaration: Declaration) -> tuple[str, ...]:
    """Return the numeric columns without bounds, except those of the unit."""
    return tuple(
        c
        for c, column_type in declaration.types
        if column_type.numeric and c not in declaration.ranges and c not in declaration.unit
    )


def undeclared_limits(declaration: Declaration) -> tuple[MissingLimit, ...]:
    """Return all limits of a table that are neither declared nor learned."""
    table = declaration.name if declaration.database_unit else ""
    rows = (MissingLimit("max_rows", (), table),) if declaration.max_rows is None else ()
    return (
        *rows,
        *(MissingLimit("bounds", (column,), table) for column in unbounded_columns(declaration)),
    )


def with_placeholders(
    declaration: Declaration, columns: Iterable[str], *, rows: int | None = 1, size: int = 1
) -> Declaration:
    """Return a declaration with placeholders for missing limits."""
    columns = tuple(columns)
    bounds = {**declaration.ranges, **dict.fromkeys(columns, (Fraction(-size), Fraction(size)))}
    ordered = tuple((column, bounds[column]) for column, _ in declaration.types if column in bounds)
    return replace(
        declaration,
        bounds=ordered,
        max_rows=declaration.max_rows or rows,
        placeholders=columns,
    )


def all_with_placeholders(
    declared: Declared, lacks: Iterable[MissingLimit] | None = None, *, rows: int = 1, size: int = 1
) -> dict[str, Declaration]:
    """Return declarations with placeholders for some missing limits, or for all of them."""
    limits = (
        {limit for declaration in declared.values() for limit in undeclared_limits(declaration)}
        if lacks is None
        else set(lacks)
    )
    declarations = {}
    for name, declaration in declared.items():
        mine = [
            limit for limit in limits if limit.table == (name if declaration.database_unit else "")
        ]
        limited = any(limit.kind == "max_rows" for limit in mine)
        declarations[name] = with_placeholders(
            declaration,
            [limit.of[0] for limit in mine if limit.kind == "bounds"],
            rows=rows if limited else None,
            size=size,
        )
    return declarations


def find_missing_limits(make_query: MakeQuery, declared: Declared) -> tuple[MissingLimit, ...]:
    """Return the limits that a query needs and misses. Refuses what learning would not help."""
    if _can_plan(make_query, declared):
        return ()
    query = make_query(all_with_placeholders(declared))
    components_of(query)
    Bounding.of(query, "L1")
    tables, named = _tables_of(query.rows), _columns_used(query)
    every = [
        missing
        for name, declaration in declared.items()
        if name in tables
        for missing in undeclared_limits(declaration)
    ]
    every.sort(key=lambda missing: missing.kind != "max_rows")
    likely = [missing for missing in every if missing.kind == "max_rows" or missing.of[0] in named]
    needed = likely if _can_plan(make_query, all_with_placeholders(declared, likely)) else every
    for missing in reversed(needed):
        rest = [limit for limit in needed if limit != missing]
        if _can_plan(make_query, all_with_placeholders(declared, rest)):
            needed = rest
    return tuple(needed)


def redeclare_query(query: Query, tables: Mapping[str, Rows]) -> Query:
    """Return the same query on the rows of other declarations."""
    groups = Groups(_replay_steps(query.rows, tables), query.keys, query.domains, query.sets)
    return replace(groups.aggregate(**dict(query.aggregates)), fair=query.fair)


def _replay_steps(rows: Rows, tables: Mapping[str, Rows]) -> Rows:
    """Replay the steps of rows, from their table on."""
    replayed = tables[rows.declaration.name]
    for step in rows.steps:
        if isinstance(step, PerUnit):
            replayed = replayed.per_unit(dict(step.keys), dict(step.totals))
        elif isinstance(step, UnitWindow):
            replayed = replayed.look_along(step.column, step.op, step.order, step.of)
        elif isinstance(step, Join):
            replayed, _ = join_rows(
                replayed, _replay_steps(step.right, tables), step.pairs, step.how, step.where
            )
        elif isinstance(step, Match):
            replayed = match_rows(
                replayed,
                _replay_steps(step.right, tables),
                step.pairs,
                step.kind,
                step.where,
                nulls=step.nulls,
            )
        elif isinstance(step, Union):
            replayed, _ = union_rows(
                replayed, _replay_steps(step.right, tables), list(step.columns)
            )
        else:
            replayed = (
                replayed.where(step.expression)
                if step.column is None
                else replayed.mutate(**{step.column: step.expression})
            )
    return replayed


def _can_plan(make_query: MakeQuery, declared: Declared) -> bool:
    try:
        query = make_query(declared)
        components_of(query)
        Bounding.of(query, "L1")
    except Refused:
        return False
    return True


def _tables_of(rows: Rows) -> set[str]:
    """Return the names of all tables that rows come from."""
    return {rows.declaration.name}.union(
        *(_tables_of(step.right) for step in rows.steps if isinstance(step, Join | Match | Union))
    )


def _columns_used(query: Query) -> set[str]:
    """Return every column that a query names, and the original names of joined columns."""
    columns, brought = _columns_in_steps(query.rows)
    for _, aggregate in query.aggregates:
        columns |= _columns(aggregate.of, aggregate.by)
    while more := {old for new, old in brought if new in columns} - columns:
        columns |= more
    return columns


def _columns_in_steps(rows: Rows) -> tuple[set[str], list[tuple[str, str]]]:
    columns: set[str] = set()
    brought: list[tuple[str, str]] = []
    for step in rows.steps:
        if isinstance(step, PerUnit):
            columns |= _columns(
                *(key for _, key in step.keys),
                *(part for _, total in step.totals for part in (total.of, total.where)),
            )
        elif isinstance(step, UnitWindow):
            columns |= _columns(*step.expressions)
        elif isinstance(step, RowStep):
            columns |= _columns(step.expression)
        elif isinstance(step, Union):
            columns |= _columns(*(side for _, *both in step.columns for side in both))
        else:
            columns |= _columns(step.where, *(side for pair in step.pairs for side in pair))
            brought += step.columns if isinstance(step, Join) else ()
        if isinstance(step, Join | Match | Union):
            inner, names = _columns_in_steps(step.right)
            columns, brought = columns | inner, brought + names
    return columns, brought


def _columns(*parts: Expr | None) -> set[str]:
    return {name for part in parts if part is not None for name in part.columns}
