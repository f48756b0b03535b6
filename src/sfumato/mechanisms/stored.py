"""Mechanisms as stored records: a stable name, a version, and the public numbers, exact; enough to make the mechanism again and price it anew.

A record that cannot be made again (its kind is gone, or its fields have changed) still tells what was promised, by the guarantees stored beside it.
"""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import Any

from .. import mechanisms
from ..errors import Refused
from ..guarantees import Guarantee
from ..guarantees.stored import record as guarantee_record
from ..guarantees.stored import restore as restore_guarantee
from .base import Mechanism

VERSION = 1


def record(mechanism: Mechanism) -> dict[str, Any]:
    """Names, strings and numbers only, all of them public."""
    public = {f.name: _encode(getattr(mechanism, f.name)) for f in fields(mechanism) if f.repr}  # type: ignore[arg-type]
    kept = {name: value for name, value in public.items() if value is not None}
    promises = [guarantee_record(promise) for promise in mechanism.promises]
    return {"sfumato": "mechanism", "version": VERSION, "kind": type(mechanism).__name__, "public": kept, "promises": promises}


def promises(stored: dict[str, Any]) -> tuple[Guarantee, ...]:
    """What the mechanism promised when it was stored, and what it is known to promise today where it can be made again."""
    then = tuple(restore_guarantee(promise) for promise in stored["promises"])
    again = restore(stored)
    return then if again is None else (*again.promises, *then)


def restore(stored: dict[str, Any]) -> Mechanism | None:
    """The mechanism again, or None where its kind or its fields are not known here."""
    kind = getattr(mechanisms, str(stored.get("kind")), None)
    if stored.get("version") != VERSION or not isinstance(kind, type) or not issubclass(kind, Mechanism):
        return None
    try:
        again: Mechanism = kind(**{name: _decode(value) for name, value in stored["public"].items()})
    except (TypeError, Refused):
        return None
    return again if record(again)["public"] == stored["public"] else None


def _encode(value: Any) -> Any:
    if isinstance(value, Fraction):
        return {"exact": str(value)}
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    return value if value is None or isinstance(value, bool | int | str) else {"text": repr(value)}


def _decode(value: Any) -> Any:
    if isinstance(value, dict):
        return Fraction(value["exact"]) if "exact" in value else value["text"]
    return tuple(_decode(item) for item in value) if isinstance(value, list) else value
