"""The columns of a SELECT, and the keys of its GROUP BY: columns, expressions, positions, aliases,
or ALL that is no aggregate.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from sqlglot import exp

from ..errors import Refused
from ..tables.expr.expressions import Column, Expr
from ..tables.expr.scalar_function import shorten
from ..tables.query.calendars import Calendar
from .aggregate_calls import each_quantile
from .calendar_keys import calendar
from .row_expressions import Scalars
from .scope import Scope, has_aggregate, identifier
from .sql_text import Node, arguments

NAMES = 60  # characters of a column's name that was not given


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """A column of a SELECT: its name, and whether that was given."""

    node: Node
    name: str
    given: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Key:
    """A key: what it is computed by, where it stands in the text, and its name."""

    node: Node
    expression: Expr
    name: str
    calendar: Calendar | None = None  # where its groups are public buckets of time


def items_of(select: exp.Select, scope: Scope, scalars: Scalars, *, star: bool) -> list[Item]:
    """The columns, `*` spelled out where it may stand."""
    found = []
    for node in select.expressions:
        if isinstance(node, exp.Star) or (
            isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
        ):
            if not star or list(arguments(node)) not in ([], ["this"]):
                raise scalars.source.refuse(
                    "sql.star",
                    node,
                    "all values of all rows",
                    "only aggregates over units are answered, never rows",
                    scalars.source.example,
                )
            found += [Item(_column(name), name) for name in scope.names]
        elif isinstance(node, exp.Alias):
            if (
                set(arguments(node)) - {"this", "alias"}
                or (name := identifier(node.args.get("alias"))) is None
            ):
                raise scalars.unsupported(node)
            found += _each(Item(node.this, name, True), scalars)
        elif isinstance(node, exp.Column):
            found.append(Item(node, identifier(node.this) or "", False))
        else:
            found += _each(
                Item(node, shorten(scalars.source.words_of(node), NAMES), False), scalars
            )
    if not found:
        raise scalars.source.refuse(
            "sql.syntax", None, "", "nothing is selected", scalars.source.example
        )
    return found


def _each(item: Item, scalars: Scalars) -> list[Item]:
    """A column for each of several quantiles."""
    return [
        Item(node, f"{item.name}_{suffix}", item.given)
        for node, suffix in each_quantile(item.node, scalars)
    ] or [item]


def group_keys(select: exp.Select, scope: Scope, items: list[Item], scalars: Scalars) -> list[Key]:
    """The keys of GROUP BY, in its order, each once."""
    clause = select.args.get("group")
    if clause is None:
        return []
    more = set(arguments(clause)) - {"expressions", "all"}
    if more:
        reason = "sub-totals are questions of their own: each has a cost"
        raise scalars.source.refuse("sql.group", clause, "", reason, scalars.source.example)
    if clause.args.get("all"):
        nodes = [(item.node, item.name) for item in items if not has_aggregate(item.node)]
    else:
        nodes = [
            _meant(node, scope, items, scalars)
            for part in clause.expressions
            for node in (part.expressions if isinstance(part, exp.Tuple) else [part])
        ]
    found: dict[str, Key] = {}
    for node, name in nodes:
        if has_aggregate(node):
            raise scalars.source.refuse(
                "sql.group",
                node,
                "",
                "what is grouped by is known of every row, an aggregate is not",
                scalars.source.example,
            )
        public = calendar(node, scope, scalars)
        expression = scope.read(node, scalars) if public is None else public.expression
        if not expression.columns:
            raise scalars.source.refuse(
                "sql.group", node, "", "a constant makes no groups", scalars.source.example
            )
        found.setdefault(
            expression.text, Key(node, expression, name or _name(node, expression, scalars), public)
        )
    return list(found.values())


def matched(node: Node, keys: list[Key], scope: Scope, scalars: Scalars) -> Key | None:
    """The key that a part of the text is, if it is one."""
    for key in keys:
        if node == key.node:
            return key
    if isinstance(node, exp.Column):
        name, table = identifier(node.this), node.args.get("table")
        if name is not None and table is None and scope.find(name) is None:
            return next((key for key in keys if key.name.lower() == name.lower()), None)
        text = scope.column(node, scalars.source).text
        return next((key for key in keys if key.expression.text == text), None)
    if (
        keys
        and not has_aggregate(node)
        and isinstance(
            node, exp.Func | exp.Binary | exp.Unary | exp.Case | exp.Paren | exp.Between | exp.In
        )
    ):
        with suppress(Refused):
            text = scope.read(node, scalars).text
            return next((key for key in keys if key.expression.text == text), None)
    return None


def _meant(node: Node, scope: Scope, items: list[Item], scalars: Scalars) -> tuple[Node, str]:
    """A key is a position, or a column, or an alias, or else an expression; and the name it is
    given.
    """
    inner = node.unnest()  # type: ignore[no-untyped-call]
    if isinstance(inner, exp.Literal) and not inner.is_string:
        text = str(inner.this)
        if not text.isdecimal() or len(text) > 4 or not 1 <= int(text) <= len(items):
            raise scalars.source.refuse(
                "sql.group",
                node,
                "",
                f"there are {len(items)} columns to group by",
                scalars.source.example,
            )
        item = items[int(text) - 1]
        return item.node, item.name if item.given else ""
    name = (
        identifier(inner.this)
        if isinstance(inner, exp.Column) and inner.args.get("table") is None
        else None
    )
    if name is not None and scope.find(name) is None:
        item = next(
            (item for item in items if item.given and item.name.lower() == name.lower()),
            Item(inner, ""),
        )
        return item.node, item.name
    same = next((item for item in items if item.given and item.node == inner), None)
    return inner, "" if same is None else same.name


def _name(node: Node, expression: Expr, scalars: Scalars) -> str:
    if isinstance(node, exp.Column):
        return identifier(node.this) or ""
    return (
        expression.name
        if isinstance(expression, Column)
        else shorten(scalars.source.words_of(node), NAMES)
    )


def _column(name: str) -> exp.Column:
    return exp.Column(this=exp.Identifier(this=name, quoted=True))
