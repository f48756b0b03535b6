"""Choose the noise of a query: what is measured, the share of the promise for each, and the law.

*Measure*   Candidates: each component by itself, or cells that serve several components at once
            (`cells`). The best one has the least error on the columns that were asked for, and no
            column has a larger error than with components apart and equal shares.
*Split*     The measured blocks and every quantile get shares of the promise: equal ones, or those
            with which the sum of the columns' relative variances is least. The counts that say how
            much was clipped or withheld get a fortieth in all.
*Groups*    If groups are selected, the objective also weighs how large a group must be
            (`choose_selection`); a selection by votes gets its share before all others.
*Shares*    are of ε (and add up to it), of μ² or of ρ, whichever the promise is in. A quantile
            with an interval spends a fifth of its share on two points beside it, the rest on
            weights between knots (`rank_ends`).
*Law*       Laplace for a promise of ε alone; Gaussian for ρ or μ. For (ε, δ) the law with the
            smaller objective: Gaussian wins when many blocks, or units in many groups, are released
            at once. If groups are selected, it leaves half of δ to that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import compress
from typing import TypedDict

from ...errors import Refused
from ...exact.balls import sqrt_up
from ...exact.numbers import exact
from ...guarantees import GDP, Approx, Guarantee, Pure, Relation
from ...guarantees.gdp import largest_mu
from ...guarantees.guarantee import NoiseTarget, common_relation_and_unit, noise_notions
from ...guarantees.largest_epsilon import largest_epsilon
from ...mechanisms import (
    Combined,
    CountThreshold,
    Gaussian,
    Laplace,
    OptimalSelection,
    WeightedQuantile,
)
from ...mechanisms.shared.additive import Additive
from ...mechanisms.shared.better_law import Norm, fit_noise, norms_for
from ...mechanisms.shared.mechanism import Mechanism
from ..aggregates.component import Component
from ..aggregates.rank_ends import AWAY, BRACKET, WEIGHTS
from ..marginals.reconciled_noise import ReconciledNoise
from ..query.stages import Query
from . import plan_refusals as refusals
from .bounding import NARROW, Bounding
from .cells import Block, Measurement, Reading
from .choose_selection import (
    GroupSelection,
    Promised,
    SelectionOption,
    choose_by_votes,
    deciding_counts,
    plausible_size,
    weigh_size,
)
from .components import ColumnPlan
from .estimate_noise import (
    Candidate,
    delta_of,
    is_quantile,
    leave_out_worse,
    moved_counts,
    sensitivity_of,
)
from .split_promise import PromiseSplit, choose_split, sum_relative_variances

CARE = Fraction(1, 40)
TOTAL = "total"
"""The name of the component that counts all rows: finishing estimates the withheld part from it."""

MOST_GROUPS = 1 << 12  # groups of one unit, if groups are selected privately

# searches in ball arithmetic, and noise that many blocks share; cached, because they depend on
# public numbers only
largest_mu_of = lru_cache(maxsize=256)(largest_mu)
_optimal_selection = lru_cache(maxsize=256)(OptimalSelection)
_count_threshold = lru_cache(maxsize=256)(CountThreshold)
_fit_noise = lru_cache(maxsize=256)(fit_noise)
_WITHOUT = SelectionOption("none")

Noise = tuple[Mechanism, ...]
"""The mechanisms of a block: one additive mechanism, or the threshold of the count that selects
groups; for a quantile its own mechanism or, with an interval, those of a point below it, of one
above it, and of the weights between knots.
"""
Adds = Additive | CountThreshold | ReconciledNoise


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """The noise of every block, how each component is read from the blocks, the selection of
    groups, and all of it as one ledger entry.
    """

    components: tuple[Component, ...]
    bounding: Bounding
    blocks: tuple[Block, ...]
    readings: tuple[Reading, ...]
    noise: tuple[Noise, ...]
    selection: GroupSelection | None
    mechanism: Combined
    gains: tuple[float, ...]
    """For each column its standard error, relative to that of components apart with equal shares.
    """

    def noise_of(self, place: int) -> Noise:
        """Return the noise of a component that has a block of its own."""
        ((block, _),) = self.readings[place].parts
        return self.noise[block]

    def step_of(self, place: int) -> Fraction:
        """Return the value of one step of a component's noisy integers."""
        bits = self.bounding.component_bits(self.components[place])
        return self.readings[place].step / (1 << bits)

    def needs_python_integers(self, block: Block) -> bool:
        """Tell whether a block's cells may need more than 62 bits, by public facts alone."""
        rows = self.bounding.bits + (self.bounding.table_rows * block.scale - 1).bit_length()
        row = block.row or self.components[block.places[0]].largest
        return row.bit_length() + rows > NARROW

    def draws_of(self, place: int) -> list[tuple[Adds, int, str]]:
        """Return the draws in a component's noise: mechanism, weight, and a name that is the same
        for the same draw.
        """
        draws = []
        for block, weights in self.readings[place].parts:
            mechanism = self.noise[block][0]
            assert isinstance(mechanism, Additive | CountThreshold | ReconciledNoise)
            draws += [
                (mechanism, weight, f"{block}.{cell}")
                for cell, weight in enumerate(weights)
                if weight
            ]
        return draws


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A candidate for a calibration: what is measured and its noise, the selection of groups, and
    the (ε, δ) that Gaussian noise states.
    """

    bounding: Bounding
    split: PromiseSplit
    noise: tuple[Noise, ...]
    selection: GroupSelection | None
    stated: tuple[Fraction, Fraction] | None


def calibrate(
    query: Query,
    components: tuple[Component, ...],
    columns: Sequence[ColumnPlan],
    promise: Guarantee,
    group_size: int = 1000,
) -> Calibration:
    """Choose the noise, and the selection of groups, that keep a promise with the least objective.
    A plausible group has `group_size` rows.
    """
    if promise.noise_target is None:
        notions = ", ".join(f"sf.{kind.__name__}" for kind in noise_notions())
        raise refusals.NOTION_WITHOUT_NOISE(promise=promise, notions=notions)
    if not query.public:
        if not delta_of(promise):
            raise refusals.KEYS_WITHOUT_DELTA(promise=promise, column=query.keys[0])
        groups = Bounding.of(query, "L1").groups
        if groups > MOST_GROUPS:
            raise refusals.UNIT_IN_TOO_MANY_GROUPS(groups=groups, most=MOST_GROUPS)
    fitted = promise.divisible
    candidates = [
        _measure_beside(components, columns, bounding, way)
        for norm in norms_for(fitted.noise_target)
        for bounding, way in _ways(query, components, tuple(columns), fitted, norm, group_size)
    ]
    drafts = [
        _draft(candidate, fitted)
        for candidate in leave_out_worse(candidates, columns, fitted, group_size)
    ]
    draft = min(
        (draft for draft in drafts if draft is not None),
        key=lambda draft: _objective(draft, columns, group_size),
    )
    selection = draft.selection
    by_votes = selection is not None and selection.place is None
    parts: list[Mechanism] = [selection.mechanism] if selection is not None and by_votes else []
    parts += [mechanism for mechanisms in draft.noise for mechanism in mechanisms]
    epsilon, delta = draft.stated or (None, None)
    mechanism = Combined(parts, epsilon=epsilon, delta=delta)
    if not keeps_promise(mechanism, promise):
        raise AssertionError("the noise does not keep the promise it was fitted to")
    return Calibration(
        draft.split.measurement.components,
        draft.bounding,
        draft.split.measurement.blocks,
        draft.split.readings,
        draft.noise,
        selection,
        mechanism,
        tuple(math.sqrt(ratio) for ratio in draft.split.ratios),
    )


def _ways(
    query: Query,
    components: tuple[Component, ...],
    columns: tuple[ColumnPlan, ...],
    promise: Guarantee,
    norm: Norm,
    group_size: int,
) -> list[tuple[Bounding, SelectionOption]]:
    """List the ways to select groups beside noise of one norm, each with the bounds it needs."""
    bounding = Bounding.of(query, norm)
    if query.public:
        return [(bounding, _WITHOUT)]
    target = promise.noise_target
    assert target is not None
    promised = Promised(
        math.inf if target.epsilon is None else float(exact(target.epsilon)),
        math.sqrt(target.mu_squared or 0),
        float(delta_of(promise)),
    )
    by_votes = choose_by_votes(
        bounding,
        promised,
        group_size,
        pools=norm == "L2" and target.mu_squared is None,
        has_noise=any(component.form != "point" for component in components),
    )
    return [
        (bounding, by_votes),
        *(
            (replace(bounding, limits_total=True), SelectionOption("count", place=place))
            for place in deciding_counts(components, columns)
        ),
    ]


def _measure_beside(
    components: tuple[Component, ...],
    columns: Sequence[ColumnPlan],
    bounding: Bounding,
    way: SelectionOption,
) -> Candidate:
    """List the measurements for noise of one norm, the best first."""
    if bounding.rule == "root":
        # groups weigh rows by the Euclidean norm: no total has these weights to compare with
        components = tuple(component for component in components if component.name != TOTAL)
    splits = choose_split(components, tuple(columns), bounding, care=CARE, alone=way.place)
    return Candidate(bounding, way, splits)


def _draft(candidate: Candidate, promise: Guarantee) -> Draft | None:
    """Draft noise of one norm, by the best measurement whose noise the samplers can draw. None if
    Gaussian noise is to be fitted to (ε, δ) and nothing adds noise.
    """
    bounding, way = candidate.bounding, candidate.way
    for split in candidate.splits[:-1]:
        try:
            return _fit(split, bounding, promise, way)
        except Refused as refused:
            if refused.code != "noise.scale":
                raise
    return _fit(candidate.splits[-1], bounding, promise, way)


def _fit(
    split: PromiseSplit, bounding: Bounding, promise: Guarantee, way: SelectionOption
) -> Draft | None:
    """Fit noise to the shares of a promise. Gaussian noise for ε and δ is fitted to all blocks
    together, with that of votes.
    """
    measurement, selects = split.measurement, way.rule != "none"
    shares = [share * (1 - way.share) for share in split.shares]
    bare, delta, stated = promise.without_delta(), delta_of(promise), None
    fitted = bare  # the promise whose shares additive noise keeps; quantiles and groups keep `bare`
    votes: NoiseTarget | None = None  # what the Gaussian noise of votes keeps
    if "L1" in norms_for(promise.noise_target):
        pooled = way.share if way.rule == "gaussian" else Fraction(0)
        if bounding.norm == "L2":
            additive = (not is_quantile(measurement, block) for block in measurement.blocks)
            rest = sum(compress(shares, additive), Fraction(0))
            if not rest:
                return None
            pooled += rest
        if pooled:
            stated = largest_epsilon(bare.scaled(pooled)), delta / 2 if selects else delta
            joint = GDP.from_square(largest_mu_of(*stated) ** 2 / pooled)
            votes = joint.scaled(way.share).noise_target if way.rule == "gaussian" else None
            fitted = joint if bounding.norm == "L2" else bare
            delta -= stated[1]
    elif way.rule == "gaussian":
        votes = bare.scaled(way.share).noise_target
    targets = {share: fitted.scaled(share).noise_target for share in set(shares)}
    noise = tuple(
        _quantile_noise(measurement.components[block.places[0]], bounding, bare, share)
        if is_quantile(measurement, block)
        else (additive_noise(measurement, block, bounding, targets[share]),)
        for block, share in zip(measurement.blocks, shares, strict=True)
    )
    if way.place is not None:
        ((block, _),) = split.readings[way.place].parts
        selection = _by_count(
            measurement.components[way.place], way.place, bounding, noise[block][0], delta
        )
        noise = (*noise[:block], (selection.mechanism,), *noise[block + 1 :])
        return Draft(bounding, split, noise, selection, stated)
    if not selects:
        return Draft(bounding, split, noise, None, stated)
    epsilon = largest_epsilon(bare.scaled(way.share)) if votes is None else None
    return Draft(bounding, split, noise, _by_votes(bounding, epsilon, votes, delta), stated)


def _by_count(
    component: Component, place: int, bounding: Bounding, noise: Mechanism, delta: Fraction
) -> GroupSelection:
    """Let the noisy count of rows or units select groups."""
    assert isinstance(noise, Laplace | Gaussian)
    counts_rows = component.form == "one"
    bits = bounding.component_bits(component)
    total, most = moved_counts(bounding, bits, counts_rows=counts_rows)
    threshold = _count_threshold(noise=noise, delta=delta, total=total, most=most)
    return GroupSelection(threshold, bits, counts_rows, place)


def _by_votes(
    bounding: Bounding, epsilon: Fraction | None, target: NoiseTarget | None, delta: Fraction
) -> GroupSelection:
    """Let votes select groups: by the best rule for a vote, or with the Gaussian noise of a target.
    A unit's votes are weighed by the L1 norm, whatever the noise of the columns is.
    """
    ballot = replace(bounding, norm="L1")
    bits, unit = ballot.vote_bits, _unit_arguments(bounding)
    if target is None:
        assert epsilon is not None
        rule = _optimal_selection(
            epsilon=epsilon, delta=delta, groups=ballot.groups, quanta=1 << bits, **unit
        )
        return GroupSelection(rule, bits)
    twice = 2 if ballot.relation == "replace" else 1
    square = Fraction(twice * ballot.groups << 2 * bits)
    noise = fit_noise("L2", target, sqrt_up(square), **unit)
    total = twice * ballot.most_votes
    return GroupSelection(
        _count_threshold(noise=noise, delta=delta, total=total, most=1 << bits), bits
    )


def additive_noise(
    measurement: Measurement, block: Block, bounding: Bounding, target: NoiseTarget | None
) -> Additive:
    """Fit the noise of a block to its part of the promise."""
    assert target is not None  # a share has a target if the promise has
    sensitivity, unit = sensitivity_of(measurement, block, bounding), _unit_arguments(bounding)
    return _fit_noise(bounding.norm, target, sensitivity, **unit)


def _quantile_noise(
    component: Component, bounding: Bounding, promise: Guarantee, share: Fraction
) -> Noise:
    """Return the mechanism of a quantile or, with an interval, those of its bracket and bins."""
    aggregate = component.aggregate
    assert aggregate is not None
    assert aggregate.q is not None
    has_ends = aggregate.interval and not aggregate.beyond
    quantile = partial(
        WeightedQuantile,
        q=aggregate.q,
        low=component.low,
        high=component.high,
        weight=bounding.weight,
        groups=bounding.grouped,
        **_unit_arguments(bounding),
    )
    part = share * BRACKET if has_ends else share
    epsilon = largest_epsilon(promise.scaled(part), ranged=True)
    value = quantile(epsilon=epsilon)
    if aggregate.beyond:
        # one point that is a bound of the extreme: the other end of its interval is public
        below, above = value.ends(aggregate.confidence)
        return (below if aggregate.beyond == "max" else above,)
    if not has_ends:
        return (value,)
    shift = math.ceil(AWAY / value.rate)
    return (
        quantile(epsilon=epsilon, shift=shift),
        quantile(epsilon=epsilon, shift=-shift),
        _bins_noise(bounding, promise.scaled(share * WEIGHTS)),
    )


def _bins_noise(bounding: Bounding, promise: Guarantee) -> Additive:
    """Return the noise of the weights between knots, in all groups. A unit that is replaced may
    take its whole weight from one bin and bring it to another.
    """
    target = promise.noise_target
    assert target is not None
    (norm, *_) = norms_for(target)
    swaps = 2 if bounding.relation == "replace" else 1
    sensitivity = (
        Fraction(swaps * bounding.weight)
        if norm == "L1"
        else sqrt_up(Fraction(swaps * bounding.weight**2))
    )
    return fit_noise(norm, target, sensitivity, **_unit_arguments(bounding))


class UnitArguments(TypedDict):
    """The arguments of every mechanism that say who is protected."""

    relation: Relation
    unit: str


def _unit_arguments(bounding: Bounding) -> UnitArguments:
    return {
        "relation": bounding.relation,
        "unit": bounding.called or ", ".join(bounding.unit) or "row",
    }


def relative_variance(calibration: Calibration, columns: Sequence[ColumnPlan]) -> float:
    """Sum the columns' variances, each relative to the square of what a row may add."""
    return sum_relative_variances(
        columns,
        calibration.components,
        calibration.readings,
        calibration.bounding,
        [_variance(noise) for noise in calibration.noise],
    )


