"""The meaning of a query, independent of the names of derived columns: its conditions, its keys
with their public groups, and its aggregates, each on declared columns. The client compares the
meanings of a query and of its SQL text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..sql import ParsedQuery
from ..tables.declare.declaration import Key
from ..tables.expr.expressions import Expr, FunctionCall, col
from ..tables.query.aggregate import Aggregate
from ..tables.query.renaming import inline_columns
from ..tables.query.stages import Query, RowStep


@dataclass(frozen=True, slots=True, eq=False)
class QueryMeaning:
    """The conditions of a query, its keys (name, expression, public groups) and its aggregates by
    name.
    """

    conditions: tuple[Expr, ...] = ()
    keys: tuple[tuple[str, Expr, tuple[Key, ...]], ...] = ()
    aggregates: tuple[tuple[str, Aggregate], ...] = ()
    joins: tuple[str, ...] = ()  # the steps up to the last join, before all conditions and keys

    @property
    def texts(self) -> tuple[object, ...]:
        """Texts that are equal for equal meanings. Public groups are compared as a set: the owner
        decides their order.
        """
        keys = [(name, key.text, sorted(map(repr, domain))) for name, key, domain in self.keys]
        return (
            self.joins,
            [condition.text for condition in self.conditions],
            keys,
            [(name, aggregate.text) for name, aggregate in self.aggregates],
        )


def meaning_of_query(
    query: Query, after: int = 0, shown: Mapping[str, str] | None = None
) -> QueryMeaning:
    """Return the meaning of a query, with the names of its keys replaced as in `shown`. The first
    `after` steps are compared as they are; the later ones are conditions and derived columns.
    """
    derived: dict[str, Expr] = {}
    conditions: list[Expr] = []
    for step in query.rows.steps[after:]:
        assert isinstance(step, RowStep)
        expression = inline_columns(step.expression, derived)
        if step.column is None:
            conditions += (
                expression.arguments
                if isinstance(expression, FunctionCall) and expression.function.name == "and"
                else [expression]
            )
        else:
            derived[step.column] = expression
    sets = tuple(map(str, query.sets))
    keys = tuple(
        ((shown or {}).get(key, key), derived.get(key, col(key)), domain)
        for key, domain in zip(query.keys, query.domains, strict=True)
    )
    first = (*(step.text for step in query.rows.steps[:after]), *sets)
    return QueryMeaning(
        tuple(conditions),
        keys,
        tuple((name, _inline_aggregate(agg, derived)) for name, agg in query.aggregates),
        first,
    )


def meaning_of_text(parsed: ParsedQuery, after: int = 0) -> QueryMeaning:
    """Return the meaning of a SQL text that shows its aggregates as they are; an empty meaning for
    a text that post-processes them.
    """
    finish, query = parsed.finish, parsed.query
    shown = tuple((column.name, column.of.op, column.of.value) for column in finish.columns)
    plain = shown == tuple((column, "aggregate", column) for column, _ in query.aggregates) and all(
        isinstance(step, RowStep) for step in query.rows.steps[after:]
    )
    if (
        not plain
        or finish.having is not None
        or finish.order
        or finish.limit is not None
        or finish.offset
        or finish.qualify is not None
        or finish.outer is not None
    ):
        return QueryMeaning()
    return meaning_of_query(query, after, dict(finish.keys))


def _inline_aggregate(aggregate: Aggregate, derived: Mapping[str, Expr]) -> Aggregate:
    def inline(expression: Expr | None) -> Expr | None:
        return None if expression is None else inline_columns(expression, derived)

    return replace(
        aggregate, of=inline(aggregate.of), where=inline(aggregate.where), by=inline(aggregate.by)
    )
