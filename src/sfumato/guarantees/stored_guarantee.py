"""Store guarantees as JSON and restore them: a version, the notion's name, and exact numbers as
ratios. A restored guarantee equals the stored one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from fractions import Fraction
from importlib import import_module
from typing import Any

from ..errors import Refused
from . import guarantee_refusals as refusals
from .guarantee import NOTIONS, Guarantee

VERSION = 1

StoredFields = dict[str, Any]
"""A JSON object by its names. Whoever reads one checks every value that it takes from it."""


def stored_notion(guarantee: Guarantee) -> str:
    """The name under which ledgers, answers and cards store the notion of a guarantee."""
    return guarantee.stored_name or type(guarantee).__name__


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
        **guarantee._stored(),
        **about,
    }


ELSEWHERE = {"Loss": "sfumato.accounting.loss.privacy_loss"}
"""Notions that are defined above this layer, each with its module, which is imported when a record
needs it.
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


def restore(stored: object) -> Guarantee:
    """Restore a guarantee from its record; refuse anything that this library does not write."""
    notion = stored.get("notion") if isinstance(stored, dict) else None
    if (
        not isinstance(stored, dict)
        or stored.get("sfumato") != "guarantee"
        or not isinstance(notion, str)
        or notion not in {*NOTIONS, *ELSEWHERE}
    ):
        raise refusals.NOT_A_STORED_GUARANTEE(stored=stored)
    if stored.get("version") != VERSION:
        raise refusals.UNKNOWN_STORED_VERSION(
            stored=stored, version=stored.get("version"), known=VERSION
        )
    try:
        if notion not in NOTIONS:
            import_module(ELSEWHERE[notion])
        guarantee = NOTIONS[notion]._restored(stored, stored.get("relation"), stored.get("unit"))
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
