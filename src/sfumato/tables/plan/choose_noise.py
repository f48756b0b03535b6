"""Choose the noise of a query: split the promise over its components, and pick the better law.

*Split*     Every component, every quantile and the selection of groups gets an equal share: then
            the noise of each component, relative to what a row may add to it, is the same, and the
            sum of these relative variances is least. The counts that say how much was clipped or
            withheld get a twentieth in all.
*Shares*    are of ε (and add up to it), of μ² or of ρ, whichever the promise is in. A quantile
            spends half of its share on its interval.
*Law*       Laplace for a promise of ε alone; Gaussian for ρ or μ. For (ε, δ) the law with the
            smaller sum of relative variances: Gaussian wins when many components, or units in many
            groups, are released at once. If groups are selected, it leaves half of δ to that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import compress
from typing import TypedDict

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
from .bounding import Bounding

CARE = Fraction(1, 20)
TOTAL = "total"
"""The name of the component that counts all rows: finishing estimates the withheld part from it."""

MOST_GROUPS = 1 << 12  # groups of one unit, if groups are selected privately

# searches in ball arithmetic; cached, because they depend on public numbers only
_largest_mu = lru_cache(maxsize=256)(largest_mu)
_optimal_selection = lru_cache(maxsize=256)(OptimalSelection)

Noise = tuple[Mechanism, ...]
"""The mechanisms of a component: one additive mechanism; for a quantile its own mechanism and those
of the ends of its interval.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """The noise of every component, the selection of groups, and both as one ledger entry."""

    components: tuple[Component, ...]
    bounding: Bounding
    noise: tuple[Noise, ...]
    selection: OptimalSelection | None
    mechanism: Combined


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A candidate for a calibration: noise, the (ε, δ) left for the selection of groups, and the
    (ε, δ) that Gaussian noise states.
    """

    components: tuple[Component, ...]
    bounding: Bounding
    noise: tuple[Noise, ...]
    selection: tuple[Fraction, Fraction] | None
    stated: tuple[Fraction, Fraction] | None


def calibrate(query: Query, components: tuple[Component, ...], promise: Guarantee) -> Calibration:
    """Choose the noise that keeps a promise with the smallest error."""
    norms = norms_for(promise.noise_target)
    if not norms:
        notions = ", ".join(f"sf.{kind.__name__}" for kind in noise_notions())
        raise refusals.NOTION_WITHOUT_NOISE(promise=promise, notions=notions)
    if not query.public and not _delta(promise):
        raise refusals.KEYS_WITHOUT_DELTA(promise=promise, column=query.keys[0])
    drafts = [_draft(query, components, promise, norm) for norm in norms]
    draft = min((draft for draft in drafts if draft is not None), key=relative_variance)
    selection = None if draft.selection is None else _selection(query, *draft.selection)
    parts: list[Mechanism] = [] if selection is None else [selection]
    parts += [mechanism for mechanisms in draft.noise for mechanism in mechanisms]
    epsilon, delta = draft.stated or (None, None)
    mechanism = Combined(parts, epsilon=epsilon, delta=delta)
    if not _keeps_promise(mechanism, promise):
        raise AssertionError("the noise does not keep the promise it was fitted to")
    return Calibration(draft.components, draft.bounding, draft.noise, selection, mechanism)


def split_promise(
    query: Query, components: tuple[Component, ...]
) -> tuple[list[Fraction], Fraction]:
    """Return the share of the promise for each component, and for the selection of groups."""
    care = sum(component.pooled for component in components)
    selected = 0 if query.public else 1
    main = (1 - (CARE if care else Fraction(0))) / (len(components) - care + selected)
    return [CARE / care if component.pooled else main for component in components], main * selected


def _draft(
    query: Query, components: tuple[Component, ...], promise: Guarantee, norm: Norm
) -> Draft | None:
    """Draft noise of one norm from shares of a promise. Gaussian noise for ε and δ is fitted to all
    components together: None if none of them adds noise.
    """
    bounding = Bounding.of(query, norm)
    if bounding.rule == "root":
        # groups weigh rows by the Euclidean norm: no total has these weights to compare with
        components = tuple(component for component in components if component.name != TOTAL)
    shares, selected = split_promise(query, components)
    bare, delta, stated = promise.without_delta(), _delta(promise), None
    fitted = bare  # the promise whose shares additive noise keeps; quantiles and groups keep `bare`
    if norm == "L2" and "L1" in norms_for(promise.noise_target):
        additive = (component.form != "point" for component in components)
        rest = sum(compress(shares, additive), Fraction(0))
        if not rest:
            return None
        stated = largest_epsilon(bare.scaled(rest)), delta / 2 if selected else delta
        fitted = GDP.from_square(_largest_mu(*stated) ** 2 / rest)
        delta -= stated[1]
    targets = {share: fitted.scaled(share).noise_target for share in set(shares)}
    noise = tuple(
        _quantile_noise(component, bounding, bare, share)
        if component.form == "point"
        else (_additive_noise(component, bounding, targets[share]),)
        for component, share in zip(components, shares, strict=True)
    )
    selection = (largest_epsilon(bare.scaled(selected)), delta) if selected else None
    return Draft(components, bounding, noise, selection, stated)


def _additive_noise(
    component: Component, bounding: Bounding, target: NoiseTarget | None
) -> Additive:
    assert target is not None  # a share has a target if the promise has
    if bounding.norm == "L1":
        return fit_noise("L1", target, bounding.l1(component), **_unit_arguments(bounding))
    square = bounding.l2_squared(component)
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


def relative_variance(draft: Draft | Calibration) -> float:
    """Sum the components' variances, each relative to the square of what a row may add."""
    total = 0.0
    for component, (first, *_) in zip(draft.components, draft.noise, strict=True):
        if isinstance(first, Additive) and not component.pooled:
            total += (
                first.variance
                / float(component.largest << draft.bounding.component_bits(component)) ** 2
            )
    return total


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
