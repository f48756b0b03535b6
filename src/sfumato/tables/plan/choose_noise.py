"""Choose the noise of a query: what is measured, the share of the promise for each, and the law.

*Measure*   Candidates: each component by itself, or cells that serve several components at once
            (`cells`). The best one has the least error on the columns that were asked for, and no
            column has a larger error than with components apart and equal shares.
*Split*     The measured blocks, every quantile and the selection of groups get shares of the
            promise: equal ones, or those with which the sum of the columns' relative variances is
            least. The counts that say how much was clipped or withheld get a fortieth in all.
*Shares*    are of ε (and add up to it), of μ² or of ρ, whichever the promise is in. A quantile
            spends half of its share on its interval.
*Law*       Laplace for a promise of ε alone; Gaussian for ρ or μ. For (ε, δ) the law with the
            smaller sum of relative variances: Gaussian wins when many blocks, or units in many
            groups, are released at once. If groups are selected, it leaves half of δ to that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import compress
from typing import TypedDict

from ...errors import Refused
from ...exact.balls import sqrt_up
from ...guarantees import GDP, Approx, Guarantee, Pure, Relation
from ...guarantees.gdp import largest_mu
from ...guarantees.guarantee import NoiseTarget, common_relation_and_unit, noise_notions
from ...guarantees.largest_epsilon import largest_epsilon
from ...mechanisms import Combined, OptimalSelection, WeightedQuantile
from ...mechanisms.shared.additive import Additive
from ...mechanisms.shared.better_law import Norm, fit_noise, norms_for
from ...mechanisms.shared.mechanism import Mechanism
from ..aggregates.component import Component
from ..query.stages import Query
from . import plan_refusals as refusals
from .bounding import NARROW, Bounding
from .cells import Block, Measurement, Reading
from .components import ColumnPlan
from .split_promise import Split, choose_split, sum_relative_variances

CARE = Fraction(1, 40)
TOTAL = "total"
"""The name of the component that counts all rows: finishing estimates the withheld part from it."""

MOST_GROUPS = 1 << 12  # groups of one unit, if groups are selected privately

# searches in ball arithmetic; cached, because they depend on public numbers only
_largest_mu = lru_cache(maxsize=256)(largest_mu)
_optimal_selection = lru_cache(maxsize=256)(OptimalSelection)

Noise = tuple[Mechanism, ...]
"""The mechanisms of a block: one additive mechanism; for a quantile its own mechanism and those of
the ends of its interval.
"""


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
    selection: OptimalSelection | None
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
        rows = self.bounding.bits + (self.bounding.table_rows - 1).bit_length()
        return block.row.bit_length() + rows > NARROW

    def draws_of(self, place: int) -> list[tuple[Additive, int, str]]:
        """Return the draws in a component's noise: mechanism, weight, and a name that is the same
        for the same draw.
        """
        draws = []
        for block, weights in self.readings[place].parts:
            mechanism = self.noise[block][0]
            assert isinstance(mechanism, Additive)
            draws += [
                (mechanism, weight, f"{block}.{cell}")
                for cell, weight in enumerate(weights)
                if weight
            ]
        return draws


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A candidate for a calibration: what is measured and its noise, the (ε, δ) left for the
    selection of groups, and the (ε, δ) that Gaussian noise states.
    """

    bounding: Bounding
    split: Split
    noise: tuple[Noise, ...]
    selection: tuple[Fraction, Fraction] | None
    stated: tuple[Fraction, Fraction] | None


def calibrate(
    query: Query,
    components: tuple[Component, ...],
    columns: Sequence[ColumnPlan],
    promise: Guarantee,
) -> Calibration:
    """Choose the noise that keeps a promise with the smallest error."""
    norms = norms_for(promise.noise_target)
    if not norms:
        notions = ", ".join(f"sf.{kind.__name__}" for kind in noise_notions())
        raise refusals.NOTION_WITHOUT_NOISE(promise=promise, notions=notions)
    if not query.public and not _delta(promise):
        raise refusals.KEYS_WITHOUT_DELTA(promise=promise, column=query.keys[0])
    drafts = [_draft(query, components, columns, promise, norm) for norm in norms]
    draft = min(
        (draft for draft in drafts if draft is not None),
        key=lambda draft: _relative_variance(draft, columns),
    )
    selection = None if draft.selection is None else _selection(query, *draft.selection)
    parts: list[Mechanism] = [] if selection is None else [selection]
    parts += [mechanism for mechanisms in draft.noise for mechanism in mechanisms]
    epsilon, delta = draft.stated or (None, None)
    mechanism = Combined(parts, epsilon=epsilon, delta=delta)
    if not _keeps_promise(mechanism, promise):
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


def _draft(
    query: Query,
    components: tuple[Component, ...],
    columns: Sequence[ColumnPlan],
    promise: Guarantee,
    norm: Norm,
) -> Draft | None:
    """Draft noise of one norm, by the best measurement whose noise the samplers can draw. None if
    Gaussian noise is to be fitted to (ε, δ) and nothing adds noise.
    """
    bounding = Bounding.of(query, norm)
    if bounding.rule == "root":
        # groups weigh rows by the Euclidean norm: no total has these weights to compare with
        components = tuple(component for component in components if component.name != TOTAL)
    splits = choose_split(components, columns, bounding, selects=not query.public, care=CARE)
    for split in splits[:-1]:
        try:
            return _fit(split, bounding, promise)
        except Refused as refused:
            if refused.code != "noise.scale":
                raise
    return _fit(splits[-1], bounding, promise)


