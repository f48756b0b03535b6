"""Check public key sets: the values of a column that the owner lists for GROUP BY.

*Exact*   A key is a value that the column's type holds: a decimal with its digits, a timestamp with
          a zone in UTC, a float that is not NaN, with 0 for −0.
*Null*    None is the key of rows where the column is null.
*Order*   Keys are sorted, null last; answers list groups in this order.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, SupportsIndex, cast
from uuid import UUID

import numpy as np

from ...exact.numbers import Number, exact, shown
from ..expr.types import Type
from . import declare_refusals as refusals

Key = None | bool | int | str | Decimal | date | datetime | UUID | float
"""A value by which rows are grouped."""


def check_keys(column: str, keys: Iterable[object], kind: Type) -> tuple[Key, ...]:
    """Convert the keys of a column to its type and sort them; refuse a key that is listed twice."""
    if isinstance(keys, str | bytes | Mapping) or not isinstance(keys, Iterable):
        raise refusals.KEYS_NOT_A_LIST(column=column, keys=shown(keys), example=EXAMPLES[kind.kind])
    listed = list(keys)
    if (quickly := _plain_keys(listed, kind)) is not None:
        return quickly
    checked: set[Key] = set()
    for key in listed:
        checked_key = check_key(column, key, kind)
        if checked_key in checked:
            raise refusals.KEY_LISTED_TWICE(column=column, key=shown(key))
        checked.add(checked_key)
    if not checked:
        raise refusals.KEYS_EMPTY(column=column, example=EXAMPLES[kind.kind])
    return tuple(sorted(checked, key=lambda key: (key is None, 0 if key is None else key)))


def _plain_keys(keys: list[Any], kind: Type) -> tuple[Key, ...] | None:
    """Sort plain integers or ASCII texts at once, as there may be a million keys; None if each key
    needs a check of its own.
    """
    kinds = set(map(type, keys))
    if kinds == {int} and kind.kind == "integer" and kind.limits is not None:
        fit = kind.limits[0] <= min(keys) and max(keys) <= kind.limits[1]
    else:
        fit = kinds == {str} and kind.kind == "string" and "".join(keys).isascii()
    distinct = set(keys) if fit else set()
    return tuple(sorted(distinct)) if len(distinct) == len(keys) and fit else None


def check_key(column: str, key: object, kind: Type) -> Key:
    """Convert one key to the type of its column, or refuse it."""
    if key is None and kind.nullable:
        return None
    value = None
    if key is not None:
        with suppress(
            TypeError, ValueError, OverflowError, ArithmeticError
        ):  # Refused is a ValueError
            value = READERS[kind.kind](key, kind)
    if value is None:
        raise refusals.KEY_OF_WRONG_TYPE(
            column=column,
            key=shown(key),
            expected=kind.words if kind.nullable else f"{kind.words} that is not null",
            example=EXAMPLES[kind.kind],
        )
    return value


def _bool(key: object, kind: Type) -> Key:
    if isinstance(key, bool | np.bool_):
        return bool(key)
    return {"true": True, "false": False}.get(key) if isinstance(key, str) else None


def _integer(key: object, kind: Type) -> Key:
    number = (
        int(key)
        if isinstance(key, str)
        else None
        if isinstance(key, bool | np.bool_) or not isinstance(key, SupportsIndex)
        else operator.index(key)
    )
    return (
        number
        if number is not None
        and kind.limits is not None
        and kind.limits[0] <= number <= kind.limits[1]
        else None
    )


def _decimal(key: object, kind: Type) -> Key:
    steps = exact(cast("Number", key)) * 10**kind.scale
    fits = steps.denominator == 1 and abs(steps) < 10**kind.precision
    return (
        Decimal((int(steps < 0), tuple(map(int, str(abs(steps.numerator)))), -kind.scale))
        if fits
        else None
    )


def _float(key: object, kind: Type) -> Key:
    number = exact(cast("Number", key))
    with np.errstate(over="ignore"):
        value = float(np.float32(float(number))) if kind.bits == 32 else float(number)
    # 2^53 + 1 and 2^53 would be the same key
    rounded = (
        isinstance(key, int | np.integer) and math.isfinite(value) and Fraction(value) != number
    )
    return value + 0.0 if math.isfinite(value) and not rounded else None


def _string(key: object, kind: Type) -> Key:
    # encode() fails on half of a surrogate pair
    return str(key) if isinstance(key, str) and str(key).encode() is not None else None


def _date(key: object, kind: Type) -> Key:
    if isinstance(key, str):
        return date.fromisoformat(key)
    return (
        date(key.year, key.month, key.day)
        if isinstance(key, date) and not isinstance(key, datetime)
        else None
    )


def _timestamp(key: object, kind: Type) -> Key:
    moment = datetime.fromisoformat(key) if isinstance(key, str) else key
    if not isinstance(moment, datetime) or (moment.tzinfo is not None and not kind.zone):
        return None
    # drop what subclasses of datetime add
    moment = datetime(
        *moment.timetuple()[:6], moment.microsecond, tzinfo=moment.tzinfo, fold=moment.fold
    )
    return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC) if kind.zone else moment


def _uuid(key: object, kind: Type) -> Key:
    return UUID(key) if isinstance(key, str) else key if isinstance(key, UUID) else None


READERS: Mapping[str, Callable[[object, Type], Key]] = {
    "bool": _bool,
    "integer": _integer,
    "decimal": _decimal,
    "float": _float,
    "string": _string,
    "date": _date,
    "timestamp": _timestamp,
    "uuid": _uuid,
}
"""Kind of a column → the function that reads its keys; each reads text, too, as a shell passes it.
A reader returns None, or raises, where a key does not fit.
"""

EXAMPLES: Mapping[str, str] = {
    "bool": "[False, True]",
    "integer": "[1, 2, 3]",
    "decimal": "['0.50', '1.00']",
    "float": "[0.5, 1.0]",
    "string": "['Roma', 'Bari']",
    "date": "['2026-03-01', '2026-03-02']",
    "timestamp": "['2026-03-01T00:00:00']",
    "uuid": "['12345678-1234-5678-1234-567812345678']",
}
