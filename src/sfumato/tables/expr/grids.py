"""How a bounded column becomes integers, inside the engine.

*Steps*         Null and NaN become null. Then clip to the public ends; then, for floats, round to a
                public power-of-two grid: (x + M) − M with M = 1.5·2^52·step rounds x to the nearest
                multiple of the step, ties to even, in two additions of IEEE doubles, on every
                engine alike. Integers and decimals are integers already, as long as not too many of
                them lie between the ends.
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

from ...errors import Refused
from ...exact.numbers import power_of_two_at_least, text
from .engine_values import number
from .types import Type

BITS = 20  # of the range, where the grid is free
MOST = 1 << 26  # an integer or decimal column with more values than that is rounded as a float is
_SHIFT = 3 * 2**51


@dataclass(frozen=True, slots=True)
class Grid:
    """Integers low … high, each of them worth `step`."""

    low: int
    high: int
    step: Fraction
    floating: bool
    scale: int = 0  # decimals: the integers are units of 10^-scale

    @property
    def centre(self) -> int:
        """Values measured from the middle of the range move sums of them, and of their squares,
        least.
        """
        return (self.low + self.high) // 2

    def constant(self, place: int) -> Any:
        """What an integer of the grid is worth, as a constant of the column's kind."""
        if self.floating:
            return float(place * self.step)
        return _decimal(place, self.scale) if self.scale else place

    @property
    def ends(self) -> tuple[float, float]:
        """What the first and the last integer are worth, as numbers of the column."""
        return self.constant(self.low), self.constant(self.high)

    def rounding(self) -> Callable[[NDArray[Any], NDArray[np.float64]], NDArray[np.float64]]:
        """What puts the integers of numbers between the ends, not decimals, into an array of
        doubles: by the same additions as in an engine.
        """
        shift, scale = float(_SHIFT * self.step), float(1 / self.step)

        def rounded(numbers: NDArray[Any], out: NDArray[np.float64]) -> NDArray[np.float64]:
            if not self.floating:
                np.copyto(out, numbers)
                return out
            np.add(numbers, shift, out=out)
            np.subtract(out, shift, out=out)
            return np.multiply(out, scale, out=out)

        return rounded

    def integers(self, value: Any) -> Any:
        """The integer of each row, null where there is no value; of floats, in 32 bits where these
        suffice.
        """
        if not self.floating:
            return _clipped(self._whole(value), self.low, self.high)
        return (self.doubles(value) * float(1 / self.step)).cast(
            "int32" if max(abs(self.low), abs(self.high)) < 1 << 30 else "int64"
        )

    def places(self, value: Any) -> Any:
        """Integers from 0 on, in 16 bits where these suffice: an engine then counts them in an
        array.
        """
        kind = "uint16" if self.high - self.low < 1 << 16 else "int64"
        if not self.floating:
            return (_clipped(self._whole(value), self.low, self.high) - self.low).cast(kind)
        return (self.doubles(value) * float(1 / self.step) - float(self.low)).cast(kind)

    def doubles(self, value: Any) -> Any:
        """The rounded value of each row, a double; sums of fewer than 2^53 steps are exact in any
        order.
        """
        import ibis

        x = value.cast("float64")
        low, high, shift = (
            ibis.literal(float(end * self.step), "float64") for end in (self.low, self.high, _SHIFT)
        )
        # NaN apart from every comparison: the least and the largest value that a Parquet file
        # states leave it out, and by them DuckDB decides comparisons. Were NaN only compared with
        # an end, what becomes of it would depend on the other rows.
        known = ~x.isnan()
        clipped = ibis.cases(
            (x.between(low, high) & known, x), ((x < low) & known, low), ((x > high) & known, high)
        )
        return (
            clipped + shift
        ) - shift  # last, so that an end which an engine reads one unit off becomes itself

    def outside(self, value: Any) -> tuple[Any, Any]:
        """Whether a value lies below the lower end, and whether above the upper one."""
        if not self.floating:
            whole = self._whole(value)
            return whole < self.low, whole > self.high
        x = value.cast("float64")
        low, high = (number(float(end * self.step)) for end in (self.low, self.high))
        return (x < low) & ~x.isnan(), (x > high) & ~x.isnan()

    def _whole(self, value: Any) -> Any:
        """An integer column as it is; a decimal one in units of its last digit, after a clip that
        makes the cast total.
        """
        if value.type().is_boolean():
            return value.cast("int64")
        if not self.scale and value.type().is_integer():
            return value.cast("int64")
        wide = value.cast(f"decimal(38, {self.scale})")
        near = _clipped(
            wide, _decimal(self.low - 1, self.scale), _decimal(self.high + 1, self.scale)
        )  # one beyond, so that what lies outside still does
        # below 2^41 units a double is nearer to its integer than to any other
        return ((near.cast("float64") * 10.0**self.scale + _SHIFT) - _SHIFT).cast("int64")


def grid_of(place: str, known: Type, low: Fraction, high: Fraction, bits: int = BITS) -> Grid:
    """The grid of a column between two public ends: integers as they are, other numbers with 2^bits
    steps.
    """
    if known.kind in ("bool", "integer", "decimal"):
        scale = known.scale if known.kind == "decimal" else 0
        first, last = math.ceil(low * 10**scale), math.floor(high * 10**scale)
        if first >= last:
            reason = "no two values of this type lie between the bounds"
            raise Refused(
                "aggregate.bounds",
                f"{place} in [{text(low)}, {text(high)}]",
                reason,
                "wider bounds",
            )
        if max(abs(first), abs(last)) <= MOST:
            return Grid(first, last, Fraction(1, 10**scale), False, scale)
    elif known.kind != "float":
        rewrite = as_number(place) if known.kind == "string" else "an aggregate that counts"
        raise Refused(
            "aggregate.type",
            place,
            f"a column of type {known} has no sum and no order that could be bounded",
            rewrite,
        )
    step = power_of_two_at_least(high - low) / 2**bits
    step = max(
        step, power_of_two_at_least(max(abs(low), abs(high))) / 2**51
    )  # beyond, doubles do not hold the grid
    if not Fraction(2) ** -900 < step < Fraction(2) ** 900:
        raise Refused(
            "aggregate.bounds",
            f"{place} in [{text(low)}, {text(high)}]",
            "doubles do not reach that far",
            "bounds between -1e200 and 1e200",
        )
    first, last = round(low / step), round(high / step)
    if first >= last:
        raise Refused(
            "aggregate.bounds",
            f"{place} in [{text(low)}, {text(high)}]",
            "doubles do not tell the bounds apart",
            "wider bounds",
        )
    return Grid(first, last, step, True)


def as_number(column: str) -> str:
    """How a column of text, as those of a CSV file are, is read as numbers."""
    return f'types={{"{column}": "float"}} in protect(…)'


def _clipped(value: Any, low: Any, high: Any) -> Any:
    import ibis

    # as the column's own type: beside a literal of more digits after the point an engine widens the
    # column, which can fail
    low, high = ibis.literal(low, value.type()), ibis.literal(high, value.type())
    return ibis.cases((value.between(low, high), value), (value < low, low), (value > high, high))


def _decimal(value: int, scale: int) -> Decimal:
    return Decimal(value).scaleb(-scale)
