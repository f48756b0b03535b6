"""The declaration of a table: the owner names the protected unit, the types and bounds of columns,
and the public groups. Nothing comes from the data.

*Unit*      All rows with the same values of the unit's columns belong to one person. A row where
            one of them is null belongs to nobody and is left out. Without a unit every row counts
            as a different person.
*Bounds*    of a numeric column: values below are clamped to the lower bound, values above to the
            upper.
*Keys*      The public key set of a column: every key has a group in the answer, also an empty one;
            rows with other values are in no group.
*Rows*      Contribution bounds: `max_rows` limits how many rows of a unit count, `max_groups` in
            how many groups. `table_rows` is an upper bound on the rows of the table.
*Learned*   marks limits that were not declared but learned, privately and for a price: see
            `learned_limits`.
*Version*   The owner's label of the state of the data, never a hash of it: a hash would confirm a
            guess about the last unknown row.
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
from ..expr.column_names import LONGEST_NAME, check_names, unknown_column
from ..expr.types import Type
from . import declare_refusals as refusals
from .learned_limits import NOT_LEARNED, LearnedLimits, check_learned
from .public_keys import Key, check_keys

__all__ = ["Declaration", "Key", "check_keys", "declare"]

BY_COLUMN = {
    "types": ("table.type", "types={'spend': 'float'}"),
    "bounds": ("table.bounds", "bounds={'spend': (0, 100)}"),
    "keys": ("table.keys", "keys={'city': ['Roma', 'Bari']}"),
}
"""Argument that maps columns to values → the code of its refusal, and an example."""

MOST_ROWS = 2**20  # of a unit: more would leave its weights no bits
MOST_TABLE_ROWS = 2**48
TABLE_ROWS = 2**40


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """Checked public facts about a table. `declare` and `from_toml` build it."""

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
    learned: LearnedLimits = NOT_LEARNED
    database_unit: str = ""  # name of the unit, if this is one of several tables

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
        return self.database_unit or ", ".join(self.unit) or "row"

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `declare` and `protect` that give an equal declaration."""
        fields = {
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
        return fields | {
            "unit": self.unit or None,
            "types": {c: str(t) for c, t in self.types},
            "bounds": self.ranges,
            "keys": self.domains,
        }

    def to_toml(self) -> str:
        """Write the declaration as TOML; `Declaration.from_toml` reads back an equal record."""
        from .declaration_toml import to_toml

        return to_toml(self)

    @classmethod
    def from_toml(cls, text: str) -> Declaration:
        """Read TOML, written by `to_toml` or by hand, and check it like any other declaration."""
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
    learned: LearnedLimits | None = None,
) -> Declaration:
    """Check the arguments and build a declaration. `schema` holds the columns of the data source;
    without a source, `types` lists all columns.
    """
    columns = _check_types(types, schema, left_out or {})
    units = _check_unit(unit, columns, left_out or {})
    rows = _check_whole_number("max_rows", max_rows, MOST_ROWS) if max_rows is not None else None
    groups = (
        _check_whole_number("max_groups", max_groups, MOST_ROWS) if max_groups is not None else None
    )
    if not units and (rows not in (None, 1) or groups not in (None, 1)):
        reason = "without a unit every row counts as a different person, who has one row"
        raise refusals.TABLE_UNIT_1(max_rows=max_rows, max_groups=max_groups, reason=reason)
    if bounding not in ("weights", "truncation"):
        reason = "a unit's rows are down-weighted, or cut to a few in a secret order"
        raise refusals.TABLE_BOUNDING_1(bounding=bounding, reason=reason)
    return Declaration(
        name=_check_label("name", name),
        unit=units,
        relation=relation_of(relation) or "add-remove",
        types=tuple(columns.items()),
        bounds=tuple(
            (column, _check_bounds(column, ends, columns))
            for column, ends in _by_column("bounds", bounds, columns, left_out or {})
        ),
        keys=tuple(
            (column, check_keys(column, values, columns[column]))
            for column, values in _by_column("keys", keys, columns, left_out or {})
        ),
        max_rows=rows if units else 1,
        max_groups=groups if units else 1,
        table_rows=_check_whole_number("table_rows", table_rows, MOST_TABLE_ROWS),
        bounding="weights" if bounding == "weights" else "truncation",
        version=_check_label("version", version),
        learned=check_learned(
            learned, dict(_column_items("bounds", bounds)), {"max_rows": rows, "max_groups": groups}
        ),
    )


