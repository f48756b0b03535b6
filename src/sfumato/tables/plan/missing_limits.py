"""What a query lacks before it can be planned: a limit on the rows of a unit, or bounds of a column
that one row could otherwise move it by any amount with.

*Same query*   on other declarations: its steps are taken again, one by one, so that what is known
               of made columns follows from what is then declared. Other tables that it brings in
               are taken as they are declared then, too.
*Needed*       From all that is missing, what the query can do without is left out, one after the
               other: with the rest it can be planned, with less it cannot.
*Stand-ins*    lie around 0, as learned bounds do. What is refused with them would be refused after
               learning, too, so it is refused before anything is paid.
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
from ..query.joins import joined, match
from ..query.per_unit import PerUnit
from ..query.stages import Groups, Query, Rows, Step
from ..query.unions import united
from .bounding import Bounding
from .components import wanted

Declared = Mapping[str, Declaration]
"""Protected tables by name, as they are declared."""
Again = Callable[[Declared], Query]
"""The same question, about tables that are declared otherwise."""

MISSING = frozenset({"aggregate.bounds", "sql.bounds", "stage.total", "table.max-rows"})
"""Codes of refusals that learning may help."""


@dataclass(frozen=True, slots=True, order=True)
class Lack:
    """One thing to be learned: a limit of rows, of groups by some columns, or the bounds of a
    column; of which table, where there are several.
    """

    kind: Literal["max_rows", "max_groups", "bounds"]
    of: tuple[str, ...] = ()
    table: str = ""

    @property
    def words(self) -> str:
        named = " and ".join(f"{self.table}.{name}" if self.table else name for name in self.of)
        rows = f"rows of {self.table}" if self.table else "rows"
        return {
            "max_rows": f"how many {rows} a unit has",
            "max_groups": f"in how many groups by {named} it is",
            "bounds": f"between which ends {named} lies",
        }[self.kind]


ROWS = Lack("max_rows")


def unbounded(declaration: Declaration) -> tuple[str, ...]:
    """The numbers without bounds, but for those that say whose row it is."""
    return tuple(
        c
        for c, known in declaration.types
        if known.numeric and c not in declaration.ranges and c not in declaration.unit
    )


def missing(declaration: Declaration) -> tuple[Lack, ...]:
    """All that a question about a table could lack."""
    table = declaration.name if declaration.among else ""
    rows = (Lack("max_rows", (), table),) if declaration.max_rows is None else ()
    return (*rows, *(Lack("bounds", (column,), table) for column in unbounded(declaration)))


def filled(
    declaration: Declaration, columns: Iterable[str], *, rows: int | None = 1, size: int = 1
) -> Declaration:
    """A declaration with stand-ins for what is missing."""
    bounds = {**declaration.ranges, **dict.fromkeys(columns, (Fraction(-size), Fraction(size)))}
    ordered = tuple((column, bounds[column]) for column, _ in declaration.types if column in bounds)
    return replace(declaration, bounds=ordered, max_rows=declaration.max_rows or rows)


def stand_ins(
    declared: Declared, lacks: Iterable[Lack] | None = None, *, rows: int = 1, size: int = 1
) -> dict[str, Declaration]:
    """Declarations with stand-ins for some of what is missing, or for all of it."""
    wanted = (
        {lack for one in declared.values() for lack in missing(one)}
        if lacks is None
        else set(lacks)
    )
    found = {}
    for name, one in declared.items():
        mine = [lack for lack in wanted if lack.table == (name if one.among else "")]
        limited = any(lack.kind == "max_rows" for lack in mine)
        found[name] = filled(
            one,
            [lack.of[0] for lack in mine if lack.kind == "bounds"],
            rows=rows if limited else None,
            size=size,
        )
    return found


def lacking(again: Again, declared: Declared) -> tuple[Lack, ...]:
    """What has to be learned for a query; refused here is what learning would not help."""
    if _plannable(again, declared):
        return ()
    whole = again(stand_ins(declared))
    wanted(whole)
    Bounding.of(whole, "L1")
    tables, named = _tables(whole.rows), _mentioned(whole)
    every = [lack for name, one in declared.items() if name in tables for lack in missing(one)]
    every.sort(key=lambda lack: lack.kind != "max_rows")
    likely = [lack for lack in every if lack.kind == "max_rows" or lack.of[0] in named]
    found = likely if _plannable(again, stand_ins(declared, likely)) else every
    for lack in reversed(found):
        rest = [other for other in found if other != lack]
        if _plannable(again, stand_ins(declared, rest)):
            found = rest
    return tuple(found)


def redeclared(query: Query, known: Mapping[str, Rows]) -> Query:
    """The same query, on the rows of tables that are declared otherwise."""
    return Groups(_again(query.rows, known), query.keys, query.domains).aggregate(
        **dict(query.aggregates)
    )


def _again(rows: Rows, known: Mapping[str, Rows]) -> Rows:
    """The same steps, from the table on that they began with."""
    made = known[rows.declaration.name]
    for step in rows.steps:
        if isinstance(step, PerUnit):
            made = made.per_unit(dict(step.keys), dict(step.totals))
        elif isinstance(step, Join):
            made, _ = joined(made, _again(step.right, known), step.pairs, step.how, step.where)
        elif isinstance(step, Match):
            made = match(
                made, _again(step.right, known), step.pairs, step.kind, step.where, nulls=step.nulls
            )
        elif isinstance(step, Union):
            made, _ = united(made, _again(step.right, known), list(step.columns))
        else:
            made = (
                made.where(step.expression)
                if step.column is None
                else made.mutate(**{step.column: step.expression})
            )
    return made


def _plannable(again: Again, declared: Declared) -> bool:
    try:
        query = again(declared)
        wanted(query)
        Bounding.of(query, "L1")
    except Refused:
        return False
    return True


def _tables(rows: Rows) -> set[str]:
    """Every table that rows are made of."""
    return {rows.declaration.name}.union(
        *(_tables(step.right) for step in rows.steps if isinstance(step, Join | Match | Union))
    )


def _mentioned(query: Query) -> set[str]:
    """Every column that is named anywhere in a query, and under which name it was brought in."""
    found, brought = _named(query.rows)
    for _, aggregate in query.aggregates:
        found |= _columns(aggregate.of, aggregate.by)
    while more := {old for new, old in brought if new in found} - found:
        found |= more
    return found


def _named(rows: Rows) -> tuple[set[str], list[tuple[str, str]]]:
    found: set[str] = set()
    brought: list[tuple[str, str]] = []
    for step in rows.steps:
        if isinstance(step, PerUnit):
            found |= _columns(
                *(key for _, key in step.keys),
                *(part for _, total in step.totals for part in (total.of, total.where)),
            )
        elif isinstance(step, Step):
            found |= _columns(step.expression)
        elif isinstance(step, Union):
            found |= _columns(*(side for _, *both in step.columns for side in both))
        else:
            found |= _columns(step.where, *(side for pair in step.pairs for side in pair))
            brought += step.columns if isinstance(step, Join) else ()
        if isinstance(step, Join | Match | Union):
            inner, names = _named(step.right)
            found, brought = found | inner, brought + names
    return found, brought


def _columns(*parts: Expr | None) -> set[str]:
    return {name for part in parts if part is not None for name in part.columns}
