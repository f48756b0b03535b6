"""Quantiles of weighted data by the exponential mechanism, for many groups at once.

*Law*        In each group P(z) ∝ e^(−rate·distance(z)) for the points z of a public grid, W the
             group's weight, t the public `shift`, and distance(z) = max(W_<z − q·W + t, q·W − W_≤z
             − t, 0): the weight that is missing for z to be a quantile. It is 0 for the quantiles
             and for them alone, also where many values are equal. The first term is left out at the
             first point of the grid, the second at the last. Points between two data share a
             distance, so the choice is of a run of points, weighted by their number, then of a
             point in it: no point is ever enumerated.
*Promise*    ε-DP and ε²/8-zCDP for all groups together, where the weights of a unit come to at most
             K = `weight` over all of them: the loss of a group is at most its share w/K of ε. rate
             = ε/(2Δ), Δ = max(q, 1 − q)·K under add-remove; under replace twice that, or K where
             there is one group only.
*Error*      `rank_error`: the distance is at most ln(points/β)/rate with probability 1 − β. `ends`:
             one point below all quantiles and one above, each with a given probability, also in an
             empty group, where every point is a quantile.
*Proof*      docs/proofs/weighted-quantile.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Self, Unpack

import numpy as np
from attrs import field
from numpy.typing import ArrayLike, NDArray

from ..exact.balls import ball, evaluate
from ..exact.numbers import Number, positive, probability
from ..guarantees import ZCDP, Guarantee, Pure, Relation
from ..guarantees.guarantee import unit_of
from ..keywords import spell_out
from ..noise.bits import SYSTEM, Bits
from ..noise.choices import choose_each
from ..noise.uniform import integer_below_each
from ..records import check_flag, record
from .shared import mechanism_refusals as refusals
from .shared.bounded_data import OrderOptions, Range, check_q
from .shared.mechanism import Mechanism, require_relation
from .shared.weighted_runs import FAR, PointRuns, blocks, group_points
from .stated.audit_example import AuditExample, fixed
from .stated.stated_laws import FiniteLaws

_Rows = tuple[ArrayLike, ArrayLike]
"""Points and their weights."""


@record(kw_only=True, init=False)
class WeightedQuantile(Mechanism):
    """The q-quantile of points of a grid in [low, high], with whole weights. Points outside count
    as the ends.
    """

    q: Fraction
    low: Fraction
    high: Fraction
    grid: Fraction
    weight: int
    epsilon: Fraction = field(converter=positive)
    shift: int
    groups: bool = field(converter=check_flag)
    relation: Relation
    unit: str | None = field(converter=unit_of)
    _range: Range = field(repr=False, eq=False)

    @spell_out(OrderOptions, q="1/2", grid=1)
    def __init__(
        self,
        *,
        low: Number,
        high: Number,
        weight: int,
        epsilon: Number,
        relation: str,
        shift: int = 0,
        groups: bool = True,
        **options: Unpack[OrderOptions],
    ) -> None:
        ends = Range(low, high, options.get("grid", 1))
        self.__attrs_init__(
            relation=require_relation(relation, refusals.WEIGHTED_QUANTILE_WITHOUT_RELATION),
            q=check_q(options.get("q", "1/2")),
            range=ends,
            low=ends.low,
            high=ends.high,
            grid=ends.grid,
            weight=_quanta(weight, "weight", 1),
            shift=_quanta(shift, "shift", -FAR),
            epsilon=epsilon,
            groups=groups,
            unit=options.get("unit"),
        )

    @property
    def sensitivity(self) -> Fraction:
        """How far a unit may move the distances of all groups, added up."""
        side = max(self.q, 1 - self.q)
        return self.weight * (
            side if self.relation == "add-remove" else 2 * side if self.groups else Fraction(1)
        )

    @property
    def rate(self) -> Fraction:
        return self.epsilon / (2 * self.sensitivity)

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        pure = Pure(self.epsilon, **self._neighbours)
        return (pure, ZCDP(self.epsilon**2 / 8, **self._neighbours))

    def perturb(self, points: ArrayLike, weights: ArrayLike, *, bits: Bits = SYSTEM) -> int:
        """A private quantile of one group, as a whole number of grid steps. Points are grid steps,
        each with its weight; there may be none.
        """
        return int(
            self._each(np.zeros(np.shape(points), dtype=np.int64), points, weights, 1, bits)[0]
        )

    def perturb_each(
        self,
        groups: ArrayLike,
        points: ArrayLike,
        weights: ArrayLike,
        count: int,
        *,
        bits: Bits = SYSTEM,
    ) -> NDArray[np.int64]:
        """A private quantile of each of the groups 0 … count − 1, from rows (group, point, weight)
        in any order. Rows of other groups count for none.
        """
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
            raise refusals.GROUPS_BELOW_ONE(count=count)
        if count > 1 and not self.groups:
            raise refusals.SEVERAL_GROUPS(count=count)
        return self._each(groups, points, weights, int(count), bits)

    def law(self, points: ArrayLike, weights: ArrayLike) -> list[tuple[int, int, float]]:
        """(first point, last point, probability) of every run that the data cut the grid into, in
        grid steps. It holds data.
        """
        rows = group_points(
            np.zeros(np.shape(points), dtype=np.int64), points, weights, 1, self._range
        )
        runs = PointRuns(rows, 0, 1, self.q, self.shift)
        chances = runs.choice(0, self.rate).pmfs()
        return [
            (int(s), int(s + n - 1), float(p))
            for s, n, p in zip(runs.firsts, runs.sizes, chances, strict=True)
            if n
        ]

    def rank_error(self, confidence: Number = 0.95) -> int:
        """How much weight the answer of a group may be away from the quantiles, with this
        probability; rounded up.
        """
        missing = 1 - probability(confidence, "confidence")
        count = self._range.last - self._range.first + 1
        return math.ceil(
            evaluate(lambda: (ball(Fraction(count)) / ball(missing)).log() / ball(self.rate), "up")
        )

    def ends(self, confidence: Number = 0.95) -> tuple[Self, Self]:
        """Two records at this one's ε each: in a group the answer of the first is a lower bound of
        all quantiles, and that of the second an upper one, each with this probability.
        """
        far = self.rank_error(confidence)
        return self._shifted(far), self._shifted(-far)

    def _shifted(self, shift: int) -> Self:
        names = ("q", "low", "high", "grid", "weight", "epsilon", "groups", "relation", "unit")
        return type(self)(**{name: getattr(self, name) for name in names}, shift=shift)

    def _each(
        self, groups: ArrayLike, points: ArrayLike, weights: ArrayLike, count: int, bits: Bits
    ) -> NDArray[np.int64]:
        rows = group_points(groups, points, weights, count, self._range)
        quantiles = np.empty(count, dtype=np.int64)
        for first, last in blocks(rows, count):
            runs = PointRuns(rows, first, last, self.q, self.shift)
            chosen = choose_each(
                runs.exponents(self.rate),
                runs.sizes,
                runs.starts,
                partial(runs.choice, rate=self.rate),
                bits,
            )
            offsets = integer_below_each(runs.sizes[chosen], bits)
            quantiles[first:last] = runs.firsts[chosen] + offsets
        return quantiles

    why_no_loss_pair = "the law depends on the data; the pair of ε dominates it"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        def build(epsilon: float) -> WeightedQuantile:
            return cls(low=0, high=10, weight=1, epsilon=epsilon, relation="add-remove")

        weighted = fixed(
            (([], []), ([3], [1])),
            (([3], [1]), ([3, 3], [1, 1])),
            (([0, 10], [1, 1]), ([0, 10, 10], [1, 1, 1])),
            (([0] * 4, [1] * 4), ([0] * 4 + [10], [1] * 5)),
            (([5], [1]), ([5, 0], [1, 1])),
        )
        return [AuditExample("WeightedQuantile", build, weighted, by_law=True)]

    def output_laws(self, x: _Rows, y: _Rows) -> FiniteLaws | None:
        return FiniteLaws.between_runs(self.law(*x), self.law(*y), None)

    def draw_once(self, x: _Rows) -> int:
        return self.perturb(*x)

    def draw_many(self, x: _Rows, n: int) -> NDArray[np.int64]:
        """Draw for as many groups of the same rows."""
        points, weights = (np.asarray(part, dtype=np.int64) for part in x)
        groups = np.repeat(np.arange(n), len(points))
        return self._each(groups, np.tile(points, n), np.tile(weights, n), n, SYSTEM)


def _quanta(value: object, name: str, least: int) -> int:
    """A public whole number of weight."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | np.integer)
        or not least <= value <= FAR
    ):
        raise refusals.WEIGHT_OUT_OF_RANGE(
            name=name, value=value, least="−2^61" if least == -FAR else least
        )
    return int(value)
