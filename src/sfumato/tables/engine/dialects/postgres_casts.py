"""TRY_CAST for PostgreSQL, which has none: a condition that cannot fail stands before each cast,
and a value that does not fit becomes null.

*Texts*   of numbers, dates and timestamps are cast in DuckDB's common forms: 42, -1.5, 2e3,
          2026-01-31, 2026-01-31 12:30:00. Forms that only some engines read (0x1F, 1_000,
          31.1.2026, "tomorrow") are null.
*Floats*  become decimals of up to 18 digits by a product and a rounding in doubles, as in DuckDB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import engine_refusals as refusals
from .literals import BOOL_OF_TEXT, DAY, INFINITE, MOMENT, NUMBER, check_digits
from .postgres_floats import PRODUCT, ROUNDED, number
from .templates import Sql, fill, fill_once

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt

    from .fast_compile import FastCompile

POSTGRES = "postgres"
_BLANKS = "E' \\t\\n\\r\\x0b\\x0c'"
_NUMBER = f"a_ ~ '{NUMBER}'"
_LEAST = "2.4703282292062327e-324"  # what is not above half of the least double is zero
_MOST = str(2**1024 - 2**970)
"""The least number that rounds to infinity as a double: from here on a text is infinity."""

_AS_NUMBER = "CAST(a_ AS NUMERIC)"
_INFINITE = f"a_ ~* '{INFINITE}'"
_INF, _MINUS_INF = number(float("inf")), number(float("-inf"))

FLOAT_OF_TEXT = f"""CASE WHEN {_NUMBER} THEN
        CASE WHEN abs({_AS_NUMBER}) >= {_MOST} THEN
                 CASE WHEN {_AS_NUMBER} > 0 THEN {_INF} ELSE {_MINUS_INF} END
             WHEN abs({_AS_NUMBER}) <= {_LEAST} THEN {number(0.0)}
             ELSE CAST({_AS_NUMBER} AS DOUBLE PRECISION) END
    WHEN {_INFINITE} THEN CASE WHEN a_ LIKE '-%' THEN {_MINUS_INF} ELSE {_INF} END END"""
_BARE = "translate(a_, '{}-', '')"
UUID_OF_TEXT = f"""CASE
    WHEN a_ ~ '^([{{][0-9a-fA-F-]*[}}]|[0-9a-fA-F-]*)$' AND length({_BARE}) = 32
    THEN CAST({_BARE} AS UUID) END"""
"""32 digits, with hyphens anywhere, perhaps in braces, as DuckDB reads them. PostgreSQL's own cast
allows hyphens in fewer places.
"""
_FLOAT_TEXT = (
    "CASE WHEN abs(a_) >= 1 AND abs(a_) < 1e16 THEN CAST(CAST(CAST(a_ AS TEXT) AS NUMERIC) "
    "AS TEXT) ELSE CAST(a_ AS TEXT) END"
)
TEXT_OF_FLOAT = f"""CASE WHEN abs(a_) >= {_INF} THEN
        CASE WHEN a_ < 0 THEN '-inf' WHEN a_ = {_INF} THEN 'inf' ELSE 'nan' END
    WHEN {_FLOAT_TEXT} ~ '[.e]' THEN {_FLOAT_TEXT} ELSE {_FLOAT_TEXT} || '.0' END"""
"""As DuckDB writes it: 1.0, 1e+16, inf."""


def try_cast(compiler: FastCompile, value: Sql, have: dt.DataType, to: dt.DataType) -> Sql:
    """Cast a value from one Ibis type to another; null where it does not fit."""
    target = compiler.type_mapper.to_string(to)
    if have.is_string():
        return _text(value, to, target)
    if have.is_integer() and to.is_integer() and have.nbytes > to.nbytes:
        return fill_once(
            (
                f"CASE WHEN a_ BETWEEN {to.bounds.lower} AND {to.bounds.upper} THEN CAST(a_ "
                f"AS {target}) END"
            ),
            POSTGRES,
            a_=value,
        )
    if have.is_integer() and to.is_decimal():
        return (
            fill_once(_decimal("a_", to), POSTGRES, a_=value)
            if 10 ** (to.precision - to.scale) <= have.bounds.upper
            else compiler.cast(value, to)
        )
    if have.is_decimal() and to.is_integer():
        return fill_once(_integer("round(a_)", to, target), POSTGRES, a_=value)
    if have.is_decimal() and to.is_decimal():
        return fill_once(_decimal(f"round(a_, {to.scale})", to), POSTGRES, a_=value)
    if have.is_floating() and to.is_integer():
        bounds = (
            f"a_ >= {number(float(to.bounds.lower))} AND a_ < {number(float(to.bounds.upper + 1))}"
        )
        return fill_once(f"CASE WHEN {bounds} THEN CAST(a_ AS {target}) END", POSTGRES, a_=value)
    if have.is_floating() and to.is_decimal():
        return _decimal_of_float(value, to)
    if have.is_float64() and to.is_float32():
        small, large = number(7.006492321624086e-46), number(3.4028235677973366e38)
        body = (
            f"CASE WHEN abs(a_) >= {number(float('inf'))} THEN CAST(a_ AS REAL) WHEN abs(a_) "
            f">= {large} THEN NULL WHEN abs(a_) <= {small} THEN CAST(0 AS REAL)"
        )
        return fill_once(f"{body} ELSE CAST(a_ AS REAL) END", POSTGRES, a_=value)
    return compiler.cast(value, to)


def _text(value: Sql, to: dt.DataType, target: str) -> Sql:
    read = fill("CAST(a_ AS TEXT)", POSTGRES, a_=value)
    bare = fill(f"btrim(a_, {_BLANKS})", POSTGRES, a_=read)
    if to.is_string():
        return read
    if to.is_integer():
        return fill_once(
            f"CASE WHEN {_NUMBER} THEN {_integer(f'round({_AS_NUMBER})', to, target)} END",
            POSTGRES,
            a_=bare,
        )
    if to.is_decimal():
        return fill_once(
            f"CASE WHEN {_NUMBER} THEN {_decimal(f'round({_AS_NUMBER}, {to.scale})', to)} END",
            POSTGRES,
            a_=bare,
        )
    if to.is_floating():
        return fill_once(FLOAT_OF_TEXT, POSTGRES, a_=bare)
    if to.is_boolean():
        return fill_once(BOOL_OF_TEXT, POSTGRES, a_=read)
    if to.is_uuid():
        return fill_once(UUID_OF_TEXT, POSTGRES, a_=read)
    kind = "date" if to.is_date() else "timestamptz" if to.timezone else "timestamp"
    # a cast to a date ignores what follows the day, as in DuckDB
    day = f"substring(a_ FROM '^{DAY}')" if kind == "date" else "a_"
    valid = f"a_ ~ '{MOMENT}' AND pg_input_is_valid({day}, '{kind}')"
    return fill_once(
        f"CASE WHEN {valid} THEN CAST({day} AS {target}) END",
        POSTGRES,
        a_=bare if kind == "date" else read,
    )


def _integer(value: str, to: dt.Integer, target: str) -> str:
    return (
        f"CASE WHEN {value} BETWEEN {to.bounds.lower} AND {to.bounds.upper} THEN "
        f"CAST({value} AS {target}) END"
    )


def _decimal(value: str, to: dt.Decimal) -> str:
    end = 10 ** (to.precision - to.scale)
    return (
        f"CASE WHEN {value} > {-end} AND {value} < {end} THEN CAST({value} AS "
        f"DECIMAL({to.precision}, {to.scale})) END"
    )


def _decimal_of_float(value: Sql, to: dt.Decimal) -> Sql:
    check_digits(to, refusals.DECIMAL_TOO_LONG_FOR_POSTGRES)
    scaled = (
        fill_once(PRODUCT, POSTGRES, a_=value, b_=fill(number(10.0**to.scale), POSTGRES))
        if to.scale
        else value
    )
    rounded = fill_once(ROUNDED, POSTGRES, a_=scaled)
    decimal = (
        f"CAST(CAST(CAST(a_ AS BIGINT) AS NUMERIC) / {10**to.scale} AS "
        f"DECIMAL({to.precision}, {to.scale}))"
    )
    body = f"CASE WHEN abs(a_) < {number(10.0**to.precision)} THEN {decimal} END"
    return fill_once(body, POSTGRES, a_=rounded)
