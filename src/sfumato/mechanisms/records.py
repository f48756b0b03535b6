"""What records of mechanisms on whole columns share: how they are shown, and a relation that has to be said."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import Any

from ..errors import Refused
from ..exact.numbers import text
from ..guarantees import Relation
from ..guarantees.base import relation_of


def shown(record: Any) -> str:
    """Name and public numbers, as one would write them."""
    found = [(f.name, getattr(record, f.name)) for f in fields(record) if f.repr]
    numbers = [f"{name}={text(value) if isinstance(value, Fraction) else repr(value)}" for name, value in found if value is not None]
    return f"{type(record).__name__}({', '.join(numbers)})"


def needed_relation(value: str | None, place: str, reason: str) -> Relation:
    """A relation on which the sensitivity depends."""
    relation = relation_of(value)
    if relation is None:
        raise Refused("mechanism.relation", place, reason, "relation='add-remove' or relation='replace'")
    return relation
