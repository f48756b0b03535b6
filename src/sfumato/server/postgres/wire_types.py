"""The types of the wire: their numbers in PostgreSQL, and values as text and in binary form."""

from __future__ import annotations

import datetime
import json
import math
import re
import struct
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from uuid import UUID

from ...tables.expr.types import Kind, Type

Cell = str | int | float | bool | None
Parameter = str | int | float | bool | None

BOOL, BYTEA, CHAR, NAME, INT8, INT2, INT4, TEXT, OID = 16, 17, 18, 19, 20, 21, 23, 25, 26
FLOAT4, FLOAT8, UNKNOWN, BPCHAR, VARCHAR, DATE = 700, 701, 705, 1042, 1043, 1082
TIMESTAMP, TIMESTAMPTZ, NUMERIC, UUID_, JSON_ = 1114, 1184, 1700, 2950, 114
NAME_LIST, INT2_LIST, INT4_LIST, TEXT_LIST, OID_LIST = 1003, 1005, 1007, 1009, 1028
VARCHAR_LIST, INT8_LIST = 1015, 1016
LISTS = {
    NAME_LIST: NAME,
    INT2_LIST: INT2,
    INT4_LIST: INT4,
    TEXT_LIST: TEXT,
    OID_LIST: OID,
    VARCHAR_LIST: VARCHAR,
    INT8_LIST: INT8,
}
"""The types of arrays, which catalogue queries use, and the types of their elements."""

SIZES = {
    BOOL: 1,
    CHAR: 1,
    INT2: 2,
    INT4: 4,
    INT8: 8,
    OID: 4,
    FLOAT4: 4,
    FLOAT8: 8,
    DATE: 4,
    TIMESTAMP: 8,
    TIMESTAMPTZ: 8,
    UUID_: 16,
    NAME: 64,
}
"""The size of a type's values; −1 for others."""

_OF_KIND: dict[Kind, int] = {
    "bool": BOOL,
    "integer": INT8,
    "decimal": NUMERIC,
    "float": FLOAT8,
    "string": TEXT,
    "date": DATE,
    "timestamp": TIMESTAMP,
    "uuid": UUID_,
    "null": TEXT,
}
_INTEGERS = {INT2: "!h", INT4: "!i", INT8: "!q", OID: "!I"}
NUMBERS = (*_INTEGERS, FLOAT4, FLOAT8, NUMERIC)
_TEXTS = (TEXT, VARCHAR, BPCHAR, NAME, UNKNOWN, CHAR, 0)
_DAY = datetime.date(2000, 1, 1).toordinal()
_EPOCH = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
_TRUE, _FALSE = {"t", "true", "1", "on", "yes", "y"}, {"f", "false", "0", "off", "no", "n"}
_LIST = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^,{}"]*))\s*(?:,|$)')


class WireValueError(Exception):
    """A parameter is no value of its type."""


def oid_of(declared: Type) -> int:
    """Return the number of a declared type."""
    if declared.kind == "integer":
        return INT4 if declared.bits == 32 else INT2 if declared.bits < 32 else INT8
    return TIMESTAMPTZ if declared.zone else _OF_KIND[declared.kind]


def as_text(value: Cell, oid: int) -> bytes | None:
    """Encode a value as text. Whole numbers of the answer stay whole."""
    if value is None:
        return None
    if oid == BOOL:
        return b"t" if value else b"f"
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, float):
        if not math.isfinite(value):
            return b"NaN" if math.isnan(value) else b"Infinity" if value > 0 else b"-Infinity"
        if oid in _INTEGERS:
            return str(round(value)).encode()
        return repr(value).removesuffix(".0").encode()
    return str(value).encode("utf-8", "replace")


