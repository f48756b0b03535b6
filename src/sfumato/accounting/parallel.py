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

"The largest" without a relation is how it is often stated, and false under replace: two counts by
Laplace(1), each of one part, have δ(1) = 0.2418 when a record moves from one to the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from ..errors import Refused
from ..guarantees import Guarantee, Relation
from ..guarantees.guarantee import reach, relation_of
from ..guarantees.mixed import NOTIONS
from .budget_vector import aligned, make, read

Parts = Literal["value", "index"]


def parallel(
    *guarantees: Guarantee,
    relation: str | None = None,
    parts: Parts = "value",
    within: Sequence[Guarantee | None] | None = None,
) -> Guarantee:
    """The promise of releases about disjoint parts, under a relation that has to be said.

    Costs are those under add-remove; for blocks of rows, those under replace. `within` gives the
    parts' replace costs beside them, None where one is not known.
    """
    wanted = _checked(guarantees, relation, parts, within)
    own: Relation = "replace" if parts == "index" else "add-remove"
    given: list[tuple[Guarantee, Relation]] = [(cost, own) for cost in guarantees]
    given += [(cost, "replace") for cost in within or () if cost is not None]
    notion = _common([_stated(cost, expected, wanted) for cost, expected in given])
    moved = [_plain(cost, notion) for cost in guarantees]
    if wanted == own:
        return Guarantee._bind(_largest(moved), wanted, _unit([cost for cost, _ in given]))
    inside = within or [None] * len(moved)
    stays = [
        a.group(2) if cost is None else _plain(cost, notion)
        for a, cost in zip(moved, inside, strict=True)
    ]
    moves = [_two_largest(moved)] if within and len(moved) > 1 else []
    return Guarantee._bind(_largest([*stays, *moves]), wanted, _unit([cost for cost, _ in given]))


def _checked(
    guarantees: Sequence[Guarantee],
    relation: str | None,
    parts: str,
    within: Sequence[Guarantee | None] | None,
) -> Relation:
    wanted = relation_of(relation)
    if wanted is None:
        reason = (
            "the largest cost is right under add-remove only: a replaced unit may leave one "
            "part and enter another"
        )
        raise Refused(
            "parallel.relation", "parallel(…)", reason, "parallel(…, relation='add-remove')"
        )
    if not guarantees or (within is not None and len(within) != len(guarantees)):
        raise Refused(
            "parallel.parts",
            f"{len(guarantees)} parts",
            "each part has a cost, and an entry in within= if that is given",
            "parallel(a, b, …)",
        )
    if parts not in ("value", "index"):
        raise Refused(
            "parallel.parts",
            f"parts={parts!r}",
            "parts are told by the unit's value or by the row's position",
            "parts='value'",
        )
    if parts == "index" and wanted == "add-remove":
        raise Refused(
            "parallel.parts",
            "parts='index', relation='add-remove'",
            "a row more or less moves the rows behind it into other blocks",
            "parts='value'",
        )
    if within is not None and (parts == "index" or wanted == "add-remove"):
        raise Refused(
            "parallel.parts",
            "within=…",
            "a replacement inside a part counts only under replace, and with parts told by value",
            "leave within= out",
        )
    return wanted


def _stated(cost: Guarantee, expected: Relation, wanted: Relation) -> Guarantee:
    if cost.relation in (None, expected):
        return cost
    reason = f"what counts here is its cost under {expected}"
    raise Refused(
        "guarantee.relation",
        f"{cost} in parallel(…, relation={wanted!r})",
        reason,
        f"the cost with relation={expected!r}",
    )


def _unit(costs: Sequence[Guarantee]) -> str | None:
    units = sorted({cost.unit for cost in costs if cost.unit is not None})
    if len(units) > 1:
        raise Refused(
            "guarantee.unit",
            "parallel(…)",
            f"the parts are about different units, {' and '.join(units)}",
            "state all for the same unit",
        )
    return units[0] if units else None


def _common(costs: Sequence[Guarantee]) -> type[Guarantee]:
    """The strongest notion that all imply; `NOTIONS` lists them from the strongest on."""
    for notion in NOTIONS:
        if all(reach(cost, notion) is not None for cost in costs):
            return notion
    place = f"parallel({', '.join(map(str, costs))})"
    raise Refused(
        "guarantee.does-not-follow",
        place,
        "no notion of differential privacy follows from all of them",
        "leave the other out",
    )


def _plain(cost: Guarantee, notion: type[Guarantee]) -> Guarantee:
    """The cost in a notion, without relation and unit."""
    reached = cost.to(notion)
    return make(reached, read(reached))


def _largest(costs: Sequence[Guarantee]) -> Guarantee:
    same = aligned(costs)
    return make(same[0], map(max, zip(*map(read, same), strict=True)))


def _two_largest(costs: Sequence[Guarantee]) -> Guarantee:
    same = aligned(costs)
    return make(
        same[0],
        (sum(sorted(numbers)[-2:], Fraction(0)) for numbers in zip(*map(read, same), strict=True)),
    )
