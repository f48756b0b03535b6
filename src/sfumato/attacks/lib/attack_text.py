"""Format numbers and names for the sentences of attacks: rates to the nearest digit, bounds rounded
up, lower limits rounded down.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...exact.numbers import Number, Side, exact, rounded, text


def epsilon_label(epsilon: Number) -> str:
    """Label a release by its ε: "ε = 1/2"."""
    return f"ε = {text(exact(epsilon, 'epsilon'))}"


def format_number(value: float) -> str:
    """Format a number with spaces between thousands: 12 040, 3.14159, 1 234 567.89."""
    if float(value).is_integer():
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:,.2f}".replace(",", " ") if abs(value) >= 1000 else f"{value:.6g}"


def people_having(count: float) -> str:
    """Say how many people have something: 1 person has, 35 people have."""
    return f"{format_number(count)} {'person has' if count == 1 else 'people have'}"


def join_names(names: Sequence[str]) -> str:
    """Join names in a sentence: sex, age and start."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def per_cent(share: float) -> str:
    """Format a share as a percentage: 12.5 %, 0.04 %, 100 %."""
    return f"{100 * share:.3g} %" if share < 0.9995 or share == 1 else f"{100 * share:.5g} %"


def at_most(share: float) -> str:
    """Format a bound as a percentage, rounded up: 73.2 % for 73.106 %."""
    return _round_outward(share, "up")


def at_least(share: float) -> str:
    """Format a lower limit as a percentage, rounded down."""
    return _round_outward(share, "down")


def _round_outward(share: float, side: Side) -> str:
    """Round to three digits as `per_cent` does, to five near 100 %. Digits beyond the twelfth are
    dropped first, so that the double next to 0.01 is 1 %, not 1.01 %.
    """
    digits = 3 if share < 0.999 else 5
    return f"{float(rounded(100 * Fraction(f'{share:.12g}'), side, digits)):.{digits}g} %"