def _objective(draft: Draft, columns: Sequence[ColumnPlan], group_size: int) -> float:
    """Return the sum of relative variances, times the factor for the size that groups need."""
    variance = sum_relative_variances(
        columns,
        draft.split.measurement.components,
        draft.split.readings,
        draft.bounding,
        [_variance(noise) for noise in draft.noise],
    )
    if draft.selection is None:
        return variance
    plausible = plausible_size(draft.bounding, group_size, counts_rows=draft.selection.counts_rows)
    return (variance or 1.0) * weigh_size(draft.selection.half, plausible)


def _variance(noise: Noise) -> float:
    additive = noise[0].noise if isinstance(noise[0], CountThreshold) else noise[0]
    return additive.variance if isinstance(additive, Additive | ReconciledNoise) else 0.0


def keeps_promise(mechanism: Combined, promise: Guarantee) -> bool:
    """Tell whether all mechanisms together cost no more than the promise, number by number."""
    cost = mechanism.promise
    common_relation_and_unit(promise, cost)  # refuses another relation or unit
    if not isinstance(promise, Approx):
        is_kept = isinstance(cost, type(promise)) and cost <= promise
        return is_kept or any(stated <= promise for stated in mechanism.promises)
    epsilon, delta = promise.vector  # a curve has no best (ε, δ): the stated one is compared
    stated = cost.parameters if isinstance(cost, Pure | Approx) else {"epsilon": math.inf}
    return stated["epsilon"] <= epsilon and stated.get("delta", 0) <= delta
