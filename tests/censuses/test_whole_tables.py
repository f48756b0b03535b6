"""Whole tables: not negative, adding up, within public limits, near the estimates."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.censuses.whole_numbers import round_groups
from sfumato.censuses.whole_tables import NO_LIMIT, TotalLimits, whole_tables, whole_totals

from .trees import chain


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scale", [0.3, 40.0])
def test_groups_reach_their_sums_within_their_ends(seed: int, scale: float) -> None:
    random = np.random.default_rng(seed)
    groups = np.sort(random.integers(0, 30, 400))
    low = random.integers(0, 3, 400)
    high = low + random.integers(0, 9, 400)
    sums = np.bincount(groups, random.integers(low, high + 1), 30).astype(np.int64)
    goals = random.normal(2, scale, 400)
    counts = round_groups(goals, random.uniform(0.5, 2, 400), (low, high), groups, sums)
    assert (low <= counts).all()
    assert (counts <= high).all()
    assert np.array_equal(np.bincount(groups, counts, 30), sums)


def test_whole_goals_stay_as_they_are() -> None:
    goals = np.array([4.0, 0.0, 7.0, 1.0])
    ends = (np.zeros(4, dtype=np.int64), np.full(4, 99))
    sums, groups = np.array([4, 8]), np.array([0, 0, 1, 1])
    assert round_groups(goals, np.ones(4), ends, groups, sums).tolist() == [4, 0, 7, 1]


@pytest.mark.parametrize("seed", range(3))
def test_tables_are_whole_and_add_up(seed: int) -> None:
    spine, random = chain(seed, 90), np.random.default_rng(seed)
    truth = random.poisson(0.7, (90, 11)) * random.integers(0, 6, (90, 1))
    exact = spine.sum_up(truth)
    estimates = [values + random.normal(0, 3, values.shape) for values in exact]
    least = [np.zeros(size, dtype=np.int64) for size in spine.sizes]
    most = [np.full(size, NO_LIMIT) for size in spine.sizes]
    least[0][1] = most[0][1] = exact[0].sum(axis=1)[1]
    least[2][3] = 25
    limits = TotalLimits.of(spine, least, most)
    deviations = [np.ones(size) for size in spine.sizes]
    totals = whole_totals(spine, [e.sum(axis=1) for e in estimates], deviations, limits)
    possible = np.arange(10)
    counts = whole_tables(spine, estimates, totals, possible)
    levels = spine.sum_up(counts)
    assert (counts >= 0).all()
    assert not counts[:, 10].any()
    for at, sums in enumerate(totals):
        assert np.array_equal(levels[at].sum(axis=1), sums)
        assert (limits.least[at] <= sums).all()
        assert (sums <= limits.most[at]).all()
    assert totals[0][1] == exact[0].sum(axis=1)[1]
    assert totals[2][3] >= 25


def test_exact_estimates_come_back() -> None:
    spine, random = chain(5, 60), np.random.default_rng(5)
    truth = random.poisson(2.0, (60, 7))
    exact = [values.astype(float) for values in spine.sum_up(truth)]
    totals = whole_totals(
        spine,
        [values.sum(axis=1) for values in exact],
        [np.ones(size) for size in spine.sizes],
        TotalLimits.none(spine),
    )
    assert np.array_equal(whole_tables(spine, exact, totals, np.arange(7)), truth)


def test_totals_first_is_nearer_than_cells_alone() -> None:
    """Without the pass of totals, cells that may not be negative push the totals of places."""
    spine, random = chain(1, 300), np.random.default_rng(1)
    truth = np.zeros((300, 60), dtype=np.int64)
    truth[:, 0] = random.poisson(20, 300)
    exact = spine.sum_up(truth)
    estimates = [values + random.normal(0, 3, values.shape) for values in exact]
    sums = [e.sum(axis=1) + random.normal(0, 1, len(e)) for e in exact]
    for values, total in zip(estimates, sums, strict=True):
        values += ((total - values.sum(axis=1)) / 60)[:, None]
    ones = [np.ones(size) for size in spine.sizes]
    totals = whole_totals(spine, sums, ones, TotalLimits.none(spine))
    naive = np.rint(np.maximum(estimates[-1], 0)).sum(axis=1)
    error = np.abs(totals[-1] - exact[-1].sum(axis=1)).mean()
    assert error < 2
    assert np.abs(naive - exact[-1].sum(axis=1)).mean() > 10 * error
