"""Unions of rows, checked: rows of one protected table and rows of another, each its owner's.
Public throughout: nothing is read.

*Columns*   go by their names, or by pairs of expressions; each has a type that holds the values of
            both. What is known of a column is what holds on both sides.
*Limits*    A unit counts for the rows of both tables together: for no more, though, than may be
            declared of a table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...errors import Refused
from ..declare.declaration import MOST_ROWS, Declaration, known_keys
from ..declare.learned_limits import LIMITS
from ..expr.column_names import free
from ..expr.expressions import Column, Expr, col
from ..expr.value_ranges import hull
from .join_steps import Union
from .joins import groups_of, related
from .unit_work import check_rows, cost_of, spend

if TYPE_CHECKING:
    from .stages import Rows


def union(left: Rows, other: Any, columns: Iterable[str] | None = None) -> Rows:
    """Rows of both, with the columns that both have."""
    right = related(left, other)
    wanted = (
        [name for name in left.schema if name in right.schema] if columns is None else list(columns)
    )
    for name in wanted:
        left[name], right[name]  # refuses a name that is not there
    units = dict(zip(left.declaration.unit, right.declaration.unit, strict=False))
    return united(
        left, right, [(name, col(name), col(name)) for name in wanted if name not in units]
    )[0]


def united(
    left: Rows, right: Rows, columns: list[tuple[str, Expr, Expr]]
) -> tuple[Rows, list[Expr]]:
    """Rows of both; and each of the columns, as it is to be found there."""
    place = f"union({right.declaration.name:.60})"
    if left.public or right.public:
        reason = "public rows beside protected ones would be counted as if they were people"
        raise Refused(
            "join.ownership",
            place,
            reason,
            "a union of protected rows; a constant can be added to the answer",
        )
    if not left.declaration.unit:
        raise Refused(
            "join.unit",
            place,
            "each row is taken as a different person, and a union may repeat a row",
            "unit='user_id' in protect(…)",
        )
    units = tuple(zip(left.declaration.unit, right.declaration.unit, strict=True))
    owners = {(here, there) for here, there in units}
    taken = {here.lower() for here, _ in units}
    made: list[tuple[str, Expr, Expr]] = []
    found: list[Expr] = []
    for name, one, other in columns:
        if (
            isinstance(one, Column)
            and isinstance(other, Column)
            and (one.name, other.name) in owners
        ):
            found.append(one)
            continue
        own = free(name, taken)
        taken.add(own.lower())
        made.append((own, one, other))
        found.append(col(own))
    step = Union(right, units, tuple(made))
    try:
        schema = step.schema(left.schema)
    except Refused as refusal:
        raise Refused("union.columns", place, refusal.reason, refusal.rewrite) from None
    ranges = {
        name: ends
        for name, one, two in step.both
        if (ends := hull([one.range(left.ranges), two.range(right.ranges)])) and ends[0] < ends[1]
    }
    domains = {name: keys for name, one, two in step.both if (keys := _keys(one, two, left, right))}
    links = {
        name: word
        for name, one, two in step.both
        if (word := _word(one, left)) and word == _word(two, right)
    }
    rows = replace(
        left,
        declaration=_together(left.declaration, right.declaration, place),
        steps=(*left.steps, step),
        schema=schema,
        ranges=ranges,
        domains=domains,
        links=links,
        once=False,
        fans=left.fans or right.fans,
        unit_rows=left.unit_rows + right.unit_rows,
        work=left.work + right.work,
        spread=left.spread + right.spread,
        row_work=left.row_work + right.row_work,
    )
    check_rows(rows.unit_rows, place)
    rows = spend(rows, cost_of(side for _, one, two in columns for side in (one, two)), place)
    return rows, found


def _keys(one: Expr, two: Expr, left: Rows, right: Rows) -> tuple[Any, ...]:
    """The public keys of both sides, where both have them and are of one type."""
    here, there = (
        tuple(rows.domains.get(side.name, ())) if isinstance(side, Column) else ()
        for side, rows in ((one, left), (two, right))
    )
    same = here and there and one.type(left.schema).bare == two.type(right.schema).bare
    return (
        known_keys(one.text, list(dict.fromkeys([*here, *there])), one.type(left.schema))
        if same
        else ()
    )


def _word(expression: Expr, rows: Rows) -> str:
    """What a column is linked to."""
    return rows.links.get(expression.name, "") if isinstance(expression, Column) else ""


def _together(one: Declaration, other: Declaration, place: str) -> Declaration:
    """For those of both."""
    rows = None if one.max_rows is None or other.max_rows is None else one.max_rows + other.max_rows
    groups = groups_of(one, other, lambda a, b: a + b)
    if max(rows or 0, groups or 0) > MOST_ROWS:
        reason = (
            f"a unit would count for the rows of both, more than "
            f"2^{MOST_ROWS.bit_length() - 1}: its weights would have no bits left"
        )
        raise Refused(
            "table.max-rows",
            place,
            reason,
            "a smaller max_rows in protect(…), or fewer tables in the union",
        )
    learned = one.learned.joined(*((name, of.learned) for name in LIMITS for of in (one, other)))
    return replace(
        one,
        max_rows=rows,
        max_groups=groups,
        table_rows=one.table_rows + other.table_rows,
        learned=learned,
    )
