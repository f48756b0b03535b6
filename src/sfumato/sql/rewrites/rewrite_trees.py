"""Change parsed texts: find a part in a copy of its tree, and put another in its place."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from ..sql_text import Node


def copy_of(part: Node) -> Node:
    """Return the counterpart of a node in a copy of its tree."""
    root = root_of(part)
    place = next(i for i, node in enumerate(root.walk()) if node is part)
    return next(node for i, node in enumerate(root.copy().walk()) if i == place)


def replaced(part: Node, new: Node | str) -> Node:
    """Return a copy of the tree with another expression in the place of a node."""
    copied = copy_of(part)
    fresh = read_expression(new) if isinstance(new, str) else new.copy()
    if copied.parent is None:
        return fresh
    copied.replace(fresh)
    return root_of(fresh)


def read_expression(text: str) -> Node:
    """Parse an expression that a rule wrote."""
    node = DuckDB().parser().parse_into(exp.Condition, DuckDB().tokenize(text), text)[0]
    assert isinstance(node, exp.Expression)
    return node


def parse(text: str) -> Node:
    """Parse a SELECT that a rule wrote."""
    node = DuckDB().parser().parse(DuckDB().tokenize(text), text)[0]
    assert isinstance(node, exp.Expression)
    return node


def write(node: Node) -> str:
    return str(node.sql(dialect=DuckDB, normalize_functions=False))


def select_of(part: Node) -> exp.Select | None:
    """Return the SELECT that a part stands in."""
    return part if isinstance(part, exp.Select) else part.find_ancestor(exp.Select)


def item_of(part: Node) -> Node | None:
    """Return the column of a SELECT that a part stands in, with its name; None outside of them."""
    node: Node | None = part
    while node is not None and not isinstance(node.parent, exp.Select):
        node = node.parent
    return node if node is not None and node.arg_key == "expressions" else None


def call_name(node: Node) -> str:
    """Return the name of a function in small letters, without what the parser calls it."""
    return (str(node.this) if isinstance(node, exp.Anonymous) else str(node.key)).lower()


def operands_of(node: Node) -> list[Node]:
    """Return the arguments of a call, in their order."""
    if isinstance(node, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
        return operands_of(node.this)
    skipped = ("this",) if isinstance(node, exp.Anonymous) else ()
    operands = [
        operand
        for name, value in node.args.items()
        for operand in (value if isinstance(value, list) else [value])
        if isinstance(operand, exp.Expression) and name not in skipped
    ]
    return [
        operand.this if isinstance(operand, exp.Order | exp.Ordered) else operand
        for operand in operands
    ]


def column_in(part: Node) -> exp.Column | None:
    """Return the first column that a part names."""
    return part if isinstance(part, exp.Column) else part.find(exp.Column)


def root_of(part: Node) -> Node:
    """Return the whole statement that a part belongs to."""
    root = part.root()
    assert isinstance(root, exp.Expression)
    return root
