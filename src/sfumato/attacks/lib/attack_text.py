"""Numbers and names in the sentences of attacks: rates to the nearest digit, bounds rounded up,
lower limits rounded down.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...exact.numbers import Number, Side, exact, rounded, text


def named(epsilon: Number) -> str:
    """How a release with this ε is called: "ε = 1/2"."""
    return f"ε = {text(exact(epsilon, 'epsilon'))}"


def spaced(value: float) -> str:
    """12 040, 3.14159, 1 234 567.89"""
    if float(value).is_integer():
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:,.2f}".replace(",", " ") if abs(value) >= 1000 else f"{value:.6g}"


def people_having(count: float) -> str:
    """1 person has, 35 people have"""
    return f"{spaced(count)} {'person has' if count == 1 else 'people have'}"


def listed(names: Sequence[str]) -> str:
    """sex, age and start."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def per_cent(share: float) -> str:
    """12.5 %, 0.04 %, 100 %."""
    return f"{100 * share:.3g} %" if share < 0.9995 or share == 1 else f"{100 * share:.5g} %"


def at_most(share: float) -> str:
    """A bound as a percentage, rounded up: 73.2 %, never 73.1 % where 73.106 % are allowed."""
    return _outward(share, "up")


def at_least(share: float) -> str:
    """A lower limit as a percentage, rounded down."""
    return _outward(share, "down")


def _outward(share: float, side: Side) -> str:
    """Three digits as of `per_cent`, more where the share is nearly all. The double next to 0.01 is
    1 %, not 1.01 %: what lies beyond 12 digits is left out.
    """
    digits = 3 if share < 0.999 else 5
    return f"{float(rounded(100 * Fraction(f'{share:.12g}'), side, digits)):.{digits}g} %"
