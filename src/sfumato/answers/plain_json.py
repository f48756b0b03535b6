"""Convert public facts to plain JSON values."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from . import answer_refusals as refusals

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"
"""A plain JSON value."""
Record = dict[str, Any]  # a JSON object of a known shape, which code reads by its keys


def to_plain_json(value: object) -> Plain:
    """Convert a value to plain JSON values; exact numbers, dates and UUIDs become text."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Fraction() | Decimal() | uuid.UUID():
            return str(value)
        case datetime.date():  # and its times
            return value.isoformat()
        case Mapping():
            return {str(name): to_plain_json(item) for name, item in value.items()}
        case list() | tuple():
            return [to_plain_json(item) for item in value]
    raise refusals.FACT_TYPE(type=type(value).__name__)
