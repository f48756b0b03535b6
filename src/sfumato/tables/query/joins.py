"""Check joins: every joined row belongs to one unit, or the join is refused.

All of it is public: checks read no protected data.

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

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ..declare.declaration import Declaration
from ..declare.place_hierarchy import PlaceHierarchy
from ..expr.expressions import ColumnRef, Expr, col
from ..expr.types import Type
from ..expr.value_sets import ValueSet
from . import query_refusals as refusals
from .column_facts import ColumnFacts
from .join_steps import Join, JoinKind, Match, MatchKind, On, Pairs
from .owned_rows import tables_in
from .renaming import rename_columns, right_names
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
KINDS: tuple[JoinKind, ...] = ("inner", "left", "cross")


def check_related(left: Rows, table: object) -> Rows:
    """Return the rows of the other table. Refuses rows of another `protect` call."""
    from . import stages

    right = getattr(table, "rows", table)
    if not isinstance(right, stages.Rows):
        raise refusals.NOT_ROWS(type=type(table).__name__)
    if (
        left.origin is None
        or right.origin is None
        or left.origin.source.engine is not right.origin.source.engine
        or left.origin.part != right.origin.part
    ):
        raise refusals.TABLES_NOT_PROTECTED_TOGETHER(table=right.declaration.name)
    if tables_in(left) + tables_in(right) > MOST_TABLES:
        raise refusals.TOO_MANY_TABLES(table=right.declaration.name, most=MOST_TABLES)
    return right


def join(left: Rows, table: object, on: On | None, how: str, where: Expr | None = None) -> Rows:
    """Join the rows of another table, with the arguments of `Rows.join`."""
    right = check_related(left, table)
    return join_rows(
        left,
        right,
        pairs_of(left, right, on) if how != "cross" or on is not None else (),
        how,
        where,
    )[0]


def join_rows(
    left: Rows, right: Rows, pairs: Pairs, how: str, where: Expr | None = None
) -> tuple[Rows, dict[str, str]]:
    """Return the joined rows, and for each column of the right its name in them."""
    place = f"join({right.declaration.name:.60})"
    if how not in KINDS:
        raise refusals.UNKNOWN_JOIN(how=how)
    if how == "cross" and (pairs or where is not None):
        raise refusals.CROSS_JOIN_WITH_CONDITION()
    if how == "inner" and where is not None:
        raise refusals.INNER_JOIN_WITH_CONDITION()
    if left.public and not right.public:
        raise refusals.PUBLIC_LEFT_OF_JOIN(
            place=place, protected=right.declaration.name, public=left.declaration.name
        )
    if not left.public and not left.declaration.unit:
        raise refusals.JOIN_WITHOUT_UNIT(place=place)
    _check_comparable(left, right, pairs, where, place)
    owned = _check_owned(left, right, pairs, place)
    names = right_names(left.schema, right.schema)
    same = _equal_columns(left, right, pairs) if how == "inner" else {}
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
    schema = step.schema(left.schema)
    ranges = {
        **left.ranges,
        **{new: right.ranges[old] for new, old in brought if old in right.ranges},
    }
    for old, new in same.items():  # known of one, and so of both
        if old in right.ranges and new not in ranges:
            ranges[new] = right.ranges[old]
    links = {new: right.links[old] for old, new in same.items() if old in right.links} | dict(
        left.links
    )
    rows = _unit_rows(left, right, pairs, place, how, owned=owned)
    joined = replace(
        left,
        declaration=_larger_limits(
            left.declaration, left.declaration if right.public else right.declaration
        ),
        steps=(*left.steps, step),
        schema=schema,
        ranges=ranges,
        facts=_joined_facts(left, right, step, schema, same, owned=owned),
        links=links | {new: right.links[old] for new, old in brought if old in right.links},
        once=owned and left.once and right.once,
        numbers=frozenset(),  # a row may have become several
        most=0,
        fans=True,
        unit_rows=max(rows, left.unit_rows, right.unit_rows)
        if owned
        else rows,  # what has to be equal is computed before the join, on both sides
        work=left.work + right.work,
        spread=_spread(left, right, pairs, owned=owned, fans=fans),
        row_work=left.row_work + right.row_work,
    )
    joined = replace(spend(joined, _cost(pairs, where), place), unit_rows=rows)
    return joined, {**names, **same}


def match_rows(
    left: Rows,
    table: object,
    on: On | Pairs | None,
    kind: MatchKind,
    where: Expr | None = None,
    *,
    nulls: bool = False,
) -> Rows:
    """Keep the rows that match some other row, or none."""
    right = check_related(left, table)
    pairs: Pairs = (
        on
        if isinstance(on, tuple) and all(isinstance(pair, tuple) for pair in on)
        else pairs_of(left, right, on)  # type: ignore[arg-type]  # mypy does not narrow tuples
    )
    place = f"{kind}_join({right.declaration.name:.60})"
    if left.public and not right.public:
        raise refusals.PUBLIC_LEFT_OF_MATCH(
            place=place, protected=right.declaration.name, public=left.declaration.name
        )
    if nulls and (kind == "semi" or not right.public or len(pairs) != 1 or where is not None):
        raise refusals.NULLS_NOT_POSSIBLE(place=place)
    _check_comparable(left, right, pairs, where, place)
    owned = _check_owned(left, right, pairs, place)
    compared = COMPARED_ROWS if owned and where is not None and not (left.once or right.once) else 0
    matched = replace(
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
    matched = replace(
        matched,
        unit_rows=pairs_of_rows,
        work=left.work + right.work,
        spread=left.spread * each,
        row_work=left.row_work + right.row_work,
    )
    return replace(
        spend(matched, _cost(pairs, where), place), unit_rows=left.unit_rows, spread=left.spread
    )


def _unit_rows(left: Rows, right: Rows, pairs: Pairs, place: str, how: str, *, owned: bool) -> int:
    """Return how many rows the rows of one unit may become by a join. A left join keeps all left
    rows, matched or not.
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
    """Return how many rows one ordinary row may become by a join."""
    if owned:
        return max(left.spread, right.spread) * (USUAL if fans else 1)
    return left.spread * most_matches(left.schema, right, pairs)


