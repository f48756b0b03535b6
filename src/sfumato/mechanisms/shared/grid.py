"""Round values to a public grid: how values become integers before noise is added, how far a
neighbour can then move them, and how they become values again.

*Steps*         x ↦ ⌊x/g + ½⌋ with g a power of two, evaluated exactly (x/g is exact in binary, and
                so is x/g − ⌊x/g⌋); values beyond ±2^62 steps are clamped there, which moves no two
                values apart. Then integer noise; then the sum, saturated at the ends of int64; then
                · g.
*Sensitivity*   A move of Δ becomes at most ⌈Δ/g⌉ steps. For m coordinates that move together by Δ₁
                or Δ₂ (docs/proofs/grid.md): L1 at most ⌈Δ₁/g⌉ + m − 1; squared L2 at most B +
                2·min(B, ⌊√(mB)⌋) + m with B = ⌈(Δ₂/g)²⌉ − 1, and ⌈Δ₂/g⌉² for m = 1.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...noise.bits import CHUNK
from ...noise.law import Integers
from . import mechanism_refusals as refusals

_FAR = 2.0**62
_MOST, _LEAST = 2**63 - 1, -(2**63)


def steps_l1(delta: Fraction, size: int) -> int:
    """The L1 sensitivity in grid steps of `size` coordinates that move by at most `delta` steps
    together, before rounding.
    """
    return math.ceil(delta) + size - 1


def steps_l2_squared(delta_squared: Fraction, size: int) -> int:
    """The squared L2 sensitivity in grid steps of `size` coordinates whose squared move is at most
    `delta_squared`, before rounding.
    """
    b = math.ceil(delta_squared) - 1
    if size == 1:
        return (math.isqrt(b) + 1) ** 2
    return b + 2 * min(b, math.isqrt(size * b)) + size


def snap(value: float, exponent: int) -> int:
    """Return the grid step nearest to a finite number, halves upward; exact for all integers."""
    if isinstance(value, int):
        steps = value << -exponent if exponent <= 0 else (value + (1 << exponent - 1)) >> exponent
        return max(-(1 << 62), min(1 << 62, steps))
    if not math.isfinite(value):
        raise refusals.NOT_FINITE()
    try:
        y = math.ldexp(value, -exponent)
    except OverflowError:
        y = math.copysign(_FAR, value)
    y = max(-_FAR, min(_FAR, y))
    f = math.floor(y)
    return f + (y - f >= 0.5)


def snap_each(values: NDArray[np.float64], exponent: int) -> NDArray[np.int64]:
    """`snap` for an array of floats."""
    with np.errstate(over="ignore", under="ignore"):
        y = np.ldexp(values, -exponent)
    np.clip(y, -_FAR, _FAR, out=y)
    f = np.floor(y)
    return f.astype(np.int64) + (y - f >= 0.5)


def snap_integers(values: Integers, exponent: int) -> NDArray[np.int64]:
    """`snap` for an array of integers, which doubles could not all hold."""
    return np.array([snap(int(v), exponent) for v in values.ravel()], dtype=np.int64).reshape(
        values.shape
    )


def add(values: NDArray[np.int64], noise: Integers) -> NDArray[np.int64]:
    """Add values and noise, saturated at the ends of int64. The noise itself is never cut, so this
    is post-processing of the exact release. The sum overwrites the array of noise.
    """
    if noise.dtype == object:
        return np.array(
            [
                max(_LEAST, min(_MOST, int(v) + z))
                for v, z in zip(values.ravel(), noise.ravel(), strict=True)
            ],
            dtype=np.int64,
        ).reshape(values.shape)
    terms, sums = values.reshape(-1), noise.reshape(-1)
    # chunk by chunk in the cache: fresh memory for the whole array would cost more than the sums
    for start in range(0, sums.size, CHUNK):
        term, sum_ = terms[start : start + CHUNK], sums[start : start + CHUNK]
        down = sum_ < 0
        sum_ += term  # wraps: then, and only then, it lies on the wrong side of the term
        wrapped = (sum_ < term) != down
        if wrapped.any():
            sum_[wrapped] = np.where(down[wrapped], _LEAST, _MOST)
    return sums.reshape(values.shape)


def steps(value: object, exponent: int) -> NDArray[np.int64]:
    """Put integers and floats of any kind of array, or of a list, on the grid."""
    if isinstance(value, list | tuple):
        entries = _entries(value)
        if not all(
            isinstance(v, int | float | np.integer) and not isinstance(v, bool)
            for v in entries.ravel()
        ):
            raise refusals.LIST_OF_OTHER_TYPE()
        return np.array(
            [snap(v if isinstance(v, float) else int(v), exponent) for v in entries.ravel()],
            dtype=np.int64,
        ).reshape(entries.shape)
    values = np.asarray(value)
    exact_values = integers(values)
    return (
        snap_each(finite_floats(values), exponent)
        if exact_values is None
        else snap_integers(exact_values, exponent)
    )


def whole_numbers(value: object) -> Integers | None:
    """Return the integers of an array or a list, or None if it holds anything else. The integers of
    a list are clamped to 64 bits one by one: NumPy would choose a type that depends on the data.
    """
    if not isinstance(value, list | tuple):
        return integers(np.asarray(value))
    entries = _entries(value)
    if not all(
        isinstance(v, int | np.integer) and not isinstance(v, bool) for v in entries.ravel()
    ):
        return None
    return np.array(
        [max(_LEAST, min(_MOST, int(v))) for v in entries.ravel()], dtype=np.int64
    ).reshape(entries.shape)


def _entries(value: object) -> NDArray[np.object_]:
    return np.array(value, dtype=object)


def integers(values: NDArray[np.generic]) -> Integers | None:
    """Return an integer array as int64 (or Python integers if they do not fit), or None if it is no
    integer array.
    """
    if values.dtype.kind == "u":
        return (
            np.minimum(values, np.uint64(_MOST)).astype(np.int64)
            if values.dtype.itemsize == 8
            else values.astype(np.int64)
        )
    if values.dtype.kind == "i":
        return values.astype(np.int64, copy=False)
    if values.dtype == object and all(
        isinstance(v, int) and not isinstance(v, bool) for v in values.ravel()
    ):
        return values
    return None


def finite_floats(values: NDArray[np.generic]) -> NDArray[np.float64]:
    """Check a float array whose entries are all finite."""
    if values.dtype.kind != "f" or values.dtype.itemsize > 8:
        raise refusals.ARRAY_OF_OTHER_TYPE(type=values.dtype)
    doubles = values.astype(np.float64, copy=False)
    if not np.isfinite(doubles).all():
        raise refusals.NOT_FINITE()
    return doubles
