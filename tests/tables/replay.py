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

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.mechanisms import CountThreshold, Gaussian, OptimalSelection, WeightedQuantile
from sfumato.tables.aggregates.component import Component
from sfumato.tables.aggregates.rank_ends import place_knots, weigh_bins
from sfumato.tables.plan.query_plan import Plan
from sfumato.tables.plan.read_results import ResultGroups, read_component, read_points
from sfumato.testing.exact_checks import MechanismCall, Through

from .rowwise import ballot_keys, deciding_block, plain


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
    for number, name, mechanism, pooled in expected(plan):
        is_point = number is not None and _is_point(plan, number)
        if is_point and not (rows[0] and rows[1]):
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
            [ballot_keys(plan, through) for through in (before, after)]
            if name == "ballot"
            else [[()]] * 2
            if pooled
            else rows
        )
        if number is not None and not plan.query.public and not pooled:
            (first, second), where = _named_by_either(plan, number, mechanism, before, after)
        _compare(result, name, mechanism, first, second, where, public=plan.query.public or pooled)
    if any(next(each, None) is not None for each in calls):
        result.wrong.append("more calls than planned")
    return result


def expected(plan: Plan) -> Iterator[tuple[int | None, str, Any, bool]]:
    """The calls that a plan will make: number and name of the block, mechanism, and whether it is
    pooled over groups.
    """
    calibration = plan.calibration
    if calibration.selection is not None:
        yield None, "ballot", calibration.selection.mechanism, False
    for number, (block, noise) in enumerate(
        zip(calibration.blocks, calibration.noise, strict=True)
    ):
        if number == deciding_block(plan):
            continue  # its count was perturbed with the selection
        first = plan.components[block.places[0]]
        for mechanism in noise:
            yield number, block.about or first.name, mechanism, first.pooled


def _named_by_either(
    plan: Plan, number: int, mechanism: Any, first: Through, second: Through
) -> tuple[list[MechanismCall], list[list[Any]]]:
    """The integers of all groups that either table has, whether or not they were voted for: what
    the noise would get if they were named.
    """
    block, bounding = plan.calibration.blocks[number], plan.calibration.bounding
    at = {place: i for i, each in enumerate(plan.statements) for place in each.components}
    names = [f"k{i}" for i in range(len(plan.query.keys))]
    together = pa.concat_tables(
        [
            through.tally[at[place]].select(names)
            for through in (first, second)
            for place in block.places
        ]
    )
    groups = ResultGroups(together.group_by(names).aggregate([]), plan.query)
    calls = []
    for through in (first, second):
        place = block.places[0]
        if plan.components[place].form == "point":
            grid = plan.components[place].grid
            assert grid is not None
            points = read_points(through.tally[at[place]], place, grid, groups, bounding)
            knots = _fixed_knots(plan.components[place], len(groups))
            is_chosen = isinstance(mechanism, WeightedQuantile)
            integers = points if is_chosen else (weigh_bins(*points, knots),)
            calls.append(MechanismCall(mechanism, integers))
            continue
        sums = [
            read_component(
                plan.statements[at[place]],
                through.tally[at[place]],
                plan.components[place],
                place,
                groups,
                bounding,
                public=False,
            ).astype(object)
            for place in block.places
        ]
        sums_of_cells = (
            np.stack(
                [
                    sum(weight * each[:, 0] for weight, each in zip(weights, sums, strict=True))
                    for weights in block.cells
                ],
                axis=1,
            )
            if block.cells
            else sums[0]
        )
        calls.append(MechanismCall(mechanism, (sums_of_cells,)))
    return calls, [groups.rows] * 2


def _is_point(plan: Plan, number: int) -> bool:
    return plan.components[plan.calibration.blocks[number].places[0]].form == "point"


def _fixed_knots(component: Component, groups: int) -> NDArray[np.int64]:
    """The knots of a rehearsal: the ends of the range are chosen beside the quantile."""
    chosen = np.tile([component.low, component.high], (groups, 1)).reshape(groups, 2)
    return place_knots(chosen, component.low, component.high)


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
    if isinstance(mechanism, OptimalSelection | CountThreshold):
        votes = [
            Counter(dict(zip(group, call.integers[0].tolist(), strict=True)))
            for group, call in zip(rows, (first, second), strict=True)
        ]
        for a, b in ((votes[0], votes[1]), (votes[1], votes[0])):
            more = a - b
            if isinstance(mechanism, OptimalSelection):
                most, total = mechanism.quanta, mechanism.groups * mechanism.quanta
            else:  # `total` is of both units where one replaces the other
                most, total = mechanism.most, mechanism.total // (2 if replaced else 1)
            difference.add(f"{name}, all", sum(more.values()), total)
            difference.add(f"{name}, each", max(more.values(), default=0), most)
        if isinstance(mechanism, CountThreshold):
            apart = [votes[0][key] - votes[1][key] for key in {**votes[0], **votes[1]}]
            limit = mechanism.noise.sensitivity
            if isinstance(mechanism.noise, Gaussian):
                difference.add(f"{name}, noise", sum(d * d for d in apart), limit**2)
            else:
                difference.add(f"{name}, noise", sum(map(abs, apart)), limit)
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
