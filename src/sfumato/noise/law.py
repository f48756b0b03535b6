"""The base class of the integer laws of noise: a symmetric law on ℤ with exact draws and rigorous
probabilities.

*Draw*      `draw()` returns one Python integer, `sample(shape)` an array. Equal words give equal
            integers in both.
*Ask*       `pmf(z)`, `cdf(z)`, `tail(z)` = P(Z ≥ z), correctly rounded in the direction asked for;
            `quantile(p)` and `half_width(confidence)`, integers decided in ball arithmetic.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, overload

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from ..exact.balls import Rounding, ball, below, chance, up
from ..exact.numbers import Number, positive, probability
from ..exact.search import first
from . import noise_refusals as refusals
from .bits import CHUNK, SYSTEM, Bits

Shape = int | tuple[int, ...]

Integers = NDArray[Any]
"""An array of int64, or of Python integers where one does not fit 64 bits."""

Points = Sequence[int] | NDArray[np.generic]
"""Several integers."""

LARGEST_SCALE = Fraction(1 << 56)
"""Above this, ordinary draws could overflow 64-bit integers."""


def scale_in_range(value: Number, name: str) -> Fraction:
    """Check a scale, in grid units, against the range of the samplers."""
    scale = positive(value, name)
    if scale > LARGEST_SCALE:
        raise refusals.SCALE_TOO_LARGE(name=name, value=value)
    return scale


def count_of(shape: Shape) -> int:
    """Return the number of draws in an array of this shape."""
    return math.prod(shape) if isinstance(shape, tuple) else shape


class SymmetricLaw(ABC):
    """A law on the integers with P(Z = z) = P(Z = -z)."""

    __slots__ = ()

    @abstractmethod
    def draw(self, bits: Bits = SYSTEM) -> int:
        """Draw one exact value."""

    @abstractmethod
    def _fill(self, count: int, bits: Bits) -> Integers:
        """Draw at least one and at most `count` (≤ CHUNK) exact values: int64, or Python integers
        if one does not fit.
        """

    @abstractmethod
    def _upper(self, z: int) -> arb:
        """Return P(Z ≥ z) for z ≥ 1, as a ball."""

    @abstractmethod
    def _mass(self, z: int) -> arb:
        """Return P(Z = z) for z ≥ 0, as a ball."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance, to the nearest double."""

    def sample(self, shape: Shape, bits: Bits = SYSTEM) -> Integers:
        """Draw an array of independent exact values: int64, or Python integers if a draw does not
        fit (the law is never truncated).
        """
        count = count_of(shape)
        out: Integers = np.empty(count, dtype=np.int64)
        done = 0
        while done < count:
            part = self._fill(min(CHUNK, count - done), bits)
            if part.dtype == object and out.dtype != object:
                out = out.astype(object)
            out[done : done + len(part)] = part
            done += len(part)
        return out.reshape(shape)

    @overload
    def pmf(self, z: int, rounding: Rounding = "nearest") -> float: ...

    @overload
    def pmf(self, z: Points, rounding: Rounding = "nearest") -> NDArray[np.float64]: ...

    def pmf(self, z: int | Points, rounding: Rounding = "nearest") -> float | NDArray[np.float64]:
        """Return P(Z = z)."""
        return _each(lambda k: chance(lambda: self._mass(abs(k)), rounding), z)

    @overload
    def tail(self, z: int, rounding: Rounding = "nearest") -> float: ...

    @overload
    def tail(self, z: Points, rounding: Rounding = "nearest") -> NDArray[np.float64]: ...

    def tail(self, z: int | Points, rounding: Rounding = "nearest") -> float | NDArray[np.float64]:
        """Return P(Z ≥ z)."""
        return _each(lambda k: chance(lambda: self._tail(k), rounding), z)

    @overload
    def cdf(self, z: int, rounding: Rounding = "nearest") -> float: ...

    @overload
    def cdf(self, z: Points, rounding: Rounding = "nearest") -> NDArray[np.float64]: ...

    def cdf(self, z: int | Points, rounding: Rounding = "nearest") -> float | NDArray[np.float64]:
        """Return P(Z ≤ z)."""
        return _each(lambda k: chance(lambda: self._tail(-k), rounding), z)

    def quantile(self, p: Number) -> int:
        """Return the least z with P(Z ≤ z) ≥ p."""
        level = probability(p, "p", zero=False)
        return first(lambda z: not below(lambda: self._tail(-z), lambda: ball(level)))

    def half_width(self, confidence: Number, *, values: int = 1) -> int:
        """Return the least k with P(|Z| ≤ k) ≥ confidence; with `values`, the least that bounds so
        many independent draws at once.
        """
        return _half_width(self, probability(confidence, "confidence"), values)

    def _near(self, missing: arb) -> int:
        """Estimate the k at which P(Z > k) falls to `missing`, by the secant rule on its logarithm
        in doubles. The exact search begins there.
        """
        goal, left, right = float(missing.log()), 0, max(1, math.ceil(math.sqrt(self.variance)))
        at_left, at_right = (float(self._upper(k + 1).log()) - goal for k in (left, right))
        for _ in range(8):
            if (
                not math.isfinite(at_left)
                or not math.isfinite(at_right)
                or at_left == at_right
                or abs(right - left) <= 1
            ):
                break
            left, right = (
                right,
                max(0, round(right - at_right * (right - left) / (at_right - at_left))),
            )
            at_left, at_right = at_right, float(self._upper(right + 1).log()) - goal
        return right

    def _tail(self, z: int) -> arb:
        return self._upper(z) if z >= 1 else 1 - self._upper(1 - z)


