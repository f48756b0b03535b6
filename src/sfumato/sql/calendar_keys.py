"""CALENDAR(day, 'month', DATE '2026-01-01', DATE '2026-12-31') in GROUP BY: a group for every
bucket between two public dates, empty ones too.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from sqlglot import exp

from ..errors import Refused
from ..tables.expr.expressions import Literal, col
from ..tables.query import calendars
from ..tables.query.calendars import Calendar
from .row_expressions import Scalars
from .scope import Scope
from .sql_text import Node

EXAMPLE = "CALENDAR(day, 'month', DATE '2026-01-01', DATE '2026-12-31')"


def calendar(node: Node, scope: Scope, scalars: Scalars) -> Calendar | None:
    """The calendar that a key is, if it is one."""
    if not (isinstance(node, exp.Anonymous) and str(node.this).lower() == "calendar"):
        return None
    scalars.closed(node, ("this", "expressions"))
    if len(node.expressions) != 4:
        raise scalars.source.refuse(
            "sql.group", node, "", "a calendar has a column, a unit and two dates", EXAMPLE
        )
    of, *fixed = node.expressions
    unit, first, last = (_constant(part, scalars) for part in fixed)
    try:
        return calendars.calendar(scope.read(of, scalars), unit, first, last)
    except Refused as refusal:
        raise (
            refusal
            if refusal.code.startswith("sql.")
            else scalars.source.moved(refusal, node, scalars.source.example)
        ) from None


def _constant(node: Node, scalars: Scalars) -> Any:
    found = scalars.read(node, lambda column: col(column.name))
    if not isinstance(found, Literal) or not isinstance(found.value, str | date):
        raise scalars.source.refuse(
            "sql.group", node, "", "the unit and the dates of a calendar are constants", EXAMPLE
        )
    return (
        found.value.lower()
        if isinstance(found.value, str) and found.value.isalpha()
        else found.value
    )
