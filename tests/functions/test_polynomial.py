"""Bernstein polynomials against exact rationals, and the iterated operator against its
definition.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.functions.polynomial import (
    LARGEST_DEGREE,
    basis,
    bernstein,
    corrected,
    corrected_weights,
    evaluate,
    weights,
)

POINTS = [
    Fraction(0),
    Fraction(1, 1000),
    Fraction(1, 3),
    Fraction(1, 2),
    Fraction(7, 8),
    Fraction(1),
]


@pytest.mark.parametrize("degree", [1, 2, 25, 100, LARGEST_DEGREE])
def test_the_basis_to_the_stated_accuracy(degree: int) -> None:
    values = basis([float(t) for t in POINTS], degree)
    for row, point in zip(values, POINTS, strict=True):
        t = Fraction(float(point))
        for i, value in enumerate(row):
            exact = math.comb(degree, i) * t**i * (1 - t) ** (degree - i)
            assert abs(Fraction(float(value)) - exact) <= exact * (degree + 3) / 2**52 + Fraction(
                1, 2**200
            )


def test_it_is_a_partition_of_one() -> None:
    values = basis(np.linspace(0, 1, 1001), 25)
    assert values.min() >= 0
    assert np.abs(values.sum(axis=1) - 1).max() < 1e-13
    assert basis([0.5], 2).max() == 0.5  # the middle one of the three of degree 2, at its top


def test_straight_lines_are_kept_and_squares_err_as_known() -> None:
    t = np.linspace(0, 1, 101)
    assert np.abs(bernstein(lambda x: 3 * x - 1, 25)(t) - (3 * t - 1)).max() < 1e-13
    assert np.abs(bernstein(lambda x: x * x, 25)(t) - (t * t + t * (1 - t) / 25)).max() < 1e-13


def test_the_iterated_operator_is_its_definition() -> None:
    """B^(h) = Σ C(h, i)·(−1)^(i−1)·B^i, in one and in two dimensions."""
    rng = np.random.default_rng(1)
    for shape in ((8,), (5, 5)):
        values, points = rng.normal(size=shape), rng.random((20, len(shape)))
        lattice = np.stack(
            np.meshgrid(*(np.arange(n) / (n - 1) for n in shape), indexing="ij"), -1
        ).reshape(-1, len(shape))
        for h in (1, 2, 3, 6):
            power, total = values, np.zeros(len(points))
            for i in range(1, h + 1):
                total += math.comb(h, i) * (-1) ** (i - 1) * evaluate(power, points)
                power = evaluate(power, lattice).reshape(shape)
            assert evaluate(corrected(values, h), points) == pytest.approx(total, abs=1e-12)
            iterated = corrected_weights(weights(points, shape[0] - 1), h).reshape(len(points), -1)
            assert iterated @ values.reshape(-1) == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_the_tensor_product_by_brute_force(dimensions: int) -> None:
    degree, rng = 4, np.random.default_rng(dimensions)
    values, points = rng.normal(size=(degree + 1,) * dimensions), rng.random((30, dimensions))
    slow = [
        sum(
            values[place]
            * math.prod(
                math.comb(degree, i) * t**i * (1 - t) ** (degree - i)
                for i, t in zip(place, point, strict=True)
            )
            for place in np.ndindex(*values.shape)
        )
        for point in points.tolist()
    ]
    assert evaluate(values, points) == pytest.approx(np.array(slow), abs=1e-12)


def test_many_points_are_evaluated_piece_by_piece() -> None:
    rng = np.random.default_rng(2)
    line, plane = rng.normal(size=26), rng.normal(size=(301, 301))
    t = rng.random(40_000)
    assert evaluate(line, t[:, None]) == pytest.approx(basis(t, 25) @ line, abs=1e-12)
    some = rng.random((8000, 2))
    assert evaluate(plane, some)[-3:] == pytest.approx(evaluate(plane, some[-3:]), abs=1e-11)


@pytest.mark.parametrize("degree", [0, -1, 1.5, True, LARGEST_DEGREE + 1, "3"])
def test_degrees_that_are_refused(degree: object) -> None:
    with pytest.raises(Refused, match=r"bernstein\.degree"):
        basis([0.5], degree)  # type: ignore[arg-type]  # refused


@pytest.mark.parametrize("iterations", [0, 101, True, 1.5])
def test_iterations_that_are_refused(iterations: object) -> None:
    with pytest.raises(Refused, match=r"bernstein\.iterations"):
        bernstein(np.sin, 5, iterations=iterations)  # type: ignore[arg-type]  # refused
