"""Turn a bounded column into integers on a public grid, inside the engine.

*Steps*         Null and NaN become null. Values are clipped to the public bounds; then, for floats,
                rounded to a public power-of-two grid: (x + M) − M with M = 1.5·2^52·step rounds x
                to the nearest multiple of the step, ties to even, in two additions of IEEE doubles,
                on every engine alike. Integers and decimals are integers already, as long as not
                too many of them lie between the ends.
*Range*         Clipping and rounding are monotone, so every row ends between the rounded ends,
                whatever it held: the range of the integers is exact.
*Precision*     About a million steps between the ends: the rounding, at most half a step, is far
                below the noise of any answer about fewer than 2^40 rows.
*Proof*         docs/proofs/tables.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...exact.numbers import power_of_two_at_least, text
from . import expr_refusals as refusals
from .engine_values import Value, number
from .types import Type

Numbers = NDArray[Any]
"""Integers or floats of any width."""

BITS = 20  # of the range, where the grid is free
MOST = 1 << 26  # an integer or decimal column with more values than that is rounded as a float is
_SHIFT = 3 * 2**51


@dataclass(frozen=True, slots=True)
class Grid:
    """The integers low … high; each stands for `step` times itself."""

    low: int
    high: int
    step: Fraction
    floating: bool
    scale: int = 0  # decimals: the integers are units of 10^-scale

    @property
    def centre(self) -> int:
        """The middle of the range: sums of values and squares measured from it have the least
        sensitivity.
        """
        return (self.low + self.high) // 2

    def constant(self, place: int) -> int | float | Decimal:
        """Return the value of a grid integer, as a constant of the column's kind."""
        if self.floating:
            return float(place * self.step)
        return _decimal(place, self.scale) if self.scale else place

    @property
    def ends(self) -> tuple[float, float]:
        """The values of the first and the last integer; not of a grid of decimals."""
        low, high = self.constant(self.low), self.constant(self.high)
        assert not isinstance(low, Decimal)
        assert not isinstance(high, Decimal)
        return low, high

    def rounder(self) -> Callable[[Numbers, NDArray[np.float64]], NDArray[np.float64]]:
        """Return a function that writes the grid integers of clipped numbers (not decimals) into an
        array of doubles, by the same additions as the engine.
        """
        shift, scale = float(_SHIFT * self.step), float(1 / self.step)

        def rounded(numbers: Numbers, out: NDArray[np.float64]) -> NDArray[np.float64]:
            if not self.floating:
                np.copyto(out, numbers)
                return out
            np.add(numbers, shift, out=out)
            np.subtract(out, shift, out=out)
            return np.multiply(out, scale, out=out)

        return rounded

    def integers(self, value: Value) -> Value:
        """Build the integer of each row, null without a value; for floats in 32 bits where they
        suffice.
        """
        if not self.floating:
            return _clip(self._in_units(value), self.low, self.high)
        return (self.doubles(value) * float(1 / self.step)).cast(
            "int32" if max(abs(self.low), abs(self.high)) < 1 << 30 else "int64"
        )

    def places(self, value: Value) -> Value:
        """Build the integer of each row counted from 0, in 16 bits where they suffice, so that an
        engine counts them in an array.
        """
        kind = "uint16" if self.high - self.low < 1 << 16 else "int64"
        if not self.floating:
            return (_clip(self._in_units(value), self.low, self.high) - self.low).cast(kind)
        return (self.doubles(value) * float(1 / self.step) - float(self.low)).cast(kind)

    def doubles(self, value: Value) -> Value:
        """Build the rounded value of each row as a double; sums below 2^53 steps are exact in any
        order.
        """
        import ibis

        x = value.cast("float64")
        low, high, shift = (
            ibis.literal(float(end * self.step), "float64") for end in (self.low, self.high, _SHIFT)
        )
        # Test NaN beside every comparison: Parquet statistics leave NaN out, and DuckDB decides
        # comparisons by them. If NaN were only compared with a bound, its result would depend on
        # the other rows.
        is_number = ~x.isnan()
        clipped = ibis.cases(
            (x.between(low, high) & is_number, x),
            ((x < low) & is_number, low),
            ((x > high) & is_number, high),
        )
        # round last: a bound that an engine reads one unit off becomes exact again
        return (clipped + shift) - shift

    def outside(self, value: Value) -> tuple[Value, Value]:
        """Whether a value lies below the lower bound, and whether it lies above the upper bound."""
        if not self.floating:
            units = self._in_units(value)
            return units < self.low, units > self.high
        x = value.cast("float64")
        low, high = (number(float(end * self.step)) for end in (self.low, self.high))
        return (x < low) & ~x.isnan(), (x > high) & ~x.isnan()

    def _in_units(self, value: Value) -> Value:
        """Return an integer column unchanged, and a decimal column in units of its last digit,
        after a clip that makes the cast total.
        """
        if value.type().is_boolean():
            return value.cast("int64")
        if not self.scale and value.type().is_integer():
            return value.cast("int64")
        wide = value.cast(f"decimal(38, {self.scale})")
        # one unit beyond the bounds, so that values outside stay outside
        near = _clip(wide, _decimal(self.low - 1, self.scale), _decimal(self.high + 1, self.scale))
        # below 2^41 units a double is nearer to its integer than to any other
        return ((near.cast("float64") * 10.0**self.scale + _SHIFT) - _SHIFT).cast("int64")


def grid_of(of: str, kind: Type, low: Fraction, high: Fraction, bits: int = BITS) -> Grid:
    """Return the grid of a column between two public bounds: integers unchanged, other numbers with
    2^bits steps. `of` is the column's text, for a refusal.
    """
    if kind.kind in ("bool", "integer", "decimal"):
        scale = kind.scale if kind.kind == "decimal" else 0
        first, last = math.ceil(low * 10**scale), math.floor(high * 10**scale)
        if first >= last:
            raise refusals.FEWER_THAN_TWO_VALUES(
                of=of,
                low=text(low),
                high=text(high),
                wider_low=float(Fraction(math.floor(low * 10**scale), 10**scale)),
                wider_high=float(Fraction(math.floor(high * 10**scale) + 1, 10**scale)),
            )
        if max(abs(first), abs(last), last - first) <= MOST:
            return Grid(first, last, Fraction(1, 10**scale), False, scale)
    elif kind.kind != "float":
        raise refusals.NOT_A_NUMBER(of=of, type=kind)
    step = power_of_two_at_least(high - low) / 2**bits
    # with a finer step doubles could not hold the grid
    step = max(step, power_of_two_at_least(max(abs(low), abs(high))) / 2**51)
    if not Fraction(2) ** -900 < step < Fraction(2) ** 900:
        raise refusals.BOUNDS_BEYOND_FLOATS(of=of, low=text(low), high=text(high))
    first, last = round(low / step), round(high / step)
    if first >= last:
        raise refusals.BOUNDS_TOO_CLOSE_FOR_FLOATS(
            of=of,
            low=text(low),
            high=text(high),
            wider_low=float(min(low, Fraction(0))),
            wider_high=float(max(high, Fraction(1))),
        )
    return Grid(first, last, step, True)


def _clip(value: Value, low: int | Decimal, high: int | Decimal) -> Value:
    import ibis

    # as the column's own type: beside a literal of more digits after the point an engine widens the
    # column, which can fail
    least, most = ibis.literal(low, value.type()), ibis.literal(high, value.type())
    return ibis.cases(
        (value.between(least, most), value), (value < least, least), (value > most, most)
    )


def _decimal(value: int, scale: int) -> Decimal:
    return Decimal(value).scaleb(-scale)
