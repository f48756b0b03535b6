"""Read the columns of a SELECT, and the keys of GROUP BY: columns, expressions, positions, aliases,
or ALL.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from sqlglot import exp

from ...errors import Refused
from ...tables.expr.expressions import ColumnRef, Expr
from ...tables.expr.scalar_function import shorten
from ...tables.query.calendars import Calendar
from ...tables.query.groupings import Groupings
from .. import sql_refusals as refusals
from ..aggregate_calls import split_quantiles
from ..row_expressions import RowReader
from ..scope import Scope, has_aggregate, identifier
from ..sql_text import Node, arguments, without_brackets
from .calendar_keys import read_calendar
from .grouping_sets import KINDS, has_sets, key_nodes, read_sets

NAMES = 60  # characters of a column's name that was not given


@dataclass(frozen=True, slots=True, eq=False)
class SelectItem:
    """A column of a SELECT: its name, and whether the text names it with AS."""

    node: Node
    name: str
    is_aliased: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class GroupKey:
    """A key of GROUP BY: its node in the text, its expression and its name."""

    node: Node
    expression: Expr
    name: str
    calendar: Calendar | None = None  # where its groups are public buckets of time


def read_items(
    select: exp.Select, scope: Scope, scalars: RowReader, *, star: bool
) -> list[SelectItem]:
    """Read the columns of a SELECT, with `*` spelled out where it is allowed."""
    items = []
    for node in select.expressions:
        if isinstance(node, exp.Star) or (
            isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
        ):
            if not star or list(arguments(node)) not in ([], ["this"]):
                raise scalars.source.refuse(refusals.STAR, node)
            items += [SelectItem(_column(name), name) for name in scope.names]
        elif isinstance(node, exp.Alias):
            if (
                set(arguments(node)) - {"this", "alias"}
                or (name := identifier(node.args.get("alias"))) is None
            ):
                raise scalars.refuse_unsupported(node)
            items += _split_item(SelectItem(node.this, name, True), scalars)
        elif isinstance(node, exp.Column):
            items.append(SelectItem(node, identifier(node.this) or "", False))
        else:
            items += _split_item(
                SelectItem(node, shorten(scalars.source.words_of(node), NAMES), False), scalars
            )
    if not items:
        raise scalars.source.refuse(refusals.NO_COLUMN, None)
    return items


def _split_item(item: SelectItem, scalars: RowReader) -> list[SelectItem]:
    """Split a list of quantiles into one column for each; keep other columns as they are."""
    return [
        SelectItem(node, f"{item.name}_{suffix}", item.is_aliased)
        for node, suffix in split_quantiles(item.node, scalars)
    ] or [item]


def read_group_keys(
    select: exp.Select, scope: Scope, items: list[SelectItem], scalars: RowReader
) -> list[GroupKey]:
    """Read the keys of GROUP BY, in its order, each once."""
    clause = select.args.get("group")
    if clause is None:
        return []
    if set(arguments(clause)) - {"expressions", "all", *KINDS}:
        raise scalars.source.refuse(refusals.GROUPING_TOTALS, clause)
    if clause.args.get("all"):
        nodes = [(item.node, item.name) for item in items if not has_aggregate(item.node)]
    else:
        nodes = [_resolve_key(node, scope, items, scalars) for node in key_nodes(clause)]
    keys: dict[str, GroupKey] = {}
    for node, name in nodes:
        if has_aggregate(node):
            raise scalars.source.refuse(refusals.AGGREGATE_AS_KEY, node)
        public, expression = _read_key(node, scope, scalars)
        if not expression.columns:
            raise scalars.source.refuse(refusals.CONSTANT_AS_KEY, node)
        keys.setdefault(
            expression.text,
            GroupKey(node, expression, name or _key_name(node, expression, scalars), public),
        )
    return list(keys.values())


def read_groupings(
    select: exp.Select, scope: Scope, items: list[SelectItem], scalars: RowReader
) -> list[str | Groupings]:
    """Read the groupings of CUBE, ROLLUP and GROUPING SETS, by the texts of the keys' expressions;
    nothing if the GROUP BY has none of them.
    """
    clause = select.args.get("group")
    if clause is None or not has_sets(clause):
        return []

    def text_of(node: Node) -> str:
        resolved, _ = _resolve_key(node, scope, items, scalars)
        return _read_key(resolved, scope, scalars)[1].text

    try:
        return read_sets(clause, text_of)
    except Refused as refusal:
        raise scalars.source.relocate(refusal, clause, scalars.source.example) from None


def _read_key(node: Node, scope: Scope, scalars: RowReader) -> tuple[Calendar | None, Expr]:
    """Read a key: the buckets of a CALENDAR, and its expression."""
    public = read_calendar(node, scope, scalars)
    return public, scope.read(node, scalars) if public is None else public.expression


def find_key(node: Node, keys: list[GroupKey], scope: Scope, scalars: RowReader) -> GroupKey | None:
    """Return the key that a part of the text names; None if it is no key."""
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


def _resolve_key(
    node: Node, scope: Scope, items: list[SelectItem], scalars: RowReader
) -> tuple[Node, str]:
    """Return the node and the name of a key that is a position, a column, an alias or an
    expression.
    """
    inner = without_brackets(node)
    if isinstance(inner, exp.Literal) and not inner.is_string:
        text = str(inner.this)
        if not text.isdecimal() or len(text) > 4 or not 1 <= int(text) <= len(items):
            raise scalars.source.refuse(refusals.GROUP_POSITION, node, most=len(items))
        item = items[int(text) - 1]
        return item.node, item.name if item.is_aliased else ""
    name = (
        identifier(inner.this)
        if isinstance(inner, exp.Column) and inner.args.get("table") is None
        else None
    )
    if name is not None and scope.find(name) is None:
        item = next(
            (item for item in items if item.is_aliased and item.name.lower() == name.lower()),
            SelectItem(inner, ""),
        )
        return item.node, item.name
    same = next((item for item in items if item.is_aliased and item.node == inner), None)
    return inner, "" if same is None else same.name


def _key_name(node: Node, expression: Expr, scalars: RowReader) -> str:
    if isinstance(node, exp.Column):
        return identifier(node.this) or ""
    return (
        expression.name
        if isinstance(expression, ColumnRef)
        else shorten(scalars.source.words_of(node), NAMES)
    )


def _column(name: str) -> exp.Column:
    return exp.Column(this=exp.Identifier(this=name, quoted=True))
