"""The outermost SELECT: keys, aggregates, and what is made of them when they are released.

*Same*   What comes of a text is the query that `where`, `group_by` and `aggregate` would make, with
         the same cost and, asked again, the same stored answer.
*Paid*   Every aggregate that the text names anywhere is released once and paid for: in the list, in
         HAVING, in ORDER BY. Arithmetic on them is free.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from ..errors import Refused
from ..tables.expr.column_names import free
from ..tables.expr.expressions import Column
from ..tables.plan.query_plan import Plan
from ..tables.query.aggregates import Aggregate
from ..tables.query.stages import MOST_COLUMNS, Groups, Query, Rows
from .aggregate_calls import Reader
from .answer_expressions import Names, Released, read
from .from_clause import Relation
from .grouping import Item, Key, group_keys, items_of, matched
from .having_order import Clauses
from .postprocess import Finishing, Shown
from .row_expressions import Scalars
from .scope import Scope, has_aggregate, identifier, is_aggregate, quoted
from .sql_constants import whole
from .sql_plan import Planned
from .sql_text import Node, Source, arguments


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What a text asks: the query that is released, and what is made of its answer."""

    query: Query
    finish: Finishing

    def planned(self, plan: Plan) -> Planned:
        """The plan of the query, with what is expected of the columns that are shown."""
        return Planned.of(plan, self.finish)


