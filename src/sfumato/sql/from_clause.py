"""Read FROM and WITH: tables, and sub-queries whose rows still belong to units.

*Row by row*   A sub-query without aggregates filters rows and names columns; each row keeps its
               owner.
*Per unit*     A sub-query grouped by the unit, with further keys or without, gives rows that are
               functions of one unit's rows. So does SELECT DISTINCT with the unit among its
               columns.
*Along*        ROW_NUMBER, LAG and LEAD with the unit in PARTITION BY look along one unit's rows.
*Released*     Any other sub-query with aggregates gives rows that depend on many people. Alone in
               the FROM of a SELECT it is a question of its own, whose groups are released first
               (`released.outer_select`). Beside rows, or joined with them, it is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from sqlglot import exp

from ..errors import RefusalText, Refused
from ..tables.expr.expressions import Expr
from . import sql_refusals as refusals
from .group_by.grouping import read_group_keys, read_items
from .join_clause import join_scopes
from .row_expressions import RowReader
from .row_windows import find_row_windows, read_row_windows, refuse_other_windows
from .scope import Scope, has_aggregate, identifier, quoted
from .semi_joins import apply_where
from .sql_text import Node, SqlText, arguments
from .union_all import union_scopes
from .unit_subqueries import has_unit, read_distinct, read_per_unit, read_plain

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
    "qualify": refusals.WINDOW_CLAUSE,
    "windows": refusals.WINDOW_CLAUSE,
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

RELEASED_PARTS = frozenset({"windows", "qualify"})
"""The parts of a SELECT that only work on released values."""


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedQuery:
    """A sub-query whose groups are released: its SELECT, what it may name, and its own names."""

    select: exp.Select
    scopes: NamedScopes
    called: frozenset[str] = frozenset()


NamedScopes = Mapping[str, "Scope | ReleasedQuery"]


@dataclass(frozen=True, slots=True)
class FromReader:
    """Reads the FROM and WITH clauses of a text."""

    base: Scope
    scalars: RowReader
    # all that may be named, by names in small letters
    tables: Mapping[str, Scope] = field(default_factory=dict)

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
            released = self._released(part.this, scopes)
            scopes[name.lower()] = released or self._aliased(
                self.rows_of(part.this, scopes, part), alias, part
            )
        return scopes

    def released_source(self, select: exp.Select, scopes: NamedScopes) -> ReleasedQuery | None:
        """Return the released sub-query that a SELECT is about; None if it is about rows."""
        clause = select.args.get("from_")
        if clause is None or select.args.get("joins"):
            return None
        node, names = clause.this, set()
        if isinstance(node, exp.Table) and (name := identifier(node.this)) is not None:
            released = scopes.get(name.lower())
            names.add(name.lower())
        else:
            released = self._released(node, scopes) if isinstance(node, exp.Subquery) else None
        if not isinstance(released, ReleasedQuery):
            return None
        if (alias := node.args.get("alias")) is not None:
            self.check_arguments(alias, frozenset({"this"}))
            names = {(identifier(alias.this) or "").lower()}
        return replace(released, called=frozenset(names))

    def _released(self, node: Node, scopes: NamedScopes) -> ReleasedQuery | None:
        """Return a sub-query whose groups are released; None if its rows belong to units."""
        while isinstance(node, exp.Subquery):
            node = node.this
        if not isinstance(node, exp.Select):
            return None
        named = self.read_with(node, scopes)
        if self.released_source(node, named) is not None:
            return ReleasedQuery(node, scopes)
        if node.args.get("group") is None and not any(map(has_aggregate, node.expressions)):
            return None
        scope = self.from_(node, named, RELEASED_PARTS)
        if scope.rows.public or find_row_windows(node, scope, self.scalars):
            return None
        if (refusal := refuse_other_windows(node, scope, self.scalars)) is not None:
            raise refusal
        items = read_items(node, scope, self.scalars, star=True)
        keys = read_group_keys(node, scope, items, self.scalars)
        return None if has_unit(scope, keys) else ReleasedQuery(node, scopes)

    def from_(
        self, select: exp.Select, scopes: NamedScopes, more: frozenset[str] = frozenset()
    ) -> Scope:
        """Read the rows that a SELECT is about; `more` are parts that it may have besides."""
        self.check_parts(select, more)
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
        named = scopes.get(name.lower()) or self.tables.get(name.lower())
        if isinstance(named, ReleasedQuery):  # whose rows belong to nobody
            named = self.rows_of(named.select, named.scopes, node)
        scope: Scope | None = named
        if scope is None and name.lower() == self.base.rows.declaration.name.lower():
            scope = self.base
        if scope is None:
            raise self._no_table(node)
        return self._aliased(scope.with_alias(name, self.source), node.args.get("alias"), node)

    def _no_table(self, node: Node) -> Refused:
        table = quoted(self.base.rows.declaration.name)
        names = {name: scope.rows.declaration.name for name, scope in self.tables.items()}
        close = get_close_matches(identifier(node.this) or "", names, n=1, cutoff=0.5)
        nearest = quoted(names[close[0]]) if close else table
        corrected = (
            self.source.replace_text(node, nearest)
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
        scope = self.from_(node, named, frozenset({"qualify"}))
        for part, entry in REFUSED_IN_SUBQUERY.items():
            if node.args.get(part) is not None:
                raise self.source.refuse(entry, node.args[part])
        if node.args.get("where") is not None:
            scope = self.where(scope, node.args["where"].this, named)
        if windows := find_row_windows(node, scope, self.scalars):
            return self._look_along(node, windows, scope)
        if (qualify := node.args.get("qualify")) is not None:
            raise self.source.refuse(refusals.WINDOW_CLAUSE, qualify)
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

    def _look_along(self, node: exp.Select, windows: Sequence[exp.Window], scope: Scope) -> Scope:
        """Read a sub-query with windows over the rows of one unit."""
        items = read_items(node, scope, self.scalars, star=True)
        if node.args.get("distinct") is not None:
            raise self.source.refuse(refusals.WINDOW_CLAUSE, windows[0])
        numbered, special = read_row_windows(node, windows, scope, self.scalars)
        columns = read_plain(numbered, items, self.scalars, special)
        qualify = node.args.get("qualify")
        if qualify is None:
            return columns
        names = {item.name.lower(): columns.names[item.name] for item in items}

        def read_part(part: Node) -> Expr | None:
            window = special(part)
            return _named(part, names, scope) if window is None else window

        condition = numbered.read(qualify.this, self.scalars, read_part)
        try:
            return replace(columns, rows=columns.rows.where(condition))
        except Refused as refusal:
            raise self.source.relocate(refusal, qualify, self.source.example) from None

    def where(self, scope: Scope, node: Node, scopes: NamedScopes) -> Scope:
        """Keep the rows that meet a condition; IN and EXISTS may look at other rows."""
        return apply_where(scope, node, self, scopes)

    def check_parts(self, select: exp.Select, more: frozenset[str] = frozenset()) -> None:
        """Refuse a SELECT with parts that this package does not read, here or at all."""
        self.check_refused_parts(select, more)
        self.check_arguments(select, READ_PARTS | more)

    def check_refused_parts(self, node: Node, more: frozenset[str] = frozenset()) -> None:
        for name, entry in REFUSED_PARTS.items():
            value = node.args.get(name)
            if value and name not in more:
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


def _named(part: Node, names: Mapping[str, Expr], scope: Scope) -> Expr | None:
    """Return the column that QUALIFY names by its alias; None for columns of the table."""
    if not isinstance(part, exp.Column) or part.args.get("table") is not None:
        return None
    name = (identifier(part.this) or "").lower()
    return names.get(name) if scope.find(name) is None else None
