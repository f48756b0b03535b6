"""Render an answer as text for a terminal: a table with margins, and footnotes below it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from ...exact.numbers import Number
from ..chosen_groups import mark_shown_groups
from ..left_out import left_out_notes
from . import footnote_texts as texts
from .footnotes import build_notes
from .tabulate import TextTable, build_tables, display_width

if TYPE_CHECKING:
    from ..answer import Answer

WIDE = 88
"""The columns of a line where the output is no terminal."""

EXPLAIN = "answer.explain()"
"""The place that tells all rules."""

_NARROWEST = 40
_ONE_ROW = 2  # lines of a table: names and numbers
_GAP = "    "


def render(
    answer: Answer,
    confidence: Number = 0.95,
    most: int = 40,
    *,
    width: int | None = None,
    hint: str = EXPLAIN,
) -> str:
    """Return the text of `print(answer)`, with at most `most` rows. Footnotes wrap to `width`."""
    answer = mark_shown_groups(answer, most)
    width = width or terminal_width()
    drawn = [_draw(table) for table in build_tables(answer, confidence, most)]
    says_in_line = len(answer.rows) == 1 and not answer.keys and len(drawn[0]) == _ONE_ROW
    if says_in_line and (omitted := left_out_notes(answer)):
        drawn[0][1:] = wrap("; ".join([drawn[0][1], *omitted]), width)
    notes = build_notes(answer, confidence, hint, says_left_out=not says_in_line)
    table = "\n\n".join("\n".join(part) for part in drawn)
    return "\n".join([table, *(line for items in notes for line in wrap(" · ".join(items), width))])


def terminal_width() -> int:
    """Return the columns of the terminal, or WIDE where there is none."""
    return max(_NARROWEST, shutil.get_terminal_size((WIDE, 24)).columns)


def wrap(text: str, width: int) -> list[str]:
    """Break a text at blanks into lines of at most `width` columns; later lines are indented."""
    lines: list[str] = []
    line, *words = text.split(" ")
    for word in words:
        if line.strip() and display_width(line) + 1 + display_width(word) > width:
            lines.append(line)
            line = f"  {word}"
        else:
            line += f" {word}"
    return [*lines, line]


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


def _pad_right(text: str, side: int) -> str:
    return text + " " * (side - display_width(text))


def _pad_left(text: str, side: int) -> str:
    return " " * (side - display_width(text)) + text
