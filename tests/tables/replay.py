"""Record and replay: a plan is run on a table and on its neighbours with silent mechanisms, and
what reached the noise is compared.

*Public*    With public keys: as many calls, in the same order, with the same mechanisms, shapes and
            dtypes. With private keys: so for the groups that both have; a group that is not there
            has sums of 0.
*Distance*  At most what the mechanism's noise was fitted to, in its norm; of quantiles and votes,
            at most what a unit may weigh, on either side.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pyarrow as pa

from sfumato.mechanisms import Gaussian, OptimalSelection, WeightedQuantile
from sfumato.tables.plan.query_plan import Plan
from sfumato.tables.plan.read_results import ResultGroups, read_component, read_points
from sfumato.testing.exact_checks import MechanismCall, Through

from .rowwise import plain


@dataclass(slots=True)
class Moved:
    """How far two tables lie apart: what is wrong with it, and the largest part of what was
    declared that a piece moved.
    """

    wrong: list[str] = field(default_factory=list)
    most: Fraction = Fraction(0)

    def add(self, name: str, squared: Fraction | int, declared: Fraction | int) -> None:
        """A distance against its limit, both squared or both not."""
        part = Fraction(squared) / Fraction(declared)
        self.most = max(self.most, part)
        if part > 1:
            self.wrong.append(f"{name}: moved by {float(part):.3f} of what was declared")


def moved(plan: Plan, before: Through, after: Through) -> Moved:
    """Compare what two tables handed to the noise."""
    result = Moved()
    rows = [
        [tuple(plain(key) for key in group) for group in through.groups.rows]
        for through in (before, after)
    ]
    if plan.query.public and rows[0] != rows[1]:
        result.wrong.append("groups differ")
    calls = [iter(through.calls) for through in (before, after)]
    for place, name, mechanism, pooled in expected(plan):
        if isinstance(mechanism, WeightedQuantile) and not (rows[0] and rows[1]):
            for i in (0, 1):
                if rows[i]:
                    next(calls[i])
            continue
        pair = [next(each, None) for each in calls]
        first, second = pair
        if (
            first is None
            or second is None
            or first.mechanism is not mechanism
            or second.mechanism is not mechanism
        ):
            result.wrong.append(f"{name}: another order of calls")
            return result
        if [values.dtype for values in first.integers] != [
            values.dtype for values in second.integers
        ]:
            result.wrong.append(f"{name}: dtypes differ")
        where = (
            [ballot_keys(through) for through in (before, after)]
            if name == "ballot"
            else [[()]] * 2
            if pooled
            else rows
        )
        if place is not None and not plan.query.public and not pooled:
            (first, second), where = _named_by_either(plan, place, mechanism, before, after)
        _compare(result, name, mechanism, first, second, where, public=plan.query.public or pooled)
    if any(next(each, None) is not None for each in calls):
        result.wrong.append("more calls than planned")
    return result


def expected(plan: Plan) -> Iterator[tuple[int | None, str, Any, bool]]:
    """The calls that a plan will make: place and name of the piece, mechanism, and whether it is
    pooled over groups.
    """
    if plan.calibration.selection is not None:
        yield None, "ballot", plan.calibration.selection, False
    for place, (piece, noise) in enumerate(
        zip(plan.components, plan.calibration.noise, strict=True)
    ):
        for mechanism in noise:
            yield place, piece.name, mechanism, piece.pooled


def _named_by_either(
    plan: Plan, place: int, mechanism: Any, first: Through, second: Through
) -> tuple[list[MechanismCall], list[list[Any]]]:
    """The integers of all groups that either table has, whether or not they were voted for: what
    the noise would get if they were named.
    """
    at = next(i for i, statement in enumerate(plan.statements) if place in statement.components)
    names = [f"k{i}" for i in range(len(plan.query.keys))]
    together = pa.concat_tables([through.tally[at].select(names) for through in (first, second)])
    groups, piece, bounding = (
        ResultGroups(together.group_by(names).aggregate([]), plan.query),
        plan.components[place],
        plan.calibration.bounding,
    )
    calls = []
    for through in (first, second):
        table = through.tally[at]
        if piece.form == "point":
            calls.append(MechanismCall(mechanism, read_points(table, place, groups, bounding)))
        else:
            calls.append(
                MechanismCall(
                    mechanism,
                    (
                        read_component(
                            plan.statements[at], table, piece, place, groups, bounding, public=False
                        ),
                    ),
                )
            )
    return calls, [groups.rows] * 2


def ballot_keys(through: Through) -> list[Any]:
    """The groups in the order of the ballot, which is the engine's."""
    ballot = through.tally[0].drop_columns("votes")
    return [tuple(plain(key) for key in line.values()) for line in ballot.to_pylist()]


def _compare(
    difference: Moved,
    name: str,
    mechanism: Any,
    first: MechanismCall,
    second: MechanismCall,
    rows: list[list[Any]],
    *,
    public: bool,
) -> None:
    replaced = mechanism.relation == "replace"
    if isinstance(mechanism, OptimalSelection):
        votes = [
            Counter(dict(zip(group, call.integers[0].tolist(), strict=True)))
            for group, call in zip(rows, (first, second), strict=True)
        ]
        for a, b in ((votes[0], votes[1]), (votes[1], votes[0])):
            more = a - b
            difference.add(f"{name}, all", sum(more.values()), mechanism.groups * mechanism.quanta)
            difference.add(f"{name}, each", max(more.values(), default=0), mechanism.quanta)
        if not replaced and (votes[0] - votes[1]) and (votes[1] - votes[0]):
            difference.wrong.append(f"{name}: votes moved both ways")
    elif isinstance(mechanism, WeightedQuantile):
        weights = [_points(call, group) for group, call in zip(rows, (first, second), strict=True)]
        both = [sum((weights[0] - weights[1]).values()), sum((weights[1] - weights[0]).values())]
        for side in both:
            difference.add(name, side, mechanism.weight)
        if not replaced and all(both):
            difference.wrong.append(f"{name}: weights moved both ways")
    else:
        values = [
            dict(zip(group, call.integers[0].tolist(), strict=False))
            for group, call in zip(rows, (first, second), strict=True)
        ]
        if public and first.integers[0].shape != second.integers[0].shape:
            difference.wrong.append(f"{name}: shapes differ")
        empty = [0] * first.integers[0].shape[1]
        apart = [
            a - b
            for group in {**values[0], **values[1]}
            for a, b in zip(values[0].get(group, empty), values[1].get(group, empty), strict=True)
        ]
        if isinstance(mechanism, Gaussian):
            difference.add(name, sum(d * d for d in apart), mechanism.sensitivity**2)
        else:
            difference.add(name, sum(map(abs, apart)), mechanism.sensitivity)


def _points(call: MechanismCall, rows: list[Any]) -> Counter[Any]:
    groups, points, weights = call.integers
    result: Counter[Any] = Counter()
    for group, point, weight in zip(
        groups.tolist(), points.tolist(), weights.tolist(), strict=True
    ):
        result[rows[group], point] += weight
    return result


def texts(plan: Plan) -> list[str]:
    """The statements of a plan, with the names that are drawn at random taken out."""
    return [re.sub(r"ibis_[a-z_]*_[a-z0-9]{20,}|'[0-9a-f]{32}'", "…", text) for text in plan.sql]
