"""Constants of expressions: convert Python values to typed constants and to canonical text, and
parse texts as dates where a date is needed.

*Taken*    None, bool, int, float, str, Decimal, date, datetime, UUID, and NumPy's scalars, which
           become those. A datetime with a zone is converted to UTC.
*Types*    an int gets the narrowest width that holds it, a Decimal the fewest digits, so that
           arithmetic with it stays narrow.
*Refused*  NaN (write None for null), texts that no engine can hold, numbers of more than 38
           digits, and values of other types.
*Text*     two constants have the same text if and only if they are the same constant.
"""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Context, Decimal
from fractions import Fraction
from uuid import UUID

import numpy as np

from ...exact.numbers import shown
from . import expr_refusals as refusals
from . import types
from .types import DIGITS, Kind, Span, Type

Constant = None | bool | int | float | str | Decimal | date | datetime | UUID

EMPTY_SPAN: Span = (Fraction(1), Fraction(0))
LONGEST = 4096  # characters of a text
EXAMPLES: dict[Kind, str] = {
    "bool": "TRUE",
    "integer": "5",
    "decimal": "DECIMAL '0.50'",
    "float": "0.5",
    "string": "'Roma'",
    "date": "DATE '2026-01-31'",
    "timestamp": "TIMESTAMP '2026-01-31 23:59:59'",
    "uuid": "UUID '00000000-0000-0000-0000-000000000000'",
    "null": "NULL",
}
"""A constant of each kind, as SQL writes it."""

_ROOM = Context(prec=2 * DIGITS)
_INTEGERS = (types.INT8, types.INT16, types.INT32, types.INT64)
_TYPES = {float: types.FLOAT, str: types.STRING, date: types.DATE, UUID: types.UUID}


def as_constant(value: object) -> Constant:
    """Convert a value to a constant of a plain Python type, or refuse it."""
    if isinstance(value, np.generic | np.ndarray) and value.shape == ():
        # item() of a finer datetime64 is an integer
        value = (value.astype("datetime64[us]") if value.dtype.kind == "M" else value).item()
    match value:
        case None | bool():
            return value
        case int():
            if abs(value) >= 10**DIGITS:
                raise refusals.NUMBER_TOO_LONG(value=shown(value), most=DIGITS)
            return int(value)
        case float():
            if math.isnan(value):
                raise refusals.NAN_CONSTANT(value=shown(value))
            return float(value) + 0.0  # −0 is 0
        case str():
            return _text(str.__str__(value))
        case Decimal():
            return _decimal(value)
        case datetime() if value == value:
            plain = datetime(
                value.year,
                value.month,
                value.day,
                value.hour,
                value.minute,
                value.second,
                value.microsecond,
                value.tzinfo,
                fold=value.fold,
            )
            return _utc(plain)
        case date() if value == value:  # pandas' "not a time" is not
            return date(value.year, value.month, value.day)
        case UUID():
            return UUID(int=value.int)
    raise refusals.TYPE_HAS_NO_CONSTANTS(type=shown(type(value).__name__))


def type_of(value: Constant) -> Type:
    """Return the narrowest type of a constant; only None is nullable."""
    match value:
        case None:
            return types.NULL
        case bool():
            return replace(types.BOOL, nullable=False)
        case int():
            return replace(
                narrowest_integer(span(value)) or Type("decimal", precision=len(str(abs(value)))),
                nullable=False,
            )
        case Decimal():
            _, digits, exponent = value.as_tuple()
            scale = max(-int(exponent), 0)
            return Type(
                "decimal", precision=max(len(digits), scale, 1), scale=scale, nullable=False
            )
        case datetime():
            return replace(types.TIMESTAMP if value.tzinfo is None else types.ZONED, nullable=False)
    return replace(_TYPES[type(value)], nullable=False)


def span(value: Constant) -> Span | None:
    """Return the span [v, v] of a finite number v, the empty span of NULL, else None."""
    if value is None:
        return EMPTY_SPAN
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | Decimal)
        or not math.isfinite(value)
    ):
        return None
    return Fraction(value), Fraction(value)


def narrowest_integer(ends: Span | None) -> Type | None:
    """Return the narrowest integer type that holds everything between the ends."""
    return next((kind for kind in _INTEGERS if ends and within(ends, kind.limits)), None)


def within(inner: Span, outer: Span | None) -> bool:
    return outer is not None and outer[0] <= inner[0] and inner[1] <= outer[1]


def text(value: Constant) -> str:
    """Write a constant as SQL does."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case str():
            return "'" + value.replace("'", "''") + "'"
        case Decimal():
            return f"DECIMAL '{value:f}'"
        case datetime():
            return (
                f"TIMESTAMP{'' if value.tzinfo is None else ' WITH TIME ZONE'} "
                f"'{value.isoformat(' ')}'"
            )
        case date():
            return f"DATE '{value.isoformat()}'"
        case UUID():
            return f"UUID '{value}'"
    return repr(value)


def parse_text(text_value: str, kind: Type, place: str) -> Constant:
    """Parse a text as the date, timestamp or uuid that it is compared or combined with."""
    try:
        match kind.kind:
            case "date":
                return date.fromisoformat(text_value)
            case "timestamp":
                return _utc(datetime.fromisoformat(text_value))
            case "uuid":
                return UUID(text_value)
    except ValueError:
        pass
    raise refusals.TEXT_NOT_PARSED(
        place=place, text=text(text_value), expected=kind.words, example=EXAMPLES[kind.kind]
    )


def _utc(value: datetime) -> datetime:
    try:
        return value if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise refusals.MOMENT_OUTSIDE_YEARS(value=shown(value)) from None


def _decimal(value: Decimal) -> Decimal:
    if not value.is_finite():
        raise refusals.DECIMAL_NOT_FINITE(value=shown(value))
    plain = Decimal(0) if value == 0 else value
    exponent = int(plain.as_tuple().exponent)
    if (
        len(plain.as_tuple().digits) > DIGITS
        or not -DIGITS <= exponent <= DIGITS
        or plain.adjusted() >= DIGITS
    ):
        raise refusals.NUMBER_TOO_LONG(value=shown(value), most=DIGITS)
    return plain.quantize(Decimal(1), context=_ROOM) if exponent > 0 else plain


def _text(value: str) -> str:
    if (
        len(value) > LONGEST
        or "\0" in value
        or any("\ud800" <= letter <= "\udfff" for letter in value)
    ):
        raise refusals.TEXT_TOO_LONG_OR_BROKEN(value=f"{value!r:.40}", most=LONGEST)
    return value
