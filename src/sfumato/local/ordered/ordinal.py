"""Ordinal: estimate a distribution over ordered buckets. A report names a bucket near the true one,
or any bucket.

*Law*        The law of a window (`window_law`) over k ordered buckets: the square wave (Li et
             al. 2020) on a public grid, every cell with a rational probability. The window is the
             whole number nearest 2β·(k − 1), β = (ε·e^ε − e^ε + 1)/(2e^ε·(e^ε − 1 − ε)), which
             tells most about the bucket; `window=` sets another. Buckets are ordered categories, or
             lie between edges; a number beyond the edges counts to the first or the last bucket, a
             value that is no number to the first, and an unlisted category to a uniform bucket.
*Promise*    odds = p·steps/((1 − p)·w) ≤ e^ε, steps = k − 1.
*Error*      What is near in truth is near in the reports, so shares of all values up to a bucket
             are far better known than from an oracle that forgets the order; a single bucket is
             known worse. `variance(n)` is the largest of any such share, whatever people have.
*Report*     The number of a cell.
*Proof*      docs/proofs/local-numbers.md
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Unpack

import numpy as np
from attrs import field
from flint import arb
from numpy.typing import NDArray

from ...exact.balls import ball, decide, floor
from ...exact.numbers import Number, double_above, exact, is_whole, positive, text
from ...guarantees import Relation
from ...guarantees.guarantee import unit_of
from ...keywords import spell_out
from ...mechanisms.randomized_response import check_reported_relation
from ...mechanisms.shared.categories import Labels
from ...mechanisms.stated.audit_example import AuditExample
from ...noise.bits import SYSTEM, Bits
from ...records import LAST, PARTIAL, record
from .. import local_refusals as refusals
from ..client import Question
from ..frequency_estimate import ReportTotals
from ..lib.audit_inputs import category_example
from ..lib.biased_coins import Bytes
from ..numeric.number_oracle import count_beyond, to_doubles
from ..numeric.window_law import draw_cells, inside_probability, window_odds
from ..oracle import (
    UnitOptions,
    ValueOracle,
    check_report_count,
    count_unlisted,
    every_code,
    plain_categories,
)
from ..wire_reports import Reports, pack_integers, unpack_integers, width_for
from .ordinal_estimate import Distribution, cumulative_scores, worst_variances

MOST = 1 << 10
"""The most buckets: the estimate solves for all of them at once."""


def _choose_window(window: int | None, record: Ordinal = PARTIAL) -> int:
    if window is None:
        return best_window(record.epsilon, record.steps)
    if not is_whole(window, 1, MOST):
        raise refusals.WINDOW_OUT_OF_RANGE(window=window, most=MOST)
    return window


@record(kw_only=True, init=False)
class Ordinal(ValueOracle):
    """An oracle for the distribution of an ordered value."""

    kind = "ordinal"
    labels: Labels
    edges: tuple[Fraction, ...]  # empty where buckets are categories
    epsilon: Fraction = field(converter=positive, metadata=LAST)
    relation: Relation | None = field(
        default=None, converter=check_reported_relation, metadata=LAST
    )
    unit: str | None = field(default=None, converter=unit_of, metadata=LAST)
    window: int = field(converter=_choose_window)
    own: int = field(init=False)  # of 2^64

    @spell_out(UnitOptions)
    def __init__(
        self,
        *,
        epsilon: Number,
        edges: Sequence[Number] | None = None,
        categories: Iterable[Hashable] | None = None,
        window: int | None = None,
        **about: Unpack[UnitOptions],
    ) -> None:
        if (edges is None) == (categories is None):
            raise refusals.EDGES_OR_CATEGORIES()
        cuts = () if edges is None else tuple(exact(edge, "edges") for edge in edges)
        if edges is not None and (len(cuts) < 3 or any(not a < b for a, b in pairwise(cuts))):
            raise refusals.EDGES_NOT_RISING(count=len(cuts))
        names = (
            tuple(categories)
            if categories is not None
            else tuple(f"{text(a)} to {text(b)}" for a, b in pairwise(cuts))
        )
        labels = Labels(names if len(set(names)) == len(names) else range(len(names)), least=2)
        if len(labels) > MOST:
            raise refusals.TOO_MANY_ORDINAL_BUCKETS(buckets=len(labels), most=MOST)
        self.__attrs_init__(labels=labels, edges=cuts, epsilon=epsilon, window=window, **about)

    @own.default
    def _choose_own(self) -> int:
        return inside_probability(self.epsilon, self.steps, self.window)

    @property
    def categories(self) -> tuple[Hashable, ...]:
        return self.labels.names

    @property
    def k(self) -> int:
        """The number of buckets."""
        return len(self.labels)

    @property
    def steps(self) -> int:
        return self.k - 1

    @property
    def cells(self) -> int:
        """The number of different reports."""
        return self.steps + self.window

    @property
    def odds(self) -> Fraction:
        return window_odds(self.own, self.steps, self.window)

    @property
    def width(self) -> int:
        return width_for(self.cells)

    def constants(self) -> Question:
        named = (
            {"edges": [str(edge) for edge in self.edges]}
            if self.edges
            else {"categories": plain_categories(self.labels)}
        )
        return {**named, "steps": self.steps, "window": self.window, "own": str(self.own)}

    def arguments(self) -> Question:
        numbers = {"epsilon": str(self.epsilon), "window": self.window}
        return {**numbers, **({"edges": [str(edge) for edge in self.edges]} if self.edges else {})}

    def _codes(self, values: object, bits: Bits = SYSTEM) -> NDArray[np.int64]:
        if self.edges:
            # a double is at or above an edge if and only if it is at or above `double_above` of it
            edges = np.array([double_above(edge) for edge in self.edges])
            return np.clip(
                np.searchsorted(edges, to_doubles(values), side="right") - 1, 0, self.steps
            )
        return every_code(self.labels, values, bits)

    def count_outside(self, values: Iterable[object]) -> int:
        if self.edges:
            return count_beyond(self.edges[0], self.edges[-1], values)
        return count_unlisted(self.labels, values)

    def _draw(self, codes: NDArray[np.int64], bits: Bits) -> Bytes:
        return pack_integers(draw_cells(codes, self.own, self.steps, self.window, bits), self.width)

    def _well_formed(self, payload: Bytes) -> NDArray[np.bool_]:
        return unpack_integers(payload) < self.cells

    def _tally(self, payload: Bytes) -> NDArray[np.int64]:
        return np.bincount(unpack_integers(payload), minlength=self.cells)

    def estimate(self, reports: Reports | ReportTotals | bytes | Iterable[bytes]) -> Distribution:
        counted = self._aggregate_some(reports)
        return Distribution(self, counted.counts, counted.reports)

    def variance(self, n: int) -> float:
        """Return the largest variance, over the coins, of the unbiased share of all values up to a
        bucket: over all buckets and all values of people.
        """
        return float(worst_variances(self, cumulative_scores(self)).max()) / check_report_count(n)

    def influence(self, fakes: int, n: int) -> float:
        """Return how far `fakes` invented reports among n can move a share of all values up to a
        bucket, compared with any reports in their place.
        """
        scores = cumulative_scores(self)
        return (
            float((scores.max(axis=1) - scores.min(axis=1)).max())
            * check_report_count(fakes)
            / check_report_count(n)
        )

    def __repr__(self) -> str:
        return f"Ordinal({self.k} buckets, epsilon={text(self.epsilon)}, window={self.window})"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        return [category_example(cls)]


def best_window(epsilon: Fraction, steps: int) -> int:
    """Return the whole number nearest 2β·steps, from 1 to steps."""

    def formula() -> arb:
        e, growth = ball(epsilon), ball(epsilon).exp()
        return (e * growth - growth + 1) / (growth * (growth - 1 - e))

    return (
        1
        if epsilon > 64
        else min(max(1, decide(lambda: floor(steps * formula() + ball(Fraction(1, 2))))), steps)
    )