def _fit(split: Split, bounding: Bounding, promise: Guarantee) -> Draft | None:
    """Fit noise to the shares of a promise. Gaussian noise for ε and δ is fitted to all blocks
    together.
    """
    measurement, shares, selected = split.measurement, split.shares, split.selected
    bare, delta, stated = promise.without_delta(), _delta(promise), None
    fitted = bare  # the promise whose shares additive noise keeps; quantiles and groups keep `bare`
    if bounding.norm == "L2" and "L1" in norms_for(promise.noise_target):
        additive = (not _is_quantile(measurement, block) for block in measurement.blocks)
        rest = sum(compress(shares, additive), Fraction(0))
        if not rest:
            return None
        stated = largest_epsilon(bare.scaled(rest)), delta / 2 if selected else delta
        fitted = GDP.from_square(_largest_mu(*stated) ** 2 / rest)
        delta -= stated[1]
    targets = {share: fitted.scaled(share).noise_target for share in set(shares)}
    noise = tuple(
        _quantile_noise(measurement.components[block.places[0]], bounding, bare, share)
        if _is_quantile(measurement, block)
        else (_additive_noise(measurement, block, bounding, targets[share]),)
        for block, share in zip(measurement.blocks, shares, strict=True)
    )
    selection = (largest_epsilon(bare.scaled(selected)), delta) if selected else None
    return Draft(bounding, split, noise, selection, stated)


def _is_quantile(measurement: Measurement, block: Block) -> bool:
    return measurement.components[block.places[0]].form == "point"


def _additive_noise(
    measurement: Measurement, block: Block, bounding: Bounding, target: NoiseTarget | None
) -> Additive:
    assert target is not None  # a share has a target if the promise has
    component = measurement.components[block.places[0]]
    if bounding.norm == "L1":
        moved = bounding.shared_l1(block.row) if block.cells else bounding.l1(component)
        return fit_noise("L1", target, moved, **_unit_arguments(bounding))
    square = (
        bounding.shared_l2_squared(block.row) if block.cells else bounding.l2_squared(component)
    )
    root = math.isqrt(square)
    sensitivity = root if root * root == square else sqrt_up(Fraction(square))
    return fit_noise("L2", target, sensitivity, **_unit_arguments(bounding))


def _quantile_noise(
    component: Component, bounding: Bounding, promise: Guarantee, share: Fraction
) -> Noise:
    """Return the mechanism of a quantile and, with an interval, those of its ends: half of the
    share for the quantile, a quarter for each end.
    """
    aggregate = component.aggregate
    assert aggregate is not None
    assert aggregate.q is not None

    def epsilon(part: Fraction) -> Fraction:
        return largest_epsilon(promise.scaled(part), ranged=True)

    value_epsilon = epsilon(share / 2 if aggregate.interval and not aggregate.beyond else share)
    quantile = partial(
        WeightedQuantile,
        q=aggregate.q,
        low=component.low,
        high=component.high,
        weight=bounding.weight,
        groups=bounding.grouped,
        **_unit_arguments(bounding),
    )
    value = quantile(epsilon=value_epsilon)
    if aggregate.beyond:
        # one point that is a bound of the extreme: the other end of its interval is public
        below, above = value.ends(aggregate.confidence)
        return (below if aggregate.beyond == "max" else above,)
    if not aggregate.interval:
        return (value,)
    return (
        value,
        *quantile(epsilon=epsilon(share / 4)).ends((1 + aggregate.confidence) / 2),
    )


def _selection(query: Query, epsilon: Fraction, delta: Fraction) -> OptimalSelection:
    bounding = Bounding.of(query, "L1")
    if bounding.groups > MOST_GROUPS:
        raise refusals.UNIT_IN_TOO_MANY_GROUPS(groups=bounding.groups, most=MOST_GROUPS)
    return _optimal_selection(
        epsilon=epsilon,
        delta=delta,
        groups=bounding.groups,
        quanta=1 << bounding.vote_bits,
        **_unit_arguments(bounding),
    )


class UnitArguments(TypedDict):
    """The arguments of every mechanism that say who is protected."""

    relation: Relation
    unit: str


def _unit_arguments(bounding: Bounding) -> UnitArguments:
    return {
        "relation": bounding.relation,
        "unit": bounding.called or ", ".join(bounding.unit) or "row",
    }


def _delta(promise: Guarantee) -> Fraction:
    delta = promise.parameters.get("delta", Fraction(0))
    return delta if isinstance(delta, Fraction) else Fraction(0)


def relative_variance(calibration: Calibration, columns: Sequence[ColumnPlan]) -> float:
    """Sum the columns' variances, each relative to the square of what a row may add."""
    return sum_relative_variances(
        columns,
        calibration.components,
        calibration.readings,
        calibration.bounding,
        [_variance(noise) for noise in calibration.noise],
    )


def _relative_variance(draft: Draft, columns: Sequence[ColumnPlan]) -> float:
    return sum_relative_variances(
        columns,
        draft.split.measurement.components,
        draft.split.readings,
        draft.bounding,
        [_variance(noise) for noise in draft.noise],
    )


def _variance(noise: Noise) -> float:
    return noise[0].variance if isinstance(noise[0], Additive) else 0.0


def _keeps_promise(mechanism: Combined, promise: Guarantee) -> bool:
    """Tell whether all mechanisms together cost no more than the promise, number by number."""
    cost = mechanism.promise
    common_relation_and_unit(promise, cost)  # refuses another relation or unit
    if not isinstance(promise, Approx):
        is_kept = isinstance(cost, type(promise)) and cost <= promise
        return is_kept or mechanism.to(type(promise)) <= promise
    epsilon, delta = promise.vector  # a curve has no best (ε, δ): the stated one is compared
    stated = cost.parameters if isinstance(cost, Pure | Approx) else {"epsilon": math.inf}
    return stated["epsilon"] <= epsilon and stated.get("delta", 0) <= delta