class SummableLaw(SymmetricLaw):
    """A law whose weighted sums of independent draws have a good bound."""

    __slots__ = ()

    @abstractmethod
    def rough_tails(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return P(Z ≥ z) for z ≥ 1 in double precision."""

    @abstractmethod
    def characteristic(self, angles: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return E cos(angle·Z) in double precision."""

    @abstractmethod
    def _linear_error(
        self, sizes: NDArray[np.float64], often: NDArray[np.int64], missing: Fraction
    ) -> float:
        """Bound the sum of several draws, by the sizes of their weights and the number of each."""

    def linear_error(self, weights: NDArray[np.float64], missing: Fraction) -> float:
        """Bound |Σ w_j·Z_j| of independent draws but for a chance of `missing`, rounded up."""
        sizes, often = np.unique(np.abs(weights[weights != 0]), return_counts=True)
        if not sizes.size:
            return 0.0
        if sizes.size == 1 and often[0] == 1:
            return up(Fraction(sizes[0]) * self.half_width(1 - missing))
        return self._linear_error(sizes, often, missing)


def _each(f: Callable[[int], float], z: ArrayLike) -> float | NDArray[np.float64]:
    """Apply f to an integer, or to each integer of an array."""
    points = np.asarray(z)
    integral = points.dtype.kind in "iu" or (
        points.dtype.kind == "O" and all(hasattr(k, "__index__") for k in points.flat)
    )
    if not integral:
        raise refusals.NOT_AN_INTEGER(type=points.dtype)
    if points.ndim == 0:
        return f(int(points[()]))
    return np.array([f(int(k)) for k in points.ravel()], dtype=np.float64).reshape(points.shape)


def place(values: Integers, lane: int, value: int) -> Integers:
    """Set values[lane] = value, in Python integers if it does not fit."""
    try:
        values[lane] = value
    except OverflowError:
        values = values.astype(object)
        values[lane] = value
    return values


@lru_cache(maxsize=4096)
def _half_width(law: SymmetricLaw, level: Fraction, values: int) -> int:
    def missing() -> arb:
        """Return half the chance with which one draw may miss: 1 − confidence^(1/values)."""
        return (
            ball((1 - level) / 2)
            if values == 1 or level == 0
            else -(ball(level).log() / values).expm1() / 2
        )

    return first(
        lambda k: below(lambda: law._upper(k + 1), missing),
        near=law._near(missing()),
        least=0,
    )
