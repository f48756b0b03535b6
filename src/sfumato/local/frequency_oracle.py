"""Frequency oracles: a report supports some categories, with exactly known probabilities for the
true category and for any other.

*Support*    `true_support` = P(a report supports v | the value is v), `false_support` = P(it
             supports v | the value is not v), equal for all other values; both exact rationals.
             Every oracle with these two uses the same estimate and exact variance (a *pure
             protocol*, Wang et al. 2017).
*Others*     A value that is none of the categories is reported as a uniform one of them: each
             estimated frequency includes 1/k of all unlisted values, and the frequencies sum to 1.
             To count unlisted values, add a category for them and replace them by it first.
*Influence*  Liars, and people who send many reports, move an estimate: m fake reports among n by at
             most `influence(m, n)`. No local protocol can avoid this.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from fractions import Fraction

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ..exact.balls import up
from ..exact.numbers import Number, positive, probability
from ..guarantees import Relation
from ..guarantees.finite.finite_laws import Law, law
from ..guarantees.guarantee import unit_of
from ..mechanisms.randomized_response import check_reported_relation
from ..mechanisms.shared.categories import Labels
from ..mechanisms.shared.response_estimate import Target
from ..mechanisms.stated.audit_example import AuditExample
from ..noise.bits import SYSTEM, Bits
from ..records import FIRST, record
from .frequency_estimate import Estimate, ReportTotals, variance
from .lib.audit_inputs import category_example
from .lib.biased_coins import Bytes
from .oracle import (
    MOST_SUPPORTED,
    ValueOracle,
    check_report_count,
    count_unlisted,
    every_code,
)
from .wire_reports import Reports


def _build_labels(categories: Iterable[Hashable]) -> Labels:
    return Labels(categories, least=2)


@record(kw_only=True)
class FrequencyOracle(ValueOracle):
    """An oracle for the frequency of each public category. A report supports categories;
    `true_support` and `false_support` are the exact probabilities.
    """

    labels: Labels = field(alias="categories", converter=_build_labels, metadata=FIRST)
    epsilon: Fraction = field(converter=positive, metadata=FIRST)
    relation: Relation | None = field(default=None, converter=check_reported_relation)
    unit: str | None = field(default=None, converter=unit_of)

    @property
    @abstractmethod
    def true_support(self) -> Fraction:
        """P(a report supports v | the value is v)."""

    @property
    @abstractmethod
    def false_support(self) -> Fraction:
        """P(a report supports v | the value is not v), equal for all other values."""

    @property
    @abstractmethod
    def most(self) -> int:
        """The most categories that one well-formed report can support, if its sender lies."""

    @property
    def categories(self) -> tuple[Hashable, ...]:
        return self.labels.names

    @property
    def k(self) -> int:
        """How many categories there are."""
        return len(self.labels)

    def _codes(self, values: object, bits: Bits = SYSTEM) -> NDArray[np.int64]:
        return every_code(self.labels, values, bits)

    def estimate(self, reports: Reports | ReportTotals | bytes | Iterable[bytes]) -> Estimate:
        counted = self._aggregate_some(reports)
        return Estimate(self, counted.counts, counted.reports)

    def count_outside(self, values: Iterable[object]) -> int:
        return count_unlisted(self.labels, values)

    def variance(self, n: int, frequency: Number = 0, *, target: Target = "population") -> float:
        """Return the exact variance of one estimated frequency at a true frequency, rounded up:
        over people drawn from a population and their coins, or (target="data") over the coins
        alone.
        """
        f = probability(frequency, "frequency", one=True)
        return up(self._exact_variance(check_report_count(n), f, target))

    def mse(self, frequencies: Law, n: int, *, target: Target = "population") -> float:
        """Return E‖estimated − true frequencies‖², rounded up: the sum of the exact variances."""
        each = law(frequencies, self.categories, "frequencies")
        return up(
            sum(
                (self._exact_variance(check_report_count(n), f, target, each) for f in each),
                Fraction(0),
            )
        )

    def influence(self, fakes: int, n: int) -> tuple[float, float]:
        """Return how far `fakes` well-formed but invented reports among n can move one estimated
        frequency, down and up, compared with honest reports that never came.

        A fake report supports a category or not: it adds at most (1 − q)/(p − q)/n, and subtracts
        at most q/(p − q)/n. It supports at most `most` categories at once.
        """
        m = Fraction(check_report_count(fakes), check_report_count(n))
        spread = self.true_support - self.false_support
        return -up(m * self.false_support / spread), up(m * (1 - self.false_support) / spread)

    def _exact_variance(
        self, n: int, f: Fraction, target: Target, frequencies: tuple[Fraction, ...] | None = None
    ) -> Fraction:
        return variance(self.true_support, self.false_support, f, n, target)

    def _slack(self, missing: Fraction) -> tuple[Fraction, Fraction]:
        """Split a probability of error: return the part left for the coins, and how far shared hash
        functions move an estimate except with the rest of the probability.
        """
        return missing, Fraction(0)

    def _shared_variance(self) -> float:
        """The variance from shared hash functions: it does not shrink with more reports."""
        return 0.0

    def __repr__(self) -> str:
        names = list(self.categories)
        listed = (
            repr(names) if len(names) <= 6 else f"[{names[0]!r}, …, {names[-1]!r}: {len(names)}]"
        )
        shown = {name: value for name, value in self.arguments().items() if name != "categories"}
        return (
            f"{type(self).__name__}(categories={listed}, "
            f"{', '.join(f'{name}={value}' for name, value in shown.items())})"
        )

    def supports(self, payload: Bytes) -> NDArray[np.int64] | None:
        """Use the oracle's tally of one report at a time, where a report is long."""
        if self.k > MOST_SUPPORTED or payload.shape[1] <= 2:
            return None
        return np.stack([self._tally(payload[i : i + 1]) for i in range(len(payload))])

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        return [category_example(cls)]
