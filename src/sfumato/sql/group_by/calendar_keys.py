"""Read CALENDAR(day, 'month', DATE '2026-01-01', DATE '2026-12-31') in GROUP BY: a group for every
bucket between two public dates, empty ones too.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from sqlglot import exp

from ...errors import Refused
from ...tables.expr.expressions import Literal, col
from ...tables.query import calendars
from ...tables.query.calendars import Calendar
from .. import sql_refusals as refusals
from ..row_expressions import RowReader
from ..scope import Scope
from ..sql_text import Node

YEAR = "'month', DATE '2026-01-01', DATE '2026-12-31'"


def read_calendar(node: Node, scope: Scope, scalars: RowReader) -> Calendar | None:
    """Read a key as a calendar; None if it is something else."""
    if not (isinstance(node, exp.Anonymous) and str(node.this).lower() == "calendar"):
        return None
    scalars.check_arguments(node, ("this", "expressions"))
    if len(node.expressions) != 4:
        source = scalars.source
        of = source.words_of(node.expressions[0]) if node.expressions else "day"
        rewrite = source.replace_text(node, f"CALENDAR({of}, {YEAR})")
        raise source.refuse(refusals.CALENDAR_ARGUMENTS, node, corrected=rewrite)
    of, *fixed = node.expressions
    unit, first, last = (_read_calendar_constant(part, scalars) for part in fixed)
    try:
        return calendars.calendar(scope.read(of, scalars), unit, first, last)
    except Refused as refusal:
        raise (
            refusal
            if refusal.code.startswith("sql.")
            else scalars.source.relocate(refusal, node, scalars.source.example)
        ) from None


def _read_calendar_constant(node: Node, scalars: RowReader) -> Any:
    literal = scalars.read(node, lambda column: col(column.name))
    if not isinstance(literal, Literal) or not isinstance(literal.value, str | date):
        raise scalars.source.refuse(refusals.CALENDAR_NOT_CONSTANT, node)
    return (
        literal.value.lower()
        if isinstance(literal.value, str) and literal.value.isalpha()
        else literal.value
    )
