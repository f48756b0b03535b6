"""Joins of rows, checked: what comes out belongs to units, or it is refused. Public throughout:
nothing is read.

*With public tables*      any condition, inner, left or cross; a protected row stays its unit's,
                          however often it is repeated.
*Of protected tables*     on the unit, or on columns that a declared link makes one: both sides then
                          are the same unit's. All else would have two owners.
*Names*                   Columns of the other table keep theirs, with `_right` after them where it
                          is taken. Of columns that an inner join makes equal there is one, under
                          its name here.
*Limits*                  A unit counts for as many rows as in the table that allows more. Bounding
                          comes last, on the joined rows, so how often a row is repeated does not
                          matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...errors import Refused
from ..declare.declaration import Declaration
from ..expr.expressions import Column, Expr, col
from ..expr.renaming import beside, renamed
from .join_steps import Join, Kept, Kind, Match, On, Pairs
from .owned_rows import tables_in
from .unit_work import (
    COMPARED_ROWS,
    JOINED_ROWS,
    USUAL,
    check_public,
    check_rows,
    cost_of,
    most_matches,
    spend,
)

if TYPE_CHECKING:
    from .stages import Rows

MOST_TABLES = 16
KINDS: tuple[Kept, ...] = ("inner", "left", "cross")
EXAMPLE = "visits.join(patients, on={'patient_id': 'id'})"


def related(left: Rows, other: Any) -> Rows:
    """The other rows, if they can be asked about together with these."""
    right: Rows = getattr(other, "rows", other)
    if not hasattr(right, "origin") or not hasattr(right, "steps"):
        raise Refused(
            "join.tables",
            f"{type(other).__name__:.60}",
            "only rows are joined with rows: of a protected table, or of a public one",
            EXAMPLE,
        )
    if (
        left.origin is None
        or right.origin is None
        or left.origin.source.engine is not right.origin.source.engine
    ):
        reason = "tables that are asked about together are protected together, under one budget"
        raise Refused(
            "join.tables",
            right.declaration.name,
            reason,
            "protect({'visits': …, 'patients': …}, unit='patients.id', …)",
        )
    if tables_in(left) + tables_in(right) > MOST_TABLES:
        raise Refused(
            "join.tables",
            right.declaration.name,
            f"at most {MOST_TABLES} tables are joined in one question",
            "fewer of them",
        )
    return right


def join(left: Rows, other: Any, on: On | None, how: str, where: Expr | None = None) -> Rows:
    """The rows of another table beside these, as `Rows.join` says it."""
    right = related(left, other)
    return joined(
        left,
        right,
        pairs_of(left, right, on) if how != "cross" or on is not None else (),
        how,
        where,
    )[0]


def joined(
    left: Rows, right: Rows, pairs: Pairs, how: str, where: Expr | None = None
) -> tuple[Rows, dict[str, str]]:
    """The joined rows, and for each column of the right its name there."""
    place = f"join({right.declaration.name:.60})"
    if how not in KINDS:
        reason = (
            "rows that belong to nobody would be kept, and counted as if they were "
            "somebody's: inner, left and cross joins are answered"
        )
        raise Refused(
            "join.kind",
            f"how={how!r:.60}",
            reason,
            "how='left', from the table whose rows are kept",
        )
    if how == "cross" and (pairs or where is not None):
        raise Refused("join.kind", "how='cross'", "a cross join has no condition", "how='inner'")
    if how == "inner" and where is not None:
        raise Refused(
            "join.columns",
            "where=…",
            "after an inner join a condition is a where",
            "join(…).where(…)",
        )
    if left.public and not right.public:
        reason = (
            f"{left.declaration.name:.60} is public: its rows belong to nobody, and those "
            f"without a match would be counted as data"
        )
        raise Refused(
            "join.kind",
            place,
            reason,
            "join the public table to the protected one: visits.join(cities, on='city')",
        )
    if not left.public and not left.declaration.unit:
        reason = "each row is taken as a different person, and a join may repeat a row"
        raise Refused("join.unit", place, reason, "unit='user_id' in protect(…)")
    _checked(left, right, pairs, where, place)
    owned = _owned(left, right, pairs, place)
    names = beside(left.schema, right.schema)
    same = _same(left, right, pairs) if how == "inner" else {}
    brought = tuple((names[name], name) for name in right.schema if name not in same)
    fans = not (owned and (left.once or right.once))
    step = Join(
        how,
        right,
        left.declaration.unit if owned else (),
        pairs,
        where,
        brought,
        JOINED_ROWS if owned and fans else 0,
    )
    outer = how == "left"
    ranges = {
        **left.ranges,
        **{new: right.ranges[old] for new, old in brought if old in right.ranges},
    }
    domains = {
        **left.domains,
        **{
            new: _absent(right.domains[old], outer=outer)
            for new, old in brought
            if old in right.domains
        },
    }
    for old, new in same.items():  # known of one, and so of both
        if old in right.ranges and new not in ranges:
            ranges[new] = right.ranges[old]
        if old in right.domains and new not in domains:
            domains[new] = right.domains[old]
    links = {new: right.links[old] for old, new in same.items() if old in right.links} | dict(
        left.links
    )
    rows = _unit_rows(left, right, pairs, place, how, owned=owned)
    found = replace(
        left,
        declaration=_larger(
            left.declaration, left.declaration if right.public else right.declaration
        ),
        steps=(*left.steps, step),
        schema=step.schema(left.schema),
        ranges=ranges,
        domains=domains,
        links=links | {new: right.links[old] for new, old in brought if old in right.links},
        once=owned and left.once and right.once,
        fans=True,
        unit_rows=max(rows, left.unit_rows, right.unit_rows)
        if owned
        else rows,  # what has to be equal is computed before the join, on both sides
        work=left.work + right.work,
        spread=_spread(left, right, pairs, owned=owned, fans=fans),
        row_work=left.row_work + right.row_work,
    )
    found = replace(spend(found, _cost(pairs, where), place), unit_rows=rows)
    return found, {**names, **same}


def match(
    left: Rows,
    other: Any,
    on: On | Pairs | None,
    kind: Kind,
    where: Expr | None = None,
    *,
    nulls: bool = False,
) -> Rows:
    """Rows that fit some other row, or none."""
    right = related(left, other)
    pairs: Pairs = (
        on
        if isinstance(on, tuple) and all(isinstance(pair, tuple) for pair in on)
        else pairs_of(left, right, on)  # type: ignore[arg-type]
    )
    place = f"{kind}_join({right.declaration.name:.60})"
    if left.public and not right.public:
        reason = "which public rows have a match is about the people who have it"
        raise Refused(
            "join.kind", place, reason, "the other way round: visits.semi_join(cities, on='city')"
        )
    if nulls and (kind == "semi" or not right.public or len(pairs) != 1 or where is not None):
        raise Refused(
            "join.columns",
            place,
            "a null is compared in an anti join on one column of a public table",
            "anti_join(cities, on='city', nulls=True)",
        )
    _checked(left, right, pairs, where, place)
    owned = _owned(left, right, pairs, place)
    compared = COMPARED_ROWS if owned and where is not None and not (left.once or right.once) else 0
    made = replace(
        left,
        steps=(
            *left.steps,
            Match(
                kind, right, left.declaration.unit if owned else (), pairs, where, nulls, compared
            ),
        ),
    )
    pairs_of_rows, each = left.unit_rows, 1
    if right.public:
        check_public(right, place, cost_of(two for _, two in pairs))
        each = 1 if where is None else most_matches(left.schema, right, pairs)
        pairs_of_rows *= each
        check_rows(pairs_of_rows, place)
    else:
        pairs_of_rows = max(compared, left.unit_rows, right.unit_rows)
    made = replace(
        made,
        unit_rows=pairs_of_rows,
        work=left.work + right.work,
        spread=left.spread * each,
        row_work=left.row_work + right.row_work,
    )
    return replace(
        spend(made, _cost(pairs, where), place), unit_rows=left.unit_rows, spread=left.spread
    )


def _unit_rows(left: Rows, right: Rows, pairs: Pairs, place: str, how: str, *, owned: bool) -> int:
    """What the rows of one unit may become by a join. A left join keeps all rows of the left,
    whatever they fit.
    """
    if owned:
        joined = max(left.unit_rows, right.unit_rows) if left.once or right.once else JOINED_ROWS
        rows = joined + left.unit_rows if how == "left" else joined
    else:
        check_public(right, place, cost_of(two for _, two in pairs))
        rows = left.unit_rows * most_matches(left.schema, right, pairs)
    check_rows(rows, place)
    return rows


def _spread(left: Rows, right: Rows, pairs: Pairs, *, owned: bool, fans: bool) -> int:
    """What one row may become, as far as the class of a question reckons."""
    if owned:
        return max(left.spread, right.spread) * (USUAL if fans else 1)
    return left.spread * most_matches(left.schema, right, pairs)


def _cost(pairs: Pairs, where: Expr | None) -> int:
    return cost_of([*(side for pair in pairs for side in pair), where])


def pairs_of(left: Rows, right: Rows, on: On | None) -> Pairs:
    """What is to be equal, as written: a name, several, or names here and there."""
    place = f"join({right.declaration.name:.60}, on=…)"
    if on is None:
        raise Refused("join.columns", place, "on which columns are rows put together?", EXAMPLE)
    named = (
        {on: on}
        if isinstance(on, str)
        else dict(on)
        if isinstance(on, Mapping)
        else {name: name for name in on}
    )
    if not named or not all(isinstance(word, str) for pair in named.items() for word in pair):
        raise Refused(
            "join.columns",
            place,
            "columns are given by name: one, several, or a name here for each name there",
            EXAMPLE,
        )
    return tuple((left[here], right[there]) for here, there in named.items())


def _checked(left: Rows, right: Rows, pairs: Pairs, where: Expr | None, place: str) -> None:
    """Refuse what cannot be compared."""
    names = beside(left.schema, right.schema)
    schema = {**left.schema, **{names[name]: known for name, known in right.schema.items()}}
    for one, two in pairs:
        (one == renamed(two, names)).type(schema)
    if where is not None and (not isinstance(where, Expr) or where.type(schema).kind != "bool"):
        raise Refused(
            "join.columns",
            f"{place}: where=…",
            "a condition is true or false of two rows",
            "where=sf.col('age') >= sf.col('low')",
        )


def _owned(left: Rows, right: Rows, pairs: Pairs, place: str) -> bool:
    """Whether both sides are protected, and the same unit's."""
    if right.public:
        return False
    here, there = left.declaration.unit, right.declaration.unit
    named = {
        (one.name, two.name)
        for one, two in pairs
        if isinstance(one, Column) and isinstance(two, Column)
    }
    if here and (
        set(zip(here, there, strict=True)) <= named
        or any(one in left.links and left.links[one] == right.links.get(two) for one, two in named)
    ):
        return True
    unit = " and ".join(
        f"{col(one).text} = {col(two).text}" for one, two in zip(here, there, strict=True)
    )
    reason = (
        "a row of two protected tables that are not joined on the unit, or on a declared "
        "link, would belong to two people"
    )
    raise Refused(
        "join.ownership", place, reason, f"… on {unit}" if unit else "unit='user_id' in protect(…)"
    )


