"""What a query lacks before it can be planned: a limit on the rows of a unit, or bounds of a column that one row could otherwise move it by any amount with.

*Same query*   on other declarations: its steps are taken again, one by one, so that what is known of made columns follows from what is then declared.
*Needed*       A column is learned only where the query cannot do without its bounds: with those of all others it would still be refused.
*Stand-ins*    lie around 0, as learned bounds do. What is refused with them would be refused after learning, too, so it is refused before anything is paid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from ..errors import Refused
from .bounding import Bounding
from .declaration import Declaration
from .per_unit import PerUnit
from .pieces import wanted
from .stages import Groups, Query, Rows, Step

Again = Callable[[Declaration], Query]
"""The same question, about a table that is declared otherwise."""

MISSING = frozenset({"aggregate.bounds", "sql.bounds", "stage.total", "table.max-rows"})
"""Codes of refusals that learning may help."""


@dataclass(frozen=True, slots=True, order=True)
class Lack:
    """One thing to be learned: a limit of rows, of groups by some columns, or the bounds of a column."""

    kind: Literal["max_rows", "max_groups", "bounds"]
    of: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        named = " and ".join(self.of)
        return {"max_rows": "how many rows a unit has", "max_groups": f"in how many groups by {named} it is", "bounds": f"between which ends {named} lies"}[
            self.kind
        ]


ROWS = Lack("max_rows")


def unbounded(declaration: Declaration) -> tuple[str, ...]:
    """The numbers without bounds, but for those that say whose row it is."""
    return tuple(c for c, known in declaration.types if known.numeric and c not in declaration.ranges and c not in declaration.unit)


def filled(declaration: Declaration, columns: Iterable[str], *, rows: int | None = 1, size: int = 1) -> Declaration:
    """A declaration with stand-ins for what is missing."""
    bounds = {**declaration.ranges, **dict.fromkeys(columns, (Fraction(-size), Fraction(size)))}
    ordered = tuple((column, bounds[column]) for column, _ in declaration.types if column in bounds)
    return replace(declaration, bounds=ordered, max_rows=declaration.max_rows or rows)


def lacking(again: Again, declaration: Declaration) -> tuple[Lack, ...]:
    """What has to be learned for a query; refused here is what learning would not help."""
    if _plannable(again, declaration):
        return ()
    free = unbounded(declaration)
    whole = again(filled(declaration, free))
    wanted(whole)
    Bounding.of(whole, "L1")
    named = [column for column in free if column in _mentioned(whole)]
    found = [] if declaration.max_rows is not None or _plannable(again, filled(declaration, free, rows=None)) else [ROWS]
    found += [Lack("bounds", (column,)) for column in named if not _plannable(again, filled(declaration, set(free) - {column}))]
    return tuple(found)


def repeatable(query: Query) -> bool:
    """Whether a query is about one table alone, so that its steps can be taken again."""
    return all(isinstance(step, Step | PerUnit) for step in query.rows.steps)


def redeclared(query: Query, rows: Rows) -> Query:
    """The same query on the rows of a table that is declared otherwise."""
    for step in query.rows.steps:
        if isinstance(step, PerUnit):
            rows = rows.per_unit(dict(step.keys), dict(step.totals))
        elif isinstance(step, Step):
            rows = rows.where(step.expression) if step.column is None else rows.mutate(**{step.column: step.expression})
        else:
            reason = "of several tables together nothing is learned: their limits are declared"
            raise Refused("learn.tables", type(step).__name__, reason, "max_rows=5, bounds={…} in protect(…)")
    return Groups(rows, query.keys, query.domains).aggregate(**dict(query.aggregates))


def _plannable(again: Again, declaration: Declaration) -> bool:
    try:
        query = again(declaration)
        wanted(query)
        Bounding.of(query, "L1")
    except Refused:
        return False
    return True


def _mentioned(query: Query) -> set[str]:
    """Every column that is named anywhere in a query."""
    found: set[str] = set()
    for step in query.rows.steps:
        if isinstance(step, PerUnit):
            found |= {name for _, key in step.keys for name in key.columns}
            found |= {name for _, total in step.totals for part in (total.of, total.where) if part is not None for name in part.columns}
        elif isinstance(step, Step):
            found |= step.expression.columns
    for _, aggregate in query.aggregates:
        found |= {name for part in (aggregate.of, aggregate.by) if part is not None for name in part.columns}
    return found
