"""Public facts as plain values: what JSON holds, and nothing else."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ..errors import Refused


def plainly(value: Any) -> Any:
    """The same in dictionaries, lists, texts, numbers and truth values; exact numbers as text."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Fraction() | Decimal() | uuid.UUID():
            return str(value)
        case datetime.date():  # and its times
            return value.isoformat()
        case Mapping():
            return {str(name): plainly(item) for name, item in value.items()}
        case list() | tuple():
            return [plainly(item) for item in value]
    raise Refused(
        "answer.facts",
        type(value).__name__,
        "facts are dictionaries, lists, texts and numbers",
        "facts={'dataset': 'visits'}",
    )
