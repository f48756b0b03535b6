"""The lattice of a Bernstein release: (k + 1)^d points, evenly spaced over a public box."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..exact.numbers import Number, exact, is_whole, text
from . import function_refusals as refusals
from .polynomial import Floats, check_degree

LARGEST = 1 << 20
"""The most points: each of them gets noise, whose scale grows with their number."""

Interval = tuple[Number, Number]
Bounds = Sequence[Number] | Sequence[Sequence[Number]] | NDArray[np.generic]
"""A lower and a higher end for all dimensions, or such a pair for each."""


@dataclass(frozen=True, slots=True, repr=False)
class Lattice:
    """Points low + (high − low)·i/k along every axis."""

    degree: int
    bounds: tuple[tuple[Fraction, Fraction], ...]

    def __init__(self, *, degree: int, bounds: Sequence[Interval]) -> None:
        object.__setattr__(self, "degree", check_degree(degree))
        object.__setattr__(self, "bounds", tuple(check_interval(pair) for pair in bounds))
        if not self.bounds:
            raise refusals.LATTICE_WITHOUT_DIMENSION(degree=degree)
        if self.size > LARGEST:
            fits = (k for k in range(self.degree, 1, -1) if (k + 1) ** self.dimensions <= LARGEST)
            raise refusals.LATTICE_TOO_LARGE(
                degree=degree, dimensions=self.dimensions, most=LARGEST, fitting=next(fits, 1)
            )

    @property
    def dimensions(self) -> int:
        return len(self.bounds)

    @property
    def size(self) -> int:
        return int((self.degree + 1) ** len(self.bounds))

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.degree + 1,) * len(self.bounds)

    def axis(self, number: int = 0) -> Floats:
        """Return the coordinates along one axis."""
        low, high = self.bounds[number]
        return np.array(
            [float(low + (high - low) * Fraction(i, self.degree)) for i in range(self.degree + 1)]
        )

    @property
    def points(self) -> Floats:
        """All points, the last axis running fastest: shape (k + 1,) in one dimension, else ((k +
        1)^d, d).
        """
        if len(self.bounds) == 1:
            return self.axis()
        return np.stack(
            np.meshgrid(*(self.axis(j) for j in range(len(self.bounds))), indexing="ij"), axis=-1
        ).reshape(-1, len(self.bounds))

    def values(self, function: Callable[[Floats], ArrayLike]) -> Floats:
        """Evaluate a function at the points, shaped like the lattice. NaN counts as 0, so that any
        data give an answer.
        """
        values = np.asarray(function(self.points), dtype=np.float64).reshape(self.shape)
        return np.nan_to_num(
            values, nan=0.0, posinf=np.finfo(np.float64).max, neginf=-np.finfo(np.float64).max
        )

    def unit(self, points: ArrayLike) -> Floats:
        """Scale points of the box to [0, 1]^d, one row each."""
        array = np.asarray(points)
        if array.dtype.kind not in "iuf":
            raise refusals.POINTS_ARE_NO_NUMBERS(dtype=array.dtype)
        rows = (
            array.astype(np.float64).reshape(-1, 1)
            if len(self.bounds) == 1
            else np.atleast_2d(array.astype(np.float64))
        )
        if rows.ndim != 2 or rows.shape[1] != len(self.bounds):
            raise refusals.POINTS_OF_ANOTHER_DIMENSION(
                shape=array.shape, dimensions=len(self.bounds)
            )
        low = np.array([float(a) for a, _ in self.bounds])
        high = np.array([float(b) for _, b in self.bounds])
        if not bool(((rows >= low) & (rows <= high)).all()):
            raise refusals.POINTS_OUTSIDE_BOX(box=self.box, low=low.tolist(), high=high.tolist())
        return np.asarray(np.clip((rows - low) / (high - low), 0.0, 1.0))

    @property
    def box(self) -> str:
        return " × ".join(f"[{text(low)}, {text(high)}]" for low, high in self.bounds)

    def __repr__(self) -> str:
        return f"Lattice(degree={self.degree}, {self.box})"


def check_interval(pair: object) -> tuple[Fraction, Fraction]:
    """Check a public interval, the lower end first."""
    try:
        low, high = pair if isinstance(pair, Iterable) else (None, None)
    except (TypeError, ValueError):
        low = high = None
    if low is None or high is None or not exact(low, "low") < exact(high, "high"):
        raise refusals.BOUNDS_NOT_ASCENDING(bounds=pair)
    return exact(low, "low"), exact(high, "high")


def check_bounds(bounds: object, dimensions: int | None) -> tuple[tuple[Fraction, Fraction], ...]:
    """Check the bounds of all dimensions: a pair for all, or a pair each; [0, 1] by default."""
    if dimensions is not None and not is_whole(dimensions, 1, 20):
        raise refusals.DIMENSIONS_OUT_OF_RANGE(dimensions=dimensions)
    if bounds is None:
        return ((Fraction(0), Fraction(1)),) * (dimensions or 1)
    if not (
        isinstance(bounds, Sequence | np.ndarray)
        and len(bounds) > 0
        and isinstance(bounds[0], Sequence | np.ndarray)
        and not isinstance(bounds[0], str)
    ):
        return (check_interval(bounds),) * (dimensions or 1)
    intervals = tuple(check_interval(pair) for pair in bounds)
    if dimensions is not None and dimensions != len(intervals):
        raise refusals.BOUNDS_NOT_ONE_EACH(pairs=len(intervals), dimensions=dimensions)
    return intervals
