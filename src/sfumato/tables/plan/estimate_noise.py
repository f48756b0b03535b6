"""Estimate the noise of candidates in doubles, so that only those that may be the best are fitted
exactly: an exact fit takes longer than all else in a plan.

*Accuracy*  Without a selection of groups the estimate of an objective is that of continuous noise,
            exact to 10^-4. With one it also estimates a threshold, to a seventh of the objective.
*Privacy*   A candidate that is left out adds no noise, and the others are fitted exactly: estimates
            have no part in a promise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import compress

from ...exact.balls import sqrt_up
from ...exact.numbers import exact
from ...guarantees import Guarantee
from ...guarantees.gdp import approximate_mu
from .bounding import Bounding
from .cells import Block, Measurement
from .choose_selection import (
    SelectionOption,
    estimate_threshold,
    optimal_size,
    plausible_size,
    weigh_size,
)
from .components import ColumnPlan
from .split_promise import PromiseSplit, sum_relative_variances

_SURELY, _NEARLY = 1.001, 1.5  # by how much estimates decide, without groups and with them
_SMOOTH = (4.0, 64.0)  # scales from which on estimates are good, without groups and with them
_LARGEST = 2.0**50  # samplers draw every smaller scale


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A way to select groups beside noise of one norm, and the measurements that suit it, the best
    first.
    """

    bounding: Bounding
    way: SelectionOption
    splits: tuple[PromiseSplit, ...]


def leave_out_worse(
    candidates: list[Candidate],
    columns: Sequence[ColumnPlan],
    promise: Guarantee,
    group_size: int,
) -> list[Candidate]:
    """Leave out candidates that are surely worse, by their estimates."""
    if len(candidates) == 1:
        return candidates
    estimates = [
        estimate_objective(candidate, columns, promise, group_size) for candidate in candidates
    ]
    if math.isnan(sum(estimates)):
        return candidates
    least = min(estimates)
    return [
        candidate
        for candidate, estimate in zip(candidates, estimates, strict=True)
        if estimate <= least * (_SURELY if candidate.way.rule == "none" else _NEARLY)
    ]


def estimate_objective(
    candidate: Candidate, columns: Sequence[ColumnPlan], promise: Guarantee, group_size: int
) -> float:
    """Estimate the objective of a candidate; NaN where doubles may be poor. Follows `_fit`."""
    split, bounding, way = candidate.splits[0], candidate.bounding, candidate.way
    measurement, target = split.measurement, promise.noise_target
    if target is None or target.epsilon is None or target.delta is None:
        return math.nan
    epsilon, delta = float(exact(target.epsilon)), float(delta_of(promise))
    selects, is_gaussian = way.rule != "none", bounding.norm == "L2"
    shares = [float(share * (1 - way.share)) for share in split.shares]
    adds = [not is_quantile(measurement, block) for block in measurement.blocks]
    pooled = sum(compress(shares, adds)) if is_gaussian else 0.0
    if is_gaussian and not pooled:
        return math.nan
    pooled += float(way.share) if way.rule == "gaussian" else 0.0
    mu = 0.0
    if pooled:
        delta = delta / 2 if selects else delta
        mu = (approximate_mu(epsilon * pooled, delta) or math.nan) / math.sqrt(pooled)
    scales = []
    for block, share, adds_noise in zip(measurement.blocks, shares, adds, strict=True):
        moved = float(sensitivity_of(measurement, block, bounding)) if adds_noise else 0.0
        scales.append(moved / (mu * math.sqrt(share) if is_gaussian else epsilon * share))
    least = _SMOOTH[selects]
    if not all(least < scale < _LARGEST for scale in compress(scales, adds)):
        return math.nan
    variance = sum_relative_variances(
        columns,
        measurement.components,
        split.readings,
        bounding,
        [
            0.0
            if not scale
            else scale**2 + 1 / 12
            if is_gaussian
            else 0.5 / math.sinh(0.5 / scale) ** 2
            for scale in scales
        ],
    )
    if not selects:
        return variance
    counts_rows = False
    if way.place is not None:
        ((place, _),) = split.readings[way.place].parts
        component = measurement.components[way.place]
        counts_rows, bits = component.form == "one", bounding.component_bits(component)
        total, most = moved_counts(bounding, bits, counts_rows=counts_rows)
        size = estimate_threshold(scales[place], delta, total, most, gaussian=is_gaussian)
    else:
        ballot, twice = replace(bounding, norm="L1"), 2 if bounding.relation == "replace" else 1
        bits, moved = ballot.vote_bits, twice * ballot.groups
        if way.rule == "optimal":
            size = optimal_size(epsilon * float(way.share), delta, moved) * (1 << bits)
        else:
            noise = math.sqrt(moved << 2 * bits) / (mu * math.sqrt(way.share))
            total = twice * ballot.most_votes
            size = estimate_threshold(noise, delta, total, 1 << bits, gaussian=True)
    plausible = plausible_size(bounding, group_size, counts_rows=counts_rows)
    return (variance or 1.0) * weigh_size(size / (1 << bits), plausible)


def moved_counts(bounding: Bounding, bits: int, *, counts_rows: bool) -> tuple[int, int]:
    """Return how far a unit may move the counts that select groups: all together, and one."""
    twice = 2 if bounding.relation == "replace" else 1
    total = twice * (bounding.weight if counts_rows else bounding.most_votes)
    return total, bounding.weight if counts_rows else 1 << bits


def is_quantile(measurement: Measurement, block: Block) -> bool:
    return measurement.components[block.places[0]].form == "point"


def sensitivity_of(measurement: Measurement, block: Block, bounding: Bounding) -> Fraction | int:
    """Return how far a unit may move the cells of a block, in the norm of its noise."""
    component = measurement.components[block.places[0]]
    if bounding.norm == "L1":
        moved = bounding.shared_l1(block.row) if block.cells else bounding.l1(component)
        return moved * block.scale
    square = (
        bounding.shared_l2_squared(block.row) if block.cells else bounding.l2_squared(component)
    ) * block.scale**2
    root = math.isqrt(square)
    return root if root * root == square else sqrt_up(Fraction(square))


def delta_of(promise: Guarantee) -> Fraction:
    delta = promise.parameters.get("delta", Fraction(0))
    return delta if isinstance(delta, Fraction) else Fraction(0)
