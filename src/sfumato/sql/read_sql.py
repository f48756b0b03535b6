"""From a text to a question: the two entries of this package.

*Rewrites*   A rewrite that is a whole statement is read like any other text before it is offered;
             one that would be refused is replaced by one that is not.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from ..errors import Refused
from ..tables.expr.expressions import Expr
from ..tables.query.stages import Rows
from .row_expressions import Scalars
from .scope import Scope, quoted
from .select import Asked, Outermost
from .sql_constants import Given, Parameters
from .sql_text import EXPLAIN, Source

__all__ = ["Asked", "condition", "explains", "read"]


def read(
    text: str, rows: Rows, parameters: Given = None, tables: Mapping[str, Rows] | None = None
) -> Asked:
    """What a SELECT asks about a protected table, or about several, or a refusal. Nothing is read
    but the text.
    """
    try:
        return _read(text, rows, parameters, tables)
    except Refused as refusal:
        raise _taught(refusal, rows, tables) from None
    except Exception:  # a tree that nobody foresaw: nothing was read, so this may be said
        raise Refused(
            "sql.unsupported",
            "this text",
            "it has a form that is not on the list of what can be asked",
            example(rows),
        ) from None


def explains(text: str) -> bool:
    """Whether a text asks only how it would be answered."""
    return EXPLAIN.match(text) is not None


def condition(text: str, rows: Rows) -> Expr:
    """A condition on the columns of one row, as in WHERE."""
    example = f"{quoted(next(iter(rows.schema)))} IS NOT NULL"
    source = Source.of(text, example)
    tree = source.condition()
    scalars = Scalars(source, Parameters.of(source, None, tree))
    scope = Scope.of(rows)
    scope.where(tree, scalars)
    return scope.read(tree, scalars)


def _read(
    text: str, rows: Rows, parameters: Given, tables: Mapping[str, Rows] | None = None
) -> Asked:
    source = Source.of(text, example(rows))
    tree = source.tree()
    while (
        isinstance(tree, exp.Subquery)
        and set(tree.args) >= {"this"}
        and not any(tree.args.get(name) for name in tree.args if name != "this")
    ):
        tree = tree.this
    if not isinstance(tree, exp.Select):
        raise source.refuse(
            "sql.statement",
            tree,
            "",
            "only questions are answered, and a question is a SELECT",
            source.example,
        )
    values = Parameters.of(source, parameters, tree)
    try:
        asked = Outermost.of(tree, rows, Scalars(source, values), tables)
    except RecursionError:
        raise source.refuse(
            "sql.depth", None, "", "the text is nested too deeply to be read", source.example
        ) from None
    values.finish()
    return asked


def example(rows: Rows) -> str:
    """A question that is answered, about any table."""
    return f"SELECT COUNT(*) AS n FROM {quoted(rows.declaration.name)}"


def _taught(refusal: Refused, rows: Rows, tables: Mapping[str, Rows] | None) -> Refused:
    """The refusal with a rewrite that passes."""
    if not refusal.rewrite.upper().startswith(("SELECT ", "WITH ")):
        return refusal
    try:
        _read(refusal.rewrite, rows, None, tables)
    except Refused:
        return Refused(refusal.code, refusal.place, refusal.reason, example(rows))
    return refusal
