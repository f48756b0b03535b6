"""Guarantees as stored text: JSON with a version, exact numbers as ratios, read back as equal values."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ..errors import Refused
from ..exact.numbers import exact
from .approx import Approx
from .base import Guarantee
from .gdp import GDP
from .pure import Pure
from .random_dp import RandomDP
from .renyi import Renyi
from .together import Together
from .zcdp import ZCDP

VERSION = 1


def record(guarantee: Guarantee) -> dict[str, Any]:
    """What is stored: names and strings only."""
    about = {name: value for name, value in (("relation", guarantee.relation), ("unit", guarantee.unit)) if value is not None}
    return {"sfumato": "guarantee", "version": VERSION, "notion": type(guarantee).__name__, **_numbers(guarantee), **about}


def _numbers(guarantee: Guarantee) -> dict[str, Any]:
    match guarantee:
        case GDP():
            return {"mu_squared": str(guarantee.mu_squared)}
        case Renyi():
            curve = {str(a): str(v) for a, v in guarantee.curve.items()}
            return {"curve": curve, "delta": str(guarantee.parameters.get("delta", 0))}
        case RandomDP():
            return {"guarantee": record(guarantee.guarantee), "gamma": str(guarantee.gamma), "over": guarantee.over}
        case Together():
            return {"parts": [record(part) for part in guarantee.parts]}
        case _:
            return {name: str(value) for name, value in guarantee.parameters.items()}


_READERS: dict[str, Callable[..., Guarantee]] = {
    "Pure": lambda r, **about: Pure(r["epsilon"], **about),
    "Approx": lambda r, **about: Approx(r["epsilon"], r["delta"], **about),
    "ZCDP": lambda r, **about: ZCDP(r["rho"], r.get("delta", 0), **about),
    "GDP": lambda r, **about: GDP.from_square(exact(r["mu_squared"]), **about),
    "Renyi": lambda r, **about: Renyi({exact(a): v for a, v in r["curve"].items()}, r.get("delta", 0), **about),
    "RandomDP": lambda r, **_: RandomDP(restore(r["guarantee"]), r["gamma"], over=r["over"]),
    "Together": lambda r, **about: Guarantee._bind(Together(tuple(restore(part) for part in r["parts"]), None, None), about["relation"], about["unit"]),
}


def restore(stored: Any) -> Guarantee:
    """The guarantee of a record."""
    place = f"{stored!r:.60}"
    if not isinstance(stored, dict) or stored.get("sfumato") != "guarantee" or stored.get("notion") not in _READERS:
        raise Refused("guarantee.stored", place, "this is not a stored guarantee", "the text of Guarantee.to_json()")
    if stored.get("version") != VERSION:
        raise Refused("guarantee.stored", place, f"version {stored.get('version')} is not known here", f"version {VERSION}, or a newer sfumato")
    try:
        return _READERS[stored["notion"]](stored, relation=stored.get("relation"), unit=stored.get("unit"))
    except (KeyError, TypeError, AttributeError):
        raise Refused("guarantee.stored", place, "the record is incomplete", "the text of Guarantee.to_json()") from None


def restore_text(content: str) -> Guarantee:
    try:
        return restore(json.loads(content))
    except json.JSONDecodeError:
        raise Refused("guarantee.stored", f"{content!r:.60}", "this is not JSON", "the text of Guarantee.to_json()") from None
