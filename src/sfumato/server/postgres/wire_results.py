"""What a statement gives: columns and rows, a tag, notices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..result_columns import ResultColumn
from .wire_statements import WireStatement
from .wire_types import FLOAT8, INT8, TEXT, Cell, oid_of

Row = Sequence[Cell]


class WireColumn(NamedTuple):
    """A column on the wire: its name and the number of its type."""

    name: str
    oid: int = TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class WireResult:
    """The result of a statement. Without columns it is a tag alone."""

    tag: str
    columns: tuple[WireColumn, ...] | None = None
    rows: Sequence[Row] = ()
    notices: tuple[tuple[str, str], ...] = ()


def shown_columns(
    statement: WireStatement, columns: Sequence[ResultColumn], *, intervals: bool
) -> tuple[WireColumn, ...]:
    """Return the columns of an answer in the order of the SELECT, with the ends of intervals after
    each value if they are wanted.
    """
    shown: list[WireColumn] = []
    for column in _in_order(statement, columns):
        shown.append(WireColumn(column.name, oid_of(column.type)))
        if intervals and not column.is_key:
            kind = oid_of(column.type)
            ends = INT8 if kind == INT8 else kind if kind != FLOAT8 else FLOAT8
            shown += [WireColumn(f"{column.name}_{end}", ends) for end in ("low", "high")]
    return tuple(shown)


def _in_order(statement: WireStatement, columns: Sequence[ResultColumn]) -> Sequence[ResultColumn]:
    """Return the columns as the SELECT lists them; keys first if its list does not name all."""
    names = [[_plain(name) for name in item] for item in _selected(statement)]
    places: list[int] = []
    for column in columns:
        plain = _plain(column.name)
        place = next(
            (i for i, item in enumerate(names)
             if plain in item or any(plain.startswith(f"{name}[") for name in item)),
            None,
        )  # fmt: skip
        if place is None:
            return columns
        places.append(place)
    return [columns[i] for i in sorted(range(len(columns)), key=lambda i: places[i])]


def _plain(name: str) -> str:
    return "".join(name.split()).lower()


def _selected(statement: WireStatement) -> list[tuple[str, str]]:
    """Return the last word and the text of each item between SELECT and FROM."""
    items: list[tuple[str, str]] = []
    depth, begun = 0, False
    current: list[str] = []
    last = ""
    for word in statement.words:
        depth += (word.text in "([{") - (word.text in ")]}")
        if depth == 0 and word.name == "select" and not begun:
            begun = True
        elif begun and depth == 0 and (word.name == "from" or word.text == ","):
            items.append((last, "".join(current)))
            current = []
            if word.name == "from":
                break
        elif begun:
            current.append(word.text)
            last = word.name or word.text
    return items
