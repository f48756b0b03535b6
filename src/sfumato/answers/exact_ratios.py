"""Exact ratios of integers, many at once, and how they become doubles: to the nearest, or surely
not above or below.

A Python integer divided by another is correctly rounded, however long both are. Rounding outward is
one comparison more, in integers.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..exact.balls import Rounding

Whole = NDArray[Any]
"""Integers: 64 bits, or Python's own."""

_SURE = 1 << 53  # up to here every integer is a double
_ROOM = 1 << 62
_ROOT = 160  # bits of a square root


class Ratios(NamedTuple):
    """top / bottom, element by element; bottoms are above zero."""

    top: Whole
    bottom: Whole | int

    def plus(self, number: Fraction) -> Ratios:
        """The ratios, a rational further up."""
        if number == 0:
            return self
        top, bottom = (
            long(self.top),
            self.bottom if isinstance(self.bottom, int) else long(self.bottom),
        )
        return Ratios(
            top * number.denominator + bottom * number.numerator, bottom * number.denominator
        )


def times(integers: Whole, step: Fraction) -> Ratios:
    """integer · step."""
    return Ratios(
        integers if step.numerator == 1 else long(integers) * step.numerator, step.denominator
    )


def moved(integers: Whole, by: int) -> Whole:
    """integers + by, without overflow."""
    if (
        integers.dtype == object
        or abs(by) >= _ROOM
        or (integers.size and (int(integers.max()) >= _ROOM or int(integers.min()) <= -_ROOM))
    ):
        return long(integers) + by
    return integers + by


def long(integers: Whole) -> Whole:
    """The same as Python integers."""
    return integers.astype(object)


def doubles(ratios: Ratios, rounding: Rounding = "nearest") -> NDArray[np.float64]:
    """The ratios as doubles."""
    top, bottom = ratios
    if (
        isinstance(bottom, int)
        and not bottom & (bottom - 1)
        and bottom.bit_length() < 900
        and _short(top)
    ):
        return np.ldexp(
            top.astype(np.float64), 1 - bottom.bit_length()
        )  # exact, whichever way one rounds
    return np.asarray(np.frompyfunc(_ROUND[rounding], 2, 1)(long(top), bottom)).astype(np.float64)


def roots(ratios: Ratios, *, up: bool) -> Ratios:
    """Numbers not above (or, `up`, not below) the square roots, right to about 80 bits; of what is
    negative, 0.
    """
    top, bottom = long(ratios.top), ratios.bottom
    find = np.frompyfunc(lambda a, b: _root(max(a, 0), b, up), 2, 2)
    found, scale = find(top, bottom)
    return Ratios(np.asarray(found, dtype=object), np.asarray(scale, dtype=object))


def one(number: Fraction, rounding: Rounding) -> float:
    """A rational as a double."""
    found: float = _ROUND[rounding](number.numerator, number.denominator)
    return found


def _short(top: Whole) -> bool:
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


_ROUND: dict[Rounding, Any] = {"nearest": _nearest, "down": _down, "up": _up}
