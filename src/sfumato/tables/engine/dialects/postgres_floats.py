"""Float operations for PostgreSQL, which raises an error where IEEE arithmetic gives infinity or
zero: each operation runs only where it is safe.

*Exact*   Arithmetic with powers of two, which rounds nothing, decides whether a sum, product or
          quotient leaves the doubles. So the result is that of IEEE arithmetic and of DuckDB:
          infinity, zero, or the nearest double.
*Order*   In PostgreSQL NaN is greater than every number and equal to itself, and CASE evaluates its
          conditions in order.
*Near*    Of a power, the last part in 10^12 before infinity (and before zero) is infinity (and
          zero), but for the first power, which is the number itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from .literals import double


def number(value: float) -> str:
    """Write a double exactly."""
    return double(value, "DOUBLE PRECISION")


def _largest(function: str, start: float) -> float:
    """Return the largest double for which a function is finite."""
    x = start
    while True:
        try:
            getattr(math, function)(math.nextafter(x, math.inf))
        except OverflowError:
            return x
        x = math.nextafter(x, math.inf)


def _least_exp() -> float:
    """Return the least double whose exponential is not zero."""
    x = -745.1332191019412
    while math.exp(x) > 0:
        x = math.nextafter(x, -math.inf)
    while math.exp(x) == 0:
        x = math.nextafter(x, math.inf)
    return x


_INF, _NONE, _ONE_HALF = number(math.inf), number(0.0), number(0.5)
_ABOVE, _BELOW = number(2.0**-512), number(2.0**537)
_TOP, _MOST, _LITTLE = number(2.0**1023), number(1e150), number(1e-150)
_SIGNED = f"CASE WHEN {{0}} THEN {_INF} ELSE -{_INF} END"
_EASY = f"abs(a_) BETWEEN {_LITTLE} AND {_MOST} AND abs(b_) BETWEEN {_LITTLE} AND {_MOST}"
_ODD = f"abs(a_) >= {_INF} OR abs(b_) >= {_INF}"  # infinite, or NaN
_ALIKE = _SIGNED.format("(a_ > 0) = (b_ > 0)")

SUM = f"""CASE
    WHEN abs(a_) < {_TOP} AND abs(b_) < {_TOP} THEN a_ + b_
    WHEN {_ODD} OR abs(a_) < 1 OR abs(b_) < 1 THEN a_ + b_
    WHEN abs(a_ * {number(0.5)} + b_ * {number(0.5)}) >= {_TOP} THEN {_SIGNED.format("a_ > 0")}
    ELSE a_ + b_ END"""

PRODUCT = f"""CASE
    WHEN {_EASY} THEN a_ * b_
    WHEN a_ = 0 OR b_ = 0 OR {_ODD} THEN a_ * b_
    WHEN abs(a_) > 1 AND abs(b_) > 1 THEN
        CASE WHEN abs((a_ * {_ABOVE}) * (b_ * {_ABOVE})) >= 1 THEN {_ALIKE} ELSE a_ * b_ END
    WHEN abs(a_) < 1 AND abs(b_) < 1 THEN
        CASE WHEN abs((a_ * {_BELOW}) * (b_ * {_BELOW})) <= {_ONE_HALF} THEN {_NONE}
             ELSE a_ * b_ END
    ELSE a_ * b_ END"""

QUOTIENT = f"""CASE
    WHEN {_EASY} THEN a_ / b_
    WHEN a_ = 0 OR {_ODD} THEN a_ / b_
    WHEN abs(b_) < 1 AND abs(a_) >= 1 THEN
        CASE WHEN abs(a_ * {_ONE_HALF}) >= abs(b_ * {_TOP}) THEN {_ALIKE} ELSE a_ / b_ END
    WHEN abs(b_) < {_LITTLE} THEN
        CASE WHEN abs(a_) >= abs(b_ * {_TOP}) * 2 THEN {_ALIKE} ELSE a_ / b_ END
    WHEN abs(b_) > 1 AND abs(a_) < {number(2.0**-51)} THEN
        CASE WHEN abs((a_ * {_BELOW}) * {_BELOW}) <= abs(b_ * {_ONE_HALF}) THEN {_NONE}
             ELSE a_ / b_ END
    ELSE a_ / b_ END"""
"""A divisor of zero is already null."""

ROUNDED = (
    "trunc(a_) + CASE WHEN a_ - trunc(a_) >= 0.5 THEN 1 WHEN a_ - trunc(a_) <= -0.5 THEN -1 "
    "ELSE 0 END"
)
"""Halves away from zero; PostgreSQL's own rounding goes to even."""

