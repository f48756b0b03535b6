"""The parser of numeric parameters: a number that a user writes becomes an exact rational, or is
refused.

An int, a Fraction, a Decimal or a string ("0.1", "1/3") keeps its exact value. A float counts by
its shortest text, so 0.1 means one tenth and not the double next to it. All code behind this parser
computes with these rationals, so no parameter is rounded by accident.
"""

from __future__ import annotations

import math
import operator
import re
from contextlib import suppress
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation
from fractions import Fraction
from typing import Literal, SupportsFloat, TypeGuard

from . import number_refusals as refusals

Number = int | float | str | Decimal | Fraction | SupportsFloat
"""The types that a user may pass as a number. (`SupportsFloat` admits NumPy's scalars without
importing NumPy.)
"""

SMALLEST = Fraction(2) ** -1022
"""The smallest normal double: much software treats smaller numbers as zero."""
LARGEST = Fraction(2) ** 1024

Side = Literal["up", "down"]
"""The direction of rounding: upper bounds up, lower bounds down."""

_MODES: dict[Side, str] = {"up": ROUND_CEILING, "down": ROUND_FLOOR}

_RATIO = re.compile(r"\s*([+-]?[0-9]{1,400})\s*/\s*([0-9]{1,400})\s*")
_PLAIN = re.compile(r"[A-Za-z0-9.+-]+")
"""The characters of a number. `Decimal` also accepts 1_0 for 10, and the digits of every script,
which people may misread.
"""
_DIGITS = 400  # longer texts are mistakes or attacks: 10 ** 999999999 would be computed in full


def exact(value: Number, name: str = "number") -> Fraction:
    """Return the exact rational that `value` denotes."""
    if isinstance(value, bool) or type(value).__name__ == "bool":
        raise refusals.TRUTH_VALUE(name=name, value=value)
    if isinstance(value, Fraction):
        return value
    if hasattr(value, "__index__"):
        with suppress(TypeError):  # every NumPy array has the method; only integers support it
            return Fraction(operator.index(value))  # type: ignore[arg-type]  # has __index__
    if isinstance(value, float):
        return _from_text(repr(float(value)), name)
    if isinstance(value, str):
        ratio = _RATIO.fullmatch(value)
        if ratio and int(ratio[2]) != 0:
            return Fraction(int(ratio[1]), int(ratio[2]))
        return _from_text(value, name)
    if isinstance(value, Decimal) or (hasattr(value, "dtype") and hasattr(value, "__float__")):
        return _from_text(str(value), name)
    raise refusals.NOT_A_NUMBER(name=name, type=type(value).__name__)


def _from_text(text: str, name: str) -> Fraction:
    plain = text.strip()
    try:
        decimal = Decimal(plain)
    except InvalidOperation:
        decimal = None
    if decimal is None or not _PLAIN.fullmatch(plain):
        raise refusals.TEXT_WITHOUT_A_NUMBER(name=name, text=text)
    if not decimal.is_finite():
        raise refusals.NOT_FINITE(name=name, text=text)
    if len(decimal.as_tuple().digits) > _DIGITS or (decimal and abs(decimal.adjusted()) > _DIGITS):
        raise refusals.OUTSIDE_DECIMALS(name=name, text=text)
    return Fraction(decimal)


def is_whole(value: object, least: int = 1, most: int | None = None) -> TypeGuard[int]:
    """Whether this is a Python int within limits. A bool does not count."""
    return (
        isinstance(value, int)
        and not isinstance(value, bool)
        and least <= value
        and (most is None or value <= most)
    )


def shown(value: object) -> str:
    """Return the first 60 characters of a value, for a refusal."""
    try:
        return f"{value!s:.60}"
    except ValueError:  # Python writes no integer of more than 4300 digits
        return "…"


def positive(value: Number, name: str = "number") -> Fraction:
    """Check that a number is safely above zero and finite as a double."""
    number = exact(value, name)
    if number <= 0:
        raise refusals.NOT_POSITIVE(name=name, value=shown(value))
    if number < SMALLEST:
        raise refusals.SUBNORMAL(name=name, value=shown(value))
    if number >= LARGEST:
        raise refusals.ABOVE_DOUBLES(name=name, value=shown(value))
    return number


