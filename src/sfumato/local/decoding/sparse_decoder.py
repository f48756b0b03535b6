"""Decode Bloom filters with many more candidates than bits: choose few candidates by a lasso, fit
them by least squares, and keep those that stand out of the noise.

*Steps*        A bit of a cohort, less q and over p − q, is unbiased for the share of its people
               whose value sets it. The decoder subtracts the share that values would have whose
               bits are spread evenly: so what is no candidate adds noise only. A lasso without
               negative frequencies chooses candidates; its penalty for each is the level that about
               ten candidates that nobody has would exceed by chance. Weighted least squares over
               the chosen ones gives frequencies.
*Error*        Variances of bits are binomial, and multiplied by the mean squared residual where
               that exceeds 1: frequent values that are no candidates make residuals large.
*Discoveries*  One-sided p-values by the normal law; candidates that the lasso did not choose have
               1. Benjamini & Hochberg 1995 over all candidates: of the discoveries a share of `fdr`
               is expected to be false. Candidates are chosen and tested with the same reports, so
               this holds approximately: docs/guides/telemetry.md has simulations.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from ...exact.numbers import Number, probability
from .. import local_refusals as refusals
from ..estimate_views import EstimateViews, Row
from ..frequency_estimate import estimate_header
from ..lib.consistency import Floats
from ..lib.hash_families import shared_functions, shared_hash, to_bucket

if TYPE_CHECKING:
    from scipy.sparse import csc_array

    from ..oracle import Oracle

CHANCE_CHOICES = 10
"""How many candidates that nobody has the penalty lets through, about."""
STEP = 25
ROUNDS = 80
SWEEPS = 400


class BloomShape(Protocol):
    """The public hash functions and the supports of a Bloom filter."""

    @property
    def seed(self) -> str: ...

    @property
    def hashes(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def cohorts(self) -> int: ...

    @property
    def true_support(self) -> Fraction: ...

    @property
    def false_support(self) -> Fraction: ...


@dataclass(frozen=True, slots=True)
class Discovery:
    """A candidate that stands out of the noise."""

    category: Hashable
    frequency: float
    standard_error: float
    p_value: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SparseEstimate(EstimateViews):
    """The candidates that stand out of the noise, the most frequent first. `chosen` is the number
    of candidates that the lasso chose, `dispersion` the mean squared residual of their fit.
    """

    oracle: Oracle
    discoveries: tuple[Discovery, ...]
    candidates: int
    chosen: int
    dispersion: float
    reports: int

    def __len__(self) -> int:
        return len(self.discoveries)

    @property
    def categories(self) -> tuple[Hashable, ...]:
        return tuple(d.category for d in self.discoveries)

    @property
    def frequencies(self) -> Floats:
        return np.array([d.frequency for d in self.discoveries])

    def __getitem__(self, category: Hashable) -> float:
        """Return the frequency of a discovery, and 0 for any other candidate."""
        return next((d.frequency for d in self.discoveries if d.category == category), 0.0)

    def rows(self, confidence: Number = 0.95, *, simultaneous: bool = False) -> list[Row]:
        """Return a row for each discovery, with a normal interval."""
        from scipy.special import ndtri

        missing = float(1 - probability(confidence, "confidence", zero=False))
        half = -ndtri(missing / 2 / (max(1, len(self)) if simultaneous else 1))
        return [
            {
                "category": d.category,
                "frequency": d.frequency,
                "low": max(0.0, d.frequency - half * d.standard_error),
                "high": min(1.0, d.frequency + half * d.standard_error),
            }
            for d in self.discoveries
        ]

    def record(self) -> dict[str, object]:
        """Return the public record of the estimate, for JSON."""
        return {
            **estimate_header(self.oracle, self.reports),
            "candidates": self.candidates,
            "chosen": self.chosen,
            "dispersion": self.dispersion,
            "discoveries": [
                {**row, "p_value": d.p_value}
                for row, d in zip(self.rows(), self.discoveries, strict=True)
            ],
        }


def decode(
    oracle: Oracle,
    shape: BloomShape,
    counts: NDArray[np.int64],
    cohorts: NDArray[np.int64],
    candidates: tuple[Sequence[Hashable], NDArray[np.int64]],
    fdr: Number,
) -> SparseEstimate:
    """Find the candidates (labels and codes) that the counts of these cohorts show."""
    labels, codes = candidates
    level = float(probability(fdr, "fdr", zero=False))
    p, q = float(shape.true_support), float(shape.false_support)
    some = counts[cohorts]
    people = some[:, -1]
    if not people.sum():
        raise refusals.NO_REPORTS()
    used = cohorts[people > 0]
    share = some[people > 0, :-1] / people[people > 0, None]
    even = 1 - (1 - 1 / shape.size) ** shape.hashes
    target = ((share - q) / (p - q) - even).ravel()
    weights = np.repeat(people[people > 0], shape.size).astype(np.float64)
    centre = np.clip(share, min(q, 0.01), max(p, 0.99))
    noise = (centre * (1 - centre)).ravel() / weights / (p - q) ** 2
    design = bloom_columns(shape, used, codes)
    chosen = _choose(design, even, target, weights, noise)
    columns = design[:, chosen].toarray() - even
    if chosen.size and np.linalg.matrix_rank(columns) < chosen.size:
        raise refusals.BLOOM_BITS_SHARED(
            oracle=oracle, size=2 * shape.size, cohorts=2 * shape.cohorts
        )
    root = np.sqrt(weights)[:, None]
    solve = np.linalg.pinv(columns * root) * root.T
    frequencies = solve @ target
    left = target - columns @ frequencies
    freedom = max(1, target.size - chosen.size)
    dispersion = float((left**2 / noise).sum() / freedom)
    errors = np.sqrt(max(1.0, dispersion) * (solve**2 @ noise))
    from scipy.special import ndtr

    p_values = ndtr(-frequencies / errors) if chosen.size else np.zeros(0)
    order = np.argsort(p_values, kind="stable")
    passing = np.flatnonzero(p_values[order] <= level * np.arange(1, chosen.size + 1) / len(codes))
    significant = order[: passing[-1] + 1] if passing.size else order[:0]
    discoveries = [
        Discovery(labels[chosen[i]], float(frequencies[i]), float(errors[i]), float(p_values[i]))
        for i in significant
    ]
    return SparseEstimate(
        oracle,
        tuple(sorted(discoveries, key=lambda d: -d.frequency)),
        len(codes),
        int(chosen.size),
        dispersion,
        int(people.sum()),
    )


def bloom_columns(
    shape: BloomShape, cohorts: NDArray[np.int64], codes: NDArray[np.int64]
) -> csc_array:
    """Return the bits of each code: a row for each cohort and bit, a column for each code."""
    from scipy.sparse import csc_array

    functions = shared_functions(shape.seed, shape.cohorts * shape.hashes)
    places = np.stack(
        [
            row * shape.size
            + to_bucket(
                shared_hash(functions, np.full(codes.size, cohort * shape.hashes + i), codes),
                shape.size,
            )
            for row, cohort in enumerate(cohorts.tolist())
            for i in range(shape.hashes)
        ]
    )
    ends = np.arange(codes.size + 1) * len(places)
    design = csc_array(
        (np.ones(places.size), places.T.ravel(), ends),
        shape=(cohorts.size * shape.size, codes.size),
    )
    design.sum_duplicates()
    design.data[:] = 1.0
    return design


def _choose(
    design: csc_array, even: float, target: Floats, weights: Floats, noise: Floats
) -> NDArray[np.int64]:
    """Return the columns of the lasso's solution."""
    from scipy.special import ndtri

    count = design.shape[1]
    chance = min(CHANCE_CHOICES / count, 0.16)
    spread = weights**2 * noise
    sizes = design.T @ spread * (1 - 2 * even) + even**2 * spread.sum()
    penalty = -ndtri(chance) * np.sqrt(np.maximum(sizes, 0.0))
    most = max(1, target.size // 3)
    active = np.zeros(0, dtype=np.int64)
    frequencies: Floats = np.zeros(0)
    left = target
    for _ in range(ROUNDS):
        pull = design.T @ (weights * left) - even * (weights * left).sum()
        excess = (pull - penalty) / penalty
        excess[active] = -np.inf
        new = np.argsort(-excess, kind="stable")[: min(STEP, most - active.size)]
        new = new[excess[new] > 1e-9]
        if not new.size:
            break
        active = np.concatenate([active, new])
        columns = design[:, active].toarray() - even
        gram = columns.T @ (weights[:, None] * columns)
        start = np.concatenate([frequencies, np.zeros(new.size)])
        frequencies = _descend(gram, columns.T @ (weights * target) - penalty[active], start)
        left = target - columns @ frequencies
        if active.size >= most:
            break
    return np.sort(active[frequencies > 0])


def _descend(gram: Floats, pull: Floats, start: Floats) -> Floats:
    """Minimise ½fᵀGf − pullᵀf over f ≥ 0, one coordinate after the other."""
    frequencies = start.copy()
    slope = gram @ frequencies - pull
    for _ in range(SWEEPS):
        moved = 0.0
        for i in range(frequencies.size):
            at = max(0.0, frequencies[i] - slope[i] / gram[i, i])
            if at != frequencies[i]:
                slope += gram[:, i] * (at - frequencies[i])
                moved = max(moved, abs(at - frequencies[i]))
                frequencies[i] = at
        if moved < 1e-9:
            break
    return frequencies
