"""Read date and time functions: EXTRACT, DATE_TRUNC, DATE_DIFF and intervals."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from ..tables.expr.expressions import Expr, Literal, call, literal
from ..tables.expr.functions import FUNCTIONS
from ..tables.expr.types import MONTHS
from ..tables.expr.value_sets import LENGTHS
from . import sql_refusals as refusals
from .sql_text import Node

if TYPE_CHECKING:
    from .row_expressions import RowReader

Read = Callable[[Node], Expr]
Build = Callable[[Any, Read, "RowReader"], Expr | None]

PARTS: Mapping[str, str] = {
    part[1]: function.name
    for function in FUNCTIONS.values()
    if (part := re.match(r"EXTRACT\((\w+)", function.sql_forms[0]))
}
"""Parts of a moment that EXTRACT reads → their functions. `isodow` begins with Monday, which is 1.
`dow`, which begins with Sunday as 0, is computed from it.
"""
PART_NAMES = (*PARTS, "dow")


def read_part(name: str, value: Expr, node: Node, scalars: RowReader) -> Expr:
    if name.lower() == "dow":
        return call("mod", call("day_of_week", value), 7)
    function = PARTS.get(name.lower())
    if function is None:
        raise scalars.source.refuse(
            refusals.UNKNOWN_DATE_PART, node, part=name.lower(), parts=", ".join(PART_NAMES)
        )
    return call(function, value)


def read_extract(node: exp.Extract, read: Read, scalars: RowReader) -> Expr:
    return read_part(node.this.name, read(node.expression), node, scalars)


def read_date_part(node: exp.Anonymous, read: Read, scalars: RowReader) -> Expr:
    if len(node.expressions) != 2:
        raise scalars.refuse_unsupported(node)
    part, value = node.expressions
    return read_part(scalars.text(part), read(value), node, scalars)


def read_day_of_week(node: exp.DayOfWeek, read: Read, scalars: RowReader) -> Expr:
    return read_part("dow", read(node.this), node, scalars)


def read_trunc(node: exp.TimestampTrunc, read: Read, scalars: RowReader) -> Expr:
    return call("date_trunc", scalars.unit(node), read(node.this))


def read_days(node: exp.DateDiff, read: Read, scalars: RowReader) -> Expr:
    if scalars.unit(node) != "day":
        raise scalars.source.refuse(
            refusals.DATE_DIFF_UNIT,
            node,
            corrected=scalars.source.replace_text(
                node, re.sub("'[^']*'", "'day'", scalars.source.words_of(node), count=1)
            ),
        )
    return call("days_between", read(node.this), read(node.expression))


def _shifted(moment: Expr, steps: int, unit: str) -> Expr | None:
    """Return a constant date or timestamp that is shifted; None if it is no constant, or leaves the
    years 1 to 9999. Public keys follow from conditions with constants.
    """
    value = moment.value if isinstance(moment, Literal) else None
    if not isinstance(value, date):
        return None
    try:
        if unit in LENGTHS and (unit in ("week", "day") or isinstance(value, datetime)):
            return literal(value + steps * LENGTHS[unit])
        if unit in MONTHS:
            year, month = divmod(value.year * 12 + value.month - 1 + steps * MONTHS[unit], 12)
            last = monthrange(year, month + 1)[1]
            return literal(value.replace(year=year, month=month + 1, day=min(value.day, last)))
    except (ArithmeticError, ValueError):
        return None
    return None


def shift(sign: int) -> Build:
    """Read a date or time plus or minus an interval."""

    def build(node: Node, read: Read, scalars: RowReader) -> Expr | None:
        operand = node.args["expression"].unnest()
        if not isinstance(operand, exp.Interval):
            return None
        scalars.check_arguments(operand, ("this", "unit"))
        amount = str(operand.this.this) if isinstance(operand.this, exp.Literal) else ""
        if not amount.removeprefix("-").isdecimal() or len(amount) > 12:
            raise scalars.source.refuse(refusals.INTERVAL_AMOUNT, operand)
        moment, steps, unit = read(node.this), sign * int(amount), scalars.unit(operand)
        constant = _shifted(moment, steps, unit)
        return call("date_add", moment, steps, unit) if constant is None else constant

    return build
