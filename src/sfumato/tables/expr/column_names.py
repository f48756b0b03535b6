"""Names of columns: what may be one, and what is said of one that is not there."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence

from ...errors import Refused

LONGEST_NAME = 200


def known_names(names: Sequence[object], place: str) -> None:
    """Names of columns are printable text, and differ in more than capitals: to an engine Age and
    age are one column.
    """
    seen: dict[str, str] = {}
    for name in names:
        if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
            reason = f"the name of a column is printable text of at most {LONGEST_NAME} letters"
            raise Refused("table.columns", f"{place}: {name!r:.60}", reason, "user_id, city, spend")
        if name.lower() in seen:
            pair = f"{place}: {seen[name.lower()]!r:.60} and {name!r:.60}"
            raise Refused(
                "table.columns",
                pair,
                "to an engine these are one name",
                "names that differ in a letter",
            )
        seen[name.lower()] = name


def free(name: str, taken: Collection[str]) -> str:
    """A name like this that is not taken yet; those that are taken are in small letters."""
    found, number = name, 2
    while found.lower() in taken:
        found, number = f"{name}_{number}", number + 1
    return found


def unknown(
    column: object, known: Sequence[str], left_out: Mapping[str, str], place: str
) -> Refused:
    """The refusal of a column that is not there, or not read."""
    if isinstance(column, str) and column in left_out:
        return Refused(
            "table.column", f"{place}: {column!r:.60}", left_out[column], "a column that is read"
        )
    near = difflib.get_close_matches(f"{column!s:.60}", known, n=2, cutoff=0.6) or known[:3]
    return Refused(
        "table.column",
        f"{place}: {column!r:.60}",
        "the table has no such column",
        " or ".join(near),
    )
