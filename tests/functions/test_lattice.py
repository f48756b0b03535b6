"""The lattice: its points, what is read on it, and which points of a box it takes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.functions.lattice import LARGEST, Lattice, check_bounds


def test_points_of_a_line_and_of_a_plane() -> None:
    line = Lattice(degree=4, bounds=[(-1, 1)])
    assert line.points.tolist() == [-1, -0.5, 0, 0.5, 1]
    assert (line.size, line.dimensions, line.shape) == (5, 1, (5,))
    plane = Lattice(degree=2, bounds=[(0, 1), (10, 30)])
    assert plane.points.tolist() == [[a, b] for a in (0, 0.5, 1) for b in (10, 20, 30)]
    assert plane.values(lambda p: p[:, 0] + p[:, 1]).tolist() == [
        [a + b for b in (10, 20, 30)] for a in (0, 0.5, 1)
    ]
    assert "[0, 1] × [10, 30]" in repr(plane)


def test_values_that_are_no_numbers() -> None:
    values = Lattice(degree=2, bounds=[(0, 1)]).values(
        lambda p: np.array([np.nan, np.inf, -np.inf])
    )
    assert values[0] == 0
    assert np.isfinite(values).all()


def test_points_of_the_box_only() -> None:
    lattice = Lattice(degree=3, bounds=[(2, 6)])
    assert lattice.unit([2, 3, 6]).tolist() == [[0], [0.25], [1]]
    for outside in ([1.999], [6.001], [np.nan], [np.inf], ["a"], [None]):
        with pytest.raises(Refused, match=r"curve\.points"):
            lattice.unit(outside)  # type: ignore[arg-type]  # refused
    with pytest.raises(Refused, match=r"curve\.points"):
        Lattice(degree=3, bounds=[(0, 1), (0, 1)]).unit([[0.1, 0.2, 0.3]])


@pytest.mark.parametrize(
    ("bounds", "dimensions", "expected"),
    [
        (None, None, ((0, 1),)),
        (None, 3, ((0, 1),) * 3),
        ((2, 5), None, ((2, 5),)),
        ((2, 5), 2, ((2, 5), (2, 5))),
        ([(0, 1), ("1/3", 4)], None, ((0, 1), (Fraction(1, 3), 4))),
        (np.array([[0, 1], [2, 3]]), 2, ((0, 1), (2, 3))),
    ],
    ids=range(6),
)
def test_bounds(bounds: Any, dimensions: int | None, expected: Any) -> None:
    assert check_bounds(bounds, dimensions) == expected


@pytest.mark.parametrize(
    ("bounds", "dimensions", "code"),
    [
        ((1, 1), None, "bernstein.bounds"),
        ((2, 1), None, "bernstein.bounds"),
        ((1,), None, "bernstein.bounds"),
        (5, None, "bernstein.bounds"),
        ([(0, 1), (0, 1)], 3, "bernstein.bounds"),
        (None, 0, "bernstein.lattice"),
        (None, True, "bernstein.lattice"),
        (None, 21, "bernstein.lattice"),
    ],
    ids=range(8),
)
def test_bounds_that_are_refused(bounds: Any, dimensions: Any, code: str) -> None:
    with pytest.raises(Refused) as caught:
        check_bounds(bounds, dimensions)
    assert caught.value.code == code


def test_a_lattice_that_is_too_large() -> None:
    with pytest.raises(Refused, match=r"bernstein\.lattice"):
        Lattice(degree=101, bounds=[(0, 1)] * 3)
    assert Lattice(degree=100, bounds=[(0, 1)] * 3).size == 101**3 <= LARGEST
