"""A quantile by the exponential mechanism, over all points of a public grid between two public
ends.

*Law*        P(z) ∝ e^(rate·score(z)) for z on the grid in [low, high], score(z) = −|(1 − q)·#{x <
             z} − q·#{x > z}|. Points between two data share a score, so the choice is of an
             interval, weighted by its number of points, then of a point in it, uniformly: no point
             is ever enumerated.
*Promise*    ε-DP, and ε²/8-zCDP: the score moves by at most max(q, 1 − q) when a value is added or
             removed, and by at most 1 when one is replaced (Smith 2011).
*Error*      the score is at most ln(points/β)/rate below the best one with probability 1 − β.
*Proof*      docs/proofs/quantile.md
"""

from __future__ import annotations

from fractions import Fraction
from typing import Unpack

import numpy as np
from attrs import field
from numpy.typing import ArrayLike, NDArray

from ..exact.balls import ball, evaluate
from ..exact.numbers import Number, positive, probability
from ..guarantees import ZCDP, Guarantee, Pure, Relation
from ..guarantees.guarantee import unit_of
from ..keywords import spell_out
from ..noise.bits import SYSTEM, Bits
from ..noise.choice import Choice
from ..noise.uniform import integer_below
from ..records import record
from .shared import mechanism_refusals as refusals
from .shared.bounded_data import OrderOptions, Range, check_q, draw_points
from .shared.mechanism import Mechanism, require_relation
from .stated.audit_example import CHANGED, GROWN, AuditExample
from .stated.stated_laws import FiniteLaws


@record(kw_only=True, init=False)
class Quantile(Mechanism):
    """The q-quantile of values in [low, high]. Values outside are clipped to the ends.

    The answer is a point of a public grid, of about a million points unless `grid` names its step:
    grid=1 is best for whole numbers.
    """

    q: Fraction
    low: Fraction
    high: Fraction
    epsilon: Fraction = field(converter=positive)
    grid: Fraction
    relation: Relation
    unit: str | None = field(converter=unit_of)
    _range: Range = field(repr=False, eq=False)

    @spell_out(OrderOptions, q="1/2")
    def __init__(
        self,
        *,
        low: Number,
        high: Number,
        epsilon: Number,
        relation: str,
        **options: Unpack[OrderOptions],
    ) -> None:
        ends = Range(low, high, options.get("grid"))
        self.__attrs_init__(
            relation=require_relation(relation, refusals.QUANTILE_WITHOUT_RELATION),
            q=check_q(options.get("q", "1/2")),
            range=ends,
            low=ends.low,
            high=ends.high,
            grid=ends.grid,
            epsilon=epsilon,
            unit=options.get("unit"),
        )

    @property
    def sensitivity(self) -> Fraction:
        """The sensitivity of the score, in ranks."""
        return Fraction(1) if self.relation == "replace" else max(self.q, 1 - self.q)

    @property
    def rate(self) -> Fraction:
        return self.epsilon / (2 * self.sensitivity)

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        pure = Pure(self.epsilon, **self._neighbours)
        return (pure, ZCDP(self.epsilon**2 / 8, **self._neighbours))

    def perturb(self, values: ArrayLike, *, bits: Bits = SYSTEM) -> int | float:
        """A private quantile: an int on a grid of whole numbers, else a float.

        >>> median = mech.Quantile(low=0, high=120, grid=1, epsilon=1, relation="replace")
        >>> 0 <= median.perturb([20, 30, 40, 50]) <= 120
        True
        """
        starts, sizes, law = self._intervals(self._range.sorted_steps(values))
        chosen = law.draw(bits)
        return self._range.value(int(starts[chosen]) + integer_below(int(sizes[chosen]), bits))

    def law(self, values: ArrayLike) -> list[tuple[Fraction, Fraction, float]]:
        """(first point, last point, probability) of every interval that the data cut the range
        into. It holds data.
        """
        starts, sizes, law = self._intervals(self._range.sorted_steps(values))
        chances = law.pmfs()
        return [
            (int(s) * self.grid, int(s + n - 1) * self.grid, float(p))
            for s, n, p in zip(starts, sizes, chances, strict=True)
        ]

    def rank_error(self, confidence: Number = 0.95) -> float:
        """How far the answer's score may lie below the best one, in ranks, with this probability;
        rounded up.
        """
        missing = 1 - probability(confidence, "confidence")
        points = self._range.last - self._range.first + 1
        return evaluate(
            lambda: (ball(Fraction(points)) / ball(missing)).log() / ball(self.rate), "up"
        )

    def _intervals(
        self, data: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Choice]:
        """The runs of points with one score: each value by itself, and the gaps before, between and
        after.
        """
        places, counts = np.unique(data, return_counts=True)
        starts = np.empty(2 * len(places) + 1, dtype=np.int64)
        sizes = np.ones_like(starts)
        starts[1::2], starts[0] = places, self._range.first
        starts[2::2] = places + 1
        ends = np.append(places, self._range.last + 1)
        sizes[0::2] = ends - starts[0::2]
        less = np.zeros_like(starts)
        less[2::2] = np.cumsum(counts)
        less[1::2] = less[0:-1:2]
        more = len(data) - less
        more[1::2] -= counts
        a, b = self.q.denominator - self.q.numerator, self.q.numerator
        scores = -np.abs(a * less - b * more)
        full = sizes > 0
        return (
            starts[full],
            sizes[full],
            Choice(scores[full], rate=self.rate / self.q.denominator, prior=sizes[full]),
        )

    why_no_loss_pair = "the law depends on the data; the pair of ε dominates it"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        return [
            AuditExample(
                "Quantile",
                lambda e: cls(low=0, high=4, epsilon=e, relation="add-remove", grid=1),
                GROWN,
                by_law=True,
            ),
            AuditExample(
                "Quantile, replace",
                lambda e: cls(low=0, high=10, epsilon=e, relation="replace", grid=1),
                CHANGED,
                by_law=True,
            ),
        ]

    def output_laws(self, x: ArrayLike, y: ArrayLike) -> FiniteLaws | None:
        return FiniteLaws.between_runs(self.law(x), self.law(y), self.grid)

    def draw_many(self, x: ArrayLike, n: int) -> NDArray[np.generic]:
        return draw_points(self.grid, *self._intervals(self._range.sorted_steps(x)), n)
