"""Read the outermost SELECT: its keys, its aggregates, and the post-processing of their answer.

*Same*   A text becomes the query that `where`, `group_by` and `aggregate` would build, with the
         same cost and, asked again, the same stored answer.
*Paid*   Every aggregate that the text names anywhere is released once and paid for: in the list, in
         HAVING, in ORDER BY. Arithmetic on them is free.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sqlglot import exp

from ..errors import Refused
from ..tables.expr.column_names import unused_name
from ..tables.expr.expressions import ColumnRef
from ..tables.expr.types import INT64, Span, Type
from ..tables.plan.query_plan import Plan
from ..tables.query.aggregate import Aggregate
from ..tables.query.groupings import Groupings, combine_groupings
from ..tables.query.stages import MOST_COLUMNS, Groups, Query, Rows
from . import sql_refusals as refusals
from .aggregate_calls import AggregateReader
from .answer_expressions import AnswerExpression, AnswerNames, read_answer_expression
from .from_clause import RELEASED_PARTS, FromReader, NamedScopes
from .group_by.grouping import (
    GroupKey,
    SelectItem,
    find_key,
    read_group_keys,
    read_groupings,
    read_items,
)
from .group_by.grouping_sets import grouping_keys, rename
from .having_order import HavingOrderReader, refuse_histograms
from .postprocess import PostProcessing
from .released.answer_columns import ShownColumn
from .released.outer_select import OuterReader
from .released.window_calls import check_named_windows, refuse_row_window
from .rewrites.rewrite_columns import counts_of, histogram_of
from .rewrites.rewrite_trees import write
from .row_expressions import RowReader
from .scope import Scope, has_aggregate, identifier, is_aggregate
from .sql_constants import read_count
from .sql_plan import SqlPlan
from .sql_text import Node, SqlText, arguments


@dataclass(frozen=True, slots=True, eq=False)
class ParsedQuery:
    """A parsed text: the query to release, and the post-processing of its answer."""

    query: Query
    finish: PostProcessing

    def planned(self, plan: Plan) -> SqlPlan:
        """Return the plan of the query, with the errors of the columns that the text shows."""
        return SqlPlan.of(plan, self.finish)


@dataclass(slots=True, eq=False)
class SelectReader:
    """Reads the outermost SELECT of a text."""

    select: exp.Select
    scope: Scope
    scalars: RowReader
    items: list[SelectItem]
    keys: list[GroupKey]
    aggregates: dict[str, Aggregate] = field(default_factory=dict)
    shown: list[ShownColumn] = field(default_factory=list)
    groupings: list[str | Groupings] = field(default_factory=list)
    grouping: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The GROUPING columns, with the names of their keys."""
    types: dict[str, Type] = field(default_factory=dict)
    """The types of keys and GROUPING columns, for comparisons."""

    @property
    def source(self) -> SqlText:
        return self.scalars.source

    @classmethod
    def of(
        cls,
        select: exp.Select,
        rows: Rows,
        scalars: RowReader,
        tables: Mapping[str, Rows] | None = None,
    ) -> ParsedQuery:
        from_reader = FromReader(
            Scope.of(rows),
            scalars,
            {name.lower(): Scope.of(table_rows) for name, table_rows in (tables or {}).items()},
        )
        return cls._read(select, {}, from_reader, scalars)

    @classmethod
    def _read(
        cls, select: exp.Select, outer: NamedScopes, from_reader: FromReader, scalars: RowReader
    ) -> ParsedQuery:
        """Read a SELECT over rows, or over what an inner SELECT releases."""
        scopes = from_reader.read_with(select, outer)
        if (inner := from_reader.released_source(select, scopes)) is not None:
            parsed = cls._read(inner.select, inner.scopes, from_reader, scalars)
            return cls._outer(select, parsed, inner.called, from_reader, scalars)
        scope = from_reader.from_(select, scopes, RELEASED_PARTS)
        if scope.rows.public:
            raise scalars.source.refuse(
                refusals.ONLY_PUBLIC_TABLE,
                select.args["from_"].this,
                table=scope.rows.declaration.name,
            )
        if (where := select.args.get("where")) is not None:
            scope = from_reader.where(scope, where.this, scopes)
        items = read_items(select, scope, scalars, star=False)
        if len(items) > MOST_COLUMNS:
            raise refusals.TOO_MANY_COLUMNS(count=len(items), most=MOST_COLUMNS)
        keys = _order_keys(read_group_keys(select, scope, items, scalars), items, scope, scalars)
        groupings = read_groupings(select, scope, items, scalars)
        return cls(select, scope, scalars, items, keys, groupings=groupings)._parse()

    @classmethod
    def _outer(
        cls,
        select: exp.Select,
        parsed: ParsedQuery,
        called: frozenset[str],
        from_reader: FromReader,
        scalars: RowReader,
    ) -> ParsedQuery:
        """Read a SELECT over a released sub-query."""
        from_reader.check_parts(select, RELEASED_PARTS)
        if parsed.query.sets:
            raise scalars.source.refuse(refusals.GROUPINGS_UNDER_WINDOWS, select)
        schema = parsed.query.rows.schema
        inner = parsed.finish
        types = {shown: schema[name] for name, shown in inner.query_keys}
        many = _histograms(dict(parsed.query.aggregates))
        histograms = frozenset(c.name for c in inner.columns if c.of.aggregates & many)
        reader = OuterReader(
            select, inner, types, called, from_reader.base, scalars, histograms=histograms
        )
        finish = reader.read()
        limit, offset = (
            None if clause is None else _read_limit(clause, scalars)
            for clause in (select.args.get("limit"), select.args.get("offset"))
        )
        return ParsedQuery(parsed.query, replace(finish, limit=limit, offset=offset or 0))

    def _parse(self) -> ParsedQuery:
        self._check()
        check_named_windows(self.select, self.scalars)
        rows, names = self._add_key_columns()
        outputs = self._read_outputs(names)
        self.types |= {
            names[key.name]: key.expression.type(self.scope.rows.schema) for key in self.keys
        }
        find = AnswerNames(self._find(outputs), self.types)
        histograms = _histograms(self.aggregates)
        reader = HavingOrderReader(self.select, self.items, histograms, find, self.scalars)
        having, qualify, order = reader.having(), reader.qualify(), reader.order()
        limit, offset = (
            None if clause is None else _read_limit(clause, self.scalars)
            for clause in (self.select.args.get("limit"), self.select.args.get("offset"))
        )
        query = self._query(rows, names)
        shown_keys = tuple((names[key.name], key.name) for key in self.keys)
        text, qualify_text = (
            "" if condition is None else self.source.words_of(self.select.args[clause].this)
            for clause, condition in (("having", having), ("qualify", qualify))
        )
        finish = PostProcessing(
            shown_keys,
            tuple(self.shown),
            having,
            text,
            order,
            limit,
            offset or 0,
            qualify,
            qualify_text,
            grouping=tuple(self.grouping.items()),
            grouping_shown={
                name: any(item.name == name for item in self.items) for name in self.grouping
            },
        )
        if self.groupings and (finish.has_windows or qualify is not None):
            raise self.source.refuse(refusals.GROUPINGS_UNDER_WINDOWS, self.select)
        return ParsedQuery(query, finish)

    def _check(self) -> None:
        """Refuse texts that ask for rows, or for groups about one person."""
        if self.select.args.get("distinct") is not None:
            raise self.source.refuse(
                refusals.DISTINCT_VALUES,
                self.items[0].node,
                corrected=self._suggest_summary(self.items[:1]),
            )
        for key in self.keys:
            if self.scope.unit(key.expression):
                raise self.source.refuse(refusals.GROUP_PER_UNIT, key.node)
        if not self.keys and not any(
            has_aggregate(item.node, in_windows=False) for item in self.items
        ):
            for item in self.items:
                if (window := item.node.find(exp.Window)) is not None:
                    raise refuse_row_window(window, self.scope, self.scalars)
        for item in self.items:
            if (
                has_aggregate(item.node)
                or find_key(item.node, self.keys, self.scope, self.scalars) is not None
            ):
                continue
            raise self._refuse_raw_value(item)
        if not any(has_aggregate(item.node, in_windows=False) for item in self.items):
            raise self.source.refuse(
                refusals.NO_AGGREGATE,
                self.items[0].node,
                corrected=self._suggest_summary(self.items),
            )

    def _refuse_raw_value(self, item: SelectItem) -> Refused:
        value = self.scope.read(item.node, self.scalars)
        if not value.columns:
            return self.source.refuse(refusals.CONSTANT_SELECTED, item.node)
        if (
            self.keys
            or self.select.args.get("group") is not None
            or any(has_aggregate(sibling.node) for sibling in self.items)
        ):
            return self.source.refuse(refusals.RAW_VALUE_BESIDE_AGGREGATES, item.node)
        named = [sibling for sibling in self.items if isinstance(sibling.node, exp.Column)]
        listed = (
            [sibling for sibling in named if self.scope.rows.public_keys(sibling.name)]
            or named[-1:]
            or [item]
        )
        return self.source.refuse(
            refusals.RAW_VALUE, item.node, corrected=self._suggest_summary(listed[-1:])
        )

    def _suggest_summary(self, items: list[SelectItem]) -> str:
        """Return a SELECT about the same rows: a histogram of the first of these columns that is
        continuous, else how often the values of the columns occur.
        """
        fine = [
            item
            for item in items
            if not has_aggregate(item.node)
            and not self.scope.unit(self.scope.read(item.node, self.scalars))
        ]
        if not fine:
            return self.source.example
        for item in fine:
            value = self.scope.read(item.node, self.scalars)
            if value.type(self.scope.rows.schema).kind in ("float", "decimal"):
                edges = _edges(value.range(self.scope.rows.ranges))
                return write(histogram_of(item.node, item.node, edges))
        return write(counts_of(self.select, [item.node for item in fine]))

    def _add_key_columns(self) -> tuple[Rows, dict[str, str]]:
        """Add keys that are expressions as columns. Return the rows, and the column of each key."""
        rows, names = self.scope.rows, {}
        if len({key.name.lower() for key in self.keys}) < len(self.keys):
            raise self.source.refuse(refusals.KEY_NAME_TWICE, self.keys[-1].node)
        for key in self.keys:
            if isinstance(key.expression, ColumnRef):
                names[key.name] = key.expression.name
                continue
            name = unused_name(
                key.name if key.name.isprintable() else "key",
                {name.lower() for name in (*rows.schema, *names.values())},
            )
            try:
                rows = rows.mutate(**{name: key.expression})
            except Refused as refusal:
                raise self.source.relocate(refusal, key.node) from None
            names[key.name] = name
        return rows, names

    def _read_outputs(self, names: dict[str, str]) -> dict[str, AnswerExpression]:
        """Read the columns of the answer, by name, and collect their aggregates."""
        outputs = {
            key.name.lower(): AnswerExpression("key", "key", value=names[key.name])
            for key in self.keys
        }
        plain = AnswerNames(self._find({}, names), {})
        for item in self.items:
            if (key := find_key(item.node, self.keys, self.scope, self.scalars)) is not None:
                outputs[item.name.lower()] = AnswerExpression("key", "key", value=names[key.name])
                continue
            if item.name.lower() in {shown.name.lower() for shown in self.shown} | {
                key.name.lower() for key in self.keys
            }:
                raise self.source.refuse(
                    refusals.COLUMN_NAME_TWICE,
                    item.node,
                    name=item.name,
                    corrected=self.source.replace_text(
                        item.node, f"{self.source.words_of(item.node)} AS other"
                    ),
                )
            if (rolled := grouping_keys(item.node)) is not None:
                outputs[item.name.lower()] = self._add_grouping(rolled, item.node, item.name)
                continue
            if is_aggregate(item.node):
                self.aggregates[item.name] = AggregateReader(self.scope, self.scalars).aggregate(
                    item.node
                )
                value = AnswerExpression("aggregate", "number", value=item.name)
            else:
                value = read_answer_expression(item.node, plain, self.scalars)
                if value.sort != "number":
                    raise self.source.refuse(refusals.COLUMN_NOT_NUMBER, item.node)
                refuse_histograms(value, _histograms(self.aggregates), item.node, self.scalars)
            self.shown.append(ShownColumn(item.name, self.source.words_of(item.node), value))
            outputs[item.name.lower()] = value
        return outputs

    def _find(
        self, outputs: dict[str, AnswerExpression], names: dict[str, str] | None = None
    ) -> Callable[[Node], AnswerExpression | None]:
        columns = names if names is not None else {}

        def find(node: Node) -> AnswerExpression | None:
            if isinstance(node, exp.Column) and node.args.get("table") is None:
                output = outputs.get((identifier(node.this) or "").lower())
                if output is not None:
                    return output
            key = find_key(node, self.keys, self.scope, self.scalars)
            if key is not None:
                return outputs.get(key.name.lower()) or AnswerExpression(
                    "key", "key", value=columns[key.name]
                )
            if (rolled := grouping_keys(node)) is not None:
                return self._add_grouping(rolled, node, "")
            return self._add_aggregate(node) if is_aggregate(node) else None

        return find

    def _add_grouping(self, rolled: list[Node], node: Node, name: str) -> AnswerExpression:
        """Return a GROUPING column: a new one, or an equal one that is there already."""
        matching = [find_key(each, self.keys, self.scope, self.scalars) for each in rolled]
        keys = tuple(key.name for key in matching if key is not None)
        if not self.groupings or len(keys) < len(rolled) or not keys:
            raise self.source.refuse(refusals.GROUPING_WITHOUT_SETS, node)
        same = next((shown for shown, of in self.grouping.items() if of == keys), "")
        shown = name or same or self.source.words_of(node)[:60]
        self.grouping[shown], self.types[shown] = keys, INT64
        return AnswerExpression("key", "key", value=shown)

    def _add_aggregate(self, node: Node) -> AnswerExpression:
        """Return an aggregate inside an expression: an equal one that is released already, or a new
        one.
        """
        aggregate = AggregateReader(self.scope, self.scalars).aggregate(node)
        if aggregate.edges:
            raise self.source.refuse(refusals.HISTOGRAM_IN_EXPRESSION, node)
        for name, existing in self.aggregates.items():
            if existing.text == aggregate.text:
                return AnswerExpression("aggregate", "number", value=name)
        used_names = {
            *(name.lower() for name in self.aggregates),
            *(item.name.lower() for item in self.items),
            *(key.name.lower() for key in self.keys),
        }
        name = unused_name(self.source.words_of(node)[:60], used_names)
        self.aggregates[name] = aggregate
        return AnswerExpression("aggregate", "number", value=name)

    def _query(self, rows: Rows, names: dict[str, str]) -> Query:
        listed = [names[key.name] for key in self.keys]
        try:
            public = {
                names[key.name]: key.calendar.keys(self.scope.rows.schema)
                for key in self.keys
                if key.calendar is not None
            }
            groups: Groups = rows.group_by(*listed, **public)
            if self.groupings:
                columns = {key.expression.text: names[key.name] for key in self.keys}
                parts = [rename(part, columns.__getitem__) for part in self.groupings]
                groups = replace(groups, sets=combine_groupings(parts, (), listed))
            return groups.aggregate(**self.aggregates)
        except Refused as refusal:
            raise self.source.relocate(
                refusal, self.keys[0].node if self.keys else None, self.source.example
            ) from None


