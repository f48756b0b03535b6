"""Numbers as a person reads them, rounded to the honest side: a bound from above never reads
smaller than it is, one from below never larger.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from ...exact.numbers import Side, rounded

_OTHER: dict[Side, Side] = {"up": "down", "down": "up"}
_SELDOM = Fraction(1, 10**4)


def figure(value: float | Fraction, side: Side, digits: int = 3) -> str:
    """A number with so many digits: 2.72, 1 640, 5.19·10^21."""
    if isinstance(value, float) and math.isinf(value):
        return "infinity"
    number = rounded(Fraction(value), side, digits)
    size = number.adjusted()
    if number and not -4 <= size < 15:
        return f"{_plain(number.scaleb(-size))}·10^{size}"
    return _plain(number)


def percent(value: float | Fraction, side: Side, digits: int = 3) -> str:
    """A chance: 73.2 %, 99.996 %, "1 in 10 000" where it is small."""
    exact = Fraction(value)
    if 0 < exact < _SELDOM:
        return f"1 in {figure(1 / exact, _OTHER[side])}"
    if Fraction(99, 100) < exact < 1:  # what is missing from certainty is what counts
        return f"{_plain(100 - rounded(100 * (1 - exact), _OTHER[side], 2))} %"
    return f"{_plain(rounded(100 * exact, side, digits))} %"


def _plain(number: Decimal) -> str:
    whole, _, rest = f"{number:f}".partition(".")
    grouped = f"{int(whole):,}".replace(",", " ") if len(whole) > 4 else whole
    return f"{grouped}.{rest}".rstrip("0").rstrip(".") if rest else grouped
