"""Estimate frequencies from local reports: unbiased, with exact variance and valid intervals.

*Steps*      A report supports a value with probability p if it is the true one and q if it is not,
             both exact. Of n reports the share d̂ supports it; then (d̂ − q)/(p − q) is an unbiased
             estimate of its frequency. Consistency (no frequency below 0, sum 1) comes afterwards,
             and is biased.
*Error*      About a population from which the n people are drawn: Var = P(1 − P)/(n·(p − q)²), P =
             q + (p − q)·f. About these n people themselves only the coins count: Var = (f·p(1 − p)
             + (1 − f)·q(1 − q))/(n·(p − q)²).
*Interval*   "exact": Clopper & Pearson 1934 for P, then the straight line to f; holds for the
             population. "hoeffding": ± √(ln(2/β)/(2n))/(p − q); holds for the population and for
             these people. "normal": ± z standard errors; approximate. `simultaneous`: all of them
             hold together (union bound).
*Slack*      If all people share the hash functions (sketches), collisions move an estimate too: a
             part of β pays for them, and the interval is wider by their bound.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..exact.balls import ball, down, evaluate, up
from ..exact.numbers import Number, probability
from ..mechanisms.shared.response_estimate import METHODS, Method, limit
from . import local_refusals as refusals
from .estimate_views import EstimateViews, Row
from .lib.consistency import Consistency, Floats, make_consistent

if TYPE_CHECKING:
    from .frequency_oracle import FrequencyOracle
    from .oracle import Oracle


@dataclass(frozen=True, slots=True, eq=False)
class ReportTotals:
    """The number of reports and their counts: all that a collector has to store. Aggregates from
    different places are added with +.
    """

    mark: bytes
    counts: NDArray[np.int64] = field(repr=False)
    reports: int

    def __add__(self, other: ReportTotals) -> ReportTotals:
        if (
            not isinstance(other, ReportTotals)
            or other.mark != self.mark
            or other.counts.shape != self.counts.shape
        ):
            raise refusals.ADDED_ACROSS_QUESTIONS(kind="aggregate")
        return ReportTotals(self.mark, self.counts + other.counts, self.reports + other.reports)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Estimate(EstimateViews):
    """The number of reports that support each category, and the frequencies estimated from it, in
    the order of the categories.
    """

    oracle: FrequencyOracle
    counts: NDArray[np.int64]
    reports: int

    @property
    def categories(self) -> tuple[Hashable, ...]:
        return self.oracle.categories

    @property
    def frequencies(self) -> Floats:
        """The unbiased frequencies; they may lie below 0 or above 1."""
        return np.array(
            [float(self._at(Fraction(count, self.reports))) for count in self.counts.tolist()]
        )

    def __getitem__(self, category: Hashable) -> float:
        """Return the unbiased frequency of one category."""
        return float(
            self._at(Fraction(int(self.counts[self.oracle.labels.index(category)]), self.reports))
        )

    def consistent(self, method: Consistency = "norm-sub") -> Floats:
        """Return frequencies that are not negative and sum to 1 ("norm-sub" and "projection" are
        two ways to the same nearest point), or each clipped ("clip").
        """
        return make_consistent(self.frequencies, method)

    @property
    def standard_error(self) -> Floats:
        """√(d̂(1 − d̂)/n)/(p − q): standard errors for the population, with the observed share for
        P. For a sketch the worst case of collisions is added.
        """
        shares = self.counts / self.reports
        spread = float(self.oracle.true_support - self.oracle.false_support)
        errors: Floats = np.sqrt(
            shares * (1 - shares) / self.reports / spread**2 + self.oracle._shared_variance()
        )
        return errors

    def interval(
        self, confidence: Number = 0.95, *, method: Method = "exact", simultaneous: bool = False
    ) -> Floats:
        """Return a lower and an upper end for each frequency; with `simultaneous`, all intervals
        hold together.
        """
        if method not in METHODS:
            raise refusals.UNKNOWN_INTERVAL_METHOD(
                method=method, methods=", ".join(METHODS), example=METHODS[0]
            )
        missing = (1 - probability(confidence, "confidence", zero=False)) / (
            len(self.counts) if simultaneous else 1
        )
        if method == "normal":
            from scipy.special import ndtri

            half = -ndtri(float(missing) / 2) * self.standard_error
            around: Floats = np.clip(
                np.stack([self.frequencies - half, self.frequencies + half], axis=1), 0.0, 1.0
            )
            return around
        missing, slack = self.oracle._slack(missing)
        ends = self._hoeffding(missing) if method == "hoeffding" else self._exact(missing)
        intervals: Floats = np.clip(
            np.array([(down(low - slack), up(high + slack)) for low, high in ends]), 0.0, 1.0
        )
        return intervals

    def _hoeffding(self, missing: Fraction) -> list[tuple[Fraction, Fraction]]:
        def formula() -> arb:
            return (ball(2 / missing).log() / (2 * self.reports)).sqrt()

        half = Fraction(evaluate(formula, "up")) / abs(
            self.oracle.true_support - self.oracle.false_support
        )
        return [
            (middle - half, middle + half)
            for middle in (
                self._at(Fraction(count, self.reports)) for count in self.counts.tolist()
            )
        ]

    def _exact(self, missing: Fraction) -> list[tuple[Fraction, Fraction]]:
        low, high = (
            [
                self._at(share)
                for share in clopper_pearson_limits(
                    self.counts, self.reports, missing / 2, upper=upper
                )
            ]
            for upper in (False, True)
        )
        return list(zip(low, high, strict=True))

    def _at(self, share: Fraction) -> Fraction:
        """Return the frequency at which this share of supporting reports is expected."""
        return (share - self.oracle.false_support) / (
            self.oracle.true_support - self.oracle.false_support
        )

    def rows(self, confidence: Number = 0.95, *, simultaneous: bool = False) -> list[Row]:
        """Return a row for each category: its frequency and its interval."""
        ends = self.interval(confidence, simultaneous=simultaneous).tolist()
        cells = zip(self.categories, self.frequencies.tolist(), ends, strict=True)
        return [
            {"category": name, "frequency": value, "low": low, "high": high}
            for name, value, (low, high) in cells
        ]

    def record(self) -> dict[str, object]:
        """Return the public record of the estimate, for JSON: categories, unbiased frequencies,
        standard errors, the number of reports, and the promise to each.
        """
        return {
            **estimate_header(self.oracle, self.reports),
            "categories": list(self.categories),
            "frequencies": self.frequencies.tolist(),
            "standard_error": self.standard_error.tolist(),
        }


def estimate_header(oracle: Oracle, reports: int) -> dict[str, object]:
    """Return the fields that begin the record of every estimate."""
    return {
        "sfumato": "local estimate",
        "version": 1,
        "oracle": type(oracle).__name__,
        "epsilon": str(oracle.epsilon),
        "reports": reports,
    }


def bernstein_widths(reach: Floats, size: Floats, reports: int, missing: float) -> Floats:
    """Return half-widths that hold for means of scores, each except with probability `missing`,
    from their ranges and variances: Bernstein's inequality.
    """
    chance = math.log(2 / missing)
    widths: Floats = (
        chance * reach / 3 + np.sqrt((chance * reach / 3) ** 2 + 2 * reports * size * chance)
    ) / reports
    return widths


def variance(p: Fraction, q: Fraction, frequency: Fraction, reports: int, target: str) -> Fraction:
    """Return the exact variance of one estimated frequency, from the supports p and q."""
    if target == "data":
        report_variance = frequency * p * (1 - p) + (1 - frequency) * q * (1 - q)
    else:
        share = q + (p - q) * frequency
        report_variance = share * (1 - share)
    return report_variance / (reports * (p - q) ** 2)


_WIDER, _SURE = 1e-5, 1e-6


def clopper_pearson_limits(
    counts: NDArray[np.int64], reports: int, missing: Fraction, *, upper: bool
) -> list[Fraction]:
    """Return one side of the Clopper & Pearson intervals, for many counts.

    Each end is computed in double precision and moved outward by 10⁻⁵ of its distance from the
    observed share. It is accepted if the tail there is below `missing` by one part in 10⁶, which is
    more than the error of `betainc` (assumed, and tested against ball arithmetic). All other ends
    are computed in ball arithmetic.
    """
    from scipy.special import betainc, betaincinv

    tail, flat = float(missing), counts.astype(np.float64)
    a, b = (reports - flat, flat + 1) if upper else (flat, reports - flat + 1)  # of 1 − P, or of P
    inner = a > 0
    share = np.where(upper, 1 - flat / reports, flat / reports)
    at = betaincinv(np.where(inner, a, 1.0), b, tail)
    at = np.maximum(at - _WIDER * (share - at), 0.0)
    sure = inner & (betainc(np.where(inner, a, 1.0), b, at) <= tail * (1 - _SURE))
    return [
        (1 - Fraction(end) if upper else Fraction(end))
        if accepted
        else limit(count, reports, missing, upper=upper)
        for count, end, accepted in zip(counts.tolist(), at.tolist(), sure.tolist(), strict=True)
    ]
