"""Find sub-queries that stand for one number in WHERE: `amount > (SELECT AVG(amount) FROM orders)`.

A session releases them first. The question then holds the released numbers as constants, so each
step is a question of its own, with its own part of the promise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from ..errors import Refused
from .read_sql import parse_select
from .rewrites.rewrite_trees import write
from .sql_text import EXPLAIN

_INNER = re.compile(r"\(\s*SELECT\b", re.IGNORECASE)
_COMPARED = (exp.Binary, exp.Between, exp.Paren, exp.Neg)
_MANY = ("group", "limit", "order", "with_", "distinct")
"""Clauses of a sub-query that may give it several rows, or that are about rows."""


@dataclass(frozen=True, slots=True, eq=False)
class InnerValues:
    """A SELECT, and the sub-queries that stand for one number in its WHERE."""

    tree: exp.Select
    questions: tuple[str, ...]

    def with_values(self, values: Sequence[float]) -> str:
        """Write the SELECT with numbers in the places of the sub-queries."""
        tree = self.tree.copy()
        for node, value in zip(_inner_nodes(tree), values, strict=True):
            number = exp.Literal.number(f"{abs(value):.15g}")
            node.replace(exp.Neg(this=number) if value < 0 else number)
        return write(tree)


def find_inner_values(text: object) -> InnerValues | None:
    """Return a text with sub-queries that stand for one number; None for other texts."""
    if not isinstance(text, str) or not _INNER.search(text) or EXPLAIN.match(text):
        return None
    try:
        _, tree = parse_select(text, "SELECT 1")
    except Refused:
        return None  # the reader of the question refuses it, with a rewrite
    if tree.args.get("with_") is not None or tree.find(exp.Placeholder, exp.Parameter) is not None:
        return None
    questions = tuple(write(node.this) for node in _inner_nodes(tree))
    return InnerValues(tree, questions) if questions else None


def _inner_nodes(tree: exp.Select) -> list[exp.Subquery]:
    where = tree.args.get("where")
    if where is None:
        return []
    return [
        node
        for node in where.find_all(exp.Subquery, bfs=False)
        if isinstance(node.this, exp.Select)
        and len(node.this.expressions) == 1
        and not any(node.this.args.get(clause) for clause in _MANY)
        and isinstance(node.parent, _COMPARED)
        and node.find_ancestor(exp.Select) is tree
    ]
