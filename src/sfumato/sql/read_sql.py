"""The entries of this package: read a SELECT as a query, or a text as a condition.

*Rewrites*   `read` reads a rewrite like any other text before it offers it, and replaces a rewrite
             that would be refused by one that is not.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from ..errors import Refused
from ..tables.expr.expressions import Expr
from ..tables.query.question_options import ParameterValues
from ..tables.query.stages import Rows
from . import sql_refusals as refusals
from .row_expressions import RowReader
from .scope import Scope, quoted
from .select import ParsedQuery, SelectReader
from .sql_constants import Parameters
from .sql_text import EXPLAIN, SqlText

__all__ = ["ParsedQuery", "condition", "explains", "read"]


def read(
    text: str,
    rows: Rows,
    parameters: ParameterValues | None = None,
    tables: Mapping[str, Rows] | None = None,
) -> ParsedQuery:
    """Read a SELECT about one protected table or several. Refuses what has no safe answer. Reads no
    data.
    """
    try:
        return _read(text, rows, parameters, tables)
    except Refused as refusal:
        raise _with_working_rewrite(refusal, rows, tables) from None
    except Exception:  # a tree that nobody foresaw; no data was read, so the refusal is public
        raise refusals.UNFORESEEN(example=example(rows)) from None


def explains(text: str) -> bool:
    """Tell whether a text begins with EXPLAIN PRIVACY."""
    return EXPLAIN.match(text) is not None


def condition(text: str, rows: Rows) -> Expr:
    """Read a condition on the columns of one row, as in WHERE."""
    example = f"{quoted(next(iter(rows.schema)))} IS NOT NULL"
    source = SqlText.of(text, example)
    tree = source.condition()
    scalars = RowReader(source, Parameters.of(source, None, tree))
    scope = Scope.of(rows)
    scope.where(tree, scalars)
    return scope.read(tree, scalars)


def _read(
    text: str,
    rows: Rows,
    parameters: ParameterValues | None,
    tables: Mapping[str, Rows] | None = None,
) -> ParsedQuery:
    source = SqlText.of(text, example(rows))
    tree = source.tree()
    while (
        isinstance(tree, exp.Subquery)
        and set(tree.args) >= {"this"}
        and not any(tree.args.get(name) for name in tree.args if name != "this")
    ):
        tree = tree.this
    if not isinstance(tree, exp.Select):
        raise source.refuse(refusals.NOT_A_SELECT, tree)
    values = Parameters.of(source, parameters, tree)
    try:
        parsed = SelectReader.of(tree, rows, RowReader(source, values), tables)
    except RecursionError:
        raise source.refuse(refusals.NESTED_TOO_DEEPLY, None) from None
    values.finish()
    return parsed


def example(rows: Rows) -> str:
    """Return a SELECT that works for any table."""
    return f"SELECT COUNT(*) AS n FROM {quoted(rows.declaration.name)}"


def _with_working_rewrite(
    refusal: Refused, rows: Rows, tables: Mapping[str, Rows] | None
) -> Refused:
    """Return the refusal with a rewrite that is not refused itself."""
    if not refusal.rewrite.upper().startswith(("SELECT ", "WITH ")):
        return refusal
    try:
        _read(refusal.rewrite, rows, None, tables)
    except Refused:
        return refusal.replace(rewrite=example(rows))
    return refusal
