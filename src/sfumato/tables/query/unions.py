"""Check unions: the rows of two protected tables, each still its owner's.

All of it is public: checks read no protected data.

*Columns*   match by name, or by pairs of expressions; each gets a type that holds the values of
            both. Bounds and public keys of a column are those that hold on both sides.
*Limits*    A unit counts for the rows of both tables together, up to the largest max_rows that a
            table may declare.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from ...errors import Refused
from ..declare.declaration import MOST_ROWS, Declaration
from ..declare.learned_limits import LIMITS
from ..expr.column_names import unused_name
from ..expr.expressions import ColumnRef, Expr, col
from ..expr.value_ranges import hull
from . import query_refusals as refusals
from .column_facts import ColumnFacts
from .join_steps import Union
from .joins import check_related, groups_of
from .unit_work import check_rows, cost_of, spend

if TYPE_CHECKING:
    from .stages import Rows


def union(left: Rows, table: object, columns: Iterable[str] | None = None) -> Rows:
    """Return the rows of both tables, with the columns that both have."""
    right = check_related(left, table)
    names = (
        [name for name in left.schema if name in right.schema] if columns is None else list(columns)
    )
    for name in names:
        left[name], right[name]  # refuses a name that is not there
    units = dict(zip(left.declaration.unit, right.declaration.unit, strict=False))
    return union_rows(
        left, right, [(name, col(name), col(name)) for name in names if name not in units]
    )[0]


def union_rows(
    left: Rows, right: Rows, columns: list[tuple[str, Expr, Expr]]
) -> tuple[Rows, list[Expr]]:
    """Return the rows of both tables, and the expression of each column in them."""
    place = f"union({right.declaration.name:.60})"
    if left.public or right.public:
        raise refusals.UNION_WITH_PUBLIC_ROWS(place=place)
    if not left.declaration.unit:
        raise refusals.JOIN_WITHOUT_UNIT(place=place)
    units = tuple(zip(left.declaration.unit, right.declaration.unit, strict=True))
    owners = {(here, there) for here, there in units}
    used_names = {here.lower() for here, _ in units}
    new_columns: list[tuple[str, Expr, Expr]] = []
    output_columns: list[Expr] = []
    for name, ours, theirs in columns:
        if (
            isinstance(ours, ColumnRef)
            and isinstance(theirs, ColumnRef)
            and (ours.name, theirs.name) in owners
        ):
            output_columns.append(ours)
            continue
        new_name = unused_name(name, used_names)
        used_names.add(new_name.lower())
        new_columns.append((new_name, ours, theirs))
        output_columns.append(col(new_name))
    step = Union(right, units, tuple(new_columns))
    try:
        schema = step.schema(left.schema)
    except Refused as refusal:
        raise refusals.UNION_TYPES_DIFFER(
            place=place, reason=refusal.reason, rewrite=refusal.rewrite
        ) from None
    ranges = {
        name: ends
        for name, ours, theirs in step.both
        if (ends := hull([ours.range(left.ranges), theirs.range(right.ranges)]))
        and ends[0] < ends[1]
    }
    facts = ColumnFacts(schema, fixed=frozenset(left.declaration.unit))
    sets = {
        name: left.facts.values(ours) | right.facts.values(theirs)
        for name, ours, theirs in step.both
        if ours.type(left.schema).bare == theirs.type(right.schema).bare
    }
    links = {
        name: word
        for name, ours, theirs in step.both
        if (word := _link_of(ours, left)) and word == _link_of(theirs, right)
    }
    rows = replace(
        left,
        declaration=_added_limits(left.declaration, right.declaration, place),
        steps=(*left.steps, step),
        schema=schema,
        ranges=ranges,
        facts=facts.about(sets),
        links=links,
        once=False,
        numbers=frozenset(),
        most=0,
        fans=left.fans or right.fans,
        unit_rows=left.unit_rows + right.unit_rows,
        work=left.work + right.work,
        spread=left.spread + right.spread,
        row_work=left.row_work + right.row_work,
    )
    check_rows(rows.unit_rows, place)
    rows = spend(
        rows, cost_of(side for _, ours, theirs in columns for side in (ours, theirs)), place
    )
    return rows, output_columns


def _link_of(expression: Expr, rows: Rows) -> str:
    """Return the link of a column, or ""."""
    return rows.links.get(expression.name, "") if isinstance(expression, ColumnRef) else ""


def _added_limits(left: Declaration, right: Declaration, place: str) -> Declaration:
    """Return the left declaration with the limits of both tables added."""
    rows = (
        None if left.max_rows is None or right.max_rows is None else left.max_rows + right.max_rows
    )
    groups = groups_of(left, right, lambda a, b: a + b)
    if (most := max(rows or 0, groups or 0)) > MOST_ROWS:
        raise refusals.UNION_EXCEEDS_MAX_ROWS(
            place=place, rows=most, bits=MOST_ROWS.bit_length() - 1
        )
    learned = left.learned.after_join(
        *((name, of.learned) for name in LIMITS for of in (left, right))
    )
    return replace(
        left,
        max_rows=rows,
        max_groups=groups,
        table_rows=left.table_rows + right.table_rows,
        learned=learned,
    )
