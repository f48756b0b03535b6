"""Rules that ask a part of a refused question, or leave a part of it out."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ..scope import has_aggregate
from ..sql_text import Node
from .rewrite_trees import copy_of, item_of, parse, replaced, root_of, select_of, write


def ask_inner_question(part: Node) -> Iterator[Node]:
    """Ask the sub-query itself: the first of two steps."""
    query = part if isinstance(part, exp.Select) else part.find(exp.Select) or select_of(part)
    if query is None or query is root_of(part):
        return
    fresh = query.copy()
    if not any(has_aggregate(item) for item in fresh.expressions):
        fresh.select(exp.alias_(exp.Count(this=exp.Star()), "n"), copy=False)
    for item in list(fresh.expressions):
        if isinstance(item, exp.Func):
            item.replace(exp.alias_(item.copy(), "value"))
    yield fresh


def ask_first_side(part: Node) -> Iterator[Node]:
    """Ask the first of several SELECTs."""
    node: Node | None = part
    while node is not None and not isinstance(node, exp.SetOperation):
        node = node.parent
    if node is None:
        return
    first: Node = node.this
    while isinstance(first, exp.SetOperation):
        first = first.this
    yield first.copy() if node.parent is None else replaced(node, first)


def join_plainly(part: Node) -> Iterator[Node]:
    """Join in the plain way: rows of both sides that match."""
    copied = copy_of(part)
    join = copied if isinstance(copied, exp.Join) else copied.find_ancestor(exp.Join)
    if join is None:
        select = select_of(copied)
        join = next(iter(select.args.get("joins") or ()), None) if select is not None else None
    if join is None:
        return
    condition = join.args.get("on") is not None or join.args.get("using")
    for name in ("method", "side", "kind"):
        join.set(name, None)
    root = root_of(join)
    if condition:
        yield root
    join.pop()
    yield root


def join_using(join: Node, names: list[str]) -> Node:
    """Return a copy of the tree in which a join names its columns with USING."""
    copied = copy_of(join)
    copied.set("method", None)
    copied.set("using", [exp.to_identifier(name) for name in names])
    return root_of(copied)


def drop_sample(part: Node) -> Iterator[Node]:
    """Ask about all rows instead of a sample."""
    root = root_of(copy_of(part))
    for sample in list(root.find_all(exp.TableSample)):
        parent = sample.parent
        if parent is not None:
            parent.set("sample", None)
    yield root


def drop_clause(part: Node) -> Iterator[Node]:
    """Leave out LIMIT, OFFSET or ORDER BY."""
    copied = copy_of(part)
    clause: Node | None = copied
    while clause is not None and not isinstance(clause, exp.Limit | exp.Offset | exp.Order):
        clause = clause.parent
    if clause is not None and clause.parent is not None:
        root = root_of(clause)
        clause.pop()
        yield root


def move_having(part: Node) -> Iterator[Node]:
    """Put a condition on rows from HAVING into WHERE."""
    copied = copy_of(part)
    select = select_of(copied)
    having = None if select is None else select.args.get("having")
    if select is None or having is None:
        return
    select.set("having", None)
    select.where(having.this.copy(), copy=False)
    yield root_of(select)


def drop_condition(part: Node) -> Iterator[Node]:
    """Leave out the condition of WHERE, HAVING or FILTER that the part stands in."""
    copied = copy_of(part)
    node: Node = copied
    while isinstance(node.parent, exp.Expression) and not isinstance(
        node.parent, exp.And | exp.Where | exp.Having
    ):
        node = node.parent
    parent = node.parent
    if isinstance(parent, exp.And):
        rest = parent.expression if parent.this is node else parent.this
        parent.replace(rest.copy())
        yield root_of(copied) if root_of(copied) is not copied else root_of(rest)
    elif isinstance(parent, exp.Where | exp.Having):
        root = root_of(parent)
        clause: Node = parent
        if isinstance(parent.parent, exp.Filter):
            parent.parent.replace(parent.parent.this)
        else:
            clause.pop()
        yield root


def drop_item(part: Node) -> Iterator[Node]:
    """Leave out the column of the answer that the part stands in."""
    copied = copy_of(part)
    item, select = item_of(copied), select_of(copied)
    if item is None or select is None or len(select.expressions) < 2:
        return
    root = root_of(select)
    item.pop()
    yield root


def count_same_rows(part: Node) -> Iterator[Node]:
    """Count the rows of the question: the same tables and conditions."""
    root = root_of(part)
    if isinstance(root, exp.Select):
        yield _counted(root, ("from_", "joins", "where", "with_"))


def count_rows(part: Node) -> Iterator[Node]:
    """Count the rows of the first table of the question."""
    root = root_of(part)
    tables = list(root.find_all(exp.Table))
    names = {table.name.lower() for table in root.find_all(exp.CTE)}
    for table in tables:
        if table.name.lower() not in names:
            yield parse(f"SELECT COUNT(*) AS n FROM {write(exp.to_identifier(table.name))}")


def _counted(root: exp.Select, parts: tuple[str, ...]) -> Node:
    copied = root.copy()
    for name in list(copied.args):
        if name not in parts:
            copied.set(name, None)
    copied.set("expressions", [exp.alias_(exp.Count(this=exp.Star()), "n")])
    return copied
