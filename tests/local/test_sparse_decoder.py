"""Sparse decoding: what it finds is there, what it does not find is noise, and its fit is that of
least squares where that can be computed otherwise.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.optimize import nnls

from sfumato.errors import Refused
from sfumato.local import OpenRappor, Rappor, ReportTotals, SparseEstimate
from sfumato.local.bloom import bit_places
from sfumato.local.decoding.sparse_decoder import _descend, bloom_columns
from sfumato.testing import SeededBits

WIDE = Rappor(
    f="1/4", p="1/4", q="3/4", categories=range(1000), hashes=2, size=16, cohorts=32
)  # 1,000 candidates on 512 bits


def counts_of(oracle: Rappor, shares: np.ndarray, people: int, seed: int) -> ReportTotals:
    """The counts of a survey, drawn from their law: cohorts by lot, values, and bits."""
    rng = np.random.default_rng(seed)
    p, q = float(oracle.true_support), float(oracle.false_support)
    counts = np.zeros((oracle.cohorts, oracle.size + 1), dtype=np.int64)
    codes = np.arange(oracle.k)
    for c in range(oracle.cohorts):
        people_here = rng.binomial(people, 1 / oracle.cohorts)
        drawn = rng.multinomial(people_here, shares)
        sets = np.zeros((oracle.size, oracle.k), dtype=bool)
        for i in range(oracle.hashes):
            sets[bit_places(oracle, np.full(oracle.k, c), codes, i), codes] = True
        true = sets @ drawn
        counts[c, :-1] = rng.binomial(true, p) + rng.binomial(people_here - true, q)
        counts[c, -1] = people_here
    return ReportTotals(oracle.mark, counts, int(counts[:, -1].sum()))


@cache
def survey(seed: int, *, others: float = 0.3) -> tuple[np.ndarray, SparseEstimate]:
    """Twenty values of 2 to 6 %, the rest spread over all."""
    shares = np.full(1000, others / 1000)
    shares[:20] += np.linspace(0.06, 0.02, 20) / np.linspace(0.06, 0.02, 20).sum() * (1 - others)
    return shares, WIDE.decode(counts_of(WIDE, shares, 1_000_000, seed))


def test_a_thousand_candidates_on_512_bits() -> None:
    """The frequent values are found with their frequencies."""
    shares, estimate = survey(1)
    assert set(range(20)) <= set(estimate.categories)
    assert len(estimate) <= 22
    for row in estimate.rows(0.999999):
        assert row["low"] <= shares[row["category"]] <= row["high"]


def test_few_discoveries_are_false() -> None:
    """Over 8 seeded surveys in which 980 values have nobody: the share of false discoveries is
    0.05 by intention; the mean of what was seen stays below 0.1, and every survey finds all 20.
    """
    shares = np.zeros(1000)
    shares[:20] = 0.05
    false = []
    for seed in range(8):
        estimate = WIDE.decode(counts_of(WIDE, shares, 300_000, seed))
        assert set(range(20)) <= set(estimate.categories)
        false.append(1 - 20 / len(estimate))
    assert np.mean(false) < 0.1


def test_values_that_are_no_candidates_are_no_discoveries() -> None:
    """Nobody has a candidate: at 20 seeded surveys at most three discover anything; for a rate of
    5 % four or more come in one of 60.
    """
    oracle = OpenRappor(f="1/4", p="1/4", q="3/4", size=16, cohorts=32)
    surveys = 0
    for seed in range(20):
        people = [f"w{number}" for number in np.random.default_rng(seed).integers(0, 10**9, 3000)]
        reports = oracle.perturb(people, bits=SeededBits(seed))
        surveys += len(oracle.decode(reports, [f"c{i}" for i in range(300)])) > 0
    assert surveys <= 3


def test_the_twin_that_tests_nothing_finds_noise() -> None:
    """Without a threshold (fdr near 1) the same survey discovers many that nobody has."""
    shares = np.zeros(1000)
    shares[:20] = 0.05
    estimate = WIDE.decode(counts_of(WIDE, shares, 100_000, 1), fdr=0.999)
    strict = WIDE.decode(counts_of(WIDE, shares, 100_000, 1), fdr=1e-6)
    assert len(strict) < len(estimate)


def test_coordinate_descent_is_least_squares_without_negatives() -> None:
    rng = np.random.default_rng(3)
    columns, target = rng.normal(size=(60, 12)), rng.normal(size=60)
    descended = _descend(columns.T @ columns, columns.T @ target, np.zeros(12))
    assert descended == pytest.approx(nnls(columns, target)[0], abs=1e-6)


def test_columns_are_the_bits_of_the_client() -> None:
    codes = np.array([0, 5, 999])
    dense = bloom_columns(WIDE, np.array([0, 7]), codes).toarray().reshape(2, 16, 3)
    for row, cohort in enumerate((0, 7)):
        for i, code in enumerate(codes):
            at = {
                int(bit_places(WIDE, np.array([cohort]), np.array([code]), h)[0]) for h in range(2)
            }
            assert set(np.flatnonzero(dense[row, :, i])) == at


def test_views() -> None:
    estimate = survey(1)[1]
    assert estimate[0] > 0.03
    assert estimate[999] == 0
    assert estimate.frequencies.shape == (len(estimate),)
    assert estimate.record()["candidates"] == 1000
    assert "Discover" not in repr(estimate)
    assert repr(estimate).startswith("SparseEstimate from")
    assert len(estimate.to_pandas()) == len(estimate)


@pytest.mark.parametrize("fdr", [0, 2, "many"])
def test_refused(fdr: object) -> None:
    with pytest.raises(Refused):
        WIDE.decode(WIDE.perturb([1] * 10), fdr=fdr)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(Refused):
        WIDE.decode([])
    with pytest.raises(Refused):
        Rappor(epsilon=1, categories="ab").decode([])
