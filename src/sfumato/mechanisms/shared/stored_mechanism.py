"""Store mechanisms as records and restore them: a stable name, a version, and the exact public
numbers, enough to rebuild the mechanism and compute its cost again.

If a record cannot be rebuilt (its kind is gone, its fields have changed, or its noise was fitted to
numbers that are not stored), the guarantees stored with it still state the promise. A mechanism
counts as rebuilt only if its own record equals the stored one.
"""

from __future__ import annotations

from fractions import Fraction
from inspect import signature
from typing import Any

from ... import mechanisms
from ...guarantees import Guarantee
from ...guarantees.stored_guarantee import ratio
from ...guarantees.stored_guarantee import record as guarantee_record
from ...guarantees.stored_guarantee import restore as restore_guarantee
from ...records import public_fields
from . import mechanism_refusals as refusals
from .bins import Edges
from .categories import Labels
from .mechanism import Mechanism

VERSION = 1
STORED_KINDS = {"Questionnaire": "Several", "Combined": "Several"}  # the last is restored
"""Classes that are stored under another name than their own."""
_CLASSES = {stored: name for name, stored in STORED_KINDS.items()}
Stored = dict[str, Any]
"""A JSON object, or the public fields of a mechanism by name."""


def record(mechanism: Mechanism) -> Stored:
    """Return the mechanism as a JSON object of public names, strings and numbers."""
    promises = [guarantee_record(promise) for promise in mechanism.promises]
    return {
        "sfumato": "mechanism",
        "version": VERSION,
        **_kind_and_fields(mechanism),
        "promises": promises,
    }


def promises(stored: Stored) -> tuple[Guarantee, ...]:
    """Return the promises that were stored, preceded by today's promises of the mechanism if it can
    be rebuilt.
    """
    listed = stored.get("promises") if isinstance(stored, dict) else None
    if not isinstance(listed, list) or not listed:  # every mechanism promises something
        raise refusals.NOT_A_MECHANISM_RECORD(stored=stored)
    promised = tuple(restore_guarantee(promise) for promise in listed)
    mechanism = restore(stored)
    return promised if mechanism is None else (*mechanism.promises, *promised)


def restore(stored: Stored, kind: type[Mechanism] | None = None) -> Mechanism | None:
    """Rebuild the mechanism from its record; return None if the record is not enough. A class that
    is not the library's is not searched by its name: pass it as `kind`.
    """
    if not isinstance(stored, dict) or stored.get("version") != VERSION:
        return None
    mechanism = _rebuild(stored, kind)
    return (
        mechanism
        if mechanism is not None
        and _kind_and_fields(mechanism) == {"kind": stored["kind"], "public": stored["public"]}
        else None
    )


def _rebuild(stored: Stored, kind: type[Mechanism] | None = None) -> Mechanism | None:
    name = str(stored.get("kind"))
    kind = kind or getattr(mechanisms, _CLASSES.get(name, name), None)
    if not isinstance(kind, type) or not issubclass(kind, Mechanism):
        return None
    try:
        public = {name: _decode(value) for name, value in stored["public"].items()}
        public |= kind.arguments_of(public)
        names = signature(kind).parameters
        return kind(**{name: value for name, value in public.items() if name in names})
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError):
        return None


def _kind_and_fields(mechanism: Mechanism) -> Stored:
    public = {name: _encode(getattr(mechanism, name)) for name in public_fields(type(mechanism))}
    kind = type(mechanism).__name__
    return {
        "kind": STORED_KINDS.get(kind, kind),
        "public": {name: value for name, value in public.items() if value is not None},
    }


def _encode(value: object) -> object:
    match value:
        case Fraction():
            return {"exact": str(value)}
        case float():
            return {"float": repr(value)}
        case tuple():
            return [_encode(item) for item in value]
        case Edges():
            return {"edges": _encode(value.ends)}
        case Labels():
            return {"labels": _encode(value.names)}
        case Mechanism():
            return _kind_and_fields(value)
        case None | bool() | int() | str():
            return value
    return {"text": repr(value)}


def _decode(value: Any) -> Any:
    match value:
        case {"exact": text}:
            return ratio(text)
        case {"float": text}:
            return float(text)
        case {"edges": ends}:
            return Edges(_decode(ends))
        case {"labels": names}:
            return Labels(_decode(names))
        case {"kind": _, "public": _}:
            return _rebuild(value)
        case {"text": text}:
            return text
        case list():
            return tuple(_decode(item) for item in value)
    return value
