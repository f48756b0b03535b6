"""Read date and time functions: EXTRACT, DATE_TRUNC, DATE_DIFF and intervals."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from ..tables.expr.expressions import Expr, call
from . import sql_refusals as refusals
from .sql_text import Node

if TYPE_CHECKING:
    from .row_expressions import RowReader

Read = Callable[[Node], Expr]
Build = Callable[[Any, Read, "RowReader"], Expr]

PARTS: Mapping[str, str] = {
    "year": "year",
    "quarter": "quarter",
    "month": "month",
    "week": "week",
    "day": "day",
    "dow": "dow",
    "isodow": "day_of_week",
    "doy": "day_of_year",
    "hour": "hour",
    "minute": "minute",
    "second": "second",
    "epoch": "epoch",
}
"""Parts of a moment, by SQL's names. `dow` begins with Sunday, which is 0; `isodow` with Monday,
which is 1.
"""


def datetime_part(name: str, value: Expr, node: Node, scalars: RowReader) -> Expr:
    function = PARTS.get(name.lower())
    if function is None:
        raise scalars.source.refuse(
            refusals.UNKNOWN_DATE_PART, node, part=name.lower(), parts=", ".join(PARTS)
        )
    return (
        call("mod", call("day_of_week", value), 7) if function == "dow" else call(function, value)
    )


def read_extract(node: exp.Extract, read: Read, scalars: RowReader) -> Expr:
    return datetime_part(node.this.name, read(node.expression), node, scalars)


def datetime_field(name: str) -> tuple[tuple[str, ...], Build]:
    return ("this",), lambda node, read, scalars: datetime_part(
        name, read(node.this), node, scalars
    )


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


def add_or_shift(sign: int, name: str) -> tuple[tuple[str, ...], Build]:
    """Read a sum or difference; with an interval, of a date or time."""

    def build(node: Node, read: Read, scalars: RowReader) -> Expr:
        operand = node.args["expression"].unnest()
        if not isinstance(operand, exp.Interval):
            if not name:
                raise scalars.refuse_unsupported(node)
            return call(name, read(node.this), read(node.args["expression"]))
        scalars.check_arguments(operand, ("this", "unit"))
        amount = str(operand.this.this) if isinstance(operand.this, exp.Literal) else ""
        if not amount.removeprefix("-").isdecimal() or len(amount) > 12:
            raise scalars.source.refuse(refusals.INTERVAL_AMOUNT, operand)
        return call("date_add", read(node.this), sign * int(amount), scalars.unit(operand))

    return ("this", "expression"), build
