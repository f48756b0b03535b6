"""Rules for refused columns of an answer, and for refused groups."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ..scope import has_aggregate
from ..sql_text import Node
from .rewrite_trees import (
    column_in,
    copy_of,
    item_of,
    parse,
    read_expression,
    replaced,
    root_of,
    select_of,
    write,
)


def counts_of(part: Node, columns: list[Node]) -> Node:
    """Return a SELECT that counts the values of columns in the rows of the question."""
    copied = copy_of(part)
    root = root_of(copied)
    assert isinstance(root, exp.Select)
    counted = [write(column) for column in columns]
    _without_clauses(root)
    root.set("expressions", [read_expression(text) for text in counted])
    root.set("group", exp.Group(expressions=[read_expression(text) for text in counted]))
    return root.select(exp.alias_(exp.Count(this=exp.Star()), "n"), copy=False)


def count_by_columns(part: Node) -> Iterator[Node]:
    """Count how often the values of the listed columns occur; of several, of the first."""
    root = root_of(part)
    if not isinstance(root, exp.Select):
        return
    listed = [item.unalias() for item in root.expressions]
    plain = [item for item in listed if not has_aggregate(item) and column_in(item) is not None]
    for item in plain:
        if not item.find(exp.Window):
            yield counts_of(part, [item])


def histogram_of(part: Node, column: Node, edges: list[str]) -> Node:
    """Return a question for the histogram of a column in the rows of the question."""
    root = _without_clauses(root_of(copy_of(part)))
    call = read_expression(f"HISTOGRAM({write(column)}, [{', '.join(edges)}])")
    name = column.alias_or_name or "histogram"
    root.set("expressions", [exp.alias_(call, exp.to_identifier(name))])
    return root


def _without_clauses(root: Node) -> Node:
    """Leave only the tables and the conditions of a SELECT."""
    for name in ("group", "having", "order", "limit", "offset", "distinct", "qualify"):
        root.set(name, None)
    return root


def ask_for_quantiles(part: Node) -> Iterator[Node]:
    """Ask for quantiles of a column whose values were asked for, where they are numbers."""
    root = root_of(part)
    columns = [node for node in (column_in(part),) if node is not None]
    if not isinstance(root, exp.Select):
        return
    columns += [node for item in root.expressions if (node := column_in(item)) is not None]
    for column in columns:
        copied = _without_clauses(root_of(copy_of(part)))
        name = column.name if column.name.replace("_", "").isalnum() else "value"
        text = f"QUANTILES({write(column)}, [0.1, 0.5, 0.9])"
        copied.set("expressions", [exp.alias_(read_expression(text), name)])
        yield copied


def average_beside_groups(part: Node) -> Iterator[Node]:
    """Average a column that stands beside keys and aggregates; in a sub-query, take the largest."""
    item, select = item_of(part), select_of(part)
    if item is None or select is None or not isinstance(part, exp.Column):
        return
    if any(has_aggregate(sibling) for sibling in select.expressions):
        call = "AVG" if select.parent is None else "MAX"
        name = item.alias_or_name
        yield replaced(item, exp.alias_(read_expression(f"{call}({write(part)})"), name))


def add_key(part: Node) -> Iterator[Node]:
    """Add a column that stands beside aggregates to the keys."""
    copied = copy_of(part)
    select = select_of(copied)
    if select is None or item_of(copied) is None:
        return
    if any(has_aggregate(sibling) for sibling in select.expressions):
        select.group_by(read_expression(write(copied)), copy=False)
        yield root_of(select)


def count_units_by_total(part: Node) -> Iterator[Node]:
    """Count units by their totals: how many have 1, 2, 3, … rows."""
    copied = copy_of(part)
    root = root_of(copied)
    if not isinstance(root, exp.Select):
        return
    totals = [item.unalias() for item in root.expressions if has_aggregate(item)]
    unit = write(part)
    where = "" if root.args.get("where") is None else f" {write(root.args['where'])}"
    tables = write(root.args["from_"]) + "".join(
        f" {write(join)}" for join in root.args.get("joins") or []
    )
    for total in totals:
        inner = f"SELECT {unit}, {write(total)} AS total {tables}{where} GROUP BY {unit}"
        counts = isinstance(total, exp.Count)
        outer = (
            f"SELECT total, COUNT(*) AS n FROM ({inner}) AS units GROUP BY total"
            if counts
            else f"SELECT AVG(CLAMP(total, 0, 100)) AS average FROM ({inner}) AS units"
        )
        yield parse(outer)
    yield parse(f"SELECT COUNT(DISTINCT {unit}) AS people {tables}{where}")


def group_plainly(part: Node) -> Iterator[Node]:
    """Group by all columns of ROLLUP, CUBE or GROUPING SETS at once."""
    copied = copy_of(part)
    group = copied if isinstance(copied, exp.Group) else copied.find_ancestor(exp.Group)
    if group is None:
        return
    columns: dict[str, Node] = {}
    for name in ("expressions", "cube", "rollup", "grouping_sets"):
        for node in group.args.get(name) or []:
            for column in node.find_all(exp.Column):
                columns.setdefault(write(column), column.copy())
    if columns:
        root = root_of(group)
        group.replace(exp.Group(expressions=list(columns.values())))
        yield root
