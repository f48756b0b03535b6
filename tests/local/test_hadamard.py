"""Hadamard response: rows that agree in half of their columns, and one transform for all of
them.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from sfumato.local import Hadamard
from sfumato.local.hadamard import negative, transform
from sfumato.testing import SeededBits

from . import simulated


def matrix(size: int) -> np.ndarray:
    grid = np.arange(size)
    return 1 - 2 * negative(grid[:, None] & grid[None, :]).astype(np.int64)


@pytest.mark.parametrize("size", [1, 2, 8, 64])
def test_the_transform_is_the_matrix(size: int) -> None:
    values = np.arange(3 * size).reshape(3, size) ** 2
    assert (transform(values) == values @ matrix(size)).all()
    assert (matrix(size) @ matrix(size) == size * np.eye(size)).all(), (
        "rows are orthogonal: two of them agree in half of their columns"
    )


@pytest.mark.parametrize("k", [2, 3, 4, 7, 8, 100])
def test_there_is_a_row_for_each_category(k: int) -> None:
    oracle = Hadamard(epsilon=1, categories=range(k))
    assert k < oracle.size <= 2 * k
    assert oracle.size & (oracle.size - 1) == 0
    reports = oracle.perturb(np.arange(k), bits=SeededBits(1))
    plain = (
        matrix(oracle.size)[1 : k + 1][
            :, reports.payload.astype(int) @ (256 ** np.arange(oracle.width)[::-1])
        ]
        > 0
    ).sum(axis=1)
    assert oracle.aggregate(reports).counts.tolist() == plain.tolist()


def test_the_error_as_published() -> None:
    """((e^ε + 1)/(e^ε − 1))² at frequency 0."""
    assert Hadamard(epsilon=1, categories="abc").variance(1, target="data") == pytest.approx(
        ((math.e + 1) / (math.e - 1)) ** 2, rel=1e-12
    )


def test_simulated() -> None:
    simulated.check(lambda run: Hadamard(epsilon=1, categories=range(10)))