def _check_types(
    types: Mapping[str, str] | None, schema: Mapping[str, Type] | None, left_out: Mapping[str, str]
) -> dict[str, Type]:
    declared = dict(_column_items("types", types))
    if schema is None:
        if not declared:
            raise refusals.TABLE_TYPE_1()
        check_names(list(declared), "types")
        return {column: Type.of(text) for column, text in declared.items()}
    for column in declared:
        if column not in schema:
            raise unknown_column(column, list(schema), left_out, "types")
    return {**schema, **{column: Type.of(text) for column, text in declared.items()}}


def _check_unit(
    unit: object, types: Mapping[str, Type], left_out: Mapping[str, str]
) -> tuple[str, ...]:
    if unit is None:
        return ()
    if isinstance(unit, Mapping) or not isinstance(unit, Iterable):
        raise refusals.TABLE_UNIT_2(unit=unit)
    columns = (unit,) if isinstance(unit, str) else tuple(unit)
    for column in columns:
        if not isinstance(column, str) or column not in types:
            raise unknown_column(column, list(types), left_out, "unit")
        if types[column].kind == "float":
            raise refusals.TABLE_UNIT_5(column=column)
    if "row" in columns or any(", " in column for column in columns):
        raise refusals.TABLE_UNIT_3(unit=unit)
    if not columns or len(set(columns)) != len(columns):
        raise refusals.TABLE_UNIT_4(unit=unit)
    return columns


def _check_bounds(column: str, ends: Any, types: Mapping[str, Type]) -> tuple[Fraction, Fraction]:
    place, rewrite = f"bounds={{{column!r:.60}: …}}", f"bounds={{{column!r:.60}: (0, 100)}}"
    if not types[column].numeric:
        raise refusals.TABLE_BOUNDS_1(place=place, words=types[column].words, column=column)
    if isinstance(ends, str) or not isinstance(ends, Iterable) or len(pair := tuple(ends)) != 2:
        raise refusals.TABLE_BOUNDS_2(place=place, rewrite=rewrite)
    low, high = (exact(end, f"bounds[{column!r:.60}]") for end in pair)
    if not low < high:
        raise refusals.TABLE_BOUNDS_3(
            column=column, shown=shown(pair[0]), shown_2=shown(pair[1]), rewrite=rewrite
        )
    if max(abs(low), abs(high)) >= LARGEST / 2:
        raise refusals.NUMBER_RANGE_1(place=place, rewrite=rewrite)
    return low, high


def _by_column(
    what: str, values: Any, columns: Mapping[str, Type], left_out: Mapping[str, str]
) -> list[tuple[str, Any]]:
    """Return the values by column, in the order of the columns."""
    pairs = dict(_column_items(what, values))
    for column in pairs:
        if column not in columns:
            raise unknown_column(column, list(columns), left_out, what)
    return [(column, pairs[column]) for column in columns if column in pairs]


def _column_items(what: str, values: Any) -> Iterable[tuple[Any, Any]]:
    code, rewrite = BY_COLUMN[what]
    if values is not None and not isinstance(values, Mapping):
        raise Refused(code, f"{what}={values!s:.60}", f"{what} maps columns to values", rewrite)
    return (values or {}).items()


def _check_whole_number(what: str, value: Any, most: int) -> int:
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
            f"{what} is a whole number from 1 to 2^{most.bit_length() - 1}",
            example,
        )
    return number


def _check_label(what: Literal["name", "version"], value: object) -> str:
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
            "a table in memory needs a name"
            if value is None
            else f"a {what} is printable text of at most {LONGEST_NAME} characters"
        )
        raise Refused(code, f"{what}={value!r:.60}", reason, rewrite)
    return value
