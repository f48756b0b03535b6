"""Printed numbers, and the intervals of exact numbers that they stand for.

A printed number stands for every number that rounds to it or is truncated to it: from half a unit
of its last digit towards zero to a whole unit away from zero. The sources do both (5.014 and 5.015
for one mean; 2.99 for ln 20).
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
    """A number as it was printed, such as 5.106e-1; its digits give its precision."""

    text: str

    @property
    def value(self) -> float:
        return float(Decimal(self.text))

    @property
    def interval(self) -> Interval:
        """The numbers that round to the printed one or are truncated to it."""
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
    """Format a number with this many significant digits."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        plain = f"{value:.{digits}g}"
        return (plain if "e" not in plain else f"{value:.0f}").replace("-", "−")
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    return f"{mantissa} · 10{str(int(exponent)).translate(_RAISED)}".replace("-", "−")


def grouped(number: int) -> str:
    """Format a whole number in groups of three digits."""
    return f"{number:,}".replace(",", "\u202f")


def meet(*intervals: Interval) -> Interval | None:
    """Intersect intervals; None if the intersection is empty."""
    low, high = max(i[0] for i in intervals), min(i[1] for i in intervals)
    return (low, high) if low <= high else None
