"""Read sub-queries whose rows belong to units: row by row, SELECT DISTINCT with the unit, or GROUP
BY the unit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sqlglot import exp

from ..errors import Refused
from ..tables.expr.column_names import unused_name
from ..tables.expr.expressions import Expr, col
from ..tables.query.per_unit import Total
from . import sql_refusals as refusals
from .aggregate_calls import AggregateReader
from .group_by.grouping import GroupKey, SelectItem, find_key, read_group_keys
from .row_expressions import RowReader
from .scope import Scope, check_type, is_aggregate, quoted
from .sql_text import Node, SqlText
from .unit_totals import read_total as total_of


def read_plain(
    scope: Scope,
    items: list[SelectItem],
    scalars: RowReader,
    special: Callable[[Node], Expr | None] | None = None,
) -> Scope:
    """Read a sub-query without aggregates: the same rows, with other names. `special` may stand for
    a node.
    """
    columns = {item.name: scope.read(item.node, scalars, special) for item in items}
    if special is not None:
        for item in items:
            check_type(columns[item.name], scope.rows, item.node, scalars)
    return Scope(scope.rows, _check_names(columns, items, scalars.source), frozenset())


def read_distinct(
    node: exp.Select, scope: Scope, items: list[SelectItem], scalars: RowReader
) -> Scope:
    """Read SELECT DISTINCT with the unit among its columns."""
    columns = read_plain(scope, items, scalars).names
    if not _has_unit(scope, list(columns.values())):
        unit = ", ".join(map(quoted, scope.rows.declaration.unit))
        raise scalars.source.refuse(
            refusals.DISTINCT_WITHOUT_UNIT,
            items[0].node,
            unit=unit or "a unit",
        )
    rest = {name: expression for name, expression in columns.items() if not scope.unit(expression)}
    keys = _column_names(scope, rest)
    split = _split_by_unit(
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
            for name, expression in columns.items()
        },
        frozenset(),
    )


def read_per_unit(
    node: exp.Select, scope: Scope, items: list[SelectItem], scalars: RowReader
) -> Scope:
    """Read GROUP BY the unit, with further keys or without."""
    source = scalars.source
    if node.args.get("distinct") is not None:
        raise source.refuse(refusals.DISTINCT_AFTER_GROUP_BY, items[0].node)
    keys = read_group_keys(node, scope, items, scalars)
    if not has_unit(scope, keys):
        raise _refuse_ownership(node, scope, keys, source)
    named = _column_names(
        scope, {key.name: key.expression for key in keys if not scope.unit(key.expression)}
    )
    totals: dict[str, tuple[str, Total]] = {}
    reader = AggregateReader(scope, scalars)
    used_names = {
        *(name.lower() for name in named.values()),
        *(name.lower() for name in scope.rows.declaration.unit),
    }

    def special(part: Node) -> Expr | None:
        """Return a key or a total as a column of the resulting rows."""
        if (key := find_key(part, keys, scope, scalars)) is not None:
            return key.expression if scope.unit(key.expression) else col(named[key.name])
        if is_aggregate(part):
            total = total_of(part, reader)
            if total.text not in totals:
                alias = next(
                    (item.name for item in items if item.node is part and item.is_aliased),
                    f"total_{len(totals) + 1}",
                )
                totals[total.text] = unused_name(alias, used_names), total
                used_names.add(totals[total.text][0].lower())
            return col(totals[total.text][0])
        if isinstance(part, exp.Column):
            raise source.refuse(refusals.COLUMN_NOT_GROUPED, part)
        return None

    columns = {item.name: scope.read(item.node, scalars, special) for item in items}
    names = _check_names(columns, items, source)
    condition = node.args.get("having")
    having = None if condition is None else scope.read(condition.this, scalars, special)
    split = _split_by_unit(
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
            raise source.relocate(refusal, condition, source.example) from None
    for item, expression in zip(items, columns.values(), strict=True):
        check_type(expression, split.rows, item.node, scalars)
    return Scope(split.rows, names, frozenset())


def _split_by_unit(
    scope: Scope, keys: Mapping[str, Expr], totals: Mapping[str, Total], node: Node, source: SqlText
) -> Scope:
    try:
        return replace(scope, rows=scope.rows.per_unit(keys, totals))
    except Refused as refusal:
        raise source.relocate(refusal, node, source.example) from None


def has_unit(scope: Scope, keys: list[GroupKey]) -> bool:
    """Tell whether all columns of the unit are among the keys, so that each row belongs to one."""
    return _has_unit(scope, [key.expression for key in keys])


def _has_unit(scope: Scope, expressions: list[Expr]) -> bool:
    """Tell whether all columns of the unit are among the expressions."""
    unit = scope.rows.declaration.unit
    return bool(unit) and {
        expression.text for expression in expressions if scope.unit(expression)
    } == {col(name).text for name in unit}


def _refuse_ownership(
    node: exp.Select, scope: Scope, keys: list[GroupKey], source: SqlText
) -> Refused:
    unit = ", ".join(map(quoted, scope.rows.declaration.unit))
    at, corrected = keys[0].node if keys else node.expressions[0], _unit_example(scope, source)
    if not unit:
        return source.refuse(refusals.NO_UNIT_TO_GROUP, at, corrected=corrected)
    entry = refusals.ROW_OF_MANY_UNITS if keys else refusals.ROW_OF_ALL_UNITS
    return source.refuse(entry, at, unit=unit)


def _unit_example(scope: Scope, source: SqlText) -> str:
    """Return a SELECT with a sub-query that works."""
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


def _column_names(scope: Scope, keys: Mapping[str, Expr]) -> dict[str, str]:
    """Return names of columns for an engine: those of the text if they are free."""
    used_names = {name.lower() for name in scope.rows.declaration.unit}
    column_names = {}
    for name in keys:
        column_names[name] = unused_name(name, used_names)
        used_names.add(column_names[name].lower())
    return column_names


def _check_names(
    columns: Mapping[str, Expr], items: list[SelectItem], source: SqlText
) -> dict[str, Expr]:
    """Refuse two columns with the same name; return the columns."""
    names = [item.name.lower() for item in items]
    twice = next(
        (item for i, item in enumerate(items) if names.index(item.name.lower()) != i), None
    )
    if twice is not None:
        raise source.refuse(
            refusals.COLUMN_NAME_TWICE,
            twice.node,
            name=twice.name,
            corrected=source.replace_text(twice.node, f"{source.words_of(twice.node)} AS other"),
        )
    return dict(columns)
