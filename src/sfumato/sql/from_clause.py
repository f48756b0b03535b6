"""FROM and WITH: a protected table, sub-queries of it, and sub-queries of those. Each is rows that
still belong to units, and names for their columns.

*Row by row*   A sub-query without aggregates is its conditions and the names of its columns; its
               rows belong to whom they belonged.
*Per unit*     A sub-query grouped by the unit, with keys beside it if one likes, gives rows that
               are functions of one unit's rows. So does SELECT DISTINCT with the unit among its
               columns.
*Nobody's*     Any other sub-query with aggregates, or with LIMIT, gives rows that depend on many
               people. It is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from ..errors import Refused
from .grouping import items_of
from .join_clause import joined
from .row_expressions import Scalars
from .scope import Scope, has_aggregate, identifier, quoted
from .semi_joins import filtered
from .sql_text import Node, Source, arguments
from .union_all import united
from .unit_subqueries import each_once, per_unit, plain

READ = frozenset(
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
"""Parts of a SELECT that are read."""

REFUSED: Mapping[str, tuple[str, str]] = {
    "laterals": (
        "sql.join",
        (
            "a table that is made anew for each row is not answered: a join has a condition "
            "on two rows"
        ),
    ),
    "qualify": ("sql.window", "a rank, or a sum up to a row, tells of rows one by one"),
    "windows": ("sql.window", "a rank, or a sum up to a row, tells of rows one by one"),
    "sample": (
        "sql.sample",
        (
            "a sample of rows is no sample of units, and one that is chosen twice is no "
            "sample; the noise is what protects"
        ),
    ),
    "into": ("sql.statement", "only questions are answered: nothing is written"),
}
"""Parts of a SELECT, or of a table, that are refused with a reason of their own."""

Relations = Mapping[str, "Scope"]


@dataclass(frozen=True, slots=True)
class Relation:
    """Reads what stands in FROM."""

    base: Scope
    scalars: Scalars
    tables: Relations = field(
        default_factory=dict
    )  # all that may be named, by names in small letters

    @property
    def source(self) -> Source:
        return self.scalars.source

    def named(self, select: exp.Query, known: Relations) -> Relations:
        """The tables of WITH, in order; each may use those before it."""
        found = dict(known)
        clause = select.args.get("with_")
        if clause is None:
            return found
        if clause.args.get("recursive"):
            reason = "rows that are made of themselves have no bound"
            raise self.source.refuse(
                "sql.recursive",
                clause.expressions[0].args.get("alias"),
                "",
                reason,
                self.source.example,
            )
        self.closed(clause, frozenset({"expressions", "recursive"}))
        for part in clause.expressions:
            self.closed(part, frozenset({"this", "alias", "materialized"}))
            alias = part.args["alias"]
            name = identifier(alias.this)
            if name is None or name.lower() in {key.lower() for key in found if key not in known}:
                raise self.source.refuse(
                    "sql.names",
                    part,
                    "",
                    "each part of WITH has a name of its own",
                    self.source.example,
                )
            found[name.lower()] = self._aliased(self.rows_of(part.this, found, part), alias, part)
        return found

    def from_(self, select: exp.Select, known: Relations) -> Scope:
        """The rows that a SELECT is about."""
        self.parts(select)
        clause = select.args.get("from_")
        if clause is None:
            table = quoted(self.base.rows.declaration.name)
            rewrite = f"{' '.join(self.source.text.split())} FROM {table}"
            raise self.source.refuse(
                "sql.table", None, "", f"a question is about a table: there is {table:.60}", rewrite
            )
        self.closed(clause, frozenset({"this"}))
        scope = self.table(clause.this, known)
        for node in select.args.get("joins") or []:
            self.closed(node, frozenset({"this", "on", "using", "kind", "side", "method"}))
            scope = joined(scope, self.table(node.this, known), node, self.scalars)
        return scope

    def table(self, node: Node, known: Relations) -> Scope:
        """A table, or a sub-query in its place."""
        self.refused(node)
        if isinstance(node, exp.Subquery):
            self.closed(node, frozenset({"this", "alias"}))
            return self._aliased(self.rows_of(node.this, known, node), node.args.get("alias"), node)
        name = identifier(node.this) if isinstance(node, exp.Table) else None
        if name is None or node.args.get("db") is not None or node.args.get("catalog") is not None:
            raise self._no_table(node)
        self.closed(node, frozenset({"this", "alias"}))
        found = known.get(name.lower()) or self.tables.get(name.lower())
        if found is None and name.lower() == self.base.rows.declaration.name.lower():
            found = self.base
        if found is None:
            raise self._no_table(node)
        return self._aliased(found.named(name, self.source), node.args.get("alias"), node)

    def _no_table(self, node: Node) -> Refused:
        table = self.base.rows.declaration.name
        listed = (
            ", ".join(
                quoted(scope.rows.declaration.name) for scope in list(self.tables.values())[:6]
            )
            if len(self.tables) > 1
            else ""
        )
        there = (
            f"the tables here are {listed:.120}"
            if listed
            else f"there is one table here, {quoted(table):.60}"
        )
        reason = f"{there}; no other is read, and no file, function or address in its place"
        rewrite = (
            self.source.replaced(node, quoted(table))
            if isinstance(node, exp.Table)
            else self.source.example
        )
        return self.source.refuse("sql.table", node, "", reason, rewrite)

    def _aliased(self, scope: Scope, alias: Node | None, node: Node) -> Scope:
        if alias is None:
            return scope
        self.closed(alias, frozenset({"this", "columns"}))
        scope = scope.named(identifier(alias.this) or "", self.source)
        names = [identifier(column) or "" for column in alias.args.get("columns") or []]
        if len(names) > len(scope.names) or len({name.lower() for name in names}) < len(names):
            raise self.source.refuse(
                "sql.names",
                node,
                "",
                f"there are {len(scope.names)} columns, each with a name of its own",
                self.source.example,
            )
        old = list(scope.names)
        renamed = dict(zip([*names, *old[len(names) :]], scope.names.values(), strict=True))
        return replace(scope, names=renamed)

    def rows_of(self, node: Node, known: Relations, place: Node) -> Scope:
        """A sub-query, as rows that belong to units."""
        if isinstance(node, exp.SetOperation):
            named = self.named(node, known)
            return united(node, lambda side: self.rows_of(side, named, place), self.scalars)
        if isinstance(node, exp.Subquery):
            self.closed(node, frozenset({"this"}))
            return self.rows_of(node.this, known, place)
        if not isinstance(node, exp.Select):
            raise self.source.refuse(
                "sql.unsupported", place, "", "a sub-query is a SELECT", self.source.example
            )
        named = self.named(node, known)
        scope = self.from_(node, named)
        for part, code, reason in (
            (
                "limit",
                "sql.limit",
                "the first rows of a table are somebody's; LIMIT is for the answer",
            ),
            (
                "offset",
                "sql.limit",
                "the first rows of a table are somebody's; OFFSET is for the answer",
            ),
            ("order", "sql.order", "rows of a sub-query have no order; ORDER BY is for the answer"),
        ):
            if node.args.get(part) is not None:
                raise self.source.refuse(code, node.args[part], "", reason, self.source.example)
        if node.args.get("where") is not None:
            scope = self.where(scope, node.args["where"].this, named)
        items = items_of(node, scope, self.scalars, star=True)
        grouped = (
            node.args.get("group") is not None
            or node.args.get("having") is not None
            or any(has_aggregate(item.node) for item in items)
        )
        if scope.rows.public and (grouped or node.args.get("distinct") is not None):
            reason = (
                f"{scope.rows.declaration.name:.60} is public: it is put together before it "
                f"is given, at no cost"
            )
            raise self.source.refuse(
                "sql.ownership", items[0].node, "", reason, self.source.example
            )
        if grouped:
            return per_unit(node, scope, items, self.scalars)
        if (distinct := node.args.get("distinct")) is not None:
            self.closed(distinct, frozenset())
            return each_once(node, scope, items, self.scalars)
        return plain(scope, items, self.scalars)

    def where(self, scope: Scope, node: Node, known: Relations) -> Scope:
        """The rows that meet a condition; IN and EXISTS may look at other rows."""
        return filtered(scope, node, self, known)

    def parts(self, select: exp.Select) -> None:
        """Refuse a SELECT that says more than is read of it."""
        self.refused(select)
        self.closed(select, READ)

    def refused(self, node: Node) -> None:
        for name, (code, reason) in REFUSED.items():
            value = node.args.get(name)
            if value:
                at = value[0] if isinstance(value, list) else value
                raise self.source.refuse(
                    code,
                    at if isinstance(at, exp.Expression) else node,
                    "",
                    reason,
                    self.source.example,
                )

    def closed(self, node: Node, places: frozenset[str]) -> None:
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
            raise self.source.refuse(
                "sql.unsupported",
                at,
                "",
                f"{name} in this place is not on the list of what can be asked",
                self.source.example,
            )
