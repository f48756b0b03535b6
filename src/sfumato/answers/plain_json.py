"""Convert public facts to plain JSON values."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from . import answer_refusals as refusals


def to_plain_json(value: Any) -> Any:
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
