"""Propose, test, release: propose a bound on the local sensitivity, test privately that it holds
far around, release with noise to that bound, or say nothing.

*Steps*      D, the number of records that must change before the local sensitivity exceeds the
             bound (for the mode: before it can change), moves by at most 1. The test passes if D +
             Z ≥ T, Z two-sided geometric of scale 1/ε₁, T the least integer with P(Z ≥ T) ≤ δ. Then
             the statistic is released with geometric noise of scale bound/ε₂ (the mode as it is);
             else None.
*Promise*    (ε₁ + ε₂, δ)-DP under replace: if D = 0 the test passes with probability at most δ,
             else the neighbour's value lies within the bound (Dwork & Lei 2009; Vadhan 2017). The
             threshold ln(2/δ)/(2ε) found in lecture notes gives δ of order √δ instead.
*Error*      that of the noise, where there is an answer; at distance D there is one with
             probability P(Z ≥ T − D), 1 − δ and more from 2T on.
*Proof*      docs/proofs/propose-test-release.md
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Unpack

from attrs import field

from ..exact.balls import up
from ..exact.numbers import Number, open_probability, positive
from ..guarantees import Approx, Guarantee, Relation
from ..keywords import spell_out
from ..noise.bits import SYSTEM, Bits
from ..noise.geometric import Geometric
from ..records import record
from ..sensitivity import mode, order_statistics
from .shared import mechanism_refusals as refusals
from .shared.bounded_data import (
    Range,
    StatisticOptions,
    category_counts,
    check_statistic,
    statistic_fields,
)
from .shared.mechanism import Mechanism
from .stated.audit_example import CHANGED, DELTA, AuditExample

STATISTICS = ("median", "quantile", "iqr", "mode")
QUARTILES = (Fraction(1, 4), Fraction(3, 4))


@record(kw_only=True, init=False)
class ProposeTestRelease(Mechanism):
    """A median, quantile or interquartile range with a proposed bound, or the mode."""

    statistic: str
    epsilon: Fraction
    delta: Fraction
    bound: Fraction | None
    test_share: Fraction
    q: Fraction | None
    low: Fraction | None
    high: Fraction | None
    grid: Fraction | None
    categories: tuple[Hashable, ...]
    unit: str | None
    relation: Relation = field(init=False, default="replace")
    threshold: int = field(
        init=False, repr=False, eq=False
    )  # the least integer T with P(Z ≥ T) ≤ δ
    _range: Range | None = field(repr=False, eq=False)

    @spell_out(StatisticOptions, low=None, high=None, grid=None, q="1/2", categories=())
    def __init__(
        self,
        statistic: str,
        *,
        epsilon: Number,
        delta: Number,
        bound: Number | None = None,
        test_share: Number = "1/2",
        **options: Unpack[StatisticOptions],
    ) -> None:
        ordered = check_statistic(statistic, STATISTICS) != "mode"
        if ordered and bound is None:
            raise refusals.BOUND_MISSING(mechanism=f"ProposeTestRelease({statistic!r})")
        self.__attrs_init__(
            epsilon=positive(epsilon, "epsilon"),
            delta=open_probability(delta, "delta"),
            bound=positive(bound, "bound") if ordered and bound is not None else None,
            test_share=open_probability(test_share, "test_share") if ordered else Fraction(1),
            **statistic_fields("ProposeTestRelease", statistic, options),
        )
        if self._range is not None and self._steps < 1:
            raise refusals.BOUND_FINER_THAN_GRID(bound=bound, exponent=self._range.exponent)
        if ordered:
            _ = self.noise  # too wide a law is refused here, before any data

    @threshold.default
    def _choose_threshold(self) -> int:
        return self.test.quantile(1 - self.delta) + 1

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (Approx(self.epsilon, self.delta, **self._neighbours),)

    @property
    def test(self) -> Geometric:
        """The noise on the distance."""
        return Geometric(scale=1 / (self.epsilon * self.test_share))

    @property
    def noise(self) -> Geometric:
        """The noise on the answer, in grid steps."""
        return Geometric(scale=self._steps / (self.epsilon * (1 - self.test_share)))

    def error(self, confidence: Number = 0.95) -> float:
        """Half the width of the interval around an answer, where there is one; rounding to the grid
        is counted.
        """
        if self._range is None:
            return 0.0
        return up(
            self._range.grid
            * (
                self.noise.half_width(confidence)
                + (1 if self.statistic == "iqr" else Fraction(1, 2))
            )
        )

    def passes(self, distance: int) -> float:
        """The probability of an answer at this distance to instability."""
        return float(self.test.tail(self.threshold - distance))

    def perturb(self, data: Iterable[object], *, bits: Bits = SYSTEM) -> Hashable | None:
        """A private value of the statistic, or None where the test did not pass."""
        distance, answer = self._measure(data)
        if distance + self.test.draw(bits) < self.threshold:
            return None
        if self._range is None:
            return self.categories[answer]
        return self._range.value(answer + self.noise.draw(bits))

    def _measure(self, data: Iterable[object]) -> tuple[int, int]:
        """The distance to instability and the exact answer: secret, both."""
        if self._range is None:
            counts = category_counts(data, self.categories)
            return mode.distance_to_instability(counts), int(counts.argmax())
        x = self._range.sorted_steps(data)
        if not len(x):
            return 0, self._range.first
        ends = (self._range.first, self._range.last)
        if self.statistic == "iqr":
            low, high = (order_statistics.rank_of(q, len(x)) for q in QUARTILES)
            return order_statistics.distance_of_sum(x, (low, high), self._steps, *ends), int(
                x[high - 1] - x[low - 1]
            )
        assert self.q is not None
        r = order_statistics.rank_of(self.q, len(x))
        return order_statistics.distance_of_sum(x, (r,), self._steps, *ends), int(x[r - 1])

    @property
    def _steps(self) -> int:
        """The bound in grid steps: values on the grid move by whole ones."""
        assert self._range is not None
        assert self.bound is not None
        return math.floor(self.bound / self._range.grid)

    why_no_law = "the noisy test and the noisy answer are not summed over"
    why_no_loss_pair = "the law depends on the data; the pair of (ε, δ) dominates it"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        def build(epsilon: float) -> ProposeTestRelease:
            return cls("median", epsilon=epsilon, delta=DELTA, bound=1, low=0, high=10, grid=1)

        return [AuditExample("ProposeTestRelease", build, CHANGED, at_once=False, slow=4)]
