"""What every integer law of noise shares: a symmetric law on ℤ that can be drawn from exactly and
asked about rigorously.

*Draw*      `draw()` one Python integer; `sample(shape)` an array. Equal words give equal integers
            in both.
*Ask*       `pmf(z)`, `cdf(z)`, `tail(z)` = P(Z ≥ z), correctly rounded in the direction asked for;
            `quantile(p)` and `half_width(confidence)`, integers decided in ball arithmetic.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from ..errors import Refused
from ..exact.balls import Rounding, ball, below, chance
from ..exact.numbers import Number, positive, probability
from ..exact.search import first
from .bits import CHUNK, SYSTEM, Bits

Shape = int | tuple[int, ...]

LARGEST_SCALE = Fraction(1 << 56)
"""Above this the words of one draw could leave 64-bit integers in the ordinary course of things."""


def scale_in_range(value: Number, name: str) -> Fraction:
    """A scale in grid units that the samplers cover."""
    scale = positive(value, name)
    if scale > LARGEST_SCALE:
        raise Refused(
            "noise.scale",
            f"{name}={value}",
            "noise above 2^56 grid units does not fit 64-bit integers",
            "a coarser grid, or a larger epsilon",
        )
    return scale


def count_of(shape: Shape) -> int:
    """How many draws an array of this shape holds."""
    return math.prod(shape) if isinstance(shape, tuple) else shape


class SymmetricLaw(ABC):
    """A law on the integers with P(Z = z) = P(Z = -z)."""

    __slots__ = ()

    @abstractmethod
    def draw(self, bits: Bits = SYSTEM) -> int:
        """One exact draw."""

    @abstractmethod
    def _fill(self, count: int, bits: Bits) -> NDArray[Any]:
        """At most `count` (≤ CHUNK) and at least one exact draws: int64, or Python integers where
        one does not fit.
        """

    @abstractmethod
    def _upper(self, z: int) -> arb:
        """P(Z ≥ z) for z ≥ 1, as a ball."""

    @abstractmethod
    def _mass(self, z: int) -> arb:
        """P(Z = z) for z ≥ 0, as a ball."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance, to the nearest double."""

    def sample(self, shape: Shape, bits: Bits = SYSTEM) -> NDArray[Any]:
        """An array of independent exact draws: int64, or Python integers where a draw does not fit
        (the law is never cut).
        """
        count = count_of(shape)
        out: NDArray[Any] = np.empty(count, dtype=np.int64)
        done = 0
        while done < count:
            part = self._fill(min(CHUNK, count - done), bits)
            if part.dtype == object and out.dtype != object:
                out = out.astype(object)
            out[done : done + len(part)] = part
            done += len(part)
        return out.reshape(shape)

    def pmf(self, z: ArrayLike, rounding: Rounding = "nearest") -> Any:
        """P(Z = z)."""
        return _each(lambda k: chance(lambda: self._mass(abs(k)), rounding), z)

    def tail(self, z: ArrayLike, rounding: Rounding = "nearest") -> Any:
        """P(Z ≥ z)."""
        return _each(lambda k: chance(lambda: self._tail(k), rounding), z)

    def cdf(self, z: ArrayLike, rounding: Rounding = "nearest") -> Any:
        """P(Z ≤ z)."""
        return _each(lambda k: chance(lambda: self._tail(-k), rounding), z)

    def quantile(self, p: Number) -> int:
        """The least z with P(Z ≤ z) ≥ p."""
        level = probability(p, "p", zero=False)
        return first(lambda z: not below(lambda: self._tail(-z), lambda: ball(level)))

    def half_width(self, confidence: Number, *, values: int = 1) -> int:
        """The least k with P(|Z| ≤ k) ≥ confidence; with `values`, the least that bounds so many
        independent draws at once.
        """
        level = probability(confidence, "confidence")

        def missing() -> arb:
            """Half of what one draw may miss: 1 − confidence^(1/values)."""
            return (
                ball((1 - level) / 2)
                if values == 1 or level == 0
                else -(ball(level).log() / values).expm1() / 2
            )

        return first(
            lambda k: below(lambda: self._upper(k + 1), missing),
            near=self._near(missing()),
            least=0,
        )

    def _near(self, missing: arb) -> int:
        """About where P(Z > k) falls to this: by the secant rule on its logarithm, in doubles.
        Where a search begins, and nothing more.
        """
        goal, one, two = float(missing.log()), 0, max(1, math.ceil(math.sqrt(self.variance)))
        at_one, at_two = (float(self._upper(k + 1).log()) - goal for k in (one, two))
        for _ in range(8):
            if (
                not math.isfinite(at_one)
                or not math.isfinite(at_two)
                or at_one == at_two
                or abs(two - one) <= 1
            ):
                break
            one, two = two, max(0, round(two - at_two * (two - one) / (at_two - at_one)))
            at_one, at_two = at_two, float(self._upper(two + 1).log()) - goal
        return two

    def _tail(self, z: int) -> arb:
        return self._upper(z) if z >= 1 else 1 - self._upper(1 - z)


def _each(f: Callable[[int], float], z: ArrayLike) -> Any:
    """f at an integer, or at each integer of an array."""
    points = np.asarray(z)
    whole = points.dtype.kind in "iu" or (
        points.dtype.kind == "O" and all(hasattr(k, "__index__") for k in points.flat)
    )
    if not whole:
        raise Refused(
            "noise.not-an-integer",
            f"z of type {points.dtype}",
            "the law lives on the integers",
            "law.pmf(3) or law.pmf(np.arange(10))",
        )
    if points.ndim == 0:
        return f(int(points[()]))
    return np.array([f(int(k)) for k in points.ravel()], dtype=np.float64).reshape(points.shape)


def place(values: NDArray[Any], lane: int, value: int) -> NDArray[Any]:
    """values[lane] = value, in Python integers if it does not fit."""
    try:
        values[lane] = value
    except OverflowError:
        values = values.astype(object)
        values[lane] = value
    return values
