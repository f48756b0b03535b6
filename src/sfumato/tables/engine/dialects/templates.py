"""Fill SQL templates: short SQL texts whose arguments stand by name, parsed once.

*Given*  A template may mention its argument many times, and templates nest: written out, the text
         would double at each level. So an argument that is more than a column or a constant is
         computed once, in a sub-query that the planner may not inline.
"""

from __future__ import annotations

from functools import cache

import sqlglot as sg
import sqlglot.expressions as sge

Sql = sge.Expression
"""A syntax tree of sqlglot: a value, or a whole statement."""

GIVEN = "given"  # the alias of that sub-query


@cache
def _parse(text: str, dialect: str) -> Sql:
    return sg.parse_one(text, dialect=dialect)


def fill(text: str, dialect: str, **arguments: Sql) -> Sql:
    """Fill a template; each argument is written as often as the template mentions it."""

    def place(node: Sql) -> Sql:
        if isinstance(node, sge.Column) and not node.table and node.name in arguments:
            return _in_parentheses(arguments[node.name].copy())
        return node

    filled = _parse(text, dialect).copy().transform(place, copy=False)
    return (
        sge.paren(filled, copy=False)
        if isinstance(filled, sge.Binary | sge.Not | sge.Collate | sge.AtTimeZone | sge.Is)
        else filled
    )


def fill_once(text: str, dialect: str, **arguments: Sql) -> Sql:
    """Fill a template; each argument is computed once, in a sub-query."""
    if all(_is_plain(argument) for argument in arguments.values()):
        return fill(text, dialect, **arguments)
    named = [
        sge.alias_(argument.copy(), name, quoted=False, copy=False)
        for name, argument in arguments.items()
    ]
    inner = sg.select(*named, copy=False).offset(0, copy=False).subquery(GIVEN, copy=False)
    outer = sg.select(_parse(text, dialect).copy(), copy=False).from_(inner, copy=False)
    return sge.Paren(this=outer)


def _is_plain(argument: Sql) -> bool:
    while isinstance(argument, sge.Cast | sge.Paren | sge.Neg):
        argument = argument.this
    return isinstance(argument, sge.Column | sge.Literal | sge.Null | sge.Boolean)


def _in_parentheses(argument: Sql) -> Sql:
    """Put an operator into parentheses."""
    return (
        sge.paren(argument, copy=False)
        if isinstance(argument, sge.Binary | sge.Unary | sge.Not | sge.Between | sge.In)
        else argument
    )


def fill_once_by_list(text: str, dialect: str, **arguments: Sql) -> Sql:
    """Fill a template; each argument is computed once, as an item of a list of one, for engines
    that do not allow sub-queries everywhere but have functions over lists.
    """
    if all(_is_plain(argument) for argument in arguments.values()):
        return fill(text, dialect, **arguments)
    lists = [
        sge.Anonymous(this="array", expressions=[argument.copy()])
        for argument in arguments.values()
    ]
    body = sge.Lambda(
        this=_parse(text, dialect).copy(),
        expressions=[sg.to_identifier(name) for name in arguments],
    )
    computed = sge.Anonymous(
        this="transform" if len(lists) == 1 else "zip_with", expressions=[*lists, body]
    )
    return sge.Anonymous(this="element_at", expressions=[computed, sge.convert(1)])
