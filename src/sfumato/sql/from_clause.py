"""Read FROM and WITH: tables, and sub-queries whose rows still belong to units.

*Row by row*   A sub-query without aggregates filters rows and names columns; each row keeps its
               owner.
*Per unit*     A sub-query grouped by the unit, with further keys or without, gives rows that are
               functions of one unit's rows. So does SELECT DISTINCT with the unit among its
               columns.
*Nobody's*     Any other sub-query with aggregates, or with LIMIT, gives rows that depend on many
               people. It is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from ..errors import RefusalText, Refused
from . import sql_refusals as refusals
from .grouping import read_items
from .join_clause import join_scopes
from .row_expressions import RowReader
from .scope import Scope, has_aggregate, identifier, quoted
from .semi_joins import apply_where
from .sql_text import Node, SqlText, arguments
from .union_all import union_scopes
from .unit_subqueries import read_distinct, read_per_unit, read_plain

READ_PARTS = frozenset(
    {
        "expressions",
        "from_",
        "joins",
        "where",
        "group",
        "having",
        "distinct",
        "with_",
        "order",
        "limit",
        "offset",
    }
)
"""The parts of a SELECT that this package reads."""

REFUSED_PARTS: Mapping[str, RefusalText] = {
    "laterals": refusals.LATERAL,
    "qualify": refusals.WINDOW,
    "windows": refusals.WINDOW,
    "sample": refusals.SAMPLE,
    "into": refusals.INTO_TABLE,
}
"""The parts of a SELECT or of a table that have a refusal of their own."""

REFUSED_IN_SUBQUERY: Mapping[str, RefusalText] = {
    "limit": refusals.SUBQUERY_LIMIT,
    "offset": refusals.SUBQUERY_OFFSET,
    "order": refusals.SUBQUERY_ORDER,
}
"""The parts of a SELECT that only work outside of sub-queries."""

NamedScopes = Mapping[str, "Scope"]


@dataclass(frozen=True, slots=True)
class FromReader:
    """Reads the FROM and WITH clauses of a text."""

    base: Scope
    scalars: RowReader
    # all that may be named, by names in small letters
    tables: NamedScopes = field(default_factory=dict)

    @property
    def source(self) -> SqlText:
        return self.scalars.source

    def read_with(self, select: exp.Query, outer: NamedScopes) -> NamedScopes:
        """Read the tables of WITH, in order; each may use those before it."""
        scopes = dict(outer)
        clause = select.args.get("with_")
        if clause is None:
            return scopes
        if clause.args.get("recursive"):
            raise self.source.refuse(
                refusals.RECURSIVE_WITH, clause.expressions[0].args.get("alias")
            )
        self.check_arguments(clause, frozenset({"expressions", "recursive"}))
        for part in clause.expressions:
            self.check_arguments(part, frozenset({"this", "alias", "materialized"}))
            alias = part.args["alias"]
            name = identifier(alias.this)
            if name is None or name.lower() in {key.lower() for key in scopes if key not in outer}:
                raise self.source.refuse(refusals.WITH_NAME_TWICE, part)
            scopes[name.lower()] = self._aliased(self.rows_of(part.this, scopes, part), alias, part)
        return scopes

    def from_(self, select: exp.Select, scopes: NamedScopes) -> Scope:
        """Read the rows that a SELECT is about."""
        self.check_parts(select)
        clause = select.args.get("from_")
        if clause is None:
            table = quoted(self.base.rows.declaration.name)
            raise self.source.refuse(
                refusals.FROM_MISSING,
                None,
                table=table,
                question=" ".join(self.source.text.split()),
            )
        self.check_arguments(clause, frozenset({"this"}))
        scope = self.table(clause.this, scopes)
        for node in select.args.get("joins") or []:
            self.check_arguments(node, frozenset({"this", "on", "using", "kind", "side", "method"}))
            scope = join_scopes(scope, self.table(node.this, scopes), node, self.scalars)
        return scope

    def table(self, node: Node, scopes: NamedScopes) -> Scope:
        """Read a table, or a sub-query in its place."""
        self.check_refused_parts(node)
        if isinstance(node, exp.Subquery):
            self.check_arguments(node, frozenset({"this", "alias"}))
            return self._aliased(
                self.rows_of(node.this, scopes, node), node.args.get("alias"), node
            )
        name = identifier(node.this) if isinstance(node, exp.Table) else None
        if name is None or node.args.get("db") is not None or node.args.get("catalog") is not None:
            raise self._no_table(node)
        self.check_arguments(node, frozenset({"this", "alias"}))
        scope = scopes.get(name.lower()) or self.tables.get(name.lower())
        if scope is None and name.lower() == self.base.rows.declaration.name.lower():
            scope = self.base
        if scope is None:
            raise self._no_table(node)
        return self._aliased(scope.with_alias(name, self.source), node.args.get("alias"), node)

    def _no_table(self, node: Node) -> Refused:
        table = quoted(self.base.rows.declaration.name)
        corrected = (
            self.source.replace_text(node, table)
            if isinstance(node, exp.Table)
            else self.source.example
        )
        if len(self.tables) <= 1:
            return self.source.refuse(
                refusals.NOT_THE_ONLY_TABLE, node, table=table, corrected=corrected
            )
        tables = ", ".join(
            quoted(scope.rows.declaration.name) for scope in list(self.tables.values())[:6]
        )
        return self.source.refuse(refusals.UNKNOWN_TABLE, node, tables=tables, corrected=corrected)

    def _aliased(self, scope: Scope, alias: Node | None, node: Node) -> Scope:
        if alias is None:
            return scope
        self.check_arguments(alias, frozenset({"this", "columns"}))
        scope = scope.with_alias(identifier(alias.this) or "", self.source)
        names = [identifier(column) or "" for column in alias.args.get("columns") or []]
        if len(names) > len(scope.names) or len({name.lower() for name in names}) < len(names):
            raise self.source.refuse(refusals.TOO_MANY_ALIASES, node, most=len(scope.names))
        old = list(scope.names)
        renamed = dict(zip([*names, *old[len(names) :]], scope.names.values(), strict=True))
        return replace(scope, names=renamed)

    def rows_of(self, node: Node, scopes: NamedScopes, place: Node) -> Scope:
        """Read a sub-query as rows that belong to units."""
        if isinstance(node, exp.SetOperation):
            named = self.read_with(node, scopes)
            return union_scopes(node, lambda side: self.rows_of(side, named, place), self.scalars)
        if isinstance(node, exp.Subquery):
            self.check_arguments(node, frozenset({"this"}))
            return self.rows_of(node.this, scopes, place)
        if not isinstance(node, exp.Select):
            raise self.source.refuse(refusals.SUBQUERY_NOT_SELECT, place)
        named = self.read_with(node, scopes)
        scope = self.from_(node, named)
        for part, entry in REFUSED_IN_SUBQUERY.items():
            if node.args.get(part) is not None:
                raise self.source.refuse(entry, node.args[part])
        if node.args.get("where") is not None:
            scope = self.where(scope, node.args["where"].this, named)
        items = read_items(node, scope, self.scalars, star=True)
        grouped = (
            node.args.get("group") is not None
            or node.args.get("having") is not None
            or any(has_aggregate(item.node) for item in items)
        )
        if scope.rows.public and (grouped or node.args.get("distinct") is not None):
            raise self.source.refuse(
                refusals.PUBLIC_AGGREGATE, items[0].node, table=scope.rows.declaration.name
            )
        if grouped:
            return read_per_unit(node, scope, items, self.scalars)
        if (distinct := node.args.get("distinct")) is not None:
            self.check_arguments(distinct, frozenset())
            return read_distinct(node, scope, items, self.scalars)
        return read_plain(scope, items, self.scalars)

    def where(self, scope: Scope, node: Node, scopes: NamedScopes) -> Scope:
        """Keep the rows that meet a condition; IN and EXISTS may look at other rows."""
        return apply_where(scope, node, self, scopes)

    def check_parts(self, select: exp.Select) -> None:
        """Refuse a SELECT with parts that this package does not read."""
        self.check_refused_parts(select)
        self.check_arguments(select, READ_PARTS)

    def check_refused_parts(self, node: Node) -> None:
        for name, entry in REFUSED_PARTS.items():
            value = node.args.get(name)
            if value:
                at = value[0] if isinstance(value, list) else value
                raise self.source.refuse(entry, at if isinstance(at, exp.Expression) else node)

    def check_arguments(self, node: Node, places: frozenset[str]) -> None:
        more = set(arguments(node)) - places
        if more:
            value = node.args[min(more)]
            at = (
                value
                if isinstance(value, exp.Expression)
                else value[0]
                if isinstance(value, list) and isinstance(value[0], exp.Expression)
                else node
            )
            name = min(more).strip("_").upper()
            raise self.source.refuse(refusals.CLAUSE_UNSUPPORTED, at, clause=name)
