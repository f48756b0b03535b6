"""Numbers as a person reads them, rounded to the honest side: a bound from above never reads smaller than it is, one from below never larger."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Literal

Side = Literal["up", "down"]

_OTHER: dict[Side, Side] = {"up": "down", "down": "up"}
_MODES: dict[Side, str] = {"up": ROUND_CEILING, "down": ROUND_FLOOR}
_SELDOM = Fraction(1, 10**4)


def figure(value: float | Fraction, side: Side, digits: int = 3) -> str:
    """A number with so many digits: 2.72, 1 640, 5.19·10^21."""
    if isinstance(value, float) and math.isinf(value):
        return "infinity"
    rounded = _rounded(Fraction(value), side, digits)
    size = rounded.adjusted()
    if rounded and not -4 <= size < 15:
        return f"{_plain(rounded.scaleb(-size))}·10^{size}"
    return _plain(rounded)


def percent(value: float | Fraction, side: Side, digits: int = 3) -> str:
    """A chance: 73.2 %, 99.996 %, "1 in 10 000" where it is small."""
    exact = Fraction(value)
    if 0 < exact < _SELDOM:
        return f"1 in {figure(1 / exact, _OTHER[side])}"
    if Fraction(99, 100) < exact < 1:  # what is missing from certainty is what counts
        return f"{_plain(100 - _rounded(100 * (1 - exact), _OTHER[side], 2))} %"
    return f"{_plain(_rounded(100 * exact, side, digits))} %"


def _rounded(value: Fraction, side: Side, digits: int) -> Decimal:
    return Context(prec=digits, rounding=_MODES[side]).divide(Decimal(value.numerator), Decimal(value.denominator))


def _plain(number: Decimal) -> str:
    whole, _, rest = f"{number:f}".partition(".")
    grouped = f"{int(whole):,}".replace(",", " ") if len(whole) > 4 else whole
    return f"{grouped}.{rest}".rstrip("0").rstrip(".") if rest else grouped
