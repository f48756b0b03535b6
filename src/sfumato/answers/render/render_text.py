"""Render an answer as text for a terminal: a table with margins, and footnotes below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...exact.numbers import Number
from ..chosen_groups import mark_shown_groups
from . import footnote_texts as texts
from .footnotes import build_notes
from .tabulate import TextTable, build_tables, display_width

if TYPE_CHECKING:
    from ..answer import Answer

WIDE = 120
"""The most columns of a line of footnotes."""

_GAP = "    "


def render(answer: Answer, confidence: Number = 0.95, most: int = 40) -> str:
    """Return the text of `print(answer)`, with at most `most` rows."""
    answer = mark_shown_groups(answer, most)
    drawn = [_draw(table) for table in build_tables(answer, confidence, most)]
    first, *others = build_notes(answer, confidence)
    level = first[0]
    lines = drawn[0]
    if len(lines) > 1 and display_width(lines[1]) + 6 + display_width(level) <= WIDE:
        side = max(display_width(line) for line in lines[:2])
        lines[1] = f"{_pad_right(lines[1], side)}      {level}"
        remarks = others
    else:
        remarks = [first, *others]
    table = "\n\n".join("\n".join(part) for part in drawn)
    return "\n".join([table, *(line for items in remarks for line in _wrap_items(items))])


def _draw(table: TextTable) -> list[str]:
    """Lay out a line of names, then the rows: text keys aligned left, values right, margins after
    them.
    """
    columns: list[list[str]] = []
    for i, name in enumerate(table.keys):
        labels = [row[i] for row in table.rows]
        side = max(map(display_width, [name, *labels]))
        columns.append(
            [
                _pad_right(name, side),
                *(_pad_left(t, side) if table.numeric[i] else _pad_right(t, side) for t in labels),
            ]
        )
    for i, name in enumerate(table.names):
        cells = [row[i] for row in table.cells]
        value = max((display_width(c.value) for c in cells), default=0)
        labels = [f"{_pad_left(c.value, value)} {c.margin}".rstrip() for c in cells]
        side = max(map(display_width, [name, *labels]))
        columns.append([_pad_right(t, side) for t in (name, *labels)])
    lines = [_GAP.join(parts).rstrip() for parts in zip(*columns, strict=True)]
    if not table.rows:
        lines.append(texts.NO_GROUP)
    if table.more:
        lines.append(table.more_note + texts.ALL_ROWS)
    return lines


def _wrap_items(items: Sequence[str]) -> list[str]:
    """Join footnotes by dots into lines of at most WIDE columns."""
    lines: list[str] = []
    for item in items:
        if lines and display_width(lines[-1]) + 3 + display_width(item) <= WIDE:
            lines[-1] += f" · {item}"
        else:
            lines.append(item)
    return lines


def _pad_right(text: str, side: int) -> str:
    return text + " " * (side - display_width(text))


def _pad_left(text: str, side: int) -> str:
    return " " * (side - display_width(text)) + text