def non_negative(value: Number, name: str = "number") -> Fraction:
    """Check that a number is zero, or one that `positive` accepts."""
    number = exact(value, name)
    return number if number == 0 else positive(value, name)


def probability(
    value: Number, name: str = "probability", *, zero: bool = True, one: bool = False
) -> Fraction:
    """Check that a number lies in (0, 1). `zero` and `one` say whether the ends 0 and 1 are
    allowed.
    """
    number = exact(value, name)
    if not 0 <= number <= 1 or (number == 0 and not zero) or (number == 1 and not one):
        interval = f"{'[' if zero else '('}0, 1{']' if one else ')'}"
        raise refusals.NOT_A_PROBABILITY(
            name=name,
            value=shown(value),
            interval=interval,
            example=0.95 if name == "confidence" else 1e-06,
        )
    return number


def open_probability(value: Number, name: str = "probability") -> Fraction:
    """Check that a number lies in (0, 1), without either end."""
    return probability(value, name, zero=False)


def by_its_bits(value: Number, name: str) -> Fraction:
    """Return the exact number that the bits of a float denote: the shortest text of 2**-30 is no
    power of two.
    """
    number = exact(value, name)
    return (
        Fraction(float(value))
        if isinstance(value, float) or (hasattr(value, "dtype") and value.dtype.kind == "f")
        else number
    )


def power_of_two(value: Number, name: str) -> int:
    """Return the exponent j of value = 2^j."""
    positive(value, name)
    number = by_its_bits(value, name)
    exponent = number.numerator.bit_length() - number.denominator.bit_length()
    if number != Fraction(2) ** exponent:
        raise refusals.NOT_A_POWER_OF_TWO(name=name, value=shown(value), exponent=exponent)
    return exponent


def ceil_sqrt(value: Fraction) -> int:
    """Return the least integer whose square is at least `value`."""
    ceiling = math.ceil(value)
    root = math.isqrt(ceiling)
    return root if root * root >= ceiling else root + 1


def rational_root(value: Fraction) -> Fraction | None:
    """Return the square root if it is rational, else None."""
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    return root if root * root == value else None


def double_below(value: Fraction) -> float:
    """Return the largest double that is not above a number."""
    double = float(value)
    return double if Fraction(double) <= value else math.nextafter(double, -math.inf)


def double_above(value: Fraction) -> float:
    """Return the least double that is not below a number."""
    double = float(value)
    return double if Fraction(double) >= value else math.nextafter(double, math.inf)


def rounded(value: Fraction, side: Side, digits: int) -> Decimal:
    """Round to so many digits: with "up" never below the value, with "down" never above it."""
    return Context(prec=digits, rounding=_MODES[side]).divide(
        Decimal(value.numerator), Decimal(value.denominator)
    )


def interval_text(low: float, high: float) -> str:
    """Write an interval with six digits; the printed interval contains the exact one."""
    return f"[{_six_digits(low, 'down')}, {_six_digits(high, 'up')}]"


def width_text(width: float) -> str:
    """Write half the width of an interval with six digits, rounded up."""
    return f"± {_six_digits(width, 'up')}"


def _six_digits(value: float, side: Side) -> str:
    return f"{float(rounded(Fraction(value), side, 6)) if math.isfinite(value) else value:.6g}"


def text(value: Fraction) -> str:
    """Write an exact number as a person would: 0.5, 1e-06, 1/3."""
    if value.denominator == 1 and abs(value.numerator) < 10**15:
        return str(value.numerator)
    try:
        short = repr(float(value))
    except OverflowError:
        return "…"
    if Fraction(short) == value:
        return short
    return (
        str(value)
        if max(abs(value.numerator), value.denominator) < 10**9 and len(str(value)) <= 12
        else f"{short}…"
    )


def power_of_two_at_least(value: Fraction) -> Fraction:
    """Return the least power of two that is not below a positive number."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return next(
        Fraction(2) ** e
        for e in (exponent - 1, exponent, exponent + 1)
        if Fraction(2) ** e >= value
    )
