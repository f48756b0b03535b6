"""Check the names of columns, choose unused names, and refuse unknown columns."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence

from ...errors import Refused
from . import expr_refusals as refusals

LONGEST_NAME = 200


def check_names(names: Sequence[object], place: str) -> None:
    """Refuse names that are not printable text, or that differ only in case: to an engine Age and
    age are one column.
    """
    names_by_lower: dict[str, str] = {}
    for name in names:
        if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
            raise refusals.COLUMN_NAME_NOT_PRINTABLE(place=place, name=name, most=LONGEST_NAME)
        if name.lower() in names_by_lower:
            raise refusals.COLUMN_NAMES_DIFFER_IN_CASE(
                place=place, first=names_by_lower[name.lower()], second=name
            )
        names_by_lower[name.lower()] = name


def unused_name(name: str, used: Collection[str]) -> str:
    """Return `name`, or `name_2`, `name_3`, … if it is used; `used` holds names in lower case."""
    candidate, number = name, 2
    while candidate.lower() in used:
        candidate, number = f"{name}_{number}", number + 1
    return candidate


def unknown_column(
    column: object, columns: Sequence[str], left_out: Mapping[str, str], place: str
) -> Refused:
    """Build the refusal of a column that the table does not have, or does not read."""
    if isinstance(column, str) and column in left_out:
        return refusals.COLUMN_NOT_READ(place=place, column=column, why=left_out[column])
    names = difflib.get_close_matches(f"{column!s:.60}", columns, n=2, cutoff=0.6) or columns[:3]
    return refusals.TABLE_LACKS_COLUMN(
        place=place, column=column, names=", ".join(names), nearest=next(iter(names), "")
    )
