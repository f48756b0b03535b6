"""Read a SELECT over a released sub-query.

*Released*   A sub-query with aggregates whose GROUP BY lacks the unit is a question of its own: its
             groups are released, and the outer SELECT sees the released values. Everything in it is
             post-processing. A sub-query grouped by the unit stays what it is: rows of units.
*Keys*       of the inner query can be listed, compared, sorted and grouped by.
*Aggregates* SUM, AVG, MIN, MAX and COUNT are over the groups that the inner query shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from ...tables.expr.column_names import unused_name
from ...tables.expr.expressions import literal
from ...tables.expr.types import Type
from .. import sql_refusals as refusals
from ..answer_expressions import AnswerExpression, AnswerNames, read_answer_expression
from ..group_by.grouping import SelectItem, read_items
from ..having_order import HavingOrderReader, refuse_histograms, refuse_windows
from ..postprocess import OuterSelect, PostProcessing
from ..row_expressions import RowReader
from ..scope import Scope, has_aggregate, identifier, is_aggregate
from ..sql_text import Node, SqlText, arguments, without_brackets
from .answer_columns import ShownColumn
from .window_calls import check_named_windows, read_aggregate, whole_partition

Find = Callable[[Node], AnswerExpression | None]


@dataclass(slots=True, eq=False)
class OuterReader:
    """Reads a SELECT over the columns that an inner SELECT shows. `types` are those of its keys,
    `called` the names of the sub-query.
    """

    select: exp.Select
    inner: PostProcessing
    types: Mapping[str, Type]
    called: frozenset[str]
    scope: Scope
    scalars: RowReader
    aggregates: dict[str, AnswerExpression] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    histograms: frozenset[str] = frozenset()  # columns with many numbers for each group

    @property
    def source(self) -> SqlText:
        return self.scalars.source

    @property
    def columns(self) -> dict[str, AnswerExpression]:
        """The columns of the inner SELECT, by name."""
        return {
            **{name: AnswerExpression("key", "key", value=name) for _, name in self.inner.keys},
            **{
                column.name: AnswerExpression("aggregate", "number", value=column.name)
                for column in self.inner.columns
            },
        }

    def read(self) -> PostProcessing:
        """Return the post-processing of both SELECTs."""
        if self.select.args.get("distinct") is not None:
            raise self.source.refuse(refusals.RELEASED_DISTINCT, self.select.expressions[0])
        names = Scope(
            self.scope.rows, dict.fromkeys(self.columns, literal(None)), frozenset(self.called)
        )
        items = read_items(self.select, names, self.scalars, star=True)
        is_aggregated = self._is_aggregated(items)
        plain = AnswerNames(self._inner_column, self.types)
        self.keys = self._group_keys(items)
        find: Find = self._outer_column if is_aggregated else self._inner_column
        outputs: dict[str, AnswerExpression] = {}
        shown_keys, columns = self._outputs(items, AnswerNames(find, self.types), outputs)
        named = AnswerNames(lambda node: self._output(node, outputs) or find(node), self.types)
        reader = HavingOrderReader(self.select, items, self.histograms, named, self.scalars)
        having, qualify, order = reader.having(), reader.qualify(), reader.order()
        where = self.select.args.get("where")
        if where is not None:
            refuse_windows(where, "WHERE", self.scalars)
        check_named_windows(self.select, self.scalars)
        condition = (
            None if where is None else read_answer_expression(where.this, plain, self.scalars)
        )
        if condition is not None and condition.sort != "truth":
            raise self.source.refuse(refusals.HAVING_NOT_CONDITION, where)
        if where is not None and condition is not None:
            refuse_histograms(condition, self.histograms, where.this, self.scalars)
        inner = self.inner
        if inner.limit is None and not inner.offset:
            inner = replace(inner, order=())  # the order of a sub-query's rows means nothing
        clauses = {name: self.select.args.get(name) for name in ("having", "qualify")}
        texts = {
            name: "" if clause is None else self.source.words_of(clause.this)
            for name, clause in clauses.items()
        }
        return PostProcessing(
            shown_keys,
            columns,
            having,
            texts["having"],
            order,
            qualify=qualify,
            qualify_text=texts["qualify"],
            outer=OuterSelect(
                inner,
                condition,
                "" if where is None else self.source.words_of(where.this),
                self.keys,
                dict(self.aggregates) if is_aggregated else None,
            ),
        )

    def _is_aggregated(self, items: list[SelectItem]) -> bool:
        having = self.select.args.get("having")
        nodes = [item.node for item in items] + ([] if having is None else [having.this])
        return self.select.args.get("group") is not None or any(
            has_aggregate(node, in_windows=False) for node in nodes
        )

    def _group_keys(self, items: list[SelectItem]) -> tuple[str, ...]:
        """Read GROUP BY: keys of the inner SELECT, by name, position or ALL."""
        clause = self.select.args.get("group")
        if clause is None:
            return ()
        if set(arguments(clause)) - {"expressions", "all"}:
            raise self.source.refuse(refusals.RELEASED_GROUP, clause)
        nodes = [_at_position(without_brackets(node), items) for node in clause.expressions]
        if clause.args.get("all"):
            nodes = [item.node for item in items if not has_aggregate(item.node)]
        keys = []
        for node in nodes:
            aliased = [
                item.node
                for item in items
                if item.is_aliased
                and isinstance(node, exp.Column)
                and item.name.lower() == (identifier(node.this) or "").lower()
            ]
            key = self._inner_column(node) or (self._inner_column(aliased[0]) if aliased else None)
            if key is None or key.sort != "key":
                raise self.source.refuse(refusals.RELEASED_GROUP, node)
            keys.append(key.value)
        return tuple(dict.fromkeys(keys))

    def _outputs(
        self, items: list[SelectItem], names: AnswerNames, outputs: dict[str, AnswerExpression]
    ) -> tuple[tuple[tuple[str, str], ...], tuple[ShownColumn, ...]]:
        """Read the columns of the answer: its keys, then its values."""
        keys: dict[str, str] = {}
        columns: list[ShownColumn] = []
        for item in items:
            value = read_answer_expression(item.node, names, self.scalars)
            if item.name.lower() in outputs:
                words = self.source.words_of(item.node)
                corrected = self.source.replace_text(item.node, f"{words} AS other")
                raise self.source.refuse(
                    refusals.COLUMN_NAME_TWICE, item.node, name=item.name, corrected=corrected
                )
            outputs[item.name.lower()] = value
            if value.op == "key":
                keys[value.value] = item.name
            elif value.sort == "number" and value.op != "number":
                refuse_histograms(value, self.histograms, item.node, self.scalars)
                columns.append(ShownColumn(item.name, self.source.words_of(item.node), value))
            else:
                raise self.source.refuse(refusals.COLUMN_NOT_NUMBER, item.node)
        if not columns:
            raise self.source.refuse(refusals.RELEASED_WITHOUT_VALUE, items[0].node)
        used = {*(column.name for column in columns), *keys.values()}
        rest = self.keys if self._is_aggregated(items) else [name for _, name in self.inner.keys]
        for name in rest:
            keys.setdefault(name, unused_name(name, {label.lower() for label in used}))
        return tuple(keys.items()), tuple(columns)

    def _inner_column(self, node: Node) -> AnswerExpression | None:
        """Return the column of the inner SELECT that a node names."""
        if not isinstance(node, exp.Column):
            return None
        table = identifier(node.args.get("table"))
        name = (identifier(node.this) or "").lower()
        if table is not None and table.lower() not in self.called:
            return None
        return next((value for label, value in self.columns.items() if label.lower() == name), None)

    def _outer_column(self, node: Node) -> AnswerExpression | None:
        """Return the key or the aggregate over groups that a node is."""
        column = self._inner_column(node)
        if column is not None and column.op == "key" and column.value in self.keys:
            return column
        if column is not None:
            raise self.source.refuse(refusals.RELEASED_NOT_GROUPED, node)
        return self._aggregate(node) if is_aggregate(node) else None

    def _aggregate(self, node: Node) -> AnswerExpression:
        op, parts = read_aggregate(node, self.scalars)
        names = AnswerNames(self._inner_column, self.types)
        values = [read_answer_expression(part, names, self.scalars) for part in parts]
        if any(value.sort != "number" for value in values):
            values = [] if op == "count_over" else values
        if any(value.sort != "number" for value in values):
            raise self.source.refuse(refusals.KEY_IN_EXPRESSION, node)
        if any(value.aggregates & self.histograms for value in values):
            raise self.source.refuse(refusals.HISTOGRAM_IN_EXPRESSION, node)
        by = tuple(AnswerExpression("key", "key", value=key) for key in self.keys)
        call = whole_partition(op, len(values), len(by))
        words = self.source.words_of(node)
        if words[:60] in self.aggregates and len(words) <= 60:
            return AnswerExpression("aggregate", "number", value=words)
        used = {name.lower() for name in (*self.aggregates, *self.columns)}
        name = unused_name(words[:60], used)
        self.aggregates[name] = AnswerExpression("window", "number", (*values, *by), call)
        return AnswerExpression("aggregate", "number", value=name)

    def _output(
        self, node: Node, outputs: Mapping[str, AnswerExpression]
    ) -> AnswerExpression | None:
        """Return the column of the answer that a node names by its alias."""
        if not isinstance(node, exp.Column) or node.args.get("table") is not None:
            return None
        return outputs.get((identifier(node.this) or "").lower())


def _at_position(node: Node, items: list[SelectItem]) -> Node:
    """Return the column that a position such as 1 names; any other node as it is."""
    text = str(node.this) if isinstance(node, exp.Literal) else ""
    at = int(text) if text.isdecimal() and len(text) < 5 else 0
    return items[at - 1].node if 1 <= at <= len(items) else node