@dataclass(slots=True, eq=False)
class Outermost:
    """Reads one SELECT."""

    select: exp.Select
    scope: Scope
    scalars: Scalars
    items: list[Item]
    keys: list[Key]
    aggregates: dict[str, Aggregate] = field(default_factory=dict)
    shown: list[Shown] = field(default_factory=list)

    @property
    def source(self) -> Source:
        return self.scalars.source

    @classmethod
    def of(
        cls,
        select: exp.Select,
        rows: Rows,
        scalars: Scalars,
        tables: Mapping[str, Rows] | None = None,
    ) -> Asked:
        relation = Relation(
            Scope.of(rows),
            scalars,
            {name.lower(): Scope.of(found) for name, found in (tables or {}).items()},
        )
        known = relation.named(select, {})
        scope = relation.from_(select, known)
        if scope.rows.public:
            reason = (
                f"{scope.rows.declaration.name:.60} is public: a question is about protected "
                f"rows, which it may be joined to"
            )
            raise scalars.source.refuse(
                "sql.table", select.args["from_"].this, "", reason, scalars.source.example
            )
        if (where := select.args.get("where")) is not None:
            scope = relation.where(scope, where.this, known)
        items = items_of(select, scope, scalars, star=False)
        if len(items) > MOST_COLUMNS:
            raise Refused(
                "stage.aggregate",
                f"{len(items)} columns",
                f"an answer has at most {MOST_COLUMNS} columns",
                "several queries",
            )
        keys = _named(group_keys(select, scope, items, scalars), items, scope, scalars)
        return cls(select, scope, scalars, items, keys)._asked()

    def _asked(self) -> Asked:
        self._check()
        rows, names = self._grouped()
        outputs = self._outputs(names)
        find = Names(
            self._find(outputs),
            {names[key.name]: key.expression.type(self.scope.rows.schema) for key in self.keys},
        )
        reader = Clauses(self.select, self.items, self.aggregates, find, self.scalars)
        having, order = reader.having(), reader.order()
        limit, offset = (
            None if clause is None else self._whole(clause)
            for clause in (self.select.args.get("limit"), self.select.args.get("offset"))
        )
        query = self._query(rows, names)
        shown_keys = tuple((names[key.name], key.name) for key in self.keys)
        text = "" if having is None else self.source.words_of(self.select.args["having"].this)
        finish = Finishing(shown_keys, tuple(self.shown), having, text, order, limit, offset or 0)
        return Asked(query, finish)

    def _check(self) -> None:
        """Refuse rows, and groups that are about one person."""
        if self.select.args.get("distinct") is not None:
            reason = (
                "which values there are is about the people who have them: they are named "
                "with how often they occur"
            )
            raise self.source.refuse(
                "sql.distinct", self.items[0].node, "", reason, self._counted(self.items[:1])
            )
        for key in self.keys:
            if self.scope.unit(key.expression):
                unit = ", ".join(map(quoted, self.scope.rows.declaration.unit))
                people = (
                    f"SELECT COUNT(DISTINCT {unit}) AS people FROM "
                    f"{quoted(self.scope.rows.declaration.name)}"
                )
                raise self.source.refuse(
                    "sql.unit",
                    key.node,
                    "a group for each unit",
                    "a group for each unit would be about one person",
                    people,
                )
        for item in self.items:
            if (
                has_aggregate(item.node)
                or matched(item.node, self.keys, self.scope, self.scalars) is not None
            ):
                continue
            raise self._raw(item)
        if not any(has_aggregate(item.node) for item in self.items):
            reason = "groups are named together with something about them"
            raise self.source.refuse(
                "sql.aggregate", self.items[0].node, "", reason, self._counted(self.items)
            )

    def _raw(self, item: Item) -> Refused:
        value = self.scope.read(item.node, self.scalars)
        if not value.columns:
            return self.source.refuse(
                "sql.unsupported",
                item.node,
                "a constant",
                "the answer to this is known without any data",
                self.source.example,
            )
        note = "a raw value of a protected table cannot be published"
        if (
            self.keys
            or self.select.args.get("group") is not None
            or any(has_aggregate(other.node) for other in self.items)
        ):
            reason = "next to aggregates stands what is grouped by"
            return self.source.refuse(
                "sql.raw-rows", item.node, note, reason, self._counted([item])
            )
        named = [other for other in self.items if isinstance(other.node, exp.Column)]
        listed = (
            [other for other in named if (other.name in self.scope.rows.domains)]
            or named[-1:]
            or [item]
        )
        return self.source.refuse(
            "sql.raw-rows",
            item.node,
            note,
            "only aggregates over units are answered",
            self._counted(listed[-1:]),
        )

    def _counted(self, items: list[Item]) -> str:
        """How often values occur, which can be asked."""
        fine = [
            item
            for item in items
            if not has_aggregate(item.node)
            and not self.scope.unit(self.scope.read(item.node, self.scalars))
        ]
        if not fine:
            return self.source.example
        listed = ", ".join(self.source.words_of(item.node) for item in fine)
        table = quoted(self.scope.rows.declaration.name)
        return f"SELECT {listed}, COUNT(*) AS n FROM {table} GROUP BY {listed}"

    def _grouped(self) -> tuple[Rows, dict[str, str]]:
        """The rows with their keys as columns, and for each key the name of its column."""
        rows, names = self.scope.rows, {}
        if len({key.name.lower() for key in self.keys}) < len(self.keys):
            raise self.source.refuse(
                "sql.names", self.keys[-1].node, "", "two keys have one name", self.source.example
            )
        for key in self.keys:
            if isinstance(key.expression, Column):
                names[key.name] = key.expression.name
                continue
            name = free(
                key.name if key.name.isprintable() else "key",
                {name.lower() for name in (*rows.schema, *names.values())},
            )
            try:
                rows = rows.mutate(**{name: key.expression})
            except Refused as refusal:
                raise self.source.moved(refusal, key.node) from None
            names[key.name] = name
        return rows, names

    def _outputs(self, names: dict[str, str]) -> dict[str, Released]:
        """The columns by their names, with their aggregates noted."""
        found = {
            key.name.lower(): Released("key", "key", value=names[key.name]) for key in self.keys
        }
        plain = Names(self._find({}, names), {})
        for item in self.items:
            if (key := matched(item.node, self.keys, self.scope, self.scalars)) is not None:
                found[item.name.lower()] = Released("key", "key", value=names[key.name])
                continue
            if item.name.lower() in {shown.name.lower() for shown in self.shown} | {
                key.name.lower() for key in self.keys
            }:
                reason = f"two columns are called {item.name:.60}"
                raise self.source.refuse(
                    "sql.names",
                    item.node,
                    "",
                    reason,
                    self.source.replaced(item.node, f"{self.source.words_of(item.node)} AS other"),
                )
            if is_aggregate(item.node):
                self.aggregates[item.name] = Reader(self.scope, self.scalars).aggregate(item.node)
                value = Released("aggregate", "number", value=item.name)
            else:
                value = read(item.node, plain, self.scalars)
                if value.sort != "number":
                    raise self.source.refuse(
                        "sql.released",
                        item.node,
                        "",
                        "a column of the answer is a key or a number",
                        self.source.example,
                    )
            self.shown.append(Shown(item.name, self.source.words_of(item.node), value))
            found[item.name.lower()] = value
        return found

    def _find(
        self, outputs: dict[str, Released], names: dict[str, str] | None = None
    ) -> Callable[[Node], Released | None]:
        columns = names if names is not None else {}

        def find(node: Node) -> Released | None:
            if isinstance(node, exp.Column) and node.args.get("table") is None:
                own = outputs.get((identifier(node.this) or "").lower())
                if own is not None:
                    return own
            key = matched(node, self.keys, self.scope, self.scalars)
            if key is not None:
                return outputs.get(key.name.lower()) or Released(
                    "key", "key", value=columns[key.name]
                )
            return self._noted(node) if is_aggregate(node) else None

        return find

    def _noted(self, node: Node) -> Released:
        """An aggregate in the midst of something: the one that is there already, or one more."""
        made = Reader(self.scope, self.scalars).aggregate(node)
        if made.kind == "histogram":
            raise self.source.refuse(
                "sql.released",
                node,
                "",
                "a histogram is many numbers: it is a column by itself",
                self.source.example,
            )
        for name, other in self.aggregates.items():
            if other.text == made.text:
                return Released("aggregate", "number", value=name)
        taken = {
            *(name.lower() for name in self.aggregates),
            *(item.name.lower() for item in self.items),
            *(key.name.lower() for key in self.keys),
        }
        name = free(self.source.words_of(node)[:60], taken)
        self.aggregates[name] = made
        return Released("aggregate", "number", value=name)

    def _query(self, rows: Rows, names: dict[str, str]) -> Query:
        listed = [names[key.name] for key in self.keys]
        try:
            public = {
                names[key.name]: key.calendar.keys(self.scope.rows.schema)
                for key in self.keys
                if key.calendar is not None
            }
            groups: Groups = rows.group_by(*listed, **public)
            return groups.aggregate(**self.aggregates)
        except Refused as refusal:
            raise self.source.moved(
                refusal, self.keys[0].node if self.keys else None, self.source.example
            ) from None

    def _whole(self, clause: Node) -> int:
        if not isinstance(clause, exp.Limit | exp.Offset) or set(arguments(clause)) - {
            "expression"
        }:
            raise self.source.refuse(
                "sql.limit",
                clause,
                "",
                "LIMIT and OFFSET are whole numbers of groups",
                self.source.example,
            )
        return whole(
            clause.expression,
            self.scalars.parameters,
            "LIMIT" if isinstance(clause, exp.Limit) else "OFFSET",
        )


def _named(keys: list[Key], items: list[Item], scope: Scope, scalars: Scalars) -> list[Key]:
    """Keys in the order and by the names in which they are listed, then those that are not."""
    listed: dict[str, Key] = {}
    for item in items:
        key = matched(item.node, keys, scope, scalars)
        if key is None:
            continue
        if key.expression.text in listed:
            raise scalars.source.refuse(
                "sql.names", item.node, "", "this key is listed twice", scalars.source.example
            )
        listed[key.expression.text] = replace(key, name=item.name)
    return [*listed.values(), *(key for key in keys if key.expression.text not in listed)]
