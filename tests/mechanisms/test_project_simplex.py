"""The nearest non-negative numbers with a given sum, against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.mechanisms.shared.project_simplex import apportion, project


@given(st.lists(st.integers(-20, 40), min_size=1, max_size=6), st.integers(1, 60))
def test_project_is_the_nearest_point(counts: list[int], total: int) -> None:
    """Nearest: from the point, no direction that keeps to the simplex leads closer (the gradient is
    the same where positive, no smaller where zero).
    """
    v = np.array(counts, dtype=np.float64)
    x = project(v, float(total))
    assert x.min() >= 0
    assert x.sum() == pytest.approx(total)
    tau = (v - x)[x > 0]
    assert np.ptp(tau) < 1e-9
    assert (v[x == 0] <= tau[0] + 1e-9).all()


@given(st.lists(st.integers(-20, 40), min_size=1, max_size=6), st.integers(0, 60))
def test_apportion_keeps_the_sum_and_rounds_the_projection(counts: list[int], total: int) -> None:
    apportioned = apportion(np.array(counts), total)
    assert apportioned.dtype == np.int64
    assert apportioned.min() >= 0
    assert apportioned.sum() == total
    if total:
        assert (
            np.abs(apportioned - project(np.array(counts, dtype=np.float64), float(total))).max()
            < 1
        )


@pytest.mark.parametrize(
    ("counts", "total"), [([3, -2, 1], 4), ([5, 5, 5], 7), ([-4, -1], 2), ([0, 0, 9], 3)]
)
def test_apportion_is_nearest_among_whole_numbers(counts: list[int], total: int) -> None:
    v = np.array(counts)
    best = min(
        np.square(v - np.array(x)).sum()
        for x in itertools.product(range(total + 1), repeat=len(counts))
        if sum(x) == total
    )
    assert np.square(v - apportion(v, total)).sum() == best


def test_shapes_and_empty_sums() -> None:
    assert apportion(np.array([[1, -1], [2, 0]]), 0).tolist() == [[0, 0], [0, 0]]
    assert apportion(np.array([[1, -1], [2, 0]]), 3).shape == (2, 2)
    assert project(np.array([0.5, -0.5]), 0.0).tolist() == [0, 0]
