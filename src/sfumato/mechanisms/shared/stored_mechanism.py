"""Mechanisms as stored records: a stable name, a version, and the public numbers, exact; enough to
make the mechanism again and price it anew.

A record that cannot be made again (its kind is gone, its fields have changed, or its noise was
fitted to something that is not kept) still tells what was promised, by the guarantees stored beside
it. One that can is made again only if its record is then the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from inspect import signature
from typing import Any

from ... import mechanisms
from ...errors import Refused
from ...guarantees import Guarantee
from ...guarantees.stored_guarantee import ratio
from ...guarantees.stored_guarantee import record as guarantee_record
from ...guarantees.stored_guarantee import restore as restore_guarantee
from ..laplace import Laplace
from .bins import Edges
from .categories import Labels
from .mechanism import Mechanism

VERSION = 1
_Public = dict[str, Any]


def record(mechanism: Mechanism) -> dict[str, Any]:
    """Names, strings and numbers only, all of them public."""
    promises = [guarantee_record(promise) for promise in mechanism.promises]
    return {"sfumato": "mechanism", "version": VERSION, **_named(mechanism), "promises": promises}


def promises(stored: dict[str, Any]) -> tuple[Guarantee, ...]:
    """What the mechanism promised when it was stored, and what it is known to promise today where
    it can be made again.
    """
    listed = stored.get("promises") if isinstance(stored, dict) else None
    if not isinstance(listed, list):
        raise Refused(
            "mechanism.stored",
            f"{stored!r:.60}",
            "this is not the record of a mechanism",
            "the record that a release stored",
        )
    then = tuple(restore_guarantee(promise) for promise in listed)
    again = restore(stored)
    return then if again is None else (*again.promises, *then)


def restore(stored: dict[str, Any]) -> Mechanism | None:
    """The mechanism again, or None where it cannot be made from what is stored."""
    if not isinstance(stored, dict) or stored.get("version") != VERSION:
        return None
    again = _made(stored)
    return (
        again
        if again is not None
        and _named(again) == {"kind": stored["kind"], "public": stored["public"]}
        else None
    )


ARGUMENTS: dict[str, Callable[[_Public], _Public]] = {
    "DiscreteGaussian": lambda public: {
        "rho": public["sensitivity"] ** 2 / (2 * public["sigma_squared"])
    },
    "RandomizedResponse": lambda public: {"categories": public["labels"].names},
    "Histogram": lambda public: {"epsilon": _epsilon(public["noise"])},
    "Hierarchy": lambda public: {"epsilon": _epsilon(public["noise"]), **_axis(public["axis"])},
}
"""What the constructor of a kind wants to be told beside its public fields."""


def _made(stored: dict[str, Any]) -> Mechanism | None:
    kind = getattr(mechanisms, str(stored.get("kind")), None)
    if not isinstance(kind, type) or not issubclass(kind, Mechanism):
        return None
    try:
        public = {name: _decode(value) for name, value in stored["public"].items()}
        if more := ARGUMENTS.get(kind.__name__):
            public |= more(public)
        made: Mechanism = kind(
            **{name: value for name, value in public.items() if name in signature(kind).parameters}
        )
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError):
        return None
    return made


def _named(mechanism: Mechanism) -> dict[str, Any]:
    public = {f.name: _encode(getattr(mechanism, f.name)) for f in fields(mechanism) if f.repr}  # type: ignore[arg-type]
    return {
        "kind": type(mechanism).__name__,
        "public": {name: value for name, value in public.items() if value is not None},
    }


def _epsilon(noise: object) -> Fraction:
    if not isinstance(noise, Laplace):
        raise TypeError("Gaussian noise was fitted to an ε and a δ that are not kept")
    return noise.sensitivity / noise.scale


def _axis(axis: Edges | Labels) -> _Public:
    return {"edges": axis.ends} if isinstance(axis, Edges) else {"categories": axis.names}


def _encode(value: Any) -> Any:
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
            return _named(value)
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
            return _made(value)
        case {"text": text}:
            return text
        case list():
            return tuple(_decode(item) for item in value)
    return value
