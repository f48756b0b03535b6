"""Estimates on a tree against dense least squares: values, variances, areas, public totals."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.censuses.census_design import CensusDesign
from sfumato.censuses.marginal_parts import subsets
from sfumato.censuses.spine import Spine
from sfumato.censuses.tree_estimates import TreeWeights
from sfumato.censuses.whole_tables import NO_LIMIT, TotalLimits

from .trees import dense, design, random_tables, rows_of

TABLES = list(subsets(2))


def with_totals(fixed: dict[int, dict[int, float]]) -> CensusDesign:
    spine = design().spine
    least = [np.zeros(size, dtype=np.int64) for size in spine.sizes]
    most = [np.full(size, NO_LIMIT) for size in spine.sizes]
    for level, totals in fixed.items():
        for place, total in totals.items():
            least[level][place] = most[level][place] = int(total)
    return design(TotalLimits.of(spine, least, most))


@pytest.mark.parametrize(
    "fixed",
    [{}, {0: {1: 70.0}}, {1: {0: 55.0, 1: 12.0}}, {0: {0: 80.0}, 2: {0: 20.0}}],
    ids=["no public total", "a state", "all counties of a state", "a state and a block"],
)
def test_estimates_are_those_of_dense_least_squares(fixed: dict[int, dict[int, float]]) -> None:
    at = with_totals(fixed)
    noisy = random_tables(at, 3)
    estimates = at.estimate(noisy)
    cells, covariance = dense(at, noisy, fixed)
    for level in range(at.spine.depth):
        for table in TABLES:
            rows = rows_of(at, level, table)
            ours = at.sum_table(estimates[level], table)
            assert np.allclose(ours.ravel(), rows @ cells, atol=1e-5)
            variance = (rows @ covariance @ rows.T).diagonal().reshape(ours.shape)
            assert np.allclose(at.variance(level, table)[:, None], variance, atol=1e-6)


@pytest.mark.parametrize("places", [[0, 4], [1, 2, 3], [0, 1, 2, 3, 4, 5, 6]])
def test_an_area_has_the_variance_of_its_sum(places: list[int]) -> None:
    at = design()
    _, covariance = dense(at, random_tables(at, 1), {})
    inside = [np.zeros(size) for size in at.spine.sizes]
    inside[-1][places] = 1.0
    for table in TABLES:
        rows = rows_of(at, 2, table).reshape(7, -1, covariance.shape[0])[places].sum(axis=0)
        variance = (rows @ covariance @ rows.T).diagonal()
        assert np.allclose(at.variance_of_area(inside, table), variance)


def test_weights_may_lie_at_several_levels() -> None:
    spine = Spine.of(1, [np.array([0, 0, 0]), np.array([0, 0, 1, 2, 2, 2])])
    tree = TreeWeights.of(spine, [np.full(1, 2.0), np.full(3, np.inf), np.full(6, 1.0)])
    weights = [np.array([0.5]), np.array([1.0, 0.0, -1.0]), np.arange(6.0)]
    up = spine.ancestors()
    rows = sum(
        (w[:, None] * (up[level] == np.arange(len(w))[:, None])).sum(axis=0)
        for level, w in enumerate(weights)
    )
    covariance = np.linalg.inv(np.eye(6) + np.ones((6, 6)) / 2)
    assert tree.variance_of_sum(weights) == pytest.approx(rows @ covariance @ rows)


def test_a_level_without_its_measurement_is_noticed() -> None:
    """A twin: dense least squares that leave out a measured table give other estimates."""
    at = design()
    noisy = random_tables(at, 3)
    cells, _ = dense(at, {key: noisy[key] for key in noisy if key != (1, (0,))}, {})
    assert not np.allclose(at.estimate(noisy)[2].ravel(), cells, atol=1e-2)
