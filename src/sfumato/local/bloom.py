"""Frequencies from bits of Bloom filters: a least-squares fit to the bits of all cohorts.

*Steps*      A[(j, b), v] is 1 if value v has bit b in cohort j: public. A bit of a report in cohort
             j, less `other` and over own − other, is right on average for A; so with any W for
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
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import Refused
from ..exact.numbers import Number, probability
from ..mechanisms.shared.response_estimate import Target
from .frequency_estimate import bernstein, published
from .lib.consistency import Consistency, Floats, consistent
from .lib.hash_families import shared_functions, shared_hash, to_bucket

if TYPE_CHECKING:
    from .rappor import Rappor


def places(
    oracle: Rappor, cohort: NDArray[np.int64], codes: NDArray[np.int64], i: int
) -> NDArray[np.int64]:
    """The i-th bit of each value in its cohort."""
    if not oracle.hashes:
        return codes
    functions = shared_functions(oracle.seed, oracle.cohorts * oracle.hashes)
    return to_bucket(shared_hash(functions, cohort * oracle.hashes + i, codes), oracle.size)


@lru_cache(maxsize=4)
def _fit(oracle: Rappor) -> tuple[Floats, Floats]:
    """A and W as (cohorts, bits, values) and (values, cohorts, bits)."""
    j, v = (
        grid.ravel()
        for grid in np.meshgrid(np.arange(oracle.cohorts), np.arange(oracle.k), indexing="ij")
    )
    design = np.zeros((oracle.cohorts, oracle.size, oracle.k))
    for i in range(oracle.hashes):
        design[j, places(oracle, j, v, i), v] = 1.0
    flat = design.reshape(-1, oracle.k)
    square = flat.T @ flat
    if np.linalg.matrix_rank(square, hermitian=True) < oracle.k:
        raise Refused(
            "local.bloom",
            f"{oracle}",
            "some values are not told apart by their bits",
            "more cohorts=, or a larger size=",
        )
    weights: Floats = (
        np.linalg.solve(square, flat.T)
        .reshape(oracle.k, oracle.cohorts, oracle.size)
        .astype(np.float64)
    )
    return design, weights


def second_moments(oracle: Rappor) -> Floats:
    """E[score for v squared | truth u], a row for each v."""
    design, weights = _fit(oracle)
    own, other = float(oracle.own), float(oracle.other)
    noise = np.where(design > 0, own * (1 - own), other * (1 - other)) / (own - other) ** 2
    means = weights.transpose(1, 0, 2) @ design
    flat = (oracle.k, oracle.cohorts * oracle.size)
    found: Floats = oracle.cohorts * (
        (means**2).sum(axis=0) + (weights**2).reshape(flat) @ noise.reshape(flat[::-1])
    )
    return found


def worst_variance(oracle: Rappor, n: int, target: Target) -> float:
    """The largest variance over all categories, all frequencies of them and all values that the
    other people may have.

    With a = E[score² | the value itself] and b the largest E[score² | another], a population of
    frequency f has at most f·a + (1 − f)·b − f².
    """
    moments = second_moments(oracle)
    own = np.diag(moments)
    other = (moments - np.diag(np.full(oracle.k, np.inf))).max(axis=1)
    if target == "data":
        return float(np.maximum(own - 1, other).max() / n)
    f = np.clip((own - other) / 2, 0.0, 1.0)
    return float((f * own + (1 - f) * other - f**2).max() / n)


def total_error(oracle: Rappor, frequencies: Floats, n: int, target: Target) -> float:
    """The sum of the variances of all estimated frequencies."""
    taken = (frequencies**2).sum() if target == "population" else frequencies.sum()
    return float(((second_moments(oracle) @ frequencies).sum() - taken) / n)


def score_range(oracle: Rappor) -> tuple[float, float]:
    """The least and the largest score that one well-formed report can give to any category."""
    own, other = float(oracle.own), float(oracle.other)
    weights = oracle.cohorts * _fit(oracle)[1] / (own - other)
    gain, loss = np.maximum(weights, 0.0).sum(axis=2), np.maximum(-weights, 0.0).sum(axis=2)
    return float(-(loss * (1 - other) + gain * other).max()), float(
        (gain * (1 - other) + loss * other).max()
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BloomEstimate:
    """Bits of each cohort, and what follows for the frequencies. In the order of the categories
    throughout.
    """

    oracle: Rappor
    counts: NDArray[np.int64]
    reports: int

    def __post_init__(self) -> None:
        _fit(self.oracle)  # refused now rather than when a frequency is asked for

    @property
    def categories(self) -> tuple[Hashable, ...]:
        return self.oracle.categories

    @property
    def frequencies(self) -> Floats:
        """Unbiased, and possibly below 0 or above 1."""
        own, other = float(self.oracle.own), float(self.oracle.other)
        bits = (self.counts[:, :-1] - other * self.counts[:, -1:]) / (own - other)
        found: Floats = (
            self.oracle.cohorts
            / self.reports
            * (_fit(self.oracle)[1].reshape(self.oracle.k, -1) @ bits.ravel())
        )
        return found

    def __getitem__(self, category: Hashable) -> float:
        return float(self.frequencies[self.oracle.labels.index(category)])

    def consistent(self, method: Consistency = "norm-sub") -> Floats:
        """Frequencies that are none below 0 and of sum 1, or cut one by one ("clip")."""
        return consistent(self.frequencies, method)

    @property
    def standard_error(self) -> Floats:
        """The population's, with the consistent estimate put in for the frequencies."""
        held = self.consistent()
        found: Floats = np.sqrt(
            np.maximum(second_moments(self.oracle) @ held - held**2, 0.0) / self.reports
        )
        return found

    def interval(
        self,
        confidence: Number = 0.95,
        *,
        method: Literal["bernstein", "normal"] = "bernstein",
        simultaneous: bool = False,
    ) -> Floats:
        """A lower and an upper end for each frequency; with `simultaneous`, all of them hold
        together.
        """
        if method not in ("bernstein", "normal"):
            raise Refused(
                "response.interval",
                f"method={method!r}",
                "there is no such interval",
                "one of bernstein, normal",
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
                / float(self.oracle.own - self.oracle.other)
                + 1
            )
            size = second_moments(self.oracle).max(
                axis=1
            )  # not less than any variance, of people drawn or of coins alone
            half = bernstein(reach, size, self.reports, missing)
        ends: Floats = np.clip(
            np.stack([self.frequencies - half, self.frequencies + half], axis=1), 0.0, 1.0
        )
        return ends

    def record(self) -> dict[str, Any]:
        """What may be published, for JSON."""
        numbers = {
            "frequencies": self.frequencies.tolist(),
            "standard_error": self.standard_error.tolist(),
        }
        return {
            **published(self.oracle, self.reports),
            "categories": list(self.categories),
            **numbers,
        }

    def __repr__(self) -> str:
        return f"BloomEstimate({self.oracle.k} categories from {self.reports} reports)"