def as_binary(value: Cell, oid: int) -> bytes | None:
    """Encode a value in binary form."""
    if value is None:
        return None
    try:
        match oid:
            case 16:
                return b"\x01" if value else b"\x00"
            case 20 | 21 | 23 | 26:
                return struct.pack(
                    _INTEGERS[oid], round(float(value)) if isinstance(value, float) else int(value)
                )
            case 700 | 701:
                return struct.pack("!f" if oid == FLOAT4 else "!d", float(value))
            case 1082:
                day = datetime.date.fromisoformat(str(value)[:10])
                return struct.pack("!i", day.toordinal() - _DAY)
            case 1114 | 1184:
                moment = datetime.datetime.fromisoformat(str(value))
                since = (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)) - _EPOCH
                return struct.pack("!q", since // datetime.timedelta(microseconds=1))
            case 1700:
                return _numeric(Decimal(str(value)))
            case 2950:
                return UUID(str(value)).bytes
    except (ValueError, InvalidOperation, struct.error, OverflowError):
        return None  # a value that its type does not hold
    return as_text(value, oid)


def _numeric(value: Decimal) -> bytes:
    """Encode a number by its digits in base 10,000."""
    if not value.is_finite():
        return struct.pack("!hhHh", 0, 0, 0xC000, 0)
    sign, digits, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    digits_as_integer = int("".join(map(str, digits))) * 10 ** max(0, int(exponent))
    shifted = digits_as_integer * 10 ** (-scale % 4)  # so that the point stands between two groups
    groups: list[int] = []
    while shifted:
        shifted, group = divmod(shifted, 10_000)
        groups.append(group)
    weight = len(groups) - 1 - (scale + -scale % 4) // 4
    head = struct.pack("!hhHH", len(groups), weight, 0x4000 if sign else 0, scale)
    return head + struct.pack(f"!{len(groups)}h", *reversed(groups))


def read_parameter(raw: bytes | None, oid: int, form: int) -> Parameter | list[Parameter]:
    """Return the value of a parameter, in text (0) or binary form (1)."""
    if raw is None:
        return None
    try:
        if oid in LISTS:
            return _read_list(raw, LISTS[oid], form)
        return _read_binary(raw, oid) if form == 1 else _read_text(raw.decode("utf-8"), oid)
    except (ValueError, struct.error, OverflowError, InvalidOperation):
        raise WireValueError from None


def _read_text(value: str, oid: int) -> Parameter:
    if oid == BOOL:
        if value.lower() not in _TRUE | _FALSE:
            raise WireValueError
        return value.lower() in _TRUE
    if oid in _INTEGERS:
        if not re.fullmatch(r"\s*[+-]?[0-9]{1,20}\s*", value, re.ASCII):
            raise WireValueError
        return int(value)
    if oid in (FLOAT4, FLOAT8, NUMERIC):
        return _read_number(value)
    return value


def _read_number(value: str) -> int | float:
    """Return a number, exact where a double can hold it."""
    number = Decimal(value.strip())
    if not number.is_finite() or not -300 <= number.adjusted() <= 300:
        raise WireValueError
    if number == number.to_integral_value() and number.adjusted() < 30:
        return int(number)
    double = float(number)
    if Fraction(Decimal(repr(double))) != Fraction(number):
        raise WireValueError
    return double


def _read_binary(raw: bytes, oid: int) -> Parameter:
    if oid in _INTEGERS:
        return int(struct.unpack(_INTEGERS[oid], raw)[0])
    if oid in (FLOAT4, FLOAT8):
        (double,) = struct.unpack("!f" if oid == FLOAT4 else "!d", raw)
        if not math.isfinite(double):
            raise WireValueError
        # the shortest decimal that is this float: 0.1, not its neighbour among doubles
        return float(double) if oid == FLOAT8 else _shortest(double)
    if oid == BOOL:
        (byte,) = struct.unpack("!B", raw)
        return bool(byte)
    if oid == DATE:
        (days,) = struct.unpack("!i", raw)
        return datetime.date.fromordinal(_DAY + days).isoformat()
    if oid in (TIMESTAMP, TIMESTAMPTZ):
        (micros,) = struct.unpack("!q", raw)
        moment = _EPOCH + datetime.timedelta(microseconds=micros)
        return (moment if oid == TIMESTAMPTZ else moment.replace(tzinfo=None)).isoformat(sep=" ")
    if oid == UUID_:
        return str(UUID(bytes=raw))
    if oid in _TEXTS:
        return raw.decode("utf-8")
    raise WireValueError


def _shortest(double: float) -> float:
    for digits in range(1, 10):
        shorter = float(f"{double:.{digits}g}")
        if struct.pack("!f", shorter) == struct.pack("!f", double):
            return shorter
    return double


def _read_list(raw: bytes, oid: int, form: int) -> list[Parameter]:
    if form == 1:
        dimensions, _, _ = struct.unpack("!iiI", raw[:12])
        if dimensions == 0:
            return []
        count, _ = struct.unpack("!ii", raw[12:20])
        if dimensions != 1 or not 0 <= count <= 10_000:
            raise WireValueError
        values, at = list[Parameter](), 20
        for _ in range(count):
            (size,) = struct.unpack("!i", raw[at : at + 4])
            at += 4
            values.append(None if size == -1 else _read_binary(raw[at : at + size], oid))
            at += max(0, size)
        return values
    inner = raw.decode("utf-8").strip()
    if not (inner.startswith("{") and inner.endswith("}")):
        raise WireValueError
    cells, at, inner = list[Parameter](), 0, inner[1:-1]
    while at < len(inner):
        part = _LIST.match(inner, at)
        if part is None or part.end() == at:
            raise WireValueError
        quoted, bare = part.groups()
        cell = json.loads(f'"{quoted}"') if quoted is not None else bare.strip()
        is_null = quoted is None and cell.upper() == "NULL"
        cells.append(None if is_null else _read_text(cell, oid))
        at = part.end()
    return cells
