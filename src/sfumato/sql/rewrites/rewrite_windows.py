"""Rules for refused windows, and for the first or last row of each unit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from ..scope import is_aggregate
from ..sql_text import Node
from .rewrite_trees import copy_of, item_of, parse, read_expression, root_of, select_of, write


def join_chosen_rows(part: Node) -> Iterator[Node]:
    """Join the first or last rows of each unit instead of FIRST, LAST, ARG_MIN or ARG_MAX."""
    call = part.this if isinstance(part, exp.IgnoreNulls | exp.RespectNulls) else part
    ordered = call.this if isinstance(call, exp.First | exp.Last) else None
    if isinstance(call, exp.ArgMin | exp.ArgMax):
        value, by, last = call.this, call.expression, isinstance(call, exp.ArgMax)
    elif isinstance(ordered, exp.Order) and len(ordered.expressions) == 1:
        key = ordered.expressions[0]
        value, by = ordered.this, key.this
        last = isinstance(call, exp.Last) != bool(key.args.get("desc"))
    else:
        return
    select = select_of(call)
    if select is None or select.parent is None or not isinstance(value, exp.Column):
        return
    table, group, item = select.args["from_"], select.args.get("group"), item_of(call)
    if group is None or item is None or not isinstance(table.this, exp.Table):
        return
    units = [unit for unit in group.expressions if isinstance(unit, exp.Column)]
    columns = [
        f"rows.{write(value if node is item else node.unalias())} AS {node.alias_or_name}"
        for node in select.expressions
        if node is item or isinstance(node.unalias(), exp.Column)
    ]
    copied = copy_of(select)
    fresh = parse(_join_ends(columns, write(table.this), units, by, last=last))
    fresh.set("where", copied.args.get("where"))
    copied.replace(fresh)
    yield root_of(fresh)


def _join_ends(
    columns: list[str], source: str, units: Sequence[Node], by: Node, *, last: bool
) -> str:
    """Return a SELECT of the rows at which a column is least, or largest, for each unit."""
    names = ", ".join(write(unit) for unit in units)
    end = f"{'MAX' if last else 'MIN'}({write(by)})"
    on = " AND ".join(
        [f"rows.{write(unit)} = ends.{write(unit)}" for unit in units]
        + [f"rows.{write(by)} = ends.chosen"]
    )
    return (
        f"SELECT {', '.join(columns) or 'rows.' + names} FROM {source} AS rows "
        f"JOIN (SELECT {names}, {end} AS chosen FROM {source} GROUP BY {names}) AS ends ON {on}"
    )


def join_first_rows(part: Node) -> Iterator[Node]:
    """Join the first or last rows of each unit instead of numbering its rows."""
    window = part if isinstance(part, exp.Window) else part.find(exp.Window)
    if window is None:
        return
    order = window.args.get("order")
    partition = window.args.get("partition_by") or []
    inner = select_of(window)
    table = None if inner is None else inner.args.get("from_")
    if order is None or not partition or table is None or not isinstance(table.this, exp.Table):
        return
    copied = copy_of(window)
    select = select_of(copied)
    item = item_of(copied)
    by = order.expressions[0]
    if select is None or item is None or select.parent is None:
        return
    name = item.alias_or_name
    columns = [
        f"rows.{write(node.unalias())} AS {node.alias_or_name}"
        for node in select.expressions
        if node is not item and isinstance(node.unalias(), exp.Column)
    ]
    last = bool(by.args.get("desc"))
    fresh = parse(_join_ends(columns, write(table.this), partition, by.this, last=last))
    fresh.set("where", select.args.get("where"))
    outer = select.find_ancestor(exp.Select)
    select.replace(fresh)
    if outer is not None:
        _drop_conditions(outer, name)
        yield root_of(outer)


def _drop_conditions(select: exp.Select, name: str) -> None:
    """Leave out the conditions of WHERE that name a column."""
    where = select.args.get("where")
    if where is None:
        return
    rest = [
        node
        for node in _conjuncts(where.this)
        if not any(column.name.lower() == name.lower() for column in node.find_all(exp.Column))
    ]
    select.set("where", None)
    for node in rest:
        select.where(node.copy(), copy=False)


def _conjuncts(node: Node) -> list[Node]:
    if isinstance(node, exp.And):
        return [*_conjuncts(node.this), *_conjuncts(node.expression)]
    if isinstance(node, exp.Paren) and isinstance(node.this, exp.And):
        return _conjuncts(node.this)
    return [node]


def group_by_partition(part: Node) -> Iterator[Node]:
    """Group by the columns of PARTITION BY; a window over all rows becomes its aggregate."""
    window = part if isinstance(part, exp.Window) else part.find(exp.Window)
    if window is None or not is_aggregate(window.this):
        return
    copied = copy_of(window)
    select = select_of(copied)
    partition = [write(node) for node in window.args.get("partition_by") or []]
    if select is None:
        return
    item = item_of(copied)
    alias = item.alias if item is not None else ""
    aggregate = copied.this.copy()
    items = [read_expression(text) for text in partition]
    named = exp.alias_(aggregate, alias) if alias else aggregate
    select.set("expressions", [*items, named])
    if partition:
        keys = [read_expression(text) for text in partition]
        select.set("group", exp.Group(expressions=keys))
    for name in ("order", "limit", "offset"):
        select.set(name, None)
    yield root_of(select)


def drop_qualify(part: Node) -> Iterator[Node]:
    """Leave out QUALIFY, sort by what it names, and show as many groups."""
    copied = copy_of(part)
    select = select_of(copied)
    if select is None or select.args.get("qualify") is None:
        return
    window = select.args["qualify"].find(exp.Window)
    order = None if window is None else window.args.get("order")
    select.set("qualify", None)
    if order is not None:
        select.set("order", order.copy())
        select.limit(1, copy=False)
    yield root_of(select)
