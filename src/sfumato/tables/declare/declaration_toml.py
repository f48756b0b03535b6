"""Write a declaration as TOML with a format version, and read it back as an equal record.

*Exact*    Bounds are whole numbers, or decimals and ratios in quotes; keys that are decimals or
           uuids are texts. 0.1 written by hand is one tenth.
*Public*   The file holds no path and nothing of the data.
*Places*   A hierarchy lists the paths of its smallest places; null names at the end are left out.
*Columns*  In their order, each with its type, bounds and public keys. `null_key = true` adds the
           key of rows without a value.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, TypeGuard, cast
from uuid import UUID

from . import declare_refusals as refusals
from .declaration import TABLE_ROWS, Declaration, declare
from .learned_limits import LIMITS, REST, TAILS, LearnedLimits, read_shares, shares_text
from .place_hierarchy import Keyed, PlaceHierarchy, hierarchy
from .public_keys import Key

VERSION = 1
_TABLE = ("name", "unit", "relation", "max_rows", "max_groups", "table_rows", "bounding", "version")
_COLUMN = ("type", "bounds", "keys", "null_key", "learned")


def to_toml(declaration: Declaration) -> str:
    """Write the TOML text of a declaration."""
    table: dict[str, Key | list[str]] = {name: getattr(declaration, name) for name in _TABLE}
    table["unit"] = list(declaration.unit)
    if not declaration.unit:
        table["max_rows"] = table["max_groups"] = None  # 1, by the meaning of no unit
    usual = {"unit": [], "table_rows": TABLE_ROWS, "bounding": "weights", "version": ""}
    lines = ['sfumato = "declaration"', f"version = {VERSION}", "", "[table]"]
    lines += [
        f"{name} = {_toml_value(value)}"
        for name, value in table.items()
        if value is not None and usual.get(name) != value
    ]
    ranges, domains, learned = declaration.ranges, dict(declaration.keys), declaration.learned
    if learned.limits:
        marks = (f"{name} = {_toml_value(shares_text(rest))}" for name, rest in learned.limits)
        lines.append(f"learned = {{ {', '.join(marks)} }}")
    tails = dict(learned.bounds)
    for column, kind in declaration.types:
        lines += ["", f"[columns.{toml_text(column)}]", f"type = {toml_text(str(kind))}"]
        if column in ranges:
            lines.append(f"bounds = {_toml_value(list(ranges[column]))}")
        if column in tails:
            lines.append(f"learned = {_toml_value(shares_text(tails[column]))}")
        if column in domains:
            keys: list[Key] = [key for key in domains[column] if key is not None]
            lines.append(f"keys = {_toml_value(keys)}")
            lines += ["null_key = true"] if None in domains[column] else []
    for each in declaration.hierarchies:
        lines += _hierarchy_lines(each)
    return "\n".join(lines) + "\n"


def _hierarchy_lines(places: PlaceHierarchy) -> list[str]:
    """Write a hierarchy: a path for each place, shorter where the last names are null."""
    lines = ["", "[[hierarchies]]", f"levels = {_toml_value(list(places.levels))}"]
    lines += [f"keyed_by = {toml_text(places.keyed_by)}", "places = ["]
    for path in places.paths:
        names = list(path)
        while names[-1] is None and len(names) > 1:
            names.pop()
        # TOML has no null: an empty list stands for one between names
        cells = ("[]" if name is None else _toml_value(name) for name in names)
        lines.append(f"    [{', '.join(cells)}],")
    return [*lines, "]"]


def from_toml(text: str) -> Declaration:
    """Read a declaration from its TOML text."""
    try:
        values = tomllib.loads(text, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, TypeError, AttributeError, ValueError, RecursionError):
        raise refusals.NOT_TOML(record="Declaration") from None
    return from_values(values)


def from_values(values: Mapping[str, object]) -> Declaration:
    """Build the declaration from the values of a TOML file."""
    if (
        values.get("sfumato") != "declaration"
        or values.get("version") != VERSION
        or isinstance(values.get("version"), bool)
    ):
        raise refusals.DECLARATION_HEADER_MISSING(version=VERSION)
    table, columns = values.get("table"), values.get("columns")
    if (
        not _has_only(values, ("sfumato", "version", "table", "columns", "hierarchies"))
        or not _has_only(table, (*_TABLE, "learned"))
        or not _has_only(columns, None)
    ):
        raise refusals.DECLARATION_PARTS_WRONG(names=", ".join(_TABLE))
    by_column: dict[str, dict[str, object]] = {}
    for column, about in columns.items():
        if not _has_only(about, _COLUMN) or "type" not in about:
            raise refusals.COLUMN_PARTS_WRONG(column=column)
        if not isinstance(about.get("null_key", False), bool) or not isinstance(
            about.get("keys", []), list
        ):
            raise refusals.COLUMN_KEYS_WRONG(column=column)
        by_column[column] = about
    listed = {
        column: _keys(about)
        for column, about in by_column.items()
        if about.get("keys") or about.get("null_key")
    }
    empty = [
        column for column, about in by_column.items() if "keys" in about and column not in listed
    ]
    arguments: dict[str, Any] = {  # `declare` checks each of them
        "name": None,
        **table,
        "learned": _read_learned(table, by_column),
        "types": {column: about["type"] for column, about in by_column.items()},
        "bounds": {
            column: about["bounds"] for column, about in by_column.items() if "bounds" in about
        },
        "keys": {
            **listed,
            **{column: [] for column in empty},
            **{each.levels: each for each in map(_read_hierarchy, _hierarchies(values))},
        },
    }
    return declare(**arguments)


def _hierarchies(values: Mapping[str, object]) -> list[object]:
    listed = values.get("hierarchies", [])
    if not isinstance(listed, list):
        raise refusals.HIERARCHY_PARTS_WRONG()
    return listed


def _read_hierarchy(about: object) -> PlaceHierarchy:
    if not _has_only(about, ("levels", "keyed_by", "places")):
        raise refusals.HIERARCHY_PARTS_WRONG()
    levels, places = about.get("levels"), about.get("places")
    if (
        not isinstance(levels, list)
        or not isinstance(places, list)
        or not all(isinstance(path, list) and 0 < len(path) <= len(levels) for path in places)
    ):
        raise refusals.HIERARCHY_PARTS_WRONG()
    paths = [
        [None if name == [] else name for name in path] + [None] * (len(levels) - len(path))
        for path in places
    ]
    return hierarchy(*levels, places=paths, keyed_by=cast("Keyed", about.get("keyed_by", "name")))


def _read_learned(
    table: Mapping[str, object], columns: Mapping[str, Mapping[str, object]]
) -> LearnedLimits | None:
    limits = table.get("learned", {})
    if not _has_only(limits, LIMITS):
        raise refusals.LEARNED_PARTS_WRONG(names=" or ".join(LIMITS))
    rests = tuple((name, read_shares(limits[name], REST)) for name in LIMITS if name in limits)
    tails = tuple(
        sorted(
            (column, read_shares(about["learned"], TAILS))
            for column, about in columns.items()
            if "learned" in about
        )
    )
    return LearnedLimits(rests, tails) or None


def _keys(about: Mapping[str, object]) -> list[object]:
    keys = about.get("keys", [])
    assert isinstance(keys, list)
    return [*keys, None] if about.get("null_key") else keys


def _has_only(table: object, names: tuple[str, ...] | None) -> TypeGuard[dict[str, object]]:
    return isinstance(table, dict) and (names is None or set(table) <= set(names))


def _toml_value(value: Key | Fraction | list[Key] | list[Fraction] | list[str]) -> str:
    match value:
        case list():
            # str() directly for a list of integers: there may be a million keys
            return (
                f"[{', '.join(map(str if set(map(type, value)) == {int} else _toml_value, value))}]"
            )
        case bool():
            return str(value).lower()
        case Fraction():
            return (
                str(value.numerator)
                if value.denominator == 1 and abs(value.numerator) < 2**63
                else toml_text(_ratio(value))
            )
        case float():
            return repr(value)
        case int() | datetime() | date():
            return value.isoformat() if isinstance(value, date) else str(value)
        case str() | Decimal() | UUID():
            return toml_text(str(value))
    raise AssertionError(type(value))


def _ratio(value: Fraction) -> str:
    """Write a ratio as a decimal where that is exact: 100.5 rather than 201/2."""
    with localcontext(prec=40):
        decimal = Decimal(value.numerator) / Decimal(value.denominator)
        return (
            f"{decimal:f}"
            if Fraction(decimal) == value and abs(decimal.adjusted()) < 20
            else str(value)
        )


def toml_text(text: str) -> str:
    """Write a TOML string: TOML knows JSON's escapes, and needs one more."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
