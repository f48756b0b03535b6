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
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import TypedDict

from ...accounting.largest_epsilon import largest_epsilon
from ...exact.balls import sqrt_up
from ...guarantees import GDP, ZCDP, Approx, Guarantee, Pure, Relation
from ...guarantees.gdp import largest_mu
from ...mechanisms import Combined, Gaussian, Laplace, OptimalSelection, WeightedQuantile
from ...mechanisms.shared.additive import Additive
from ...mechanisms.shared.mechanism import Mechanism
from ..aggregates.component import Component
from ..query.stages import Query
from . import plan_refusals as refusals
from .bounding import Bounding

CARE = Fraction(1, 20)
TOTAL = "total"
"""The name of the component that counts all rows: finishing estimates the withheld part from it."""

MOST_GROUPS = 1 << 12  # groups of one unit, if groups are selected privately

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
    stated: tuple[Fraction, Fraction] | tuple[None, None]


def calibrate(query: Query, components: tuple[Component, ...], promise: Guarantee) -> Calibration:
    """Choose the noise that keeps a promise with the smallest error."""
    makers = DRAFTERS.get(type(promise))
    if makers is None:
        notions = ", ".join(f"sf.{notion.__name__}" for notion in DRAFTERS)
        raise refusals.NOTION_WITHOUT_NOISE(promise=promise, notions=notions)
    if not query.public and not _delta(promise):
        raise refusals.KEYS_WITHOUT_DELTA(promise=promise, column=query.keys[0])
    drafts = [draft for maker in makers if (draft := maker(query, components, promise)) is not None]
    calibration = _calibration(query, min(drafts, key=relative_variance))
    if not _keeps_promise(calibration.mechanism, promise):
        raise AssertionError("the noise does not keep the promise it was fitted to")
    return calibration


def split_promise(
    query: Query, components: tuple[Component, ...]
) -> tuple[list[Fraction], Fraction]:
    """Return the share of the promise for each component, and for the selection of groups."""
    care = sum(component.pooled for component in components)
    selected = 0 if query.public else 1
    main = (1 - (CARE if care else Fraction(0))) / (len(components) - care + selected)
    return [CARE / care if component.pooled else main for component in components], main * selected


def _draft_laplace(query: Query, components: tuple[Component, ...], promise: Guarantee) -> Draft:
    """Draft Laplace noise from shares of ε."""
    bounding, epsilon = Bounding.of(query, "L1"), promise.parameters["epsilon"]
    components = _without_total(components, bounding)

    def added(component: Component, share: Fraction) -> Laplace:
        return Laplace(
            sensitivity=bounding.l1(component), epsilon=epsilon * share, **_unit_arguments(bounding)
        )

    return _draft(
        query,
        components,
        bounding,
        added,
        lambda share: epsilon * share,
        lambda share: epsilon * share,
        _delta(promise),
    )


def _draft_gaussian(
    query: Query, components: tuple[Component, ...], promise: Guarantee
) -> Draft | None:
    """Draft Gaussian noise for all components together from their shares of ε and from δ;
    quantiles and the selection of groups keep shares of ε.
    """
    epsilon, delta = promise.parameters["epsilon"], _delta(promise)
    bounding = Bounding.of(query, "L2")
    components = _without_total(components, bounding)
    parts, chosen = split_promise(query, components)
    rest = sum(
        (
            share
            for component, share in zip(components, parts, strict=True)
            if component.form != "point"
        ),
        Fraction(0),
    )
    if not delta or not rest:
        return None
    noise_delta = delta / 2 if chosen else delta
    square = _largest_mu(epsilon * rest, noise_delta) ** 2
    added = partial(_gaussian_noise, bounding, square / rest)
    return _draft(
        query,
        components,
        bounding,
        added,
        lambda share: epsilon * share,
        lambda share: epsilon * share,
        delta - noise_delta,
        (epsilon * rest, noise_delta),
    )


def _draft_zcdp(query: Query, components: tuple[Component, ...], promise: Guarantee) -> Draft:
    """Draft Gaussian noise from shares of ρ."""
    bounding, rho = Bounding.of(query, "L2"), promise.parameters["rho"]
    components = _without_total(components, bounding)
    added = partial(_gaussian_noise, bounding, 2 * rho)
    ranged, chosen = (
        (lambda share: largest_epsilon(ZCDP(rho * share), ranged=True)),
        (lambda share: largest_epsilon(ZCDP(rho * share))),
    )
    return _draft(query, components, bounding, added, ranged, chosen, _delta(promise))