def _same(left: Rows, right: Rows, pairs: Pairs) -> dict[str, str]:
    """Columns of the right that equal one of the left. Floats do not: 0 equals −0 and is
    another.
    """
    named = [
        (one.name, two.name)
        for one, two in pairs
        if isinstance(one, Column) and isinstance(two, Column)
    ]
    named += [] if right.public else zip(left.declaration.unit, right.declaration.unit, strict=True)
    found: dict[str, str] = {}
    for one, two in named:
        if left.schema[one].bare == right.schema[two].bare and left.schema[one].kind != "float":
            found.setdefault(two, one)
    return found


def _absent(keys: tuple[Any, ...], *, outer: bool) -> tuple[Any, ...]:
    """Public keys, and none of them where nothing matched."""
    return (*keys, None) if outer and None not in keys else keys


def _larger(one: Declaration, other: Declaration) -> Declaration:
    """A unit counts for as many rows as where it counts for more."""
    rows = (
        None
        if one.max_rows is None or other.max_rows is None
        else max(one.max_rows, other.max_rows)
    )
    groups = groups_of(one, other, max)
    limits = {"max_rows": rows, "max_groups": groups}
    learned = one.learned.joined(
        *(
            (name, of.learned)
            for name, most in limits.items()
            for of in (one, other)
            if most == getattr(of, name)
        )
    )
    same = (rows, groups, learned) == (one.max_rows, one.max_groups, one.learned)
    return one if same else replace(one, max_rows=rows, max_groups=groups, learned=learned)


def groups_of(one: Declaration, other: Declaration, both: Callable[[int, int], int]) -> int | None:
    """The groups that a unit counts in, of two tables: none where none is declared."""
    if one.max_groups is None and other.max_groups is None:
        return None
    here, there = (declared.max_groups or declared.max_rows for declared in (one, other))
    return None if here is None or there is None else both(here, there)
