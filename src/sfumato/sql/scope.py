"""Resolve names: find the expression that a column of a text stands for.

A sub-query is a list of names for expressions, not a table. So a column keeps its type, bounds and
public keys through any number of renamings, and a computed column has those that follow from its
expression.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from sqlglot import exp

from ..errors import Refused
from ..tables.aggregates import KINDS
from ..tables.aggregates.column_kind import SqlCall
from ..tables.expr.expressions import ColumnRef, Expr, Literal, col
from ..tables.query.stages import Rows
from . import sql_refusals as refusals
from .row_expressions import RowReader
from .sql_text import Node, SqlText, arguments


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """Rows, the names of their columns, and the names of the table itself. Joined tables keep their
    own names in `parts`; `twice` has the column names that need their table.
    """

    rows: Rows
    names: Mapping[str, Expr]
    called: frozenset[str]
    # of joined tables, by their names
    parts: Mapping[str, Mapping[str, Expr]] = field(default_factory=dict)
    twice: frozenset[str] = frozenset()

    @classmethod
    def of(cls, rows: Rows) -> Scope:
        """Return the scope of a table, as declared."""
        return cls(
            rows,
            {name: col(name) for name in rows.schema},
            frozenset({rows.declaration.name.lower()}),
        )

    def with_alias(self, name: str, source: SqlText) -> Scope:
        """Return the scope under an alias, which hides the old name."""
        if not name:
            raise source.refuse(refusals.TABLE_WITHOUT_NAME, None)
        return replace(self, called=frozenset({name.lower()}), parts={}, twice=frozenset())

    def find(self, name: str) -> Expr | None:
        """Return the column of that name; capitals do not matter, as in SQL."""
        return _find_name(name, self.names)

    @property
    def tables(self) -> Mapping[str, Mapping[str, Expr]]:
        """Return the columns of each table, by its name."""
        return self.parts or dict.fromkeys(self.called, self.names)

    def column(self, node: exp.Column, source: SqlText) -> Expr:
        """Return the expression that a column of the text stands for."""
        name, table = identifier(node.this), node.args.get("table")
        if name is None or set(arguments(node)) - {"this", "table"}:
            raise source.refuse(refusals.COLUMN_FORM, node)
        tables = self.tables
        if table is not None and (identifier(table) or "").lower() not in tables:
            table_names = ", ".join(sorted(tables)) or "nothing"
            raise source.refuse(
                refusals.UNKNOWN_TABLE_OF_COLUMN,
                node,
                tables=table_names,
                corrected=source.replace_text(node, quoted(name)),
            )
        if table is None and name.lower() in self.twice:
            owners = [of for of, names in tables.items() if _find_name(name, names) is not None]
            raise source.refuse(
                refusals.AMBIGUOUS_COLUMN,
                node,
                tables=" and ".join(owners),
                corrected=source.replace_text(node, f"{quoted(owners[0])}.{quoted(name)}")
                if owners
                else source.example,
            )
        names = self.names if table is None else tables[(identifier(table) or "").lower()]
        expression = _find_name(name, names)
        if expression is None:
            near = get_close_matches(name, list(names), n=1, cutoff=0.5)
            listed = ", ".join(map(quoted, list(names)[:8])) + (", …" if len(names) > 8 else "")
            is_compared = isinstance(node.parent, exp.EQ | exp.NEQ | exp.In | exp.Like)
            if is_compared and not near and node.this.args.get("quoted"):  # "Roma"
                text = exp.Literal.string(name).sql()
                corrected = source.replace_text(node, text)
                raise source.refuse(refusals.TEXT_IN_DOUBLE_QUOTES, node, corrected=corrected)
            nearest = quoted((near or list(names))[0])
            raise source.refuse(
                refusals.UNKNOWN_COLUMN,
                node,
                columns=listed,
                corrected=source.replace_text(node, nearest),
            )
        return expression

    def unit(self, expression: Expr) -> bool:
        """Tell whether an expression is a column of the unit itself."""
        return isinstance(expression, ColumnRef) and expression.name in self.rows.declaration.unit

    def where(self, node: Node, scalars: RowReader) -> Scope:
        """Keep the rows that meet a condition."""
        condition = self.read(node, scalars)
        try:
            return replace(self, rows=self.rows.where(condition))
        except Refused as refusal:
            raise scalars.source.relocate(refusal, node, scalars.source.example) from None

    def read(
        self, node: Node, scalars: RowReader, special: Callable[[Node], Expr | None] | None = None
    ) -> Expr:
        """Read a node as an expression on these rows, and check its type."""

        def column(reference: exp.Column) -> Expr:
            return self.column(reference, scalars.source)

        def check_part(part: Node) -> Expr | None:
            if special is not None and (expression := special(part)) is not None:
                return expression
            if is_aggregate(part):
                raise scalars.source.refuse(refusals.AGGREGATE_IN_ROW, part)
            return None

        expression = scalars.read(node, column, check_part)
        if special is None:
            try:
                expression.type(self.rows.schema)
            except Refused:  # which part of it is the matter?
                scalars.read(
                    node,
                    column,
                    check_part,
                    lambda part, at: check_type(part, self.rows, at, scalars),
                )
                check_type(expression, self.rows, node, scalars)
        return expression


def check_type(expression: Expr, rows: Rows, node: Node, scalars: RowReader) -> None:
    """Refuse an expression without a type, at its place in the text."""
    if isinstance(expression, Literal):
        return  # a NULL alone has none, and gets one from what it stands beside
    try:
        expression.type(rows.schema)
    except Refused as refusal:
        raise scalars.source.relocate(refusal, node) from None


def _find_name(name: str, names: Mapping[str, Expr]) -> Expr | None:
    if name in names:
        return names[name]
    alike = [
        expression for candidate, expression in names.items() if candidate.lower() == name.lower()
    ]
    return alike[0] if len(alike) == 1 else None


def identifier(node: object) -> str | None:
    """Return the name of an identifier; None if the node is no identifier."""
    return (
        node.this
        if isinstance(node, exp.Identifier) and isinstance(node.this, str) and node.this
        else None
    )


def quoted(name: str) -> str:
    """Quote a name as SQL does, if it needs quotes."""
    return col(name).text


_UNSUPPORTED = frozenset(
    {
        "sum_if",
        "avg_if",
        "min_by",
        "max_by",
        "mode",
        "favg",
        "fsum",
        "kurtosis",
        "skewness",
        "list",
        "last",
    }
)
"""Aggregates of other systems, for which sqlglot has no class."""


def find_call(node: Node) -> SqlCall | None:
    """Return the call of an aggregate that a node is, if it is one."""
    name = str(node.this).lower() if isinstance(node, exp.Anonymous) else ""
    return next(
        (
            call
            for kind in KINDS.values()
            for call in kind.calls
            if (name in call.names if name else type(node).__name__ in call.nodes)
        ),
        None,
    )


def is_aggregate(node: Node) -> bool:
    """Tell whether a node is an aggregate."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower() in _UNSUPPORTED or find_call(node) is not None
    return isinstance(
        node, exp.AggFunc | exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls
    )


def has_aggregate(node: Node, *, in_windows: bool = True) -> bool:
    """Tell whether a node contains an aggregate, outside of sub-queries. A window function counts
    as one, unless `in_windows` is false: then only what stands inside it does.
    """
    return any(
        (isinstance(part, exp.Window) and in_windows)
        or (is_aggregate(part) and not isinstance(part.parent, exp.Window))
        for part in node.walk(prune=lambda part: isinstance(part, exp.Query))
    )
