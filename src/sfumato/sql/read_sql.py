"""The entries of this package: read a SELECT as a query, or a text as a condition.

*Late*       A text is parsed once, into a tree that knows no declaration. Reading the tree against
             declarations leaves it as it is, so one tree serves any number of declarations.
*Synthetic*  CREATE SYNTHETIC TABLE name AS SELECT columns FROM table WHERE condition.
*Rewrites*   `read` reads a rewrite like any other text before it offers it, and replaces a rewrite
             that would be refused by one that is not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from itertools import islice

from sqlglot import exp

from ..errors import Refused
from ..tables.expr.expressions import Expr
from ..tables.plan.components import components_of
from ..tables.plan.plan_groupings import check_groupings
from ..tables.query.question_options import ParameterValues
from ..tables.query.stages import Query, Rows
from . import sql_refusals as refusals
from .group_by.grouping_sets import has_sets
from .rewrites.nearest_questions import nearest_questions
from .row_expressions import RowReader
from .scope import Scope, quoted
from .select import ParsedQuery, SelectReader
from .sql_constants import Parameters
from .sql_text import EXPLAIN, SqlText

MOST_PROPOSALS = 24  # near questions that are tried for one refusal

_HEAD = re.compile(
    r"\s*CREATE\s+SYNTHETIC\s+TABLE\s+\w+\s+AS\s+(?=SELECT\b)", re.IGNORECASE | re.ASCII
)
_PARTS = frozenset({"expressions", "from_", "where", "kind"})


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
            simple = example(rows, tables, self.text)
            raise refusals.UNFORESEEN(example=simple) from None

    def _resolve(self, rows: Rows, tables: Mapping[str, Rows] | None) -> ParsedQuery:
        if self._parsed is None:
            self._parsed = parse_select(self.text, example(rows, tables, self.text))
        source, tree = self._parsed
        values = Parameters.of(source, self.parameters, tree)
        try:
            parsed = SelectReader.of(tree, rows, RowReader(source, values), tables)
        except RecursionError:
            raise source.refuse(refusals.NESTED_TOO_DEEPLY, None) from None
        values.finish()
        _check_sets(tree, parsed.query)
        return parsed


def _check_sets(tree: exp.Select, query: Query) -> None:
    """Refuse a CUBE, ROLLUP or GROUPING SETS of what does not add up over groups. The plan would
    refuse it, too, but here the GROUP BY is at hand for a rewrite.
    """
    if not query.sets:
        return
    try:
        components = components_of(query).components
    except Refused:
        return  # a limit is missing, which may be learned
    try:
        check_groupings(query, components)
    except Refused as refusal:
        clauses = (clause for clause in tree.find_all(exp.Group) if has_sets(clause))
        raise refusal.replace(part=next(clauses, None)) from None


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
    """Tell whether a text begins with EXPLAIN or EXPLAIN PRIVACY."""
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


def parse_select(text: str, example: str) -> tuple[SqlText, exp.Select]:
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
    _fill_in_today(tree)
    return source, tree


def _fill_in_today(tree: exp.Select) -> None:
    """Write the date of today, in UTC, for CURRENT_DATE: it is a constant of the question. Asked
    again on the same day, the question is the same.
    """
    for node in list(tree.find_all(exp.CurrentDate, exp.Anonymous)):
        named = node.name.lower() if isinstance(node, exp.Anonymous) else "today"
        if named == "today" and not node.expressions and not isinstance(node.this, exp.Expression):
            today = exp.Literal.string(f"{datetime.now(UTC):%Y-%m-%d}")
            date = exp.Cast(this=today, to=exp.DataType.build("date"))
            today.meta.update(node.meta)
            node.replace(date)


def example(rows: Rows, tables: Mapping[str, Rows] | None = None, text: str = "") -> str:
    """Return a SELECT that works for any table: of those that a text names, about the first."""
    named = re.findall(r"\w+", text.lower()) if isinstance(text, str) else []
    protected = {
        table.declaration.name.lower(): table
        for table in (tables or {}).values()
        if not table.public
    }
    near = (get_close_matches(name, protected, n=1, cutoff=0.75) for name in named)
    about = next((protected[match[0]] for match in near if match), rows)
    return f"SELECT COUNT(*) AS n FROM {quoted(about.declaration.name)}"


def with_working_rewrite(
    refusal: Refused, rows: Rows, tables: Mapping[str, Rows] | None
) -> Refused:
    """Return the refusal with a rewrite that is not refused itself: its own, or of the questions
    near the refused one the first that passes.
    """
    part = refusal.part
    is_question = refusal.rewrite.upper().startswith(("SELECT ", "WITH "))
    if not isinstance(part, exp.Expression) and not is_question:
        return refusal
    simple = example(rows, tables, refusal.rewrite) if is_question else ""
    if is_question and refusal.rewrite != simple and _passes(refusal.rewrite, rows, tables):
        return refusal.without_part()
    is_argument = refusal.code in ("sql.parameter", "sql.text")
    if isinstance(part, exp.Expression) and not is_argument:
        for proposal in islice(nearest_questions(refusal.code, part), MOST_PROPOSALS):
            if _passes(proposal, rows, tables):
                return refusal.replace(rewrite=proposal).without_part()
    return refusal.replace(rewrite=simple or refusal.rewrite).without_part()


def _passes(text: str, rows: Rows, tables: Mapping[str, Rows] | None) -> bool:
    """Tell whether a question is not refused."""
    try:
        UnresolvedQuery(text).resolve(rows, tables)
    except Refused:
        return False
    return True


def find_synthetic(text: object) -> str | None:
    """Return the SELECT of a CREATE SYNTHETIC TABLE; None if the text is something else."""
    head = _HEAD.match(text) if isinstance(text, str) else None
    return None if head is None else head.string[head.end() :]


def read_synthetic(select: str, rows: Rows) -> tuple[Rows, list[str] | None]:
    """Return the rows and the columns of a synthetic table: plain columns of one table, with a
    condition.
    """
    name = rows.declaration.name
    source, tree = parse_select(select, f"SELECT * FROM {name}")
    for part, value in tree.args.items():
        if value and part not in _PARTS:
            raise source.refuse(refusals.NOT_PLAIN_ROWS, value if part == "limit" else tree)
    origin = tree.args.get("from_")
    table = origin.this if origin is not None else None
    if not isinstance(table, exp.Table) or table.name.lower() != name.lower():
        raise source.refuse(refusals.NOT_PLAIN_ROWS, table or tree)
    if table.args.get("joins"):
        raise source.refuse(refusals.NOT_PLAIN_ROWS, table)
    columns: list[str] | None = []
    for node in tree.expressions:
        if isinstance(node, exp.Star) and len(tree.expressions) == 1:
            columns = None
        elif isinstance(node, exp.Column) and columns is not None:
            columns.append(_find(node.name, rows))
        else:
            raise source.refuse(refusals.NOT_PLAIN_ROWS, node)
    condition = tree.args.get("where")
    if condition is not None:
        rows = rows.where(condition.this.sql(dialect="duckdb"))
    return rows, columns


def _find(name: str, rows: Rows) -> str:
    """Return the column of that name, as SQL compares names."""
    return next((each for each in rows.schema if each.lower() == name.lower()), name)
