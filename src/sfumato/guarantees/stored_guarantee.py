"""Store guarantees as JSON and restore them: a version, the notion's name, and exact numbers as
ratios. A restored guarantee equals the stored one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import reduce
from importlib import import_module
from operator import add
from typing import Any

from ..errors import Refused
from . import guarantee_refusals as refusals
from .approx import Approx
from .gdp import GDP
from .guarantee import Guarantee, relation_of, unit_of
from .mixed import Mixed
from .pure import Pure
from .random_dp import RandomDP
from .renyi import Renyi
from .zcdp import ZCDP

VERSION = 1
STORED_NAMES = {"Mixed": "Together"}
"""Notions that are stored under another name than that of their class."""

StoredFields = dict[str, Any]
"""A JSON object by its names. Whoever reads one checks every value that it takes from it."""


def stored_notion(guarantee: Guarantee) -> str:
    """The name under which ledgers, answers and cards store the notion of a guarantee."""
    name = type(guarantee).__name__
    return STORED_NAMES.get(name, name)


def record(guarantee: Guarantee) -> StoredFields:
    """Return the guarantee as a JSON object of names and strings only."""
    about = {
        name: value
        for name, value in (("relation", guarantee.relation), ("unit", guarantee.unit))
        if value is not None
    }
    return {
        "sfumato": "guarantee",
        "version": VERSION,
        "notion": stored_notion(guarantee),
        **_numbers(guarantee),
        **about,
    }


def _numbers(guarantee: Guarantee) -> dict[str, object]:
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
        case Mixed():
            return {"parts": [record(part) for part in guarantee.parts]}
        case _:
            fields = guarantee._stored()
            return (
                fields
                if fields is not None
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
        _restore_mixed([restore(part) for part in r["parts"]]), relation_of(relation), unit_of(unit)
    ),
}


ELSEWHERE = {"Loss": "sfumato.accounting.loss.privacy_loss"}
"""Notions that are defined above this layer, each with the module whose `restore` reads it. The
module is imported when a record needs it.
"""


_RATIO = re.compile(
    r"-?[0-9]{1,4000}(?:/0*[1-9][0-9]{0,3999}|(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,3})?)",
    re.ASCII,
)


def ratio(written: object) -> Fraction:
    """Read a ratio as this library writes it, or a decimal as people write it. Raise ValueError for
    anything else: computing a huge power of ten would never end.
    """
    if not isinstance(written, str) or not _RATIO.fullmatch(written):
        raise ValueError("not a ratio")
    return Fraction(written)


def check_fields(stored: Iterable[str], written: Iterable[str], *more: str) -> None:
    """Raise ValueError if `stored` has a field that `written`, the record of the restored value,
    does not have.
    """
    if unknown := set(stored) - set(written) - set(more):
        raise ValueError(f"unknown fields: {len(unknown)}")


def _restore_mixed(parts: list[Guarantee]) -> Guarantee:
    """Restore a `Mixed` guarantee, whose parts are of two or more notions and not mixed
    themselves.
    """
    total = reduce(add, parts)
    if not isinstance(total, Mixed) or any(isinstance(part, Mixed) for part in parts):
        raise KeyError("parts")
    return Mixed(total.parts, None, None)


def restore(stored: object) -> Guarantee:
    """Restore a guarantee from its record; refuse anything that this library does not write."""
    notion = stored.get("notion") if isinstance(stored, dict) else None
    if (
        not isinstance(stored, dict)
        or stored.get("sfumato") != "guarantee"
        or not isinstance(notion, str)
        or notion not in {*_READERS, *ELSEWHERE}
    ):
        raise refusals.NOT_A_STORED_GUARANTEE(stored=stored)
    if stored.get("version") != VERSION:
        raise refusals.UNKNOWN_STORED_VERSION(
            stored=stored, version=stored.get("version"), known=VERSION
        )
    try:
        reader = (
            _READERS[notion] if notion in _READERS else import_module(ELSEWHERE[notion]).restore
        )
        guarantee: Guarantee = reader(
            stored, relation=stored.get("relation"), unit=stored.get("unit")
        )
        check_fields(stored, record(guarantee), "delta")  # a δ of zero may be left out
        if (guarantee.relation, guarantee.unit) != (stored.get("relation"), stored.get("unit")):
            raise ValueError("the relation or unit differs from that of the parts")
        return guarantee
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
        raise refusals.STORED_GUARANTEE_ALTERED(stored=stored) from None


def restore_text(content: str) -> Guarantee:
    """Restore a guarantee from JSON text."""
    try:
        return restore(json.loads(content))
    except Refused:
        raise
    except (ValueError, RecursionError):
        raise refusals.NOT_JSON(content=content) from None


def python_text(guarantee: Guarantee) -> str:
    """Return Python code that builds the same guarantee: fractions stay exact, as texts."""
    arguments = [f"{name}={_python_value(value)}" for name, value in guarantee.parameters.items()]
    labels = {"relation": guarantee.relation, "unit": guarantee.unit}
    arguments += [f"{name}={label!r}" for name, label in labels.items() if label is not None]
    return f"sf.{type(guarantee).__name__}({', '.join(arguments)})"


def _python_value(value: object) -> str:
    if isinstance(value, dict):
        pairs = (f"{_python_value(key)}: {_python_value(item)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    return str(value) if isinstance(value, int) or "/" not in str(value) else repr(str(value))