def _draft_gdp(query: Query, components: tuple[Component, ...], promise: Guarantee) -> Draft:
    """Draft Gaussian noise from shares of μ²."""
    assert isinstance(promise, GDP)
    bounding, square = Bounding.of(query, "L2"), promise.mu_squared
    components = _without_total(components, bounding)

    def epsilon(share: Fraction) -> Fraction:
        return largest_epsilon(GDP.from_square(square * share))

    return _draft(
        query,
        components,
        bounding,
        partial(_gaussian_noise, bounding, square),
        epsilon,
        epsilon,
        Fraction(0),
    )


Drafter = Callable[[Query, tuple[Component, ...], Guarantee], Draft | None]
DRAFTERS: dict[type[Guarantee], tuple[Drafter, ...]] = {
    Pure: (_draft_laplace,),
    Approx: (_draft_laplace, _draft_gaussian),
    ZCDP: (_draft_zcdp,),
    GDP: (_draft_gdp,),
}
"""The ways to draft noise, by the notion of the promise."""


def _draft(
    query: Query,
    components: tuple[Component, ...],
    bounding: Bounding,
    added: Callable[[Component, Fraction], Mechanism],
    ranged: Callable[[Fraction], Fraction],
    chosen: Callable[[Fraction], Fraction],
    delta: Fraction,
    stated: tuple[Fraction, Fraction] | tuple[None, None] = (None, None),
) -> Draft:
    """Draft noise for each share. `added` makes the noise of a component, `ranged` the ε of a
    quantile, `chosen` the ε of the selection of groups.
    """
    parts, rest = split_promise(query, components)
    noise = tuple(
        _quantile_noise(component, bounding, share, ranged)
        if component.form == "point"
        else (added(component, share),)
        for component, share in zip(components, parts, strict=True)
    )
    return Draft(components, bounding, noise, (chosen(rest), delta) if rest else None, stated)


def _without_total(components: tuple[Component, ...], bounding: Bounding) -> tuple[Component, ...]:
    """Drop the component that counts all rows if groups weigh rows by the Euclidean norm: no total
    has these weights, so it could not be compared with the groups.
    """
    return (
        tuple(component for component in components if component.name != TOTAL)
        if bounding.rule == "root"
        else components
    )


def _calibration(query: Query, draft: Draft) -> Calibration:
    selection = None if draft.selection is None else _selection(query, *draft.selection)
    parts = [
        *([] if selection is None else [selection]),
        *(mechanism for mechanisms in draft.noise for mechanism in mechanisms),
    ]
    return Calibration(
        draft.components,
        draft.bounding,
        draft.noise,
        selection,
        Combined(parts, epsilon=draft.stated[0], delta=draft.stated[1]),
    )


def _gaussian_noise(
    bounding: Bounding, mu_squared: Fraction, component: Component, share: Fraction
) -> Gaussian:
    square = bounding.l2_squared(component)
    root = math.isqrt(square)
    return Gaussian(
        sensitivity=root if root * root == square else sqrt_up(Fraction(square)),
        rho=mu_squared * share / 2,
        **_unit_arguments(bounding),
    )


def _quantile_noise(
    component: Component,
    bounding: Bounding,
    share: Fraction,
    epsilon: Callable[[Fraction], Fraction],
) -> Noise:
    """Return the mechanism of a quantile and, with an interval, those of its ends: half of the
    share for the quantile, a quarter for each end.
    """
    aggregate = component.aggregate
    assert aggregate is not None
    assert aggregate.q is not None
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
    if (
        aggregate.beyond
    ):  # one point that is a bound of the extreme: the other end of its interval is public
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
        epsilon, delta, bounding.groups, 1 << bounding.vote_bits, **_unit_arguments(bounding)
    )


@lru_cache(maxsize=256)
def _largest_mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Search the largest μ in ball arithmetic. Cached: it depends on public numbers only."""
    return largest_mu(epsilon, delta)


@lru_cache(maxsize=256)
def _optimal_selection(
    epsilon: Fraction, delta: Fraction, groups: int, quanta: int, relation: Relation, unit: str
) -> OptimalSelection:
    """Return the selection of groups. Cached: it depends on public numbers only."""
    return OptimalSelection(
        epsilon=epsilon, delta=delta, groups=groups, quanta=quanta, relation=relation, unit=unit
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
    if isinstance(promise, Approx):
        limits = promise.parameters["epsilon"], promise.parameters["delta"]
        stated = [
            stated_promise.parameters
            for stated_promise in mechanism.promises
            if isinstance(stated_promise, Pure | Approx)
        ]
        return any(
            parameters["epsilon"] <= limits[0] and parameters.get("delta", 0) <= limits[1]
            for parameters in stated
        )
    return mechanism.to(type(promise)) <= promise
