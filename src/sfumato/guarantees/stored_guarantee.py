"""Guarantees as stored text: JSON with a version, exact numbers as ratios, read back as equal
values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from importlib import import_module
from operator import add
from typing import Any

from ..errors import Refused
from .approx import Approx
from .gdp import GDP
from .guarantee import Guarantee, relation_of, unit_of
from .mixed import Together
from .pure import Pure
from .random_dp import RandomDP
from .renyi import Renyi
from .zcdp import ZCDP

VERSION = 1


def record(guarantee: Guarantee) -> dict[str, Any]:
    """What is stored: names and strings only."""
    about = {
        name: value
        for name, value in (("relation", guarantee.relation), ("unit", guarantee.unit))
        if value is not None
    }
    return {
        "sfumato": "guarantee",
        "version": VERSION,
        "notion": type(guarantee).__name__,
        **_numbers(guarantee),
        **about,
    }


def _numbers(guarantee: Guarantee) -> dict[str, Any]:
    match guarantee:
        case GDP():
            return {"mu_squared": str(guarantee.mu_squared)}
        case Renyi():
            curve = {str(a): str(v) for a, v in guarantee.curve.items()}
            return {"curve": curve, "delta": str(guarantee.parameters.get("delta", 0))}
        case RandomDP():
            return {
                "guarantee": record(guarantee.guarantee),
                "gamma": str(guarantee.gamma),
                "over": guarantee.over,
            }
        case Together():
            return {"parts": [record(part) for part in guarantee.parts]}
        case _:
            own = guarantee._stored()
            return (
                own
                if own is not None
                else {name: str(value) for name, value in guarantee.parameters.items()}
            )


_READERS: dict[str, Callable[..., Guarantee]] = {
    "Pure": lambda r, **about: Pure(ratio(r["epsilon"]), **about),
    "Approx": lambda r, **about: Approx(ratio(r["epsilon"]), ratio(r["delta"]), **about),
    "ZCDP": lambda r, **about: ZCDP(ratio(r["rho"]), ratio(r.get("delta", "0")), **about),
    "GDP": lambda r, **about: GDP.from_square(ratio(r["mu_squared"]), **about),
    "Renyi": lambda r, **about: Renyi(
        {ratio(a): ratio(v) for a, v in r["curve"].items()}, ratio(r.get("delta", "0")), **about
    ),
    "RandomDP": lambda r, **_: RandomDP(restore(r["guarantee"]), ratio(r["gamma"]), over=r["over"]),
    "Together": lambda r, relation, unit: Guarantee._bind(
        _together([restore(part) for part in r["parts"]]), relation_of(relation), unit_of(unit)
    ),
}


ELSEWHERE = {"Loss": "sfumato.accounting.loss.privacy_loss"}
"""Notions that are defined above this layer, and the module whose `restore` reads them; fetched
when one is met, as public names are.
"""


_RATIO = re.compile(
    r"-?[0-9]{1,4000}(?:/0*[1-9][0-9]{0,3999}|(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,3})?)",
    re.ASCII,
)


def ratio(written: Any) -> Fraction:
    """A ratio as this library writes it, of any length that it writes, or a decimal as people write
    it; a ValueError for anything else. (A large power of ten could be computed for ever.)
    """
    if not isinstance(written, str) or not _RATIO.fullmatch(written):
        raise ValueError("not a ratio")
    return Fraction(written)


def only(stored: dict[str, Any], written: dict[str, Any], *more: str) -> None:
    """A ValueError where a record has fields that are not written of what was restored from it."""
    if unknown := set(stored) - set(written) - set(more):
        raise ValueError(f"fields that mean nothing here: {len(unknown)}")


def _together(parts: list[Guarantee]) -> Guarantee:
    """The parts again, if they are two or more notions of differential privacy."""
    whole = reduce(add, parts)
    if not isinstance(whole, Together) or any(isinstance(part, Together) for part in parts):
        raise KeyError("parts")
    return Together(whole.parts, None, None)


def restore(stored: Any) -> Guarantee:
    """The guarantee of a record."""
    place = f"{stored!r:.60}"
    notion = stored.get("notion") if isinstance(stored, dict) else None
    if (
        not isinstance(stored, dict)
        or stored.get("sfumato") != "guarantee"
        or not isinstance(notion, str)
        or notion not in {*_READERS, *ELSEWHERE}
    ):
        raise Refused(
            "guarantee.stored",
            place,
            "this is not a stored guarantee",
            "the text of Guarantee.to_json()",
        )
    if stored.get("version") != VERSION:
        raise Refused(
            "guarantee.stored",
            place,
            f"version {stored.get('version')} is not known here",
            f"version {VERSION}, or a newer sfumato",
        )
    try:
        reader = (
            _READERS[notion] if notion in _READERS else import_module(ELSEWHERE[notion]).restore
        )
        found: Guarantee = reader(stored, relation=stored.get("relation"), unit=stored.get("unit"))
        only(stored, record(found), "delta")  # a δ of zero may be left out
        if (found.relation, found.unit) != (stored.get("relation"), stored.get("unit")):
            raise ValueError("another relation or unit than its parts have")
        return found
    except (
        KeyError,
        TypeError,
        AttributeError,
        ValueError,
        ArithmeticError,
        RecursionError,
    ) as error:
        if isinstance(error, Refused):
            raise
        raise Refused(
            "guarantee.stored",
            place,
            "the record is incomplete, or not one that this library writes",
            "the text of Guarantee.to_json()",
        ) from None


def restore_text(content: str) -> Guarantee:
    try:
        return restore(json.loads(content))
    except Refused:
        raise
    except (ValueError, RecursionError):
        raise Refused(
            "guarantee.stored",
            f"{content!r:.60}",
            "this is not JSON",
            "the text of Guarantee.to_json()",
        ) from None
