"""Estimate how two answers of the same people go together, from the pairs of their reports.

*Steps*      Report i of the first question and report i of the second come from the same person.
             `frequencies`: the most likely joint distribution, by expectation and maximisation over
             the exact laws of both reports (Fanti, Pihur & Erlingsson 2015); not negative, of sum
             1, slightly biased. `unbiased`: the mean of the product of the two unbiased scores.
*Promise*    None of its own. A person who answers both questions has both ε; whoever joins the two
             reports of a person has to see that they are of one person.
*Error*      `standard_error` is that of the mean of products, from their observed variance.
*Interval*   normal, around `unbiased`; approximate.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from ...exact.numbers import Number, probability
from .. import local_refusals as refusals
from ..bloom import _fit
from ..direct import Direct
from ..estimate_views import EstimateViews, Row
from ..frequency_estimate import estimate_header
from ..frequency_oracle import FrequencyOracle
from ..hashing import Hashing, hashed_parts
from ..lib.biased_coins import Bytes
from ..lib.consistency import Floats
from ..lib.hash_families import own_hash, to_bucket
from ..rappor import Rappor
from ..unary import Unary
from ..wire_reports import Reports, unpack_integers, width_for

ROUNDS = 5000
STILL = 1e-8
Sent = Reports | bytes | Iterable[bytes]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JointEstimate(EstimateViews):
    """The joint distribution of two answers: a row for each category of the first question, a
    column for each of the second.
    """

    oracle: FrequencyOracle
    second: FrequencyOracle
    frequencies: Floats
    unbiased: Floats
    standard_error: Floats
    rounds: int
    reports: int

    def __getitem__(self, pair: tuple[Hashable, Hashable]) -> float:
        """Return the likely frequency of a pair of categories."""
        first, second = pair
        row = self.oracle.labels.index(first)
        return float(self.frequencies[row, self.second.labels.index(second)])

    def interval(self, confidence: Number = 0.95, *, simultaneous: bool = False) -> Floats:
        """Return a lower and an upper end for each pair."""
        from scipy.special import ndtri

        missing = float(1 - probability(confidence, "confidence", zero=False))
        half = self.standard_error * -ndtri(
            missing / 2 / (self.unbiased.size if simultaneous else 1)
        )
        ends: Floats = np.stack([self.unbiased - half, self.unbiased + half], axis=-1)
        return np.clip(ends, 0.0, 1.0)

    def rows(self, confidence: Number = 0.95, *, simultaneous: bool = False) -> list[Row]:
        """Return a row for each pair of categories, with its interval."""
        ends = self.interval(confidence, simultaneous=simultaneous)
        return [
            {
                "category": f"{first}, {second}",
                "frequency": float(self.frequencies[i, j]),
                "low": float(ends[i, j, 0]),
                "high": float(ends[i, j, 1]),
            }
            for i, first in enumerate(self.oracle.categories)
            for j, second in enumerate(self.second.categories)
        ]

    def record(self) -> dict[str, object]:
        """Return the public record of the estimate, for JSON."""
        return {
            **estimate_header(self.oracle, self.reports),
            "second": self.second.question,
            "frequencies": self.frequencies.tolist(),
            "unbiased": self.unbiased.tolist(),
            "standard_error": self.standard_error.tolist(),
        }


def associate(
    first: FrequencyOracle, first_reports: Sent, second: FrequencyOracle, second_reports: Sent
) -> JointEstimate:
    """Estimate the joint distribution of two answers, from reports in the same order of people.

    >>> oracle = sf.local.Direct(epsilon=3, categories=["yes", "no"])
    >>> reports = oracle.perturb(["yes", "no"] * 500)
    >>> joint = sf.local.associate(oracle, reports, oracle, oracle.perturb(["yes", "no"] * 500))
    >>> bool(joint["yes", "yes"] > joint["yes", "no"])
    True
    """
    payloads = [
        oracle.read(reports).payload
        for oracle, reports in ((first, first_reports), (second, second_reports))
    ]
    if len(payloads[0]) != len(payloads[1]) or not len(payloads[0]):
        raise refusals.REPORTS_NOT_IN_PAIRS(counts=[len(payload) for payload in payloads])
    (rows, row_scores), (columns, column_scores) = (
        evidence(oracle, payload) for oracle, payload in zip((first, second), payloads, strict=True)
    )
    n = len(rows)
    unbiased: Floats = row_scores.T @ column_scores / n
    squares = (row_scores**2).T @ column_scores**2 / n
    errors = np.sqrt(np.maximum(squares - unbiased**2, 0.0) / n)
    frequencies, rounds = _maximize(rows, columns)
    return JointEstimate(first, second, frequencies, unbiased, errors, rounds, n)


def _maximize(rows: Floats, columns: Floats) -> tuple[Floats, int]:
    """Maximize the likelihood of all pairs over joint distributions."""
    shape = (rows.shape[1], columns.shape[1])
    joint: Floats = np.full(shape, 1 / math.prod(shape))
    rounds, moved = 0, 1.0
    while moved >= STILL and rounds < ROUNDS:
        rounds += 1
        chances = ((rows @ joint) * columns).sum(axis=1)
        likelier = joint * (rows.T @ (columns / chances[:, None])) / len(rows)
        moved = float(np.abs(likelier - joint).max())
        joint = likelier
    return joint, rounds


def evidence(oracle: FrequencyOracle, payload: Bytes) -> tuple[Floats, Floats]:
    """Return for each report and category the likelihood, up to a factor for each report, and the
    unbiased score.
    """
    if isinstance(oracle, Rappor) and oracle.hashes:
        return _bloom_evidence(oracle, payload)
    supported = _supported(oracle, payload)
    p, q = float(oracle.true_support), float(oracle.false_support)
    if isinstance(oracle, Unary | Rappor):
        gain = math.log(p / q) - math.log((1 - p) / (1 - q))
    else:
        gain = math.log(oracle.odds)
    return _likelihood(gain * supported), (supported - q) / (p - q)


def _supported(oracle: FrequencyOracle, payload: Bytes) -> Floats:
    """Tell which categories each report supports."""
    if isinstance(oracle, Direct):
        codes = unpack_integers(payload)
        return np.equal.outer(codes, np.arange(oracle.k)).astype(np.float64)
    if isinstance(oracle, Hashing):
        a, b, bucket = hashed_parts(payload)
        buckets = np.zeros((len(a), oracle.k), dtype=np.int64)
        for code in range(oracle.k):
            buckets[:, code] = to_bucket(own_hash(a, b, np.full(len(a), code)), oracle.buckets)
        return np.equal(buckets, bucket[:, None]).astype(np.float64)
    if isinstance(oracle, Unary | Rappor):
        head = width_for(oracle.cohorts) if isinstance(oracle, Rappor) else 0
        return np.unpackbits(payload[:, head:], axis=1, count=oracle.k).astype(np.float64)
    raise refusals.ORACLE_WITHOUT_PAIRS(oracle=type(oracle).__name__)


def _bloom_evidence(oracle: Rappor, payload: Bytes) -> tuple[Floats, Floats]:
    design, weights = _fit(oracle)
    head = width_for(oracle.cohorts)
    cohort = unpack_integers(payload[:, :head])
    bits = np.unpackbits(payload[:, head:], axis=1, count=oracle.size).astype(np.float64)
    p, q = float(oracle.true_support), float(oracle.false_support)
    of_one, of_zero = math.log(p / q), math.log((1 - p) / (1 - q))
    likely, scores = (np.zeros((len(bits), oracle.k)) for _ in range(2))
    for c in range(oracle.cohorts):
        mine = cohort == c
        likely[mine] = (bits[mine] * (of_one - of_zero) + of_zero) @ design[c]
        scores[mine] = oracle.cohorts * ((bits[mine] - q) / (p - q)) @ weights[:, c].T
    return _likelihood(likely), scores


def _likelihood(logarithms: Floats) -> Floats:
    likely: Floats = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    return likely
