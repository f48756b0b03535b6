"""The inverse sensitivity mechanism: a value is less likely the more records must change for it to
become the answer.

*Law*        P(z) ∝ e^(−rate·d(z)) over the grid points of [low, high], the integers 0…n, or the
             categories; d(z) is the number of records that must change for the statistic to be z.
             Points with equal d are chosen together, weighted by their number.
*Promise*    ε-DP and ε²/8-zCDP under replace with rate = ε/2, as d moves by at most 1 (Asi & Duchi
             2020). For a count the normaliser hardly moves, and the largest rate is taken for which
             the exact law keeps ε.
*Error*      d is at most ln(points/β)/rate with probability 1 − β.
*Proof*      docs/proofs/inverse-sensitivity.md
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from typing import Unpack

import numpy as np
from attrs import field
from flint import arb
from numpy.typing import NDArray

from ..exact.balls import ball, below, least
from ..exact.numbers import Number, positive
from ..guarantees import ZCDP, Guarantee, Pure, Relation
from ..keywords import spell_out
from ..noise.bits import SYSTEM, Bits
from ..noise.choice import Choice
from ..noise.uniform import integer_below
from ..records import record
from ..sensitivity import mode, order_statistics
from .shared.bounded_data import (
    Range,
    StatisticOptions,
    category_counts,
    check_statistic,
    draw_points,
    statistic_fields,
)
from .shared.mechanism import Mechanism
from .stated.audit_example import CHANGED, AuditExample
from .stated.stated_laws import FiniteLaws

STATISTICS = ("count", "median", "quantile", "mode")


@record(kw_only=True, init=False)
class InverseSensitivity(Mechanism):
    """A count of n bits, a median or quantile of values in a public range, or the mode of public
    categories.
    """

    statistic: str
    epsilon: Fraction
    q: Fraction | None
    low: Fraction | None
    high: Fraction | None
    grid: Fraction | None
    categories: tuple[Hashable, ...]
    unit: str | None
    relation: Relation = field(init=False, default="replace")
    _range: Range | None = field(repr=False, eq=False)

    @spell_out(StatisticOptions, low=None, high=None, grid=None, q="1/2", categories=())
    def __init__(
        self, statistic: str, *, epsilon: Number, **options: Unpack[StatisticOptions]
    ) -> None:
        check_statistic(statistic, STATISTICS)
        self.__attrs_init__(
            epsilon=positive(epsilon, "epsilon"),
            **statistic_fields("InverseSensitivity", statistic, options),
        )

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        pure = Pure(self.epsilon, **self._neighbours)
        if self.statistic == "count":  # its rate is above ε/2, so the loss has a wider range than ε
            return (pure,)
        return (pure, ZCDP(self.epsilon**2 / 8, **self._neighbours))

    def perturb(self, data: Iterable[object], *, bits: Bits = SYSTEM) -> Hashable:
        """A private value of the statistic."""
        starts, sizes, law = self._pieces(data)
        piece = law.draw(bits)
        point = int(starts[piece]) + integer_below(int(sizes[piece]), bits)
        if self._range is not None:
            return self._range.value(point)
        return self.categories[point] if self.statistic == "mode" else point

    def law(self, data: Iterable[object]) -> list[tuple[Hashable, Hashable, float]]:
        """(first, last, probability) of each run of values that share a distance. It holds data."""
        starts, sizes, law = self._pieces(data)
        name: Callable[[int], Hashable] = (
            self._range.value
            if self._range is not None
            else (lambda i: self.categories[i])
            if self.statistic == "mode"
            else int
        )
        return [
            (name(int(s)), name(int(s + n - 1)), float(p))
            for s, n, p in zip(starts, sizes, law.pmfs(), strict=True)
        ]

    def _pieces(
        self, data: Iterable[object]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Choice]:
        if self._range is not None:
            return self._runs(self._range.sorted_steps(data))
        if self.statistic == "mode":
            counts = category_counts(data, self.categories)
            distances, rate = mode.changes_needed(counts), self.epsilon / 2
        else:
            n = int(np.asarray(data).size)
            total = int(np.count_nonzero(np.asarray(data)))
            distances, rate = np.abs(np.arange(n + 1) - total), count_rate(self.epsilon, n)
        return (
            np.arange(len(distances)),
            np.ones(len(distances), dtype=np.int64),
            Choice(-distances.astype(np.int64), rate=rate),
        )

    def _runs(self, x: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], Choice]:
        assert self._range is not None
        places = np.unique(x)
        starts = np.unique(
            np.concatenate([[self._range.first], places, np.minimum(places + 1, self._range.last)])
        )
        sizes = np.append(starts[1:], self._range.last + 1) - starts
        r = order_statistics.rank_of(self.q, len(x)) if len(x) and self.q is not None else 0
        distances = (
            order_statistics.changes_needed(x, r, starts)
            if len(x)
            else np.zeros(len(starts), dtype=np.int64)
        )
        return starts, sizes, Choice(-distances, rate=self.epsilon / 2, prior=sizes)

    why_no_loss_pair = "the law depends on the data; the pair of ε dominates it"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        def build(epsilon: float) -> InverseSensitivity:
            return cls("median", epsilon=epsilon, low=0, high=10, grid=1)

        return [AuditExample("InverseSensitivity", build, CHANGED, by_law=True)]

    def output_laws(self, x: Iterable[object], y: Iterable[object]) -> FiniteLaws | None:
        return FiniteLaws.between_runs(self.law(x), self.law(y), self.grid)

    def draw_many(self, x: Iterable[object], n: int) -> NDArray[np.generic] | None:
        return None if self.grid is None else draw_points(self.grid, *self._pieces(x), n)


def count_rate(epsilon: Fraction, n: int) -> Fraction:
    """The largest rate λ (to 2^-50 of itself) at which e^(−λ|z − f|) on 0…n keeps ε: λ +
    |ln(Z_f/Z_(f+1))| ≤ ε, worst at an end (f = 0).
    """
    if n <= 1:
        return epsilon  # the normaliser is constant

    def fits(inverse: Fraction) -> bool:
        rate = 1 / inverse

        def loss() -> arb:
            q = (-ball(rate)).exp()
            first = (1 - q ** (n + 1)) / (1 - q)  # Z_0
            second = first + q - q**n  # Z_1
            return ball(rate) + (second / first).log()

        return below(loss, lambda: ball(epsilon))

    return 1 / least(fits)
