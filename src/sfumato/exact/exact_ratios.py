"""Arrays of exact ratios, and their conversion to doubles: to the nearest, or rounded down or up.

Python divides integers of any length with correct rounding. Rounding outward takes one more
comparison of integers.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .balls import Rounding

Integers = NDArray[Any]
"""An array of 64-bit integers, or of Python integers."""

_SURE = 1 << 53  # up to here every integer is a double
_ROOM = 1 << 62
_ROOT = 160  # bits of a square root


class Ratios(NamedTuple):
    """top / bottom, element by element; bottoms are above zero."""

    top: Integers
    bottom: Integers | int

    def plus(self, number: Fraction) -> Ratios:
        """Add a rational number to every ratio."""
        if number == 0:
            return self
        top = as_python_ints(self.top)
        bottom = self.bottom if isinstance(self.bottom, int) else as_python_ints(self.bottom)
        return Ratios(
            top * number.denominator + bottom * number.numerator, bottom * number.denominator
        )


def multiply_by_step(integers: Integers, step: Fraction) -> Ratios:
    """Return integer · step as ratios."""
    return Ratios(
        integers if step.numerator == 1 else as_python_ints(integers) * step.numerator,
        step.denominator,
    )


def shift_integers(integers: Integers, by: int) -> Integers:
    """Return integers + by, without overflow."""
    if (
        integers.dtype == object
        or abs(by) >= _ROOM
        or (integers.size and (int(integers.max()) >= _ROOM or int(integers.min()) <= -_ROOM))
    ):
        return as_python_ints(integers) + by
    return integers + by


def as_python_ints(integers: Integers) -> Integers:
    """Convert an array to Python integers, which do not overflow."""
    return integers.astype(object)


def to_doubles(ratios: Ratios, rounding: Rounding = "nearest") -> NDArray[np.float64]:
    """Round ratios to doubles."""
    top, bottom = ratios
    if (
        isinstance(bottom, int)
        and not bottom & (bottom - 1)
        and bottom.bit_length() < 900
        and _short(top)
    ):
        # exact, whichever way one rounds
        return np.ldexp(top.astype(np.float64), 1 - bottom.bit_length())
    return np.asarray(np.frompyfunc(_ROUND[rounding], 2, 1)(as_python_ints(top), bottom)).astype(
        np.float64
    )


def square_roots(ratios: Ratios, *, up: bool) -> Ratios:
    """Bound the square roots from below (from above with `up`), to about 80 bits; negative ratios
    count as 0.
    """
    top, bottom = as_python_ints(ratios.top), ratios.bottom
    find = np.frompyfunc(lambda a, b: _root(max(a, 0), b, up), 2, 2)
    numerators, scale = find(top, bottom)
    return Ratios(np.asarray(numerators, dtype=object), np.asarray(scale, dtype=object))


def to_double(number: Fraction, rounding: Rounding) -> float:
    """Round a rational number to a double."""
    double: float = _ROUND[rounding](number.numerator, number.denominator)
    return double


def _short(top: Integers) -> bool:
    return top.dtype == np.int64 and (
        not top.size or (int(top.max()) <= _SURE and int(top.min()) >= -_SURE)
    )


def _nearest(top: int, bottom: int) -> float:
    try:
        return top / bottom
    except OverflowError:
        return math.inf if top > 0 else -math.inf


def _down(top: int, bottom: int) -> float:
    return 0.0 - _up(-top, bottom)  # zero has no sign


def _up(top: int, bottom: int) -> float:
    double = _nearest(top, bottom)
    if math.isinf(double):
        return double if double > 0 else -sys.float_info.max
    a, b = double.as_integer_ratio()
    return double if a * bottom >= top * b else math.nextafter(double, math.inf)


def _root(top: int, bottom: int, up: bool) -> tuple[int, int]:
    shift = max(0, (_ROOT + bottom.bit_length() - top.bit_length() + 1) // 2)
    square, rest = divmod(top << 2 * shift, bottom)
    root = math.isqrt(square)
    return root + (up and (rest > 0 or root * root != square)), 1 << shift


_ROUND: Mapping[Rounding, Callable[[int, int], float]] = {
    "nearest": _nearest,
    "down": _down,
    "up": _up,
}
