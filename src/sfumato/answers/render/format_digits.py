"""Format numbers for print: thousands apart, as many digits as the error justifies, margins rounded
outward.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import NamedTuple

from ...exact.numbers import text

LOPSIDED = Fraction(4, 5)
"""An interval is printed with ± if its shorter side is at least this part of the longer one, else
by its ends.
"""

_LONG = 10**15
_SHARE_PLACES = 2  # of a percentage
_SMALL_SHARE = 0.1  # a bound below it has a digit after the point
_DIGITS = 6  # of a number without an interval


class Cell(NamedTuple):
    """A printed value and its margin: ± 61, [0, 12], or nothing."""

    value: str
    margin: str = ""

    def __str__(self) -> str:
        return f"{self.value} {self.margin}".rstrip()


def format_exact(value: Fraction) -> str:
    """Format an exact number in short."""
    return (
        text(value).replace("e-0", "e-").replace("-", "−")
        if value < 0
        else text(value).replace("e-0", "e-")
    )


def decimal_places(error: float) -> int:
    """Count the digits after the point that an error justifies: one significant digit, or two if
    the first is a 1.
    """
    if not 0 < error < math.inf:
        return 0
    first = math.floor(math.log10(error))
    return max(0, -first + (1 if error < 2 * 10.0**first else 0))


def format_cell(
    value: float,
    ends: tuple[float, float],
    places: int,
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> Cell:
    """Format a value with its interval. The printed interval contains the exact one. An interval
    that ends at a limit is printed by its ends.
    """
    if math.isnan(value) and not any(map(math.isfinite, ends)):
        return Cell("null", "")
    if not all(map(math.isfinite, (value, *ends))) or max(map(abs, (value, *ends))) >= _LONG:
        return Cell(
            format_significant(value),
            f"[{format_significant(ends[0])}, {format_significant(ends[1])}]",
        )
    exact, last = Fraction(value), Fraction(1, 10**places)
    shown = _round_to(exact, places, ROUND_HALF_EVEN)
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
        return Cell(
            group_thousands(shown), f"± {group_thousands(_round_to(margin, places, ROUND_CEILING))}"
        )
    low, high = (
        _round_to(Fraction(ends[0]), places, ROUND_FLOOR),
        _round_to(Fraction(ends[1]), places, ROUND_CEILING),
    )
    return Cell(group_thousands(shown), f"[{group_thousands(low)}, {group_thousands(high)}]")


def format_significant(value: float) -> str:
    """Format a number without an interval, with six digits."""
    if not math.isfinite(value):
        return str(value).replace("-", "−")
    rounded = Context(prec=_DIGITS).create_decimal_from_float(value)
    if rounded and not -5 <= rounded.adjusted() < 15:
        return f"{value:.5e}".replace("-", "−")
    digits = f"{rounded:f}"
    return group_thousands(Decimal(digits.rstrip("0").rstrip(".") if "." in digits else digits))


def group_thousands(number: Decimal) -> str:
    """Format a number with thousands apart and a true minus: 12 040.5."""
    if number == 0:
        number = abs(number)  # no minus before what is printed as zero
    return f"{number:,f}".replace(",", " ").replace("-", "−")


def format_share(value: float, low: float, high: float) -> str:
    """Format a proportion with its interval: 2 % ± 1 %, or 1 % (between 0 % and 4 %)."""
    places = min(decimal_places(50 * (high - low)), _SHARE_PLACES)
    near = format_cell(100 * value, (100 * low, 100 * high), places, (0.0, 100.0))
    if near.margin.startswith("±"):
        return f"{near.value} % {near.margin} %"
    ends = near.margin.strip("[]").split(", ")
    return f"{near.value} % (between {ends[0]} % and {ends[1]} %)"


def format_share_up(share: float) -> str:
    """Format a bound on a proportion, rounded up: 3.2 %, 24 %."""
    places = 1 if share < _SMALL_SHARE else 0
    rounded = _round_to(Fraction(share) * 100, places, ROUND_CEILING)
    return f"{min(rounded, Decimal(100))} %"


def _round_to(value: Fraction, places: int, mode: str) -> Decimal:
    scaled = value * 10**places
    down = scaled.numerator // scaled.denominator
    rest = scaled - down
    up = {
        ROUND_CEILING: rest > 0,
        ROUND_FLOOR: False,
        ROUND_HALF_EVEN: rest > Fraction(1, 2) or (rest == Fraction(1, 2) and down % 2 == 1),
    }[mode]
    return Decimal(down + up).scaleb(-places, Context(prec=400))
