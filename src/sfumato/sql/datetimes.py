"""Read date and time functions: EXTRACT, DATE_TRUNC, DATE_DIFF and intervals."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from ..tables.expr.expressions import Expr, call
from ..tables.expr.functions import FUNCTIONS
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
        return call("date_add", read(node.this), sign * int(amount), scalars.unit(operand))

    return build
