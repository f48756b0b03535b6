"""Whether a set of values holds what an engine computed."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

from sfumato.tables.expr.types import Type
from sfumato.tables.expr.value_sets import ValueSet


def holds(values: ValueSet, result: Any, kind: Type) -> bool:
    """Whether a value, as Python reads it from DuckDB, is in the set."""
    if result is None:
        return values.null
    if kind.kind == "uuid":
        result = UUID(str(result))
    if kind.kind == "timestamp":
        result = result.replace(tzinfo=None)
    if result in values.without:
        return False
    if values.values is not None:
        return result in values.values
    place: Any = result if isinstance(result, date) else None
    if isinstance(result, int | float | Decimal) and not isinstance(result, bool):
        place = result if result in (float("inf"), float("-inf")) else Fraction(result)
    low: Any = values.low
    high: Any = values.high
    return place is None or ((low is None or low <= place) and (high is None or place <= high))
