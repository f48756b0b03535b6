"""Choose how the groups of private keys are selected, and the share of the promise that this gets.

*Ways*       Votes of units decide: by the best rule for a vote, or by a threshold with Gaussian
             noise, which needs fewer people from about four groups per unit on. Or a count that is
             asked for decides: its noise is paid for already, so it needs no share.
*Size*       N, the size of a group that is named half of the time: in people where votes decide, in
             rows where a count of rows does.
*Plausible*  A group has `group_size` rows, by default 1,000. A person has (1 + k/m)/2 of them, the
             middle between one row and the even part of a person at the limits: k rows, m groups.
             n₀ is a tenth of such a group.
*Objective*  the sum of the columns' relative variances, times 1 + (N/n₀)². Large groups gain by
             less noise, small ones by a smaller N; where N is far below n₀ only noise matters.
*Share*      the multiple of a fortieth with the least objective, in double precision: the noise is
             fitted exactly afterwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from statistics import NormalDist
from typing import Literal

from ...exact.search import first
from ...mechanisms import CountThreshold, OptimalSelection
from ..aggregates.component import Component
from .bounding import Bounding
from .components import ColumnPlan

Rule = Literal["none", "optimal", "gaussian", "count"]

HALF = Fraction(1, 2)
_NORMAL = NormalDist()
_SHARES = [Fraction(i, 40) for i in range(1, 36)]
_SMALL = 10  # a group of this part of a plausible one should be named
_COUNTS = ("count", "count_units")


@dataclass(frozen=True, slots=True)
class SelectionOption:
    """A way to select groups: the rule, its share of the promise, and the place of the count that
    decides.
    """

    rule: Rule
    share: Fraction = Fraction(0)
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Promised:
    """What a promise is worth, in doubles: an ε and a δ, or a μ and a δ."""

    epsilon: float
    mu: float
    delta: float


@dataclass(frozen=True, eq=False)
class GroupSelection:
    """The mechanism that selects groups. With a `place` it is the noise of the count at this place,
    too; else it gets votes.
    """

    mechanism: OptimalSelection | CountThreshold
    bits: int  # of the weight of one vote or row
    counts_rows: bool = False
    place: int | None = None

    @cached_property
    def half(self) -> int:
        """N: how many people, or rows, a group needs to be named half of the time."""
        return self.size_named_with(HALF)

    def size_named_with(self, probability: Fraction) -> int:
        """Return how many people, or rows, a group needs to be named with this probability."""
        return -(-_weight_named_with(self.mechanism, probability) >> self.bits)


@lru_cache(maxsize=256)
def _weight_named_with(mechanism: OptimalSelection | CountThreshold, probability: Fraction) -> int:
    if isinstance(mechanism, CountThreshold):
        return mechanism.count_shown_with(probability)
    return first(
        lambda weight: mechanism.keep_probability(weight) >= probability,
        near=mechanism.quanta,
        least=1,
    )


def plausible_size(bounding: Bounding, group_size: int, *, counts_rows: bool) -> float:
    """Return n₀: a tenth of a plausible group, in rows or in people."""
    rows = max(1.0, min(group_size, bounding.table_rows) / _SMALL)
    each = (1 + max(1.0, bounding.rows / bounding.groups)) / 2
    return rows if counts_rows else max(1.0, rows / each)


def weigh_size(half: float, plausible: float) -> float:
    """Return 1 + (N/n₀)², by which the objective multiplies the variance."""
    return 1 + (half / plausible) ** 2


def deciding_counts(
    components: tuple[Component, ...], columns: tuple[ColumnPlan, ...]
) -> list[int]:
    """Return the places of the counts that may select groups: of all rows, or of units, and read by
    no column that is more than a count. Intervals of these know of the selection.
    """
    return [
        place
        for place, component in enumerate(components)
        if component.form in ("one", "unit")
        and component.of is None
        and component.where is None
        and not component.pooled
        and all(column.kind in _COUNTS for column in columns if place in column.components)
        and any(place in column.components for column in columns)
    ]


def choose_by_votes(
    bounding: Bounding, promised: Promised, group_size: int, *, pools: bool, has_noise: bool
) -> SelectionOption:
    """Choose how votes select groups beside noise of the bounding's norm. `pools` says that this
    noise states its own (ε, δ) together; `has_noise`, that there is any.
    """
    plausible = plausible_size(bounding, group_size, counts_rows=False)
    moved = bounding.groups * (2 if bounding.relation == "replace" else 1)
    epsilon, mu, delta = promised.epsilon, promised.mu, promised.delta

    def rest(share: Fraction, *, gaussian: bool) -> float:
        """Return the variance that is left to the columns, relative to one without a selection."""
        left = float(1 - share)
        if bounding.norm == "L1":
            return left**-2
        if not pools or gaussian:
            return 1 / left
        return (_mu(epsilon, delta) / _mu(epsilon * left, delta / 2)) ** 2

    def size(share: Fraction, *, gaussian: bool) -> float:
        part = float(share)
        share_epsilon = epsilon * part if math.isfinite(epsilon) else _epsilon(mu * math.sqrt(part))
        if not gaussian:
            return optimal_size(share_epsilon, delta / 2 if pools and has_noise else delta, moved)
        if bounding.norm == "L1":
            return _gaussian_size(_mu(share_epsilon, delta / 2), delta / 2, moved)
        if pools:
            return _gaussian_size(_mu(epsilon, delta / 2) * math.sqrt(part), delta / 2, moved)
        return _gaussian_size(mu * math.sqrt(part), delta, moved)

    def objective(way: SelectionOption) -> float:
        is_gaussian = way.rule == "gaussian"
        return rest(way.share, gaussian=is_gaussian) * weigh_size(
            size(way.share, gaussian=is_gaussian), plausible
        )

    rules: tuple[Rule, ...] = ("optimal", "gaussian")
    return min((SelectionOption(rule, share) for rule in rules for share in _SHARES), key=objective)


def optimal_size(epsilon: float, delta: float, moved: int) -> float:
    step = epsilon / moved
    return math.log1p(math.expm1(min(step, 500.0)) * moved / (2 * delta)) / step


def estimate_threshold(
    scale: float, delta: float, total: int, most: int, *, gaussian: bool
) -> float:
    """Estimate the threshold of `CountThreshold`, which chooses it exactly: the weight of a group
    that is named half of the time. `scale` is σ, or the scale of Laplace noise.
    """

    def reach(missing: float) -> float:
        missing = min(0.5, missing)
        return _normal_tail(missing) if gaussian else -math.log(max(2 * missing, 1e-300))

    def growth(at: float) -> float:
        """Return by how much the logarithm of the tail falls, for each unit of the scale."""
        tail = _NORMAL.cdf(-at) if gaussian else 0.0
        return _NORMAL.pdf(at) / tail if tail else at if gaussian else 1.0

    ramp = 2.0 ** max(0, round(math.log2(scale / growth(reach(delta / total)))))
    far = reach(delta * ramp / total)
    for _ in range(4):
        steep = growth(far) / scale * most
        factor = math.exp(min(steep - 1, 500.0)) / steep if steep > 1 else 1.0
        far = reach(delta * ramp / (total * factor))
    return ramp + scale * far


def _gaussian_size(mu: float, delta: float, moved: int) -> float:
    sigma = math.sqrt(moved) / mu
    far = _normal_tail(delta / moved)
    ramp = max(1.0, sigma / far)
    return ramp + sigma * _normal_tail(min(0.5, delta * ramp / moved))


def _normal_tail(missing: float) -> float:
    """Return z with P(N > z) = missing."""
    return max(0.1, -_NORMAL.inv_cdf(max(missing, 1e-300)))


@lru_cache(maxsize=4096)
def _mu(epsilon: float, delta: float) -> float:
    """Estimate the largest μ that keeps (ε, δ): with z = ε/μ − μ/2 and the density f of a normal, δ
    is about f(z)·μ/(z·(z + μ)).
    """
    small = max(delta, 1e-300)
    z = math.sqrt(2 * math.log(1 / small))
    for _ in range(8):
        mu = math.sqrt(z * z + 2 * epsilon) - z
        likely = mu / (math.sqrt(2 * math.pi) * z * (z + mu) * small)
        z = math.sqrt(2 * math.log(max(likely, 1.1)))
    return math.sqrt(z * z + 2 * epsilon) - z


def _epsilon(mu: float) -> float:
    """Estimate the ε of a rule that costs no more than μ-GDP, or than ρ = μ²/2."""
    return max(mu, mu * mu / 2)
