"""Parallel composition: releases about disjoint parts of the units.

*Parts*        "value": a rule that looks at one unit alone says which part it is in; "index":
               blocks of rows, fixed by their position.
*Add-remove*   The unit that joins or leaves is in one part, and the other parts are the same: the
               largest cost (McSherry 2009).
*Replace*      By index the replaced unit stays in its block: the largest replace cost. By value it
               may leave one part and enter another, which is a step of add-remove in each, or stay,
               which is a replacement inside: the larger of the largest replace cost and the sum of
               the two largest add-remove costs. Where only the add-remove cost is known a
               replacement inside is two steps of it: group(2), which is no less than the sum of
               two.
*Largest*      Number by number: ε and δ, ρ and δ, μ², or order by order. Guarantees of different
               notions are first brought to the strongest notion that all of them imply.

The theorem is often stated as "the largest" without a relation, which is false under replace: two
counts by Laplace(1), each of one part, have δ(1) = 0.2418 when a record moves between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from ..guarantees import Guarantee, Relation
from ..guarantees.guarantee import by_strength, currencies, reach, relation_of
from ..guarantees.renyi import align_orders
from . import accounting_refusals as refusals

Parts = Literal["value", "index"]


def parallel(
    *guarantees: Guarantee,
    relation: str | None = None,
    parts: Parts = "value",
    within: Sequence[Guarantee | None] | None = None,
) -> Guarantee:
    """Compose releases about disjoint parts of the units, under a stated relation.

    State costs under add-remove; for blocks of rows, under replace. `within` adds the replace cost
    of each part, None where it is not known.
    """
    stated_relation = _check_arguments(guarantees, relation, parts, within)
    cost_relation: Relation = "replace" if parts == "index" else "add-remove"
    costs: list[tuple[Guarantee, Relation]] = [(cost, cost_relation) for cost in guarantees]
    costs += [(cost, "replace") for cost in within or () if cost is not None]
    notion = _common([_check_relation(cost, expected, stated_relation) for cost, expected in costs])
    moved = [_plain(cost, notion) for cost in guarantees]
    if stated_relation == cost_relation:
        return Guarantee._bind(_largest(moved), stated_relation, _unit([cost for cost, _ in costs]))
    inside = within or [None] * len(moved)
    stays = [
        a.group(2) if cost is None else _plain(cost, notion)
        for a, cost in zip(moved, inside, strict=True)
    ]
    moves = [_two_largest(moved)] if within and len(moved) > 1 else []
    return Guarantee._bind(
        _largest([*stays, *moves]), stated_relation, _unit([cost for cost, _ in costs])
    )


def _check_arguments(
    guarantees: Sequence[Guarantee],
    relation: str | None,
    parts: str,
    within: Sequence[Guarantee | None] | None,
) -> Relation:
    stated_relation = relation_of(relation)
    if stated_relation is None:
        raise refusals.PARALLEL_WITHOUT_RELATION()
    if not guarantees:
        raise refusals.NO_PARTS()
    if within is not None and len(within) != len(guarantees):
        raise refusals.WITHIN_NOT_ONE_EACH(entries=len(within), parts=len(guarantees))
    if parts not in ("value", "index"):
        raise refusals.UNKNOWN_PARTS(parts=parts)
    if parts == "index" and stated_relation == "add-remove":
        raise refusals.BLOCKS_UNDER_ADD_REMOVE()
    if within is not None and (parts == "index" or stated_relation == "add-remove"):
        raise refusals.WITHIN_NOT_APPLICABLE()
    return stated_relation


def _check_relation(cost: Guarantee, expected: Relation, stated_relation: Relation) -> Guarantee:
    if cost.relation in (None, expected):
        return cost
    raise refusals.COST_UNDER_ANOTHER_RELATION(
        cost=cost, relation=stated_relation, expected=expected
    )


def _unit(costs: Sequence[Guarantee]) -> str | None:
    units = sorted({cost.unit for cost in costs if cost.unit is not None})
    if len(units) > 1:
        raise refusals.PARTS_ABOUT_DIFFERENT_UNITS(units=" and ".join(units), first=units[0])
    return units[0] if units else None


def _common(costs: Sequence[Guarantee]) -> type[Guarantee]:
    """Return the strongest notion that all costs imply."""
    for notion in by_strength(currencies()):
        if all(reach(cost, notion) is not None for cost in costs):
            return notion
    raise refusals.NO_COMMON_NOTION(costs=", ".join(map(str, costs)))


def _plain(cost: Guarantee, notion: type[Guarantee]) -> Guarantee:
    """Convert the cost to a notion, and drop its relation and unit."""
    reached = cost.to(notion)
    return reached.from_vector(reached.vector)


def _largest(costs: Sequence[Guarantee]) -> Guarantee:
    same = align_orders(costs)
    return same[0].from_vector(map(max, zip(*(cost.vector for cost in same), strict=True)))


def _two_largest(costs: Sequence[Guarantee]) -> Guarantee:
    same = align_orders(costs)
    return same[0].from_vector(
        sum(sorted(numbers)[-2:], Fraction(0))
        for numbers in zip(*(cost.vector for cost in same), strict=True)
    )
