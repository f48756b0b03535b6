"""What the owner declares of a table: who is protected, what columns are and lie between, which
groups are public. Nothing is taken from the data.

*Unit*      All rows with the same value of the unit's columns are one person's. A row where one of
            them is null is nobody's, and left out. Without a unit each row is taken as a different
            person.
*Bounds*    Of a number: values below count as the lower end, values above as the upper.
*Keys*      Public keys of a column: every group answers, empty ones too, and other values are in no
            group.
*Rows*      `max_rows` is how many rows a unit counts for, `max_groups` in how many groups;
            `table_rows` a ceiling on the rows of the table.
*Learned*   marks what was not declared but found, privately and for a price: see `learned`.
*Version*   The owner's own label of the state of the data, never a hash of it: a hash would verify
            any guess about the last unknown row.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from ...errors import Refused
from ...exact.numbers import LARGEST, Number, exact, shown
from ...guarantees.guarantee import Relation, relation_of
from ..expr.column_names import LONGEST_NAME, known_names, unknown
from ..expr.types import Type
from .learned_limits import NOTHING, Learned, known_learned
from .public_keys import Key, known_keys

__all__ = ["Declaration", "Key", "declare", "known_keys"]

GIVEN = {
    "types": ("table.type", "types={'spend': 'float'}"),
    "bounds": ("table.bounds", "bounds={'spend': (0, 100)}"),
    "keys": ("table.keys", "keys={'city': ['Roma', 'Bari']}"),
}
"""What is given by column, the code of its refusal, and an example."""

MOST_ROWS = 2**20  # of a unit: more would leave its weights no bits
MOST_TABLE_ROWS = 2**48
TABLE_ROWS = 2**40


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """Public facts about a table, checked. Made by `declare` or read from TOML."""

    name: str
    unit: tuple[str, ...] = ()
    relation: Relation = "add-remove"
    types: tuple[tuple[str, Type], ...]
    bounds: tuple[tuple[str, tuple[Fraction, Fraction]], ...] = ()
    keys: tuple[tuple[str, tuple[Key, ...]], ...] = ()
    max_rows: int | None = None
    max_groups: int | None = None
    table_rows: int = TABLE_ROWS
    bounding: Literal["weights", "truncation"] = "weights"
    version: str = ""
    learned: Learned = NOTHING
    among: str = ""  # what the unit is called where this is one of several tables

    @property
    def schema(self) -> dict[str, Type]:
        return dict(self.types)

    @property
    def ranges(self) -> dict[str, tuple[Fraction, Fraction]]:
        return dict(self.bounds)

    @property
    def domains(self) -> dict[str, tuple[Key, ...]]:
        return dict(self.keys)

    @property
    def unit_name(self) -> str:
        return self.among or ", ".join(self.unit) or "row"

    @property
    def arguments(self) -> dict[str, Any]:
        """What `declare`, or `protect`, takes to declare the same."""
        given = {
            name: getattr(self, name)
            for name in (
                "name",
                "relation",
                "max_rows",
                "max_groups",
                "table_rows",
                "bounding",
                "version",
                "learned",
            )
        }
        return given | {
            "unit": self.unit or None,
            "types": {c: str(t) for c, t in self.types},
            "bounds": self.ranges,
            "keys": self.domains,
        }

    def to_toml(self) -> str:
        """As a file, exact: `Declaration.from_toml` reads back an equal record."""
        from .declaration_toml import to_toml

        return to_toml(self)

    @classmethod
    def from_toml(cls, text: str) -> Declaration:
        """From a file, written by `to_toml` or by hand; checked like any other declaration."""
        from .declaration_toml import from_toml

        return from_toml(text)


def declare(
    *,
    name: str | None,
    unit: str | Iterable[str] | None = None,
    bounds: Mapping[str, tuple[Number, Number]] | None = None,
    keys: Mapping[str, Iterable[Any]] | None = None,
    types: Mapping[str, str] | None = None,
    max_rows: int | None = None,
    max_groups: int | None = None,
    table_rows: int = TABLE_ROWS,
    relation: str | None = None,
    schema: Mapping[str, Type] | None = None,
    left_out: Mapping[str, str] | None = None,
    bounding: str = "weights",
    version: str = "",
    learned: Learned | None = None,
) -> Declaration:
    """A declaration, or a refusal that says what is wrong with it. `schema` is the source's;
    without one, `types` has all columns.
    """
    known = _known_types(types, schema, left_out or {})
    units = _known_unit(unit, known, left_out or {})
    rows = _whole("max_rows", max_rows, MOST_ROWS) if max_rows is not None else None
    groups = _whole("max_groups", max_groups, MOST_ROWS) if max_groups is not None else None
    if not units and (rows not in (None, 1) or groups not in (None, 1)):
        reason = "without a unit each row is taken as a different person, who has no other"
        raise Refused(
            "table.unit", f"max_rows={max_rows}, max_groups={max_groups}", reason, "unit='user_id'"
        )
    if bounding not in ("weights", "truncation"):
        reason = "a unit's rows are weighted, or the first few by a secret order are taken"
        raise Refused(
            "table.bounding",
            f"bounding={bounding!r:.60}",
            reason,
            "bounding='weights' or bounding='truncation'",
        )
    return Declaration(
        name=_label("name", name),
        unit=units,
        relation=relation_of(relation) or "add-remove",
        types=tuple(known.items()),
        bounds=tuple(
            (column, _known_bounds(column, ends, known))
            for column, ends in _by_column("bounds", bounds, known, left_out or {})
        ),
        keys=tuple(
            (column, known_keys(column, values, known[column]))
            for column, values in _by_column("keys", keys, known, left_out or {})
        ),
        max_rows=rows if units else 1,
        max_groups=groups if units else 1,
        table_rows=_whole("table_rows", table_rows, MOST_TABLE_ROWS),
        bounding="weights" if bounding == "weights" else "truncation",
        version=_label("version", version),
        learned=known_learned(
            learned, dict(_pairs("bounds", bounds)), {"max_rows": rows, "max_groups": groups}
        ),
    )


def _known_types(
    types: Mapping[str, str] | None, schema: Mapping[str, Type] | None, left_out: Mapping[str, str]
) -> dict[str, Type]:
    given = dict(_pairs("types", types))
    if schema is None:
        if not given:
            raise Refused(
                "table.type",
                "declare(…)",
                "without a source all columns are declared",
                'types={"user_id": "int64", "spend": "float"}',
            )
        known_names(list(given), "types")
        return {column: Type.of(text) for column, text in given.items()}
    for column in given:
        if column not in schema:
            raise unknown(column, list(schema), left_out, "types")
    return {**schema, **{column: Type.of(text) for column, text in given.items()}}


def _known_unit(
    unit: object, known: Mapping[str, Type], left_out: Mapping[str, str]
) -> tuple[str, ...]:
    if unit is None:
        return ()
    if isinstance(unit, Mapping) or not isinstance(unit, Iterable):
        raise Refused(
            "table.unit",
            f"unit={unit!s:.60}",
            "the unit is a column, or several together",
            "unit='user_id' or unit=['hospital', 'patient']",
        )
    columns = (unit,) if isinstance(unit, str) else tuple(unit)
    for column in columns:
        if not isinstance(column, str) or column not in known:
            raise unknown(column, list(known), left_out, "unit")
        if known[column].kind == "float":
            raise Refused(
                "table.unit",
                f"unit={column!r:.60}",
                "floats that look the same may differ: nobody is known by one",
                f"types={{{column!r:.60}: 'int64'}}",
            )
    if "row" in columns or any(", " in column for column in columns):
        reason = (
            "in a ledger this name would be taken for each row by itself, or for several columns"
        )
        raise Refused("table.unit", f"unit={unit!r:.60}", reason, "a column of another name")
    if not columns or len(set(columns)) != len(columns):
        raise Refused(
            "table.unit",
            f"unit={unit!r:.60}",
            "the unit is a column, or several different ones",
            "unit='user_id' or unit=['hospital', 'patient']",
        )
    return columns


def _known_bounds(column: str, ends: Any, known: Mapping[str, Type]) -> tuple[Fraction, Fraction]:
    place, rewrite = f"bounds={{{column!r:.60}: …}}", f"bounds={{{column!r:.60}: (0, 100)}}"
    if not known[column].numeric:
        raise Refused(
            "table.bounds",
            place,
            f"the column is {known[column].words}: only numbers have bounds",
            f"types={{{column!r:.60}: 'float'}}, if it is a number",
        )
    if isinstance(ends, str) or not isinstance(ends, Iterable) or len(pair := tuple(ends)) != 2:
        raise Refused("table.bounds", place, "bounds are a lower and an upper end", rewrite)
    low, high = (exact(end, f"bounds[{column!r:.60}]") for end in pair)
    if not low < high:
        raise Refused(
            "table.bounds",
            f"bounds={{{column!r:.60}: ({shown(pair[0])}, {shown(pair[1])})}}",
            "the lower end lies below the upper",
            rewrite,
        )
    if max(abs(low), abs(high)) >= LARGEST / 2:
        raise Refused("number.range", place, "bounds are numbers that a double holds", rewrite)
    return low, high


def _by_column(
    what: str, given: Any, known: Mapping[str, Type], left_out: Mapping[str, str]
) -> list[tuple[str, Any]]:
    """In the order of the columns."""
    pairs = dict(_pairs(what, given))
    for column in pairs:
        if column not in known:
            raise unknown(column, list(known), left_out, what)
    return [(column, pairs[column]) for column in known if column in pairs]


def _pairs(what: str, given: Any) -> Iterable[tuple[Any, Any]]:
    code, rewrite = GIVEN[what]
    if given is not None and not isinstance(given, Mapping):
        raise Refused(code, f"{what}={given!s:.60}", f"{what} are given by column", rewrite)
    return (given or {}).items()


def _whole(what: str, value: Any, most: int) -> int:
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if not 1 <= number <= most:
        code, example = (
            ("table.rows", f"table_rows=2**{TABLE_ROWS.bit_length() - 1}")
            if what == "table_rows"
            else ("table.max-rows", f"{what}=5")
        )
        raise Refused(
            code,
            f"{what}={shown(value)}",
            f"this is a whole number from 1 to 2^{most.bit_length() - 1}",
            example,
        )
    return number


def _label(what: Literal["name", "version"], value: object) -> str:
    code, rewrite = (
        ("table.name", "name='visits'")
        if what == "name"
        else ("table.version", "version='2026-03'")
    )
    good = (
        isinstance(value, str)
        and value.isprintable()
        and len(value) <= LONGEST_NAME
        and (value.strip() or (what == "version" and not value))
    )
    if not good or not isinstance(value, str):
        reason = (
            "a table in memory has no name of its own"
            if value is None
            else f"this is printable text of at most {LONGEST_NAME} letters"
        )
        raise Refused(code, f"{what}={value!r:.60}", reason, rewrite)
    return value
