"""Names: which expression a column of a text stands for. A sub-query is not a table but a list of
names, so what is known of a column follows it through any number of renamings, and nothing is known
of what was computed but what follows from how.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from sqlglot import exp

from ..errors import Refused
from ..tables.expr.expressions import Column, Expr, Literal, col
from ..tables.query.stages import Rows
from .row_expressions import Scalars
from .sql_text import Node, Source, arguments


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """Rows, the names of their columns, and the names by which the table itself may be called. Of
    joined tables each has its own, and a name that two of them have says nothing by itself.
    """

    rows: Rows
    names: Mapping[str, Expr]
    called: frozenset[str]
    parts: Mapping[str, Mapping[str, Expr]] = field(
        default_factory=dict
    )  # of joined tables, by their names
    twice: frozenset[str] = frozenset()

    @classmethod
    def of(cls, rows: Rows) -> Scope:
        """A protected table, as declared."""
        return cls(
            rows,
            {name: col(name) for name in rows.schema},
            frozenset({rows.declaration.name.lower()}),
        )

    def named(self, name: str, source: Source) -> Scope:
        """The same under an alias, which hides the old name."""
        if not name:
            raise source.refuse("sql.table", None, "", "a table has a name", source.example)
        return replace(self, called=frozenset({name.lower()}), parts={}, twice=frozenset())

    def find(self, name: str) -> Expr | None:
        """The column of that name; capitals do not matter, as in SQL."""
        return _named(name, self.names)

    @property
    def tables(self) -> Mapping[str, Mapping[str, Expr]]:
        """The columns of each table, by its name."""
        return self.parts or dict.fromkeys(self.called, self.names)

    def column(self, node: exp.Column, source: Source) -> Expr:
        """What a column of the text stands for."""
        name, table = identifier(node.this), node.args.get("table")
        if name is None or set(arguments(node)) - {"this", "table"}:
            raise source.refuse(
                "sql.column",
                node,
                "",
                "a column is named alone, or after its table",
                source.example,
            )
        tables = self.tables
        if table is not None and (identifier(table) or "").lower() not in tables:
            known = ", ".join(sorted(tables)) or "nothing"
            raise source.refuse(
                "sql.column",
                node,
                "",
                f"no table here has that name; there is {known:.60}",
                source.replaced(node, quoted(name)),
            )
        if table is None and name.lower() in self.twice:
            owners = [of for of, names in tables.items() if _named(name, names) is not None]
            reason = f"two tables have a column of that name: {' and '.join(owners):.60}"
            raise source.refuse(
                "sql.column",
                node,
                "which one?",
                reason,
                source.replaced(node, f"{quoted(owners[0])}.{quoted(name)}")
                if owners
                else source.example,
            )
        names = self.names if table is None else tables[(identifier(table) or "").lower()]
        found = _named(name, names)
        if found is None:
            near = get_close_matches(name, list(names), n=1, cutoff=0.5) or list(names)[:1]
            listed = ", ".join(map(quoted, list(names)[:8])) + (", …" if len(names) > 8 else "")
            raise source.refuse(
                "sql.column",
                node,
                "there is no such column",
                f"the columns are {listed}",
                source.replaced(node, quoted(near[0])),
            )
        return found

    def unit(self, expression: Expr) -> bool:
        """Whether an expression is a column of the unit, as it stands."""
        return isinstance(expression, Column) and expression.name in self.rows.declaration.unit

    def where(self, node: Node, scalars: Scalars) -> Scope:
        """Only the rows for which a condition holds."""
        condition = self.read(node, scalars)
        try:
            return replace(self, rows=self.rows.where(condition))
        except Refused as refusal:
            raise scalars.source.moved(refusal, node, scalars.source.example) from None

    def read(
        self, node: Node, scalars: Scalars, special: Callable[[Node], Expr | None] | None = None
    ) -> Expr:
        """An expression on these rows, with a type."""

        def column(found: exp.Column) -> Expr:
            return self.column(found, scalars.source)

        def own(part: Node) -> Expr | None:
            if special is not None and (found := special(part)) is not None:
                return found
            if is_aggregate(part):
                reason = "a condition looks at one row; an aggregate is about many"
                raise scalars.source.refuse(
                    "sql.aggregate", part, "", reason, scalars.source.example
                )
            return None

        made = scalars.read(node, column, own)
        if special is None:
            try:
                made.type(self.rows.schema)
            except Refused:  # which part of it is the matter?
                scalars.read(
                    node, column, own, lambda part, at: typed(part, self.rows, at, scalars)
                )
                typed(made, self.rows, node, scalars)
        return made


def typed(expression: Expr, rows: Rows, node: Node, scalars: Scalars) -> None:
    """Refuse what has no type, in the place where it stands."""
    if isinstance(expression, Literal):
        return  # a NULL alone has none, and gets one from what it stands beside
    try:
        expression.type(rows.schema)
    except Refused as refusal:
        raise scalars.source.moved(refusal, node) from None


def _named(name: str, names: Mapping[str, Expr]) -> Expr | None:
    if name in names:
        return names[name]
    alike = [found for known, found in names.items() if known.lower() == name.lower()]
    return alike[0] if len(alike) == 1 else None


def identifier(node: object) -> str | None:
    """The name that an identifier holds."""
    return (
        node.this
        if isinstance(node, exp.Identifier) and isinstance(node.this, str) and node.this
        else None
    )


def quoted(name: str) -> str:
    """As SQL has it."""
    return col(name).text


AGGREGATES = frozenset(
    {"mean", "var", "histogram", "quantiles", "ratio", "weighted_avg", "wavg", "avg_weighted"}
) | frozenset(
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
"""Aggregates that sqlglot has no class for."""


def is_aggregate(node: Node) -> bool:
    """Whether a node is about many rows."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower() in AGGREGATES
    return isinstance(
        node, exp.AggFunc | exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls
    )


def has_aggregate(node: Node) -> bool:
    """Whether there is one in it, not counting sub-queries."""
    return any(
        is_aggregate(part) for part in node.walk(prune=lambda part: isinstance(part, exp.Query))
    )
