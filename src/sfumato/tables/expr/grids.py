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
*Digits*        For ranks a grid may be finer towards 0, or towards the end that is nearest to 0: a
                distance from there keeps p binary digits, as floating point does. A distance f in
                steps, below 2^41, is rounded by Veltkamp's splitting (Dekker 1971), in IEEE
                doubles: c − (c − f) with c = f·(2^(53−p) + 1). The integers that are left are the
                *marks* of the grid, numbered from 0 on.
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

Places = NDArray[np.int64]
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
    digits: int = 0  # binary digits that a distance from the origin keeps; 0: all

    @property
    def centre(self) -> int:
        """The middle of the range: sums of values and squares measured from it have the least
        sensitivity.
        """
        return (self.low + self.high) // 2

    @property
    def origin(self) -> int:
        """The integer from which `places` counts: the lower end; with digits that nearest to 0."""
        return min(max(0, self.low), self.high) if self.digits else self.low

    @property
    def count_marks(self) -> int:
        """The number of marks; without digits of integers."""
        if not self.digits:
            return self.high - self.low + 1
        return int(self.marks(np.array([self.high]))[0]) + 1

    def marks(self, integers: Places) -> Places:
        """Number the marks at which these integers lie, from 0 at the lower end on."""
        if not self.digits:
            return integers - self.low
        return self._ranks(integers) - self._ranks(np.array([self.low]))

    def at_marks(self, marks: Places) -> tuple[Places, Places, Places]:
        """Return the integers at some marks, and the ends between which other integers are rounded
        to them.
        """
        if not self.digits:
            integers = marks + self.low
            return integers, integers, integers
        ranks = marks + self._ranks(np.array([self.low]))
        size, half = np.abs(ranks), np.int64(1) << (self.digits - 1)
        octave = np.maximum(size // half - 1, 0)
        distance = np.where(octave > 0, (size - octave * half) << octave, size)
        spread = np.where(octave > 0, np.int64(1) << np.maximum(octave - 1, 0), 0)
        integers = self.origin + np.sign(ranks) * distance
        middle, low, high = (
            np.clip(ends, self.low, self.high)
            for ends in (integers, integers - spread, integers + spread)
        )
        return middle, low, high

    def _ranks(self, integers: Places) -> Places:
        """Return how many marks lie between the origin and integers, below 0 to its left."""
        signed = integers.astype(np.int64) - self.origin
        distance, half = np.abs(signed), np.int64(1) << (self.digits - 1)
        _, exponents = np.frexp(distance.astype(np.float64))
        octave = np.maximum(exponents.astype(np.int64) - self.digits, 0)
        shifted = (distance + ((np.int64(1) << octave) >> 1)) >> octave  # rounded, as it may be
        ranks: Places = np.sign(signed) * (shifted + octave * half)
        return ranks

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
        if self.digits and self.floating:
            import ibis

            step, origin = float(1 / self.step), float(self.origin)
            distance = self.doubles(value) * step - origin
            splitter = ibis.literal(float(2 ** (53 - self.digits) + 1), "float64")
            split = distance * splitter
            return (split - (split - distance)).cast("int64")
        is_small = self.high - self.low < 1 << 16 and not self.digits
        kind = "uint16" if is_small else "int64"
        if not self.floating:
            return (_clip(self._in_units(value), self.low, self.high) - self.origin).cast(kind)
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


def grid_of(
    of: str, kind: Type, low: Fraction, high: Fraction, bits: int = BITS, digits: int = 0
) -> Grid:
    """Return the grid of a column between two public bounds: integers unchanged, other numbers with
    2^bits steps, or with marks of so many digits. `of` is the column's text, for a refusal.
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
    if kind.kind == "integer":
        step = max(step, Fraction(1))
    first, last = round(low / step), round(high / step)
    if first >= last:
        raise refusals.BOUNDS_TOO_CLOSE_FOR_FLOATS(
            of=of,
            low=text(low),
            high=text(high),
            wider_low=float(min(low, Fraction(0))),
            wider_high=float(max(high, Fraction(1))),
        )
    return Grid(first, last, step, True, digits=digits)


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
