"""Rappor: perturb the bits of a value once and remember them; every report perturbs the remembered
bits again.

*Law*        A value has one bit (basic), or the bits where `hashes` public functions of its cohort
             put it (a Bloom filter of `size` bits). Permanent: every bit is kept with probability 1
             − f/2, once for each value, and remembered. Instantaneous: a remembered 1 is reported
             as 1 with probability q, a 0 with p. One-time: q = 1 and p = 0. f is rounded up, q
             down, p up (Erlingsson, Pihur & Korolova 2014).
*Promise*    One report: with one = (1 − f/2)q + (f/2)p and zero = (1 − f/2)p + (f/2)q, odds =
             (one(1 − zero)/(zero(1 − one)))^h, h bits of a value. All reports together: ((1 −
             f/2)/(f/2))^(2h), `lifetime()`, between two values *that never change*; all that are
             none of the categories count as one value. The cohort is uniform and never depends on
             the value.
*Changes*    Nothing protects when a value changes, or that it returns to an earlier one: two
             reports show whether they are made of one memory. With p = 0 and q = 1 one change gives
             the moment away with certainty, and no number of reports times ε bounds the loss.
             `Panel` protects moments of change.
*Error*      Basic: true support one, false support zero. With a Bloom filter frequencies are a
             least-squares fit to the bits of all cohorts (`bloom`), unbiased for these very hash
             functions. A second report of the same person averages only the instantaneous noise: n
             counts people.
*Report*     The cohort, and `size` bits.
*Proof*      docs/proofs/local-rappor.md
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypedDict, Unpack

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ..exact.balls import ball
from ..exact.numbers import Number, open_probability, positive, probability
from ..guarantees.finite.finite_laws import Law, law
from ..keywords import spell_out
from ..mechanisms.shared.calibrated import Way, choose_way
from ..mechanisms.shared.response_estimate import Target
from ..noise.bits import SYSTEM, Bits
from ..records import FIRST, LAST, PARTIAL, record
from . import local_refusals as refusals
from .bloom import (
    MOST_BITS,
    MOST_COHORTS,
    BloomEstimate,
    score_range,
    total_error,
    worst_variance,
)
from .client import Question
from .decoding.sparse_decoder import SparseEstimate, decode
from .frequency_estimate import Estimate, ReportTotals
from .frequency_oracle import FrequencyOracle
from .lib.biased_coins import Bytes, below, clear_padding, column_counts, packed
from .lib.dyadic_probability import ONE, down, epsilon_of_odds
from .oracle import UnitOptions, check_report_count, plain_categories
from .remembered.remembered_bits import RememberedBits
from .wire_reports import Reports, pack_integers, width_for

if TYPE_CHECKING:
    from .remembered.open_rappor import OpenRappor

_EXAMPLE = "Rappor(epsilon=1, categories=['yes', 'no'])"


class BloomOptions(TypedDict, total=False):
    """The shape of a Bloom filter and its public hash functions."""

    hashes: int
    size: int | None
    cohorts: int
    seed: str


class RapporOptions(BloomOptions, UnitOptions, total=False):
    """The Bloom filter of a question, and what its promise is about."""


def _choose_size(size: int | None, record: Rappor = PARTIAL) -> int:
    return size if record.hashes and size else record.k


def _choose_keep(way: Way, record: Rappor = PARTIAL) -> int:
    if way.name == "f":
        return int((1 - open_probability(way.value, "f") / 2) * ONE)
    share = positive(way.value, "epsilon") / (2 * record.per_value)
    return down(lambda: 1 / (1 + (-ball(share)).exp()))


@record(kw_only=True, init=False)
class Rappor(RememberedBits, FrequencyOracle):
    """Permanent and instantaneous randomized response on the bits of a value."""

    kind = "rappor"
    hashes: int = field(default=0, metadata=LAST)  # 0: one bit for each category
    size: int = field(default=None, converter=_choose_size, metadata=LAST)  # bits of a report
    cohorts: int = field(default=1, metadata=LAST)
    seed: str = field(default="sfumato", converter=str, metadata=LAST)
    keep: int = field(converter=_choose_keep)  # 1 − f/2, of 2^64
    p: int  # a remembered 0 is reported as 1
    q: int  # a remembered 1 is reported as 1
    epsilon: Fraction = field(init=False, metadata=FIRST)

    @spell_out(RapporOptions, hashes=0, cohorts=1, seed="sfumato")
    def __init__(
        self,
        *,
        categories: Iterable[Hashable],
        epsilon: Number | None = None,
        f: Number | None = None,
        p: Number = 0,
        q: Number = 1,
        **options: Unpack[RapporOptions],
    ) -> None:
        """Give either ε for all reports of a person together, or f. `hashes`, `size` and `cohorts`
        describe a Bloom filter; without them a value has one bit.
        """
        way = choose_way(_EXAMPLE, {"epsilon": epsilon, "f": f})
        _shape(options.get("hashes", 0), options.get("size"), options.get("cohorts", 1))
        true_chance = int(probability(q, "q", zero=False, one=True) * ONE)
        false_chance = -int(-probability(p, "p") * ONE // 1)
        if true_chance <= false_chance:
            raise refusals.Q_NOT_ABOVE_P(p=p, q=q)
        self.__attrs_init__(
            categories=categories, keep=way, p=false_chance, q=true_chance, **options
        )

    @epsilon.default
    def _derive_epsilon(self) -> Fraction:
        return epsilon_of_odds(max(self.odds, Fraction(1)))

    @property
    def most(self) -> int:
        return self.k

    def constants(self) -> Question:
        return {"categories": plain_categories(self.labels), **self._bits_in_question()}

    def arguments(self) -> Question:
        size = {"size": self.size} if self.hashes else {}
        return {**self._bits_as_arguments(), **size, "seed": self.seed}

    def remember(self, values: object, *, bits: Bits = SYSTEM) -> Remembered:
        """Draw what each person keeps for life: a cohort and permanent bits. Secret; every report
        derives from it.
        """
        codes = self._codes(values, bits).ravel()
        cohort = below(self.cohorts, codes.size, bits)
        return Remembered(self, cohort, self._permanent(codes, cohort, bits))

    def perturb(self, values: object, *, bits: Bits = SYSTEM) -> Reports:
        """Draw a first report for each value."""
        return self.remember(values, bits=bits).perturb(bits=bits)

    def _draw(self, codes: NDArray[np.int64], bits: Bits) -> Bytes:
        return self.remember(self.labels.array[codes], bits=bits).perturb(bits=bits).payload

    def _tally(self, payload: Bytes) -> NDArray[np.int64]:
        """Count the reports with each bit; with a Bloom filter for each cohort."""
        if self.hashes:
            return self._count_by_cohort(payload)
        return column_counts(payload[:, width_for(self.cohorts) :], self.size)

    def decode(
        self, reports: Reports | ReportTotals | bytes | Iterable[bytes], *, fdr: Number = 0.05
    ) -> SparseEstimate:
        """Find the categories that stand out of the noise, also of many more than bits. Of those
        found, a share of `fdr` is expected to be false.
        """
        if not self.hashes:
            raise refusals.NOTHING_TO_DECODE()
        counted = self._aggregate_some(reports)
        codes = np.arange(self.k)
        return decode(
            self, self, counted.counts, np.arange(self.cohorts), (self.categories, codes), fdr
        )

    def estimate(  # type: ignore[override]  # Bloom filters have another estimate
        self, reports: Reports | ReportTotals | bytes | Iterable[bytes]
    ) -> Estimate | BloomEstimate:
        counted = self._aggregate_some(reports)
        return (
            BloomEstimate(self, counted.counts, counted.reports)
            if self.hashes
            else Estimate(self, counted.counts, counted.reports)
        )

    def variance(self, n: int, frequency: Number = 0, *, target: Target = "population") -> float:
        """Return the exact variance as for every oracle; with a Bloom filter the largest over all
        categories, frequencies, and values of other people.
        """
        return (
            worst_variance(self, check_report_count(n), target)
            if self.hashes
            else FrequencyOracle.variance(self, n, frequency, target=target)
        )

    def mse(self, frequencies: Law, n: int, *, target: Target = "population") -> float:
        if not self.hashes:
            return FrequencyOracle.mse(self, frequencies, n, target=target)
        each = np.array([float(f) for f in law(frequencies, self.categories, "frequencies")])
        return total_error(self, each, check_report_count(n), target)

    def influence(self, fakes: int, n: int) -> tuple[float, float]:
        """Return the influence as for every oracle; with a Bloom filter from the range of one
        report's score.
        """
        if not self.hashes:
            return FrequencyOracle.influence(self, fakes, n)
        low, high = score_range(self)
        return low * check_report_count(fakes) / check_report_count(n), high * check_report_count(
            fakes
        ) / check_report_count(n)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Remembered:
    """Cohorts and permanent bits of some people: secret, and never drawn again. Each call of
    `perturb` draws a report for everyone.
    """

    oracle: Rappor | OpenRappor
    cohort: NDArray[np.int64]
    rows: Bytes

    def perturb(self, *, bits: Bits = SYSTEM) -> Reports:
        """Draw a report for each person."""
        ones, zeros = (
            packed(m, self.rows.size, bits).reshape(self.rows.shape)
            for m in (self.oracle.q, self.oracle.p)
        )
        reported = (self.rows & ones) | (~self.rows & zeros)
        clear_padding(reported, self.oracle.size)
        return Reports(
            self.oracle.mark,
            np.concatenate(
                [pack_integers(self.cohort, width_for(self.oracle.cohorts)), reported], axis=1
            ),
        )

    def __repr__(self) -> str:
        return f"Remembered(of {len(self.rows)} people)"


def _shape(hashes: int, size: int | None, cohorts: int) -> None:
    are_integers = all(
        isinstance(value, int) and not isinstance(value, bool)
        for value in (hashes, cohorts, 1 if size is None else size)
    )
    if (
        not are_integers
        or not 0 <= hashes <= 16
        or not 1 <= cohorts <= MOST_COHORTS
        or (size is not None and not 2 <= size <= MOST_BITS)
    ):
        raise refusals.BLOOM_FILTER_OUT_OF_RANGE(hashes=hashes, size=size, cohorts=cohorts)
    if (hashes > 0) != (size is not None):
        raise refusals.HASHES_OR_SIZE_MISSING(hashes=hashes, size=size)
