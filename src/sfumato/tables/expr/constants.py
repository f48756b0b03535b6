"""Constants of expressions: a Python value that has a type here, its canonical text, and texts read
as dates where dates are meant.

*Taken*    None, bool, int, float, str, Decimal, date, datetime, UUID, and NumPy's scalars, which
           become those. A datetime with a zone is turned to UTC.
*Types*    an int takes the narrowest width that holds it, a Decimal the fewest digits: what is
           added to it stays as narrow as it can.
*Refused*  NaN (a null is written None), texts that no engine can hold, numbers of more than 38
           digits, and whatever has no type.
*Text*     two constants have the same text if and only if they are the same constant.
"""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

from ...errors import Refused
from ...exact.numbers import shown
from . import types
from .types import DIGITS, Span, Type

Constant = None | bool | int | float | str | Decimal | date | datetime | UUID

NOTHING: Span = (Fraction(1), Fraction(0))
LONGEST = 4096  # characters of a text
_ROOM = Context(prec=2 * DIGITS)
_INTEGERS = (types.INT8, types.INT16, types.INT32, types.INT64)
_TYPES = {float: types.FLOAT, str: types.STRING, date: types.DATE, UUID: types.UUID}


def constant(value: Any) -> Constant:
    """The constant that a value denotes, in plain Python types."""
    if hasattr(value, "dtype") and hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = (
            value.astype("datetime64[us]") if value.dtype.kind == "M" else value
        ).item()  # finer ones would give an integer
    match value:
        case None | bool():
            return value
        case int():
            if abs(value) >= 10**DIGITS:
                raise _refusal(value, f"a number of more than {DIGITS} digits")
            return int(value)
        case float():
            if math.isnan(value):
                raise _refusal(value, "NaN is no number: a null is written None")
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
    raise _refusal(type(value).__name__, "not a constant of a type that is known here")


def type_of(value: Constant) -> Type:
    """The narrowest type of a constant; only None is nullable."""
    match value:
        case None:
            return types.NULL
        case bool():
            return replace(types.BOOL, nullable=False)
        case int():
            return replace(
                integer(span(value)) or Type("decimal", precision=len(str(abs(value)))),
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
    """A finite number and itself; of NULL, what holds nothing."""
    if value is None:
        return NOTHING
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | Decimal)
        or not math.isfinite(value)
    ):
        return None
    return Fraction(value), Fraction(value)


def integer(ends: Span | None) -> Type | None:
    """The narrowest integer type that holds everything between the ends."""
    return next((kind for kind in _INTEGERS if ends and within(ends, kind.limits)), None)


def within(inner: Span, outer: Span | None) -> bool:
    return outer is not None and outer[0] <= inner[0] and inner[1] <= outer[1]


def text(value: Constant) -> str:
    """As SQL would write it."""
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


def read(written: str, wanted: Type, place: str) -> Constant:
    """A constant text as the date, timestamp or uuid that it stands beside."""
    try:
        match wanted.kind:
            case "date":
                return date.fromisoformat(written)
            case "timestamp":
                return _utc(datetime.fromisoformat(written))
            case "uuid":
                return UUID(written)
    except ValueError:
        pass
    examples = {
        "date": "DATE '2026-01-31'",
        "timestamp": "TIMESTAMP '2026-01-31 23:59:59'",
        "uuid": "UUID '00000000-0000-0000-0000-000000000000'",
    }
    rewrite = examples.get(wanted.kind, f"a constant that is {wanted.words}")
    raise Refused(
        "expression.literal", f"{place:.200}", f"{text(written):.60} is not {wanted.words}", rewrite
    )


def _utc(value: datetime) -> datetime:
    try:
        return value if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise _refusal(value, "in UTC, this is outside the years 1 to 9999") from None


def _decimal(value: Decimal) -> Decimal:
    if not value.is_finite():
        raise _refusal(value, "a decimal is finite: a null is written None")
    plain = Decimal(0) if value == 0 else value
    exponent = int(plain.as_tuple().exponent)
    if (
        len(plain.as_tuple().digits) > DIGITS
        or not -DIGITS <= exponent <= DIGITS
        or plain.adjusted() >= DIGITS
    ):
        raise _refusal(value, f"a number of more than {DIGITS} digits")
    return plain.quantize(Decimal(1), context=_ROOM) if exponent > 0 else plain


def _text(value: str) -> str:
    if (
        len(value) > LONGEST
        or "\0" in value
        or any("\ud800" <= letter <= "\udfff" for letter in value)
    ):
        raise _refusal(
            f"{value!r:.40}",
            (
                f"a constant text has at most {LONGEST} characters, none of them a NUL or "
                f"half a character"
            ),
        )
    return value


def _refusal(value: object, reason: str) -> Refused:
    return Refused(
        "expression.literal",
        shown(value),
        reason,
        "a truth value, a number, a text, a date, a datetime, a UUID or None",
    )
