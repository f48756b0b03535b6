"""Numbers as they are printed: thousands apart, as many digits as the error allows, and margins
rounded outward.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import NamedTuple

from ...exact.numbers import text

LOPSIDED = Fraction(4, 5)
"""An interval is written with ± where its shorter side is at least this part of the longer one;
else by its ends.
"""

_LONG = 10**15
_DIGITS = 6  # of a number of which no error is known


class Cell(NamedTuple):
    """A value and what stands beside it: ± 61, [0, 12], or nothing."""

    value: str
    margin: str = ""

    def __str__(self) -> str:
        return f"{self.value} {self.margin}".rstrip()


def plain(value: Fraction) -> str:
    """An exact number in short."""
    return (
        text(value).replace("e-0", "e-").replace("-", "−")
        if value < 0
        else text(value).replace("e-0", "e-")
    )


def decimals(error: float) -> int:
    """How many digits after the point an error is worth: one that counts, or two if the first is a
    1; never less than the whole number.
    """
    if not 0 < error < math.inf:
        return 0
    first = math.floor(math.log10(error))
    return max(0, -first + (1 if error < 2 * 10.0**first else 0))


def cell(
    value: float,
    ends: tuple[float, float],
    places: int,
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> Cell:
    """A value with its interval: what is printed contains the interval. One that ends at a limit is
    written by its ends.
    """
    if not all(map(math.isfinite, (value, *ends))) or max(map(abs, (value, *ends))) >= _LONG:
        return Cell(significant(value), f"[{significant(ends[0])}, {significant(ends[1])}]")
    exact, last = Fraction(value), Fraction(1, 10**places)
    shown = _rounded(exact, places, ROUND_HALF_EVEN)
    below, above = exact - Fraction(ends[0]), Fraction(ends[1]) - exact
    if (
        limits[0] < ends[0]
        and ends[1] < limits[1]
        and min(below, above) >= LOPSIDED * max(below, above)
    ):
        moved = Fraction(shown) - exact
        margin = max(below + moved, above - moved)
        if moved and margin >= 10 * last:
            margin = (
                max(below, above) + last / 2
            )  # the same for cells that are equally wide, where that costs little
        return Cell(grouped(shown), f"± {grouped(_rounded(margin, places, ROUND_CEILING))}")
    low, high = (
        _rounded(Fraction(ends[0]), places, ROUND_FLOOR),
        _rounded(Fraction(ends[1]), places, ROUND_CEILING),
    )
    return Cell(grouped(shown), f"[{grouped(low)}, {grouped(high)}]")


def significant(value: float) -> str:
    """A number of which no error is known, with six digits."""
    if not math.isfinite(value):
        return str(value).replace("-", "−")
    rounded = Context(prec=_DIGITS).create_decimal_from_float(value)
    if rounded and not -5 <= rounded.adjusted() < 15:
        return f"{value:.5e}".replace("-", "−")
    whole = f"{rounded:f}"
    return grouped(Decimal(whole.rstrip("0").rstrip(".") if "." in whole else whole))


def grouped(number: Decimal) -> str:
    """12 040.5: thousands apart, with a true minus."""
    if number == 0:
        number = abs(number)  # no minus before what is printed as zero
    return f"{number:,f}".replace(",", " ").replace("-", "−")


def share(value: float, low: float, high: float) -> str:
    """2 % ± 1 %, or 1 % (between 0 % and 4 %)."""
    places = min(decimals(50 * (high - low)), 4)
    near = cell(100 * value, (100 * low, 100 * high), places, (0.0, 100.0))
    if near.margin.startswith("±"):
        return f"{near.value} % {near.margin} %"
    ends = near.margin.strip("[]").split(", ")
    return f"{near.value} % (between {ends[0]} % and {ends[1]} %)"


def _rounded(value: Fraction, places: int, mode: str) -> Decimal:
    scaled = value * 10**places
    down = scaled.numerator // scaled.denominator
    rest = scaled - down
    up = {
        ROUND_CEILING: rest > 0,
        ROUND_FLOOR: False,
        ROUND_HALF_EVEN: rest > Fraction(1, 2) or (rest == Fraction(1, 2) and down % 2 == 1),
    }[mode]
    return Decimal(down + up).scaleb(-places, Context(prec=400))
