"""The mean of numbers in a public range.

*Law*        Each number is clipped to [low, high] and rounded to a public grid, and its distance
             from the middle of the range counted in steps, exactly. The sum of the steps gets
             Laplace noise. Replace: the number of rows n is public and divides. Add-remove: the
             number of rows gets noise of its own and divides. NaN counts as the middle of the
             range, by rule.
*Promise*    Pure ε. Replace: one row moves the sum by the whole range, so the mean has noise of
             scale (high − low)/(n·ε). Add-remove: it moves the sum by half the range and the count
             by 1; `share` of ε goes to the sum, the rest to the count.
*Error*      Replace: variance 8c²/(n²ε²) on [−c, c], beside the sampling variance Var(X)/n;
             negligible once ε ≫ 1/√n.
*Proof*      docs/proofs/mean.md
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Unpack

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ..exact.balls import down, up
from ..exact.numbers import (
    Number,
    exact,
    interval_text,
    open_probability,
    positive,
    power_of_two_at_least,
    probability,
)
from ..guarantees import Guarantee, Pure, Relation
from ..guarantees.guarantee import unit_of
from ..keywords import spell_out
from ..noise.bits import SYSTEM, Bits
from ..records import record
from ..templates.summary import Summarized, Summary
from .laplace import Laplace
from .shared import mechanism_refusals as refusals
from .shared.additive import check_grid, check_size, fine_grid
from .shared.data_arrays import numbers
from .shared.grid import snap_each
from .shared.mechanism import Mechanism, Neighbours, require_relation
from .stated.audit_example import CHANGED, GROWN, AuditExample
from .stated.stated_laws import ShiftedNoise

FINE = Fraction(1, 1 << 20)
"""The default grid has steps of about this part of the range."""


@record(kw_only=True, init=False)
class Mean(Mechanism):
    """A private mean; with the number of rows under replace, with a private count of them under
    add-remove.
    """

    low: Fraction
    high: Fraction
    epsilon: Fraction = field(converter=positive)
    rows: int | None = field(converter=check_size)
    share: Fraction = field(converter=open_probability)
    grid: Fraction
    relation: Relation
    unit: str | None = field(converter=unit_of)

    @spell_out(Neighbours)
    def __init__(
        self,
        *,
        low: Number,
        high: Number,
        epsilon: Number,
        rows: int | None = None,
        share: Number = "1/2",
        grid: Number | None = None,
        **neighbours: Unpack[Neighbours],
    ) -> None:
        ends = exact(low, "low"), exact(high, "high")
        if not ends[0] < ends[1]:
            raise refusals.EMPTY_MEAN_RANGE(low=low, high=high)
        width = ends[1] - ends[0]
        self.__attrs_init__(
            low=ends[0],
            high=ends[1],
            epsilon=epsilon,
            relation=require_relation(neighbours.get("relation"), refusals.MEAN_WITHOUT_RELATION),
            unit=neighbours.get("unit"),
            rows=rows,
            share=share,
            grid=check_grid(grid) or power_of_two_at_least(width) * FINE,
        )
        if self.relation == "replace" and rows is None:
            raise refusals.REPLACE_WITHOUT_ROWS()
        if self.relation == "add-remove" and rows is not None:
            raise refusals.ADD_REMOVE_WITH_ROWS(rows=rows)
        if self.steps < 1:
            raise refusals.GRID_COARSER_THAN_RANGE(grid=grid, finer=fine_grid(width))

    @property
    def ends(self) -> tuple[int, int]:
        """The range in steps of the grid."""
        return math.floor(self.low / self.grid + Fraction(1, 2)), math.floor(
            self.high / self.grid + Fraction(1, 2)
        )

    @property
    def steps(self) -> int:
        """The width of the range in steps."""
        return self.ends[1] - self.ends[0]

    @property
    def middle(self) -> int:
        """The step in the middle of the range, from which the others are counted."""
        return sum(self.ends) // 2

    @property
    def noise(self) -> Laplace:
        """The noise of the sum, in steps."""
        if self.relation == "replace":
            return Laplace(sensitivity=self.steps, epsilon=self.epsilon, **self._neighbours)
        return Laplace(
            sensitivity=self.ends[1] - self.middle,
            epsilon=self.share * self.epsilon,
            **self._neighbours,
        )

    @property
    def counting(self) -> Laplace | None:
        """The noise of the number of rows, where that is secret."""
        rest = (1 - self.share) * self.epsilon
        return (
            None
            if self.rows is not None
            else Laplace(sensitivity=1, epsilon=rest, **self._neighbours)
        )

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (Pure(self.epsilon, **self._neighbours),)

    def perturb(self, values: Iterable[object], *, bits: Bits = SYSTEM) -> PrivateMean:
        """Return the mean of the values, with noise.

        >>> ages = mech.Mean(low=0, high=100, rows=4, epsilon=1, relation="replace")
        >>> 0 <= ages.perturb([20, 30, 40, 50]).value <= 100
        True
        """
        (sum_, rows), counting = self.tally(values), self.counting
        return PrivateMean(
            self,
            self.noise.perturb(sum_, bits=bits),
            rows if counting is None else counting.perturb(rows, bits=bits),
        )

    def tally(self, values: Iterable[object]) -> tuple[int, int]:
        """The exact sum in steps from the middle, and the number of rows. Secret: this is data, not
        an answer.
        """
        column = numbers(values)
        if self.rows is not None and column.size != self.rows:
            raise refusals.UNEXPECTED_ROWS(rows=column.size, expected=self.rows)
        missing = np.isnan(column)
        steps = snap_each(
            np.where(missing, 0.0, column),
            self.grid.numerator.bit_length() - self.grid.denominator.bit_length(),
        )
        steps = np.clip(steps, *self.ends) - self.middle
        steps[missing] = 0
        return int(steps.sum()) if self.steps * max(column.size, 1) < 2**62 else sum(
            steps.tolist()
        ), int(column.size)

    def error(self, confidence: Number = 0.95, *, rows: int | None = None) -> float:
        """Half the width of an interval for the mean of this many rows, rounding to the grid
        included; `rows` is a guess if the number of rows is secret.
        """
        if self.rows is None and rows is None:
            raise refusals.ERROR_WITHOUT_ROWS()
        n = check_size(self.rows or rows, "rows") or 1
        sum_, count = self.margins(confidence)
        far = max(Fraction(self.ends[1] - self.middle), Fraction(1))
        # the answer is held inside the range
        width = min((sum_ + far * count) / Fraction(n - count), 2 * far) if n > count else 2 * far
        return up(self.grid * (width + Fraction(1, 2)))

    def margins(self, confidence: Number) -> tuple[int, int]:
        """Bounds on the noise of the sum and of the count that hold together with this
        probability.
        """
        if self.counting is None:
            return int(self.noise.error(confidence)), 0
        each = 1 - (1 - probability(confidence, "confidence", zero=False)) / 2
        return int(self.noise.error(each)), int(self.counting.error(each))

    @property
    def variance(self) -> float:
        """The variance of the noise on the mean, where the number of rows is public."""
        if self.rows is None:
            raise refusals.VARIANCE_WITHOUT_ROWS()
        return self.noise.variance * float(self.grid / self.rows) ** 2

    def mse(self, variance: Number) -> float:
        """E(answer − expectation)² for rows drawn independently with this variance: Var(X)/n and
        the noise.
        """
        return float(exact(variance, "variance") / (self.rows or 1)) + self.variance

    why_no_loss_pair = "the pair of ε, of which the sum and the count have a share each"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        return [
            AuditExample(
                "Mean", lambda e: cls(low=0, high=4, epsilon=e, relation="add-remove"), GROWN
            ),
            AuditExample(
                "Mean, replace",
                lambda e: cls(low=0, high=10, epsilon=e, relation="replace", rows=5),
                CHANGED,
            ),
        ]

    def output_laws(self, x: Iterable[object], y: Iterable[object]) -> ShiftedNoise | None:
        if self.relation != "replace":  # the sum and the count both change
            return None
        return ShiftedNoise(self.noise.law, self.tally(x)[0], self.tally(y)[0], "[0]")

    def draw_once(self, x: Iterable[object]) -> tuple[int, int]:
        released = self.perturb(x)
        return released.total, released.rows

    def draw_many(self, x: Iterable[object], n: int) -> NDArray[np.generic]:
        """Tally once, and draw the noise of all draws together."""
        exact = zip((self.noise, self.counting), self.tally(x), strict=True)
        columns = [
            m.perturb(np.full(n, total, dtype=np.int64)) for m, total in exact if m is not None
        ]
        return np.stack(columns, axis=1)


@dataclass(frozen=True, slots=True, repr=False)
class PrivateMean(Summarized):
    """The release: the noisy sum in steps from the middle, and the number of rows, public or
    noisy.
    """

    mechanism: Mean
    total: int
    rows: int

    @property
    def value(self) -> float:
        """The mean, clamped to the range."""
        m = self.mechanism
        return float(
            max(m.low, min(m.high, m.grid * (m.middle + Fraction(self.total, max(self.rows, 1)))))
        )

    @property
    def promise(self) -> Guarantee:
        return self.mechanism.promise

    def interval(self, confidence: Number = 0.95) -> tuple[float, float]:
        """An interval that holds the mean of the clipped values with this probability; the whole
        range where there may be no row at all.
        """
        m = self.mechanism
        sum_, count = m.margins(confidence)
        least, most = self.rows - count, self.rows + count
        low, high = m.low, m.high
        if least >= 1:
            ends = [
                Fraction(total, rows)
                for total in (self.total - sum_, self.total + sum_)
                for rows in (least, most)
            ]
            half = Fraction(1, 2)
            low = max(low, m.grid * (m.middle + min(ends) - half))
            high = min(high, m.grid * (m.middle + max(ends) + half))
            low, high = min(low, m.high), max(high, m.low)
        return down(low), up(high)

    def _summary(self) -> Summary:
        rows = f"{self.rows} rows" if self.mechanism.rows is not None else f"about {self.rows} rows"
        return Summary(
            title=f"private mean {self.value:.6g} · {interval_text(*self.interval())} at 95 % · "
            f"{rows} · {self.promise.numbers_text}"
        )
