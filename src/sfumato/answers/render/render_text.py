"""An answer in a terminal: a table with margins, and below it what one has to know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...exact.numbers import Number
from ..chosen_groups import shown_first
from .footnotes import notes
from .tabulate import Table, tables, width

if TYPE_CHECKING:
    from ..answer import Answer

WIDE = 120
"""Remarks are broken into lines of at most so many columns."""

_GAP = "    "


def render(answer: Answer, confidence: Number = 0.95, most: int = 40) -> str:
    """The text of `print(answer)`."""
    answer = shown_first(answer, most)
    drawn = [_draw(table) for table in tables(answer, confidence, most)]
    first, *others = notes(answer, confidence)
    level = first[0]
    lines = drawn[0]
    if len(lines) > 1 and width(lines[1]) + 6 + width(level) <= WIDE:
        side = max(width(line) for line in lines[:2])
        lines[1] = f"{_padded(lines[1], side)}      {level}"
        remarks = others
    else:
        remarks = [first, *others]
    table = "\n\n".join("\n".join(part) for part in drawn)
    return "\n".join([table, *(line for items in remarks for line in _broken(items))])


def _draw(table: Table) -> list[str]:
    """A line of names, then the rows; keys to the left, values to the right of their column,
    margins behind them.
    """
    columns: list[list[str]] = []
    for i, name in enumerate(table.keys):
        texts = [row[i] for row in table.rows]
        side = max(map(width, [name, *texts]))
        columns.append(
            [
                _padded(name, side),
                *(_right(t, side) if table.numeric[i] else _padded(t, side) for t in texts),
            ]
        )
    for i, name in enumerate(table.names):
        cells = [row[i] for row in table.cells]
        value = max((width(c.value) for c in cells), default=0)
        texts = [f"{_right(c.value, value)} {c.margin}".rstrip() for c in cells]
        side = max(map(width, [name, *texts]))
        columns.append([_padded(t, side) for t in (name, *texts)])
    lines = [_GAP.join(parts).rstrip() for parts in zip(*columns, strict=True)]
    if not table.rows:
        lines.append("no group is shown")
    if table.more:
        lines.append(
            f"… and {table.more:,} more rows".replace(",", " ") + ": to_pandas() has all of them"
        )
    return lines


def _broken(items: Sequence[str]) -> list[str]:
    """Remarks joined by dots, in lines that are not too long."""
    lines: list[str] = []
    for item in items:
        if lines and width(lines[-1]) + 3 + width(item) <= WIDE:
            lines[-1] += f" · {item}"
        else:
            lines.append(item)
    return lines


def _padded(text: str, side: int) -> str:
    return text + " " * (side - width(text))


def _right(text: str, side: int) -> str:
    return " " * (side - width(text)) + text
