"""Bernstein polynomials turn the values of a function on a lattice into a smooth function that
stays between them.

*Basis*      B_{i,k}(t) = C(k, i)·tⁱ·(1 − t)^(k−i), i = 0 … k: not negative, and their sum is 1
             (Bernstein 1912).
*Operator*   B_k f(t) = Σ f(i/k)·B_{i,k}(t); in several dimensions the product of the bases.
*Iterated*   B^(h) = I − (I − B_k)^h, nearer to a smooth f (Micchelli 1973; Aldà & Rubinstein 2017).
             It is the Bernstein polynomial of other values on the same lattice: v₁ = f, v_{j+1} =
             v_j + (f − B_k v_j). So it only processes what is on the lattice.
*Accuracy*   all terms of the basis are products of numbers in [0, 1] and a binomial coefficient:
             relative error below (k + 3)·2⁻⁵², for degrees up to 500.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import function_refusals as refusals

Floats = NDArray[np.float64]
LARGEST_DEGREE = 500
"""Larger binomial coefficients would overflow doubles; noise on so fine a lattice would drown any
curve long before.
"""
_CELLS = 1 << 21  # the most numbers in memory at once


def basis(t: ArrayLike, degree: int) -> Floats:
    """Return B_{i,k}(t), one row for each t in [0, 1], one column for each i."""
    points = np.asarray(t, dtype=np.float64).reshape(-1)
    return np.ascontiguousarray(_rows(points, check_degree(degree)).T)


def _rows(points: Floats, degree: int) -> Floats:
    """Return the basis with a row for each i, computed row by row."""
    rows = np.empty((degree + 1, points.size))
    rows[0] = 1.0
    for i in range(degree):
        np.multiply(rows[i], points, out=rows[i + 1])
    rest, power = 1.0 - points, np.ones_like(points)
    for i in range(degree, -1, -1):
        rows[i] *= power
        rows[i] *= float(math.comb(degree, i))
        power = power * rest
    return rows


def check_degree(degree: object) -> int:
    """Check a degree."""
    if (
        isinstance(degree, int | np.integer)
        and not isinstance(degree, bool)
        and 1 <= degree <= LARGEST_DEGREE
    ):
        return int(degree)
    raise refusals.DEGREE_OUT_OF_RANGE(degree=degree, most=LARGEST_DEGREE)


def check_iterations(iterations: object) -> int:
    """Check how often the operator corrects itself."""
    if (
        isinstance(iterations, int | np.integer)
        and not isinstance(iterations, bool)
        and 1 <= iterations <= 100
    ):
        return int(iterations)
    raise refusals.ITERATIONS_OUT_OF_RANGE(iterations=iterations)


def corrected(values: Floats, iterations: int) -> Floats:
    """Return the lattice values whose Bernstein polynomial is B^(h); all axes of `values` belong to
    the lattice.
    """
    return _iterated(_operator(values), values, iterations, range(values.ndim))


def corrected_weights(weights: Floats, iterations: int) -> Floats:
    """Return, for each point (first axis), the weights of the lattice values in B^(h), from those
    in B_k.
    """
    return _iterated(_operator(weights).T, weights, iterations, range(1, weights.ndim))


def _operator(values: Floats) -> Floats:
    """Return the matrix of B_k from lattice to lattice, along one axis."""
    degree = values.shape[-1] - 1
    return basis(np.arange(degree + 1) / degree, degree)


def _iterated(matrix: Floats, values: Floats, iterations: int, axes: range) -> Floats:
    now = values
    for _ in range(iterations - 1):
        now = values + now - _along(matrix, now, axes)
    return now


def _along(matrix: Floats, values: Floats, axes: range) -> Floats:
    for axis in axes:
        values = np.moveaxis(np.tensordot(matrix, values, axes=(1, axis)), 0, axis)
    return values


def weights(points: Floats, degree: int) -> Floats:
    """Return the weight of every lattice value at every point of [0, 1]^d: shape (n, k + 1, …,
    k + 1).
    """
    products = np.ones((len(points), 1))
    for column in points.T:
        products = (products[:, :, None] * basis(column, degree)[:, None, :]).reshape(
            len(points), -1
        )
    return products.reshape(len(points), *(degree + 1,) * points.shape[1])


def evaluate(values: Floats, points: Floats) -> Floats:
    """Return Σ values·basis at points of [0, 1]^d, shape (n, d), piece by piece to save memory."""
    degree, dimensions = values.shape[0] - 1, values.ndim
    results = np.empty(len(points))
    if dimensions == 1:
        # the rows of this many points stay in the cache
        for start in range(0, len(points), 1 << 14):
            results[start : start + (1 << 14)] = values @ _rows(
                np.ascontiguousarray(points[start : start + (1 << 14), 0]), degree
            )
        return results
    most = max(1, _CELLS // max(degree + 1, values.size // (degree + 1)))
    for start in range(0, len(points), most):
        part = points[start : start + most]
        sums = basis(part[:, 0], degree) @ values.reshape(degree + 1, -1)
        for axis in range(1, dimensions):
            sums = np.einsum(
                "ni,nij->nj", basis(part[:, axis], degree), sums.reshape(len(part), degree + 1, -1)
            )
        results[start : start + most] = sums[:, 0]
    return results


def bernstein(
    function: Callable[[Floats], ArrayLike],
    degree: int,
    *,
    dimensions: int = 1,
    iterations: int = 1,
) -> Callable[[ArrayLike], Floats]:
    """Return the Bernstein polynomial of a function on [0, 1]^d without noise, for public functions
    and comparisons.
    """
    from .lattice import Lattice

    lattice = Lattice(degree=degree, bounds=((0, 1),) * dimensions)
    values = corrected(lattice.values(function), check_iterations(iterations))
    return lambda points: evaluate(values, lattice.unit(points))