EXPONENTIAL = f"""CASE WHEN a_ >= {_INF} THEN a_
    WHEN a_ > {number(_largest("exp", 709.782712893383))} THEN {_INF}
    WHEN a_ < {number(_least_exp())} THEN {_NONE} ELSE exp(a_) END"""

_HALF = f"power(abs(a_), b_ * {number(0.5)})"
POWER = f"""CASE
    WHEN a_ IS NULL OR b_ IS NULL THEN NULL
    WHEN b_ = 1 THEN a_
    WHEN a_ < 0 AND abs(b_) < {_INF} AND b_ <> floor(b_) THEN
        CASE WHEN a_ > -{_INF} THEN NULL WHEN b_ > 0 THEN {_INF} ELSE {_NONE} END
    WHEN {_ODD} OR a_ = 0 OR abs(b_) < {number(1e-300)} THEN power(a_, b_)
    WHEN abs(b_) > {number(1e300)} THEN
        CASE WHEN abs(a_) = 1 THEN power(a_, b_) WHEN (abs(a_) > 1) = (b_ > 0) THEN {_INF}
             ELSE {_NONE} END
    WHEN b_ * ln(abs(a_)) > {number(1400.0)} THEN
        CASE WHEN a_ < 0 AND floor(b_ * {_ONE_HALF}) * 2 <> b_ THEN -{_INF} ELSE {_INF} END
    WHEN b_ * ln(abs(a_)) < {number(-1400.0)} THEN {_NONE}
    WHEN {_HALF} > {number(math.sqrt(2.0**1023) * math.sqrt(2) * (1 - 1e-12))} THEN
        CASE WHEN a_ < 0 AND floor(b_ * {_ONE_HALF}) * 2 <> b_ THEN -{_INF} ELSE {_INF} END
    WHEN {_HALF} < {number(2.0**-537 / math.sqrt(2) * (1 + 1e-12))} THEN {_NONE}
    ELSE power(a_, b_) END"""

_BITS = "CAST(CAST('x' || encode(float8send(abs({0})), 'hex') AS BIT(64)) AS BIGINT)"
_MARK = f"({_BITS} & 4503599627370495)"
_HIGH = f"({_BITS} >> 52)"
REMAINDER_PARTS: Mapping[str, str] = {
    "m_": (
        f"CASE WHEN {_HIGH.format('a_')} = 0 THEN {_MARK.format('a_')} ELSE "
        f"{_MARK.format('a_')} + 4503599627370496 END"
    ),
    "e_": f"CAST(GREATEST({_HIGH.format('a_')}, 1) AS INT)",
    "n_": (
        f"CASE WHEN {_HIGH.format('b_')} = 0 THEN {_MARK.format('b_')} ELSE "
        f"{_MARK.format('b_')} + 4503599627370496 END"
    ),
    "f_": f"CAST(GREATEST({_HIGH.format('b_')}, 1) AS INT)",
}
"""Both numbers of a remainder, as integers times a power of two."""
REMAINDER = f"""CASE
    WHEN abs(a_) >= {_INF} OR b_ = {number(math.nan)} THEN {number(math.nan)}
    WHEN abs(a_) < abs(b_) THEN a_
    ELSE CAST(sign(a_) AS DOUBLE PRECISION)
        * CAST(mod(CAST(m_ AS NUMERIC) * power(CAST(2 AS NUMERIC), e_ - f_), CAST(n_ AS NUMERIC))
               AS DOUBLE PRECISION)
        * power({number(2.0)}, GREATEST(f_ - 1075, -1000))
        * power({number(2.0)}, LEAST(f_ - 75, 0)) END"""
"""C's fmod, exactly, in integers of as many digits as needed."""


def rounding_sql(digits: int) -> str:
    """Write the rounding to `digits` ≥ 1 decimal places as DuckDB does: scale, round, scale back.
    Numbers that scaling would make infinite stay unchanged.
    """
    unit = 10.0**digits
    most = 1.7976931348623157e308 / unit
    while most * unit < math.inf:
        most = math.nextafter(most, math.inf)
    while most * unit == math.inf:
        most = math.nextafter(most, 0.0)
    scaled = ROUNDED.replace("a_", f"(a_ * {number(unit)})")
    return f"CASE WHEN abs(a_) <= {number(most)} THEN ({scaled}) / {number(unit)} ELSE a_ END"