def _read_limit(clause: Node, scalars: RowReader) -> int:
    """Read LIMIT or OFFSET."""
    if not isinstance(clause, exp.Limit | exp.Offset) or set(arguments(clause)) - {"expression"}:
        raise scalars.source.refuse(
            refusals.LIMIT_NOT_WHOLE,
            clause,
            clause="OFFSET" if isinstance(clause, exp.Offset) else "LIMIT",
        )
    return read_count(
        clause.expression,
        scalars.parameters,
        "LIMIT" if isinstance(clause, exp.Limit) else "OFFSET",
    )


def _edges(ends: Span | None) -> list[str]:
    """Return the edges of five bins between the bounds of a column, as texts."""
    low, high = (Fraction(0), Fraction(100)) if ends is None else ends
    return [f"{float(low + (high - low) * place / 5):.10g}" for place in range(6)]


def _order_keys(
    keys: list[GroupKey], items: list[SelectItem], scope: Scope, scalars: RowReader
) -> list[GroupKey]:
    """Order and name keys as the SELECT lists them, then the keys that it does not list."""
    listed: dict[str, GroupKey] = {}
    for item in items:
        key = find_key(item.node, keys, scope, scalars)
        if key is None:
            continue
        if key.expression.text in listed:
            raise scalars.source.refuse(refusals.KEY_LISTED_TWICE, item.node)
        listed[key.expression.text] = replace(key, name=item.name)
    return [*listed.values(), *(key for key in keys if key.expression.text not in listed)]


def _histograms(aggregates: Mapping[str, Aggregate]) -> frozenset[str]:
    """Return the names of those that have many numbers for each group."""
    return frozenset(name for name, aggregate in aggregates.items() if aggregate.edges)
