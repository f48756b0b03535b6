"""The entries of this package: read a SELECT as a query, or a text as a condition.

*Late*       A text is parsed once, into a tree that knows no declaration. Reading the tree against
             declarations leaves it as it is, so one tree serves any number of declarations.
*Rewrites*   `read` reads a rewrite like any other text before it offers it, and replaces a rewrite
             that would be refused by one that is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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


@dataclass(slots=True, eq=False)
class UnresolvedQuery:
    """A SELECT with the values of its parameters. It knows no declaration: `resolve` reads it
    against any, as often as limits change. The text is parsed once.
    """

    text: str
    parameters: ParameterValues | None = None
    _parsed: tuple[SqlText, exp.Select] | None = field(default=None, repr=False)

    def resolve(self, rows: Rows, tables: Mapping[str, Rows] | None = None) -> ParsedQuery:
        """Read the SELECT as a query about rows. Refuses what has no safe answer; nobody has
        checked the rewrite of that refusal yet (`with_working_rewrite`). Reads no data.
        """
        try:
            return self._resolve(rows, tables)
        except Refused:
            raise
        except Exception:  # a tree that nobody foresaw; no data was read, so the refusal is public
            raise refusals.UNFORESEEN(example=example(rows)) from None

    def _resolve(self, rows: Rows, tables: Mapping[str, Rows] | None) -> ParsedQuery:
        if self._parsed is None:
            self._parsed = _parse(self.text, example(rows))
        source, tree = self._parsed
        values = Parameters.of(source, self.parameters, tree)
        try:
            parsed = SelectReader.of(tree, rows, RowReader(source, values), tables)
        except RecursionError:
            raise source.refuse(refusals.NESTED_TOO_DEEPLY, None) from None
        values.finish()
        return parsed


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
        return UnresolvedQuery(text, parameters).resolve(rows, tables)
    except Refused as refusal:
        raise with_working_rewrite(refusal, rows, tables) from None


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


def _parse(text: str, example: str) -> tuple[SqlText, exp.Select]:
    """Parse a text into its words and its SELECT."""
    source = SqlText.of(text, example)
    tree = source.tree()
    while (
        isinstance(tree, exp.Subquery)
        and set(tree.args) >= {"this"}
        and not any(tree.args.get(name) for name in tree.args if name != "this")
    ):
        tree = tree.this
    if not isinstance(tree, exp.Select):
        raise source.refuse(refusals.NOT_A_SELECT, tree)
    return source, tree


def example(rows: Rows) -> str:
    """Return a SELECT that works for any table."""
    return f"SELECT COUNT(*) AS n FROM {quoted(rows.declaration.name)}"


def with_working_rewrite(
    refusal: Refused, rows: Rows, tables: Mapping[str, Rows] | None
) -> Refused:
    """Return the refusal with a rewrite that is not refused itself."""
    if refusal.rewrite == example(rows) or not refusal.rewrite.upper().startswith(
        ("SELECT ", "WITH ")
    ):
        return refusal
    try:
        UnresolvedQuery(refusal.rewrite)._resolve(rows, tables)
    except Refused:
        return refusal.replace(rewrite=example(rows))
    return refusal
