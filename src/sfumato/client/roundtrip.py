"""What a query means, whatever names were given to columns on the way: its conditions, its keys
with their groups, its aggregates, each on declared columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..sql import Asked
from ..tables.declare.declaration import Key
from ..tables.expr.expressions import Call, Column, Expr, call, col
from ..tables.query.aggregates import Aggregate
from ..tables.query.stages import Query, Step


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """Conditions that all hold, keys by the names that are shown with their public groups, and
    aggregates by their names.
    """

    conditions: tuple[Expr, ...] = ()
    keys: tuple[tuple[str, Expr, tuple[Key, ...]], ...] = ()
    aggregates: tuple[tuple[str, Aggregate], ...] = ()
    joins: tuple[str, ...] = ()  # the steps before all that, up to the last join

    @property
    def texts(self) -> tuple[Any, ...]:
        """Equal for equal meanings. Public groups are a set: in which order they are shown is the
        owner's.
        """
        keys = [(shown, made.text, sorted(map(repr, domain))) for shown, made, domain in self.keys]
        return (
            self.joins,
            [one.text for one in self.conditions],
            keys,
            [(shown, one.text) for shown, one in self.aggregates],
        )


def of_query(query: Query, after: int = 0, shown: Mapping[str, str] | None = None) -> Meaning:
    """What a query means, with its keys by other names if some are `shown`. The first so many of
    its steps are taken as they are; those `after` them are conditions and made columns, nothing
    else.
    """
    made: dict[str, Expr] = {}
    conditions: list[Expr] = []
    for step in query.rows.steps[after:]:
        assert isinstance(step, Step)
        expression = _inlined(step.expression, made)
        if step.column is None:
            conditions += (
                expression.arguments
                if isinstance(expression, Call) and expression.function.name == "and"
                else [expression]
            )
        else:
            made[step.column] = expression
    keys = tuple(
        ((shown or {}).get(key, key), made.get(key, col(key)), domain)
        for key, domain in zip(query.keys, query.domains, strict=True)
    )
    first = tuple(step.text for step in query.rows.steps[:after])
    return Meaning(
        tuple(conditions),
        keys,
        tuple((column, _on_declared(one, made)) for column, one in query.aggregates),
        first,
    )


def of_text(asked: Asked, after: int = 0) -> Meaning:
    """What a text means, if it shows what it asks and nothing else; else nothing."""
    finish, query = asked.finish, asked.query
    shown = tuple((one.name, one.of.op, one.of.value) for one in finish.columns)
    plain = shown == tuple((column, "aggregate", column) for column, _ in query.aggregates) and all(
        isinstance(step, Step) for step in query.rows.steps[after:]
    )
    if (
        not plain
        or finish.having is not None
        or finish.order
        or finish.limit is not None
        or finish.offset
    ):
        return Meaning()
    return of_query(query, after, dict(finish.keys))


def _on_declared(one: Aggregate, made: Mapping[str, Expr]) -> Aggregate:
    parts = {
        part: None if (value := getattr(one, part)) is None else _inlined(value, made)
        for part in ("of", "where", "by")
    }
    return replace(one, **parts)  # type: ignore[arg-type]


def _inlined(expression: Expr, made: Mapping[str, Expr]) -> Expr:
    """The same, with every made column written out."""
    if isinstance(expression, Column):
        return made.get(expression.name, expression)
    if isinstance(expression, Call) and expression.columns & set(made):
        return call(
            expression.function.name,
            *(_inlined(argument, made) for argument in expression.arguments),
        )
    return expression