def _cost(pairs: Pairs, where: Expr | None) -> int:
    return cost_of([*(side for pair in pairs for side in pair), where])


def pairs_of(left: Rows, right: Rows, on: On | None) -> Pairs:
    """Read the `on` argument: a name, several names, or a dictionary from left to right names."""
    place = f"join({right.declaration.name:.60}, on=…)"
    if on is None:
        raise refusals.JOIN_COLUMNS_MISSING(place=place)
    named = (
        {on: on}
        if isinstance(on, str)
        else dict(on)
        if isinstance(on, Mapping)
        else {name: name for name in on}
    )
    if not named or not all(isinstance(word, str) for pair in named.items() for word in pair):
        raise refusals.JOIN_COLUMNS_NOT_NAMES(place=place)
    return tuple((left[here], right[there]) for here, there in named.items())


def _check_comparable(
    left: Rows, right: Rows, pairs: Pairs, where: Expr | None, place: str
) -> None:
    """Refuse pairs that cannot be compared, and conditions that are not true or false."""
    names = right_names(left.schema, right.schema)
    schema = {
        **left.schema,
        **{names[name]: column_type for name, column_type in right.schema.items()},
    }
    for ours, theirs in pairs:
        (ours == rename_columns(theirs, names)).type(schema)
    if where is not None and (not isinstance(where, Expr) or where.type(schema).kind != "bool"):
        raise refusals.JOIN_CONDITION_NOT_TRUE_OR_FALSE(place=place)


def _check_owned(left: Rows, right: Rows, pairs: Pairs, place: str) -> bool:
    """Tell whether both sides are protected. Refuses protected sides that are not joined on the
    unit or a declared link.
    """
    if right.public:
        return False
    here, there = left.declaration.unit, right.declaration.unit
    named = {
        (ours.name, theirs.name)
        for ours, theirs in pairs
        if isinstance(ours, ColumnRef) and isinstance(theirs, ColumnRef)
    }
    if here and (
        set(zip(here, there, strict=True)) <= named
        or any(
            ours in left.links and left.links[ours] == right.links.get(theirs)
            for ours, theirs in named
        )
    ):
        return True
    if not here:
        raise refusals.MATCH_WITHOUT_UNIT(place=place)
    raise refusals.JOIN_OF_TWO_OWNERS(place=place, unit=dict(zip(here, there, strict=True)))


