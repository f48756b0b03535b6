"""Numbers as they were printed, and what they stand for.

A printed number stands for everything that rounds to it or is cut off to it: from half a unit of
its last digit towards zero to a whole unit away from zero. The sources do both (5.014 and 5.015 for
one mean; 2.99 for ln 20).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

Interval = tuple[float, float]

EVERYTHING: Interval = (-math.inf, math.inf)
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Printed:
    """The text of a number, such as 5.106e-1; its digits count."""

    text: str

    @property
    def value(self) -> float:
        return float(Decimal(self.text))

    @property
    def interval(self) -> Interval:
        """What rounds to the number or is cut off to it."""
        number = Decimal(self.text)
        _, _, exponent = number.as_tuple()
        unit = Decimal(1).scaleb(int(exponent))
        inner, outer = abs(number) - unit / 2, abs(number) + unit
        return (float(inner), float(outer)) if number >= 0 else (-float(outer), -float(inner))

    def stands_for(self, value: float) -> bool:
        low, high = self.interval
        return low <= value <= high

    def __str__(self) -> str:
        mantissa, _, exponent = self.text.partition("e")
        return (
            f"{mantissa} · 10{str(int(exponent)).translate(_RAISED)}".replace("-", "−")
            if exponent
            else mantissa.replace("-", "−")
        )


def shown(value: float, digits: int = 4) -> str:
    """A number of ours with so many digits, as one would print it."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        plain = f"{value:.{digits}g}"
        return (plain if "e" not in plain else f"{value:.0f}").replace("-", "−")
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    return f"{mantissa} · 10{str(int(exponent)).translate(_RAISED)}".replace("-", "−")


def grouped(number: int) -> str:
    """A whole number in groups of three."""
    return f"{number:,}".replace(",", "\u202f")


def meet(*intervals: Interval) -> Interval | None:
    """What lies in all of them, or None."""
    low, high = max(i[0] for i in intervals), min(i[1] for i in intervals)
    return (low, high) if low <= high else None
