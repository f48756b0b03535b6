"""Public data are the same for the same seed; noise never is."""

from __future__ import annotations

import pytest

from sfumato.studies.means import Shape, matrix_means, release


def test_data_are_seeded_and_lie_where_they_should() -> None:
    shape = Shape(rows=10, columns=10)
    assert (
        matrix_means(shape, 0.0, 5, 1)
        == matrix_means(shape, 0.0, 5, 1)
        != matrix_means(shape, 0.0, 5, 2)
    )
    assert matrix_means(shape, -0.5, 5, 1) == tuple(
        pytest.approx(m - 0.5) for m in matrix_means(shape, 0.0, 5, 1)
    )
    assert len(set(matrix_means(shape, 0.0, 5, 1))) == 5
    assert shape.n == 100


def test_errors_are_sizes() -> None:
    runs = release([1.0, 2.0], lambda x: -x)
    assert runs.errors == (2.0, 4.0)
