"""SQL written as SQL: small texts in which arguments stand by name, made into trees once.

*Given*  A form may mention its argument many times, and forms stand inside forms: written out, the
         text would double at each step. So an argument that is more than a column or a constant is
         computed once, in a sub-query that the planner may not take apart.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sqlglot as sg
import sqlglot.expressions as sge

GIVEN = "given"


@cache
def _parsed(text: str, dialect: str) -> Any:
    return sg.parse_one(text, dialect=dialect)


def put(text: str, dialect: str, **arguments: Any) -> Any:
    """A form with its arguments in their places; each is written as often as it is mentioned."""

    def place(node: Any) -> Any:
        if isinstance(node, sge.Column) and not node.table and node.name in arguments:
            return _apart(arguments[node.name].copy())
        return node

    made = _parsed(text, dialect).copy().transform(place, copy=False)
    return (
        sge.paren(made, copy=False)
        if isinstance(made, sge.Binary | sge.Not | sge.Collate | sge.AtTimeZone | sge.Is)
        else made
    )


def given(text: str, dialect: str, **arguments: Any) -> Any:
    """A form with its arguments, each of them computed once."""
    if all(_plain(argument) for argument in arguments.values()):
        return put(text, dialect, **arguments)
    named = [
        sge.alias_(argument.copy(), name, quoted=False, copy=False)
        for name, argument in arguments.items()
    ]
    inner = sg.select(*named, copy=False).offset(0, copy=False).subquery(GIVEN, copy=False)
    outer = sg.select(_parsed(text, dialect).copy(), copy=False).from_(inner, copy=False)
    return sge.Paren(this=outer)


def _plain(argument: Any) -> bool:
    while isinstance(argument, sge.Cast | sge.Paren | sge.Neg):
        argument = argument.this
    return isinstance(argument, sge.Column | sge.Literal | sge.Null | sge.Boolean)


def _apart(argument: Any) -> Any:
    """Operators in parentheses."""
    return (
        sge.paren(argument, copy=False)
        if isinstance(argument, sge.Binary | sge.Unary | sge.Not | sge.Between | sge.In)
        else argument
    )


def bound(text: str, dialect: str, **arguments: Any) -> Any:
    """The same for engines that take no sub-query in every place, but know lists and functions of
    their items: a list of one item.
    """
    if all(_plain(argument) for argument in arguments.values()):
        return put(text, dialect, **arguments)
    lists = [
        sge.Anonymous(this="array", expressions=[argument.copy()])
        for argument in arguments.values()
    ]
    body = sge.Lambda(
        this=_parsed(text, dialect).copy(),
        expressions=[sg.to_identifier(name) for name in arguments],
    )
    made = sge.Anonymous(
        this="transform" if len(lists) == 1 else "zip_with", expressions=[*lists, body]
    )
    return sge.Anonymous(this="element_at", expressions=[made, sge.convert(1)])