def _equal_columns(left: Rows, right: Rows, pairs: Pairs) -> dict[str, str]:
    """Return the right columns that equal a left column. Floats are left out: 0 equals −0 and is
    another value.
    """
    named = [
        (ours.name, theirs.name)
        for ours, theirs in pairs
        if isinstance(ours, ColumnRef) and isinstance(theirs, ColumnRef)
    ]
    named += [] if right.public else zip(left.declaration.unit, right.declaration.unit, strict=True)
    equal: dict[str, str] = {}
    for ours, theirs in named:
        if (
            left.schema[ours].bare == right.schema[theirs].bare
            and left.schema[ours].kind != "float"
        ):
            equal.setdefault(theirs, ours)
    return equal


def _joined_facts(
    left: Rows,
    right: Rows,
    step: Join,
    schema: Mapping[str, Type],
    same: Mapping[str, str],
    *,
    owned: bool,
) -> ColumnFacts:
    """Return the facts about columns after a join. In an inner join equal columns share what is
    known of one of them, and in a left join the right columns may be null.
    """
    outer, facts = step.how == "left", left.facts
    types = {**facts.types, **{new: schema[new] for new, _ in step.columns}}
    sets = {
        new: replace(values, null=values.null or outer)
        for new, old in step.columns
        for values in [right.facts.values(col(old))]
    }
    for old, new in same.items():
        if new in facts.types and new not in facts.definitions:
            sets[new] = _known_of_one(facts.values(col(new)), right.facts.values(col(old)))
    fixed = _right_fixed(left, right, step, owned=owned)
    return replace(
        facts,
        types=types,
        fixed=facts.fixed | frozenset(new for new, old in step.columns if old in fixed),
        hierarchies=(*facts.hierarchies, *_joined_hierarchies(right, step)),
    ).about(sets)


def _joined_hierarchies(right: Rows, step: Join) -> Iterator[PlaceHierarchy]:
    """Yield the hierarchies of the right columns, under their new names. In a left join the columns
    may be null where no place is.
    """
    named = {right.facts.original(old): new for new, old in step.columns}
    for each in right.facts.hierarchies if step.how != "left" else ():
        if set(each.levels) <= set(named):
            yield replace(each, levels=tuple(named[level] for level in each.levels))


def _known_of_one(left: ValueSet, right: ValueSet) -> ValueSet:
    """Return what is known of two columns that are equal: the keys of the left one, if stated."""
    return left if left.stated or (right.stated and left.values is not None) else left & right


def _right_fixed(left: Rows, right: Rows, step: Join, *, owned: bool) -> frozenset[str]:
    """Return the right columns that have one value for each unit after a join. A condition beside
    the unit may leave some rows of a unit without a match, and so with null.
    """
    if owned:
        unit = set(zip(left.declaration.unit, right.declaration.unit, strict=True))
        named = {
            (ours.name, theirs.name)
            for ours, theirs in step.pairs
            if isinstance(ours, ColumnRef) and isinstance(theirs, ColumnRef)
        }
        matches_alike = step.where is None and named <= unit and len(named) == len(step.pairs)
        return frozenset(
            name
            for name in right.schema
            if (step.how == "inner" or matches_alike) and right.facts.is_fixed(col(name))
        )
    is_single = (
        step.where is None
        and all(left.facts.is_fixed(ours) for ours, _ in step.pairs)
        and most_matches(left.schema, right, step.pairs) == 1
    )
    return frozenset(right.schema) if is_single else frozenset()


def _larger_limits(left: Declaration, right: Declaration) -> Declaration:
    """Return the left declaration with the larger limits of both."""
    rows = (
        None
        if left.max_rows is None or right.max_rows is None
        else max(left.max_rows, right.max_rows)
    )
    groups = groups_of(left, right, max)
    limits = {"max_rows": rows, "max_groups": groups}
    learned = left.learned.after_join(
        *(
            (name, of.learned)
            for name, most in limits.items()
            for of in (left, right)
            if most == getattr(of, name)
        )
    )
    same = (rows, groups, learned) == (left.max_rows, left.max_groups, left.learned)
    return left if same else replace(left, max_rows=rows, max_groups=groups, learned=learned)


def groups_of(left: Declaration, right: Declaration, both: Callable[[int, int], int]) -> int | None:
    """Return max_groups of two tables together: None if neither declares it."""
    if left.max_groups is None and right.max_groups is None:
        return None
    here, there = (declared.max_groups or declared.max_rows for declared in (left, right))
    return None if here is None or there is None else both(here, there)
