"""Queries of the catalogue that have no rows, whatever else they say; and the names of columns."""

from __future__ import annotations

from sqlglot import exp

from .catalogue_columns import EMPTY


def empty_columns(tree: exp.Expression) -> list[str] | None:
    """Return the quoted names of the columns of a query that has no rows, because each of its
    SELECTs joins a table that is always empty; None for other queries.
    """
    first = tree
    while isinstance(first, exp.SetOperation | exp.Subquery):
        first = first.this
    if not isinstance(first, exp.Select) or not _has_no_rows(tree):
        return None
    names = [column_name(node) for node in first.expressions]
    return None if "*" in names else [f'"{name.replace(chr(34), "")}"' for name in names]


def _has_no_rows(tree: exp.Expression) -> bool:
    match tree:
        case exp.Subquery():
            return _has_no_rows(tree.this)
        case exp.SetOperation():
            return _has_no_rows(tree.left) and _has_no_rows(tree.right)
        case exp.Select():
            if _aggregates(tree) and not tree.args.get("group"):
                return False
            sources = [part.this for part in [tree.args.get("from_")] if part is not None]
            sources += [join.this for join in tree.args.get("joins") or () if not join.side]
            return any(
                isinstance(source, exp.Table) and source.name.lower() in EMPTY
                if not isinstance(source, exp.Subquery)
                else _has_no_rows(source)
                for source in sources
            )
    return False


def _aggregates(select: exp.Select) -> bool:
    """Tell whether a SELECT itself aggregates, not one inside it."""
    return any(
        isinstance(node, exp.AggFunc)
        for column in select.expressions
        for node in column.walk(prune=lambda inner: isinstance(inner, exp.Query))
    )


def column_name(node: exp.Expression) -> str:
    """Return the name that PostgreSQL gives to a column."""
    if isinstance(node, exp.Alias | exp.Column | exp.Star):
        return str(node.alias_or_name) or "*"
    of = node
    while isinstance(of, exp.Cast | exp.Dot | exp.Paren):
        of = of.expression if isinstance(of, exp.Dot) else of.this
    if isinstance(of, exp.Column | exp.Identifier):
        return str(of.name)
    return function_name(of) if isinstance(of, exp.Func) else "?column?"


def function_name(node: exp.Expression) -> str:
    """Return the name of a function, in lower case."""
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    name = str(node.sql_name()).lower()  # type: ignore[attr-defined]  # a class of functions
    return "version" if name == "current_version" else name
