"""Moments in SQL: parts of them, cuts, differences and intervals, as functions of expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from ..tables.expr.expressions import Expr, call
from .sql_text import Node

if TYPE_CHECKING:
    from .row_expressions import Scalars

Read = Callable[[Node], Expr]
Build = Callable[[Any, Read, "Scalars"], Expr]

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


def part(name: str, value: Expr, node: Node, scalars: Scalars) -> Expr:
    known = PARTS.get(name.lower())
    if known is None:
        raise scalars.source.refuse(
            "sql.function",
            node,
            "",
            f"a moment has no {name.lower():.40} here",
            f"one of {', '.join(PARTS)}",
        )
    return call("mod", call("day_of_week", value), 7) if known == "dow" else call(known, value)


def extract(node: exp.Extract, read: Read, scalars: Scalars) -> Expr:
    return part(node.this.name, read(node.expression), node, scalars)


def field(name: str) -> tuple[tuple[str, ...], Build]:
    return ("this",), lambda node, read, scalars: part(name, read(node.this), node, scalars)


def trunc(node: exp.TimestampTrunc, read: Read, scalars: Scalars) -> Expr:
    return call("date_trunc", scalars.unit(node), read(node.this))


def days(node: exp.DateDiff, read: Read, scalars: Scalars) -> Expr:
    if scalars.unit(node) != "day":
        raise scalars.source.refuse(
            "sql.function",
            node,
            "",
            "the difference of two moments is told in days",
            "DATE_DIFF('day', a, b)",
        )
    return call("days_between", read(node.this), read(node.expression))


def add(sign: int, name: str) -> tuple[tuple[str, ...], Build]:
    """A sum or difference; with an interval, of a moment."""

    def build(node: Node, read: Read, scalars: Scalars) -> Expr:
        other = node.args["expression"].unnest()
        if not isinstance(other, exp.Interval):
            if not name:
                raise scalars.unsupported(node)
            return call(name, read(node.this), read(node.args["expression"]))
        scalars.closed(other, ("this", "unit"))
        amount = str(other.this.this) if isinstance(other.this, exp.Literal) else ""
        if not amount.removeprefix("-").isdecimal() or len(amount) > 12:
            raise scalars.source.refuse(
                "sql.unsupported",
                other,
                "",
                "an interval is a whole number of units",
                "INTERVAL 3 DAY",
            )
        return call("date_add", read(node.this), sign * int(amount), scalars.unit(other))

    return ("this", "expression"), build
