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
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, SupportsIndex, TypeGuard, TypeVar

from ...errors import RefusalText
from ...exact.numbers import LARGEST, Number, exact, shown
from ...guarantees.guarantee import Relation, relation_of
from ...templates.summary import Summarized, Summary
from ..expr.column_names import LONGEST_NAME, check_names, unknown_column
from ..expr.types import Type
from . import declare_refusals as refusals
from .describe_columns import HEADS, describe_columns
from .learned_limits import NOT_LEARNED, LearnedLimits, check_learned
from .place_hierarchy import DeclaredKeys, PlaceHierarchy, check_hierarchies, split_keys
from .public_keys import Key, check_keys

__all__ = ["Declaration", "Key", "check_keys", "declare"]

BY_COLUMN = {
    "types": refusals.TYPES_NOT_BY_COLUMN,
    "bounds": refusals.BOUNDS_NOT_BY_COLUMN,
    "keys": refusals.KEYS_NOT_BY_COLUMN,
}
"""Argument that maps columns to values → the refusal of a value that is no mapping."""

Item = TypeVar("Item")

MOST_ROWS = 2**20  # of a unit: more would leave its weights no bits
MOST_TABLE_ROWS = 2**48
TABLE_ROWS = 2**40


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Declaration(Summarized):
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
    placeholders: tuple[str, ...] = ()  # columns whose bounds stand in for bounds to be learned
    hierarchies: tuple[PlaceHierarchy, ...] = ()  # which combinations of keys exist

    @property
    def schema(self) -> dict[str, Type]:
        return dict(self.types)

    @property
    def ranges(self) -> dict[str, tuple[Fraction, Fraction]]:
        return dict(self.bounds)

    @property
    def domains(self) -> dict[str, tuple[Key, ...]]:
        """The public keys of columns, those of hierarchies included."""
        names = {
            level: hierarchy.names(level)
            for hierarchy in self.hierarchies
            for level in hierarchy.levels
        }
        listed = {**dict(self.keys), **names}
        return {column: listed[column] for column, _ in self.types if column in listed}

    @property
    def unit_name(self) -> str:
        return self.database_unit or ", ".join(self.unit) or "row"

    @property
    def most_units(self) -> int | None:
        """The declared limit on rows, and so on units; None if it is a mere default."""
        return None if self.table_rows == TABLE_ROWS else self.table_rows

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `declare` and `protect` that give an equal declaration."""
        keys: dict[str | tuple[str, ...], object] = {**dict(self.keys)}
        keys |= {each.levels: each for each in self.hierarchies}
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
            "keys": keys,
        }

    def with_most_rows(self, most: int) -> Declaration:
        """Return the declaration for rows of which no unit has more than `most`."""
        if not self.unit or (self.max_rows is not None and self.max_rows <= most):
            return self
        limits = tuple(pair for pair in self.learned.limits if pair[0] != "max_rows")
        return replace(self, max_rows=most, learned=replace(self.learned, limits=limits))

    def to_toml(self) -> str:
        """Write the declaration as TOML; `Declaration.from_toml` reads back an equal record."""
        from .declaration_toml import to_toml

        return to_toml(self)

    def _summary(self) -> Summary:
        return Summary(
            title=f"{self.name} · {self.whose} · {self.relation}",
            heads=HEADS,
            rows=describe_columns(self.schema, self.ranges, self.domains, self.unit, self.learned),
            notes=[*(f"places: {each.text}" for each in self.hierarchies), *self.limits_text],
        )

    @property
    def whose(self) -> str:
        """Whose rows they are, in a few words."""
        return f"unit {self.unit_name}" if self.unit else "each row is taken as a different person"

    @property
    def limits_text(self) -> list[str]:
        """What one unit counts for, in sentences."""
        if not self.unit:
            return []
        learned = dict(self.learned.limits)
        limits = [
            f"at most {number} {what}{'s' * (number > 1)}{' (learned)' if name in learned else ''}"
            for name, what, number in (
                ("max_rows", "row", self.max_rows),
                ("max_groups", "group", self.max_groups),
            )
            if number is not None
        ]
        counts = f"a {self.unit_name} counts for {' in '.join(limits)}" if limits else ""
        later = "rows per unit are learned with the first question" if not self.max_rows else ""
        return [line for line in (counts, later) if line]

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
    keys: DeclaredKeys | None = None,
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
    rows = (
        None
        if max_rows is None
        else _check_whole_number(max_rows, MOST_ROWS, refusals.MAX_ROWS_OUT_OF_RANGE)
    )
    groups = (
        None
        if max_groups is None
        else _check_whole_number(max_groups, MOST_ROWS, refusals.MAX_GROUPS_OUT_OF_RANGE)
    )
    if not units and (rows not in (None, 1) or groups not in (None, 1)):
        raise refusals.LIMITS_WITHOUT_UNIT(max_rows=max_rows, max_groups=max_groups)
    if bounding not in ("weights", "truncation"):
        raise refusals.UNKNOWN_BOUNDING(bounding=bounding)
    listed, hierarchies = split_keys(keys)
    checked_keys = tuple(
        (column, check_keys(column, values, columns[column]))
        for column, values in _by_column("keys", listed, columns, left_out or {})
    )
    return Declaration(
        name=check_name(name),
        unit=units,
        relation=relation_of(relation) or "add-remove",
        types=tuple(columns.items()),
        bounds=tuple(
            (column, _check_bounds(column, ends, columns))
            for column, ends in _by_column("bounds", bounds, columns, left_out or {})
        ),
        keys=checked_keys,
        max_rows=rows if units else 1,
        max_groups=groups if units else 1,
        table_rows=_check_whole_number(
            table_rows, MOST_TABLE_ROWS, refusals.TABLE_ROWS_OUT_OF_RANGE
        ),
        bounding="weights" if bounding == "weights" else "truncation",
        version=_check_version(version),
        learned=check_learned(
            learned, dict(_column_items("bounds", bounds)), {"max_rows": rows, "max_groups": groups}
        ),
        hierarchies=check_hierarchies(hierarchies, columns, dict(checked_keys), left_out or {}),
    )


def _check_types(
    types: Mapping[str, str] | None, schema: Mapping[str, Type] | None, left_out: Mapping[str, str]
) -> dict[str, Type]:
    declared = dict(_column_items("types", types))
    if schema is None:
        if not declared:
            raise refusals.TYPES_MISSING()
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
        raise refusals.UNIT_NOT_COLUMNS(unit=unit)
    columns = (unit,) if isinstance(unit, str) else tuple(unit)
    for column in columns:
        if not isinstance(column, str) or column not in types:
            raise unknown_column(column, list(types), left_out, "unit")
        if types[column].kind == "float":
            raise refusals.UNIT_IS_FLOAT(column=column)
    if "row" in columns or any(", " in column for column in columns):
        raise refusals.UNIT_NAME_HAS_ANOTHER_MEANING(unit=unit)
    if not columns or len(set(columns)) != len(columns):
        raise refusals.UNIT_NAMES_NO_COLUMN_OR_ONE_TWICE(unit=unit)
    return columns


def _check_bounds(
    column: str, ends: object, types: Mapping[str, Type]
) -> tuple[Fraction, Fraction]:
    if not types[column].numeric:
        raise refusals.BOUNDS_OF_NO_NUMBER(column=column, words=types[column].words)
    if isinstance(ends, str) or not isinstance(ends, Iterable) or len(pair := tuple(ends)) != 2:
        raise refusals.BOUNDS_NOT_A_PAIR(column=column)
    low, high = (exact(end, f"bounds[{column!r:.60}]") for end in pair)
    if not low < high:
        raise refusals.BOUNDS_NOT_IN_ORDER(column=column, low=shown(pair[0]), high=shown(pair[1]))
    if max(abs(low), abs(high)) >= LARGEST / 2:
        raise refusals.BOUNDS_TOO_LARGE(column=column)
    return low, high


def _by_column(
    what: str,
    values: Mapping[str, Item] | None,
    columns: Mapping[str, Type],
    left_out: Mapping[str, str],
) -> list[tuple[str, Item]]:
    """Return the values by column, in the order of the columns."""
    pairs = dict(_column_items(what, values))
    for column in pairs:
        if column not in columns:
            raise unknown_column(column, list(columns), left_out, what)
    return [(column, pairs[column]) for column in columns if column in pairs]


def _column_items(what: str, values: Mapping[str, Item] | None) -> Iterable[tuple[str, Item]]:
    if values is not None and not isinstance(values, Mapping):
        raise BY_COLUMN[what](values=values)
    return (values or {}).items()


def _check_whole_number(value: object, most: int, refusal: RefusalText) -> int:
    try:
        number = operator.index(value) if isinstance(value, SupportsIndex) else -1
    except TypeError:  # NumPy's arrays have the method, too
        number = -1
    if isinstance(value, bool) or not 1 <= number <= most:
        raise refusal(value=shown(value), bits=most.bit_length() - 1)
    return number


def check_name(name: object) -> str:
    """Check the name of a table: printable text."""
    if name is None:
        raise refusals.NAME_MISSING()
    if not is_label(name) or not name.strip():
        raise refusals.NAME_NOT_PRINTABLE(name=name, most=LONGEST_NAME)
    return name


def _check_version(version: object) -> str:
    if not is_label(version) or (version and not version.strip()):
        raise refusals.VERSION_NOT_PRINTABLE(version=version, most=LONGEST_NAME)
    return version


def is_label(value: object) -> TypeGuard[str]:
    """Whether a value is printable text that is not too long."""
    return isinstance(value, str) and value.isprintable() and len(value) <= LONGEST_NAME
