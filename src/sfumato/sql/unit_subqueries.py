"""Sub-queries as rows that belong to units: row by row, each row of a unit once, or one row for
each unit and key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from ..errors import Refused
from ..tables.expr.column_names import free
from ..tables.expr.expressions import Expr, col
from ..tables.query.per_unit import Total
from .aggregate_calls import Reader
from .grouping import Item, Key, group_keys, matched
from .row_expressions import Scalars
from .scope import Scope, is_aggregate, quoted, typed
from .sql_text import Node, Source
from .unit_totals import total as total_of


def plain(scope: Scope, items: list[Item], scalars: Scalars) -> Scope:
    """The same rows, with other names."""
    return Scope(
        scope.rows,
        _named(
            {item.name: scope.read(item.node, scalars) for item in items}, items, scalars.source
        ),
        frozenset(),
    )


def each_once(node: exp.Select, scope: Scope, items: list[Item], scalars: Scalars) -> Scope:
    """SELECT DISTINCT, with the unit among its columns."""
    made = plain(scope, items, scalars).names
    if not _owned(scope, list(made.values())):
        unit = ", ".join(map(quoted, scope.rows.declaration.unit))
        reason = (
            f"rows without repetition belong to nobody, unless {unit or 'a unit'} is among "
            f"their columns"
        )
        raise scalars.source.refuse(
            "sql.ownership", items[0].node, "", reason, _by_unit(scope, scalars.source)
        )
    rest = {name: expression for name, expression in made.items() if not scope.unit(expression)}
    keys = _columns(scope, rest)
    split = _split(
        scope,
        {keys[name]: expression for name, expression in rest.items()},
        {},
        node,
        scalars.source,
    )
    return Scope(
        split.rows,
        {
            name: expression if scope.unit(expression) else col(keys[name])
            for name, expression in made.items()
        },
        frozenset(),
    )


def per_unit(node: exp.Select, scope: Scope, items: list[Item], scalars: Scalars) -> Scope:
    """GROUP BY the unit, with keys beside it or without."""
    source = scalars.source
    if node.args.get("distinct") is not None:
        raise source.refuse(
            "sql.distinct",
            items[0].node,
            "",
            "GROUP BY gives every row once already",
            source.example,
        )
    keys = group_keys(node, scope, items, scalars)
    if not _owned(scope, [key.expression for key in keys]):
        raise _nobody(node, scope, keys, source)
    named = _columns(
        scope, {key.name: key.expression for key in keys if not scope.unit(key.expression)}
    )
    totals: dict[str, tuple[str, Total]] = {}
    reader = Reader(scope, scalars)
    taken = {
        *(name.lower() for name in named.values()),
        *(name.lower() for name in scope.rows.declaration.unit),
    }

    def special(part: Node) -> Expr | None:
        """A key or a total, as a column of the rows that come out."""
        if (key := matched(part, keys, scope, scalars)) is not None:
            return key.expression if scope.unit(key.expression) else col(named[key.name])
        if is_aggregate(part):
            total = total_of(part, reader)
            if total.text not in totals:
                wanted = next(
                    (item.name for item in items if item.node is part and item.given),
                    f"total_{len(totals) + 1}",
                )
                totals[total.text] = free(wanted, taken), total
                taken.add(totals[total.text][0].lower())
            return col(totals[total.text][0])
        if isinstance(part, exp.Column):
            raise source.refuse(
                "sql.group",
                part,
                "",
                "this is neither a key of GROUP BY nor in an aggregate",
                _by_unit(scope, source),
            )
        return None

    made = {item.name: scope.read(item.node, scalars, special) for item in items}
    names = _named(made, items, source)
    condition = node.args.get("having")
    having = None if condition is None else scope.read(condition.this, scalars, special)
    split = _split(
        scope,
        {named[key.name]: key.expression for key in keys if key.name in named},
        dict(totals.values()),
        node,
        source,
    )
    if having is not None:
        try:
            split = replace(split, rows=split.rows.where(having))
        except Refused as refusal:
            raise source.moved(refusal, condition, source.example) from None
    for item, expression in zip(items, made.values(), strict=True):
        typed(expression, split.rows, item.node, scalars)
    return Scope(split.rows, names, frozenset())


def _split(
    scope: Scope, keys: Mapping[str, Expr], totals: Mapping[str, Total], node: Node, source: Source
) -> Scope:
    try:
        return replace(scope, rows=scope.rows.per_unit(keys, totals))
    except Refused as refusal:
        raise source.moved(refusal, node, source.example) from None


def _owned(scope: Scope, found: list[Expr]) -> bool:
    """Whether the whole unit is among the expressions."""
    unit = scope.rows.declaration.unit
    return bool(unit) and {expression.text for expression in found if scope.unit(expression)} == {
        col(name).text for name in unit
    }


def _nobody(node: exp.Select, scope: Scope, keys: list[Key], source: Source) -> Refused:
    unit = ", ".join(map(quoted, scope.rows.declaration.unit))
    about = "a row about many people" if keys else "an aggregate of all rows"
    reason = (
        f"{about} belongs to nobody: only GROUP BY {unit} gives rows that can be asked about again"
    )
    if not unit:
        reason = (
            "without a declared unit each row is a different person, who has no other rows "
            "to be put together"
        )
    return source.refuse(
        "sql.ownership",
        keys[0].node if keys else node.expressions[0],
        "",
        reason,
        _by_unit(scope, source),
    )


def _by_unit(scope: Scope, source: Source) -> str:
    """A sub-query that is answered."""
    declared = scope.rows.declaration
    unit, table = ", ".join(map(quoted, declared.unit)), quoted(declared.name)
    return (
        (
            f"SELECT COUNT(*) AS n FROM (SELECT {unit}, COUNT(*) AS m FROM {table} GROUP BY "
            f"{unit}) AS s WHERE m > 3"
        )
        if unit
        else source.example
    )


def _columns(scope: Scope, keys: Mapping[str, Expr]) -> dict[str, str]:
    """Names of columns for an engine: those of the text where they can be had."""
    taken = {name.lower() for name in scope.rows.declaration.unit}
    found = {}
    for name in keys:
        found[name] = free(name, taken)
        taken.add(found[name].lower())
    return found


def _named(made: Mapping[str, Expr], items: list[Item], source: Source) -> dict[str, Expr]:
    """Refuse two columns with one name."""
    names = [item.name.lower() for item in items]
    twice = next(
        (item for i, item in enumerate(items) if names.index(item.name.lower()) != i), None
    )
    if twice is not None:
        raise source.refuse(
            "sql.names", twice.node, "", f"two columns are called {twice.name:.60}", source.example
        )
    return dict(made)
