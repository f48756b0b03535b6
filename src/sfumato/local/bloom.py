"""Estimate frequencies from Bloom-filter bits, by a least-squares fit to the bits of all cohorts.

*Steps*      A[(j, b), v] is 1 if value v has bit b in cohort j: public. A bit of a report in cohort
             j, less q and over p − q, is unbiased for A (p, q: the supports); so with any W for
             which W·A = 1 the mean over all reports of cohorts·W[:, j]·bits is unbiased. W is that
             of least squares, (AᵀA)⁻¹Aᵀ.
*Error*      Reports are independent, and given a value so are the bits: for truth u the variance of
             one report's score for v is cohorts·Σ_j ((W_j·A_j)[v, u]² + Σ_b W_jb²·s_b(u)) − 1[u =
             v], s the variance of a bit. Sums in double precision; the reports are public.
*Interval*   "bernstein": the worst variance over all values and the range of a score, for the
             population and for these people. "normal": approximate.
*Refused*    Values that their bits do not tell apart: then no estimate is unbiased.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from ..exact.numbers import Number, probability
from ..mechanisms.shared.response_estimate import Target
from . import local_refusals as refusals
from .estimate_views import EstimateViews, Row
from .frequency_estimate import bernstein_widths, estimate_header
from .lib.consistency import Consistency, Floats, make_consistent
from .lib.hash_families import shared_functions, shared_hash, to_bucket

if TYPE_CHECKING:
    from .rappor import Rappor
    from .remembered.remembered_bits import RememberedBits

MOST_BITS = 4096
MOST_COHORTS = 4096


def bit_places(
    oracle: RememberedBits, cohort: NDArray[np.int64], codes: NDArray[np.int64], i: int
) -> NDArray[np.int64]:
    """Return the place of the i-th bit of each value in its cohort."""
    if not oracle.hashes:
        return codes
    functions = shared_functions(oracle.seed, oracle.cohorts * oracle.hashes)
    return to_bucket(shared_hash(functions, cohort * oracle.hashes + i, codes), oracle.size)


@lru_cache(maxsize=4)
def _fit(oracle: Rappor) -> tuple[Floats, Floats]:
    """Compute A and W, as (cohorts, bits, values) and (values, cohorts, bits)."""
    j, v = (
        grid.ravel()
        for grid in np.meshgrid(np.arange(oracle.cohorts), np.arange(oracle.k), indexing="ij")
    )
    design = np.zeros((oracle.cohorts, oracle.size, oracle.k))
    for i in range(oracle.hashes):
        design[j, bit_places(oracle, j, v, i), v] = 1.0
    flat = design.reshape(-1, oracle.k)
    square = flat.T @ flat
    if np.linalg.matrix_rank(square, hermitian=True) < oracle.k:
        raise refusals.BLOOM_BITS_SHARED(
            oracle=oracle,
            size=min(2 * oracle.size, MOST_BITS),
            cohorts=min(2 * oracle.cohorts, MOST_COHORTS),
        )
    weights: Floats = (
        np.linalg.solve(square, flat.T)
        .reshape(oracle.k, oracle.cohorts, oracle.size)
        .astype(np.float64)
    )
    return design, weights


def second_moments(oracle: Rappor) -> Floats:
    """Return E[score for v squared | truth u], a row for each v."""
    design, weights = _fit(oracle)
    p, q = float(oracle.true_support), float(oracle.false_support)
    noise = np.where(design > 0, p * (1 - p), q * (1 - q)) / (p - q) ** 2
    means = weights.transpose(1, 0, 2) @ design
    flat = (oracle.k, oracle.cohorts * oracle.size)
    moments: Floats = oracle.cohorts * (
        (means**2).sum(axis=0) + (weights**2).reshape(flat) @ noise.reshape(flat[::-1])
    )
    return moments


def worst_variance(oracle: Rappor, n: int, target: Target) -> float:
    """Return the largest variance over all categories, their frequencies, and the values of all
    other people.

    With a = E[score² | the value itself] and b the largest E[score² | another value], a population
    of frequency f has at most f·a + (1 − f)·b − f².
    """
    moments = second_moments(oracle)
    a = np.diag(moments)
    b = (moments - np.diag(np.full(oracle.k, np.inf))).max(axis=1)
    if target == "data":
        return float(np.maximum(a - 1, b).max() / n)
    f = np.clip((a - b) / 2, 0.0, 1.0)
    return float((f * a + (1 - f) * b - f**2).max() / n)


def total_error(oracle: Rappor, frequencies: Floats, n: int, target: Target) -> float:
    """Return the sum of the variances of all estimated frequencies."""
    squares = (frequencies**2).sum() if target == "population" else frequencies.sum()
    return float(((second_moments(oracle) @ frequencies).sum() - squares) / n)


def score_range(oracle: Rappor) -> tuple[float, float]:
    """Return the least and the largest score that one well-formed report can give a category."""
    p, q = float(oracle.true_support), float(oracle.false_support)
    weights = oracle.cohorts * _fit(oracle)[1] / (p - q)
    gain, loss = np.maximum(weights, 0.0).sum(axis=2), np.maximum(-weights, 0.0).sum(axis=2)
    return float(-(loss * (1 - q) + gain * q).max()), float((gain * (1 - q) + loss * q).max())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BloomEstimate(EstimateViews):
    """Bit counts of each cohort, and the frequencies estimated from them, in the order of the
    categories.
    """

    oracle: Rappor
    counts: NDArray[np.int64]
    reports: int

    def __post_init__(self) -> None:
        _fit(self.oracle)  # refuses now rather than at the first frequency

    @property
    def categories(self) -> tuple[Hashable, ...]:
        return self.oracle.categories

    @property
    def frequencies(self) -> Floats:
        """The unbiased frequencies; they may lie below 0 or above 1."""
        p, q = float(self.oracle.true_support), float(self.oracle.false_support)
        bits = (self.counts[:, :-1] - q * self.counts[:, -1:]) / (p - q)
        frequencies: Floats = (
            self.oracle.cohorts
            / self.reports
            * (_fit(self.oracle)[1].reshape(self.oracle.k, -1) @ bits.ravel())
        )
        return frequencies

    def __getitem__(self, category: Hashable) -> float:
        return float(self.frequencies[self.oracle.labels.index(category)])

    def consistent(self, method: Consistency = "norm-sub") -> Floats:
        """Return frequencies that are not negative and sum to 1, or each clipped ("clip")."""
        return make_consistent(self.frequencies, method)

    @property
    def standard_error(self) -> Floats:
        """Standard errors for the population, computed at the consistent estimate."""
        estimate = self.consistent()
        errors: Floats = np.sqrt(
            np.maximum(second_moments(self.oracle) @ estimate - estimate**2, 0.0) / self.reports
        )
        return errors

    def interval(
        self,
        confidence: Number = 0.95,
        *,
        method: Literal["bernstein", "normal"] = "bernstein",
        simultaneous: bool = False,
    ) -> Floats:
        """Return a lower and an upper end for each frequency; with `simultaneous`, all intervals
        hold together.
        """
        if method not in ("bernstein", "normal"):
            raise refusals.UNKNOWN_INTERVAL_METHOD(
                method=method, methods="bernstein, normal", example="bernstein"
            )
        missing = float(1 - probability(confidence, "confidence", zero=False)) / (
            self.oracle.k if simultaneous else 1
        )
        if method == "normal":
            from scipy.special import ndtri

            half = -ndtri(missing / 2) * self.standard_error
        else:
            reach = (
                self.oracle.cohorts
                * np.abs(_fit(self.oracle)[1]).sum(axis=2).max(axis=1)
                / float(self.oracle.true_support - self.oracle.false_support)
                + 1
            )
            # not less than any variance, of people drawn or of coins alone
            size = second_moments(self.oracle).max(axis=1)
            half = bernstein_widths(reach, size, self.reports, missing)
        ends: Floats = np.clip(
            np.stack([self.frequencies - half, self.frequencies + half], axis=1), 0.0, 1.0
        )
        return ends

    def rows(self, confidence: Number = 0.95, *, simultaneous: bool = False) -> list[Row]:
        """Return a row for each category: its frequency and its interval."""
        ends = self.interval(confidence, simultaneous=simultaneous).tolist()
        cells = zip(self.categories, self.frequencies.tolist(), ends, strict=True)
        return [
            {"category": name, "frequency": value, "low": low, "high": high}
            for name, value, (low, high) in cells
        ]

    def record(self) -> dict[str, object]:
        """Return the public record of the estimate, for JSON."""
        return {
            **estimate_header(self.oracle, self.reports),
            "categories": list(self.categories),
            "frequencies": self.frequencies.tolist(),
            "standard_error": self.standard_error.tolist(),
        }
