"""Format numbers for people, rounded to the honest side: an upper bound never reads smaller than it
is, a lower bound never larger.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from ...exact.numbers import Side, rounded

_OPPOSITE: dict[Side, Side] = {"up": "down", "down": "up"}
_SELDOM = Fraction(1, 10**4)


def figure(value: float | Fraction, side: Side, digits: int = 3) -> str:
    """Format a number with this many digits: 2.72, 1 640, 5.19·10^21."""
    if isinstance(value, float) and math.isinf(value):
        return "infinity"
    number = rounded(Fraction(value), side, digits)
    size = number.adjusted()
    if number and not -4 <= size < 15:
        return f"{_plain(number.scaleb(-size))}·10^{size}"
    return _plain(number)


def percent(value: float | Fraction, side: Side, digits: int = 3) -> str:
    """Format a chance: 73.2 %, 99.996 %, or "1 in 10 000" if it is small."""
    exact = Fraction(value)
    if 0 < exact < _SELDOM:
        return f"1 in {figure(1 / exact, _OPPOSITE[side])}"
    if Fraction(99, 100) < exact < 1:  # here the distance from 100 % is what counts
        return f"{_plain(100 - rounded(100 * (1 - exact), _OPPOSITE[side], 2))} %"
    return f"{_plain(rounded(100 * exact, side, digits))} %"


def _plain(number: Decimal) -> str:
    digits, _, rest = f"{number:f}".partition(".")
    grouped = f"{int(digits):,}".replace(",", " ") if len(digits) > 4 else digits
    return f"{grouped}.{rest}".rstrip("0").rstrip(".") if rest else grouped
