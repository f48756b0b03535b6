"""Short texts and quiet HTML tables for objects that a notebook shows: a title, a table, notes.

A class that inherits `Summarized` writes `_summary()`; its `repr` and its HTML follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .fill_template import fill_template
from .text_cells import align_rows, printable_line, shorten_line

MOST_ROWS = 40
"""The rows that a summary shows of a long table."""

LONGEST_CELL, LONGEST_IN_HTML = 72, 200
"""The characters that a summary shows of a long cell, in a terminal and in a notebook."""


class ShownText(str):
    """A text of several lines that a notebook and an interpreter show as lines, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Summary:
    """What an object says about itself: all of it public."""

    title: str
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    numbers: frozenset[int] = frozenset()  # the columns that hold numbers
    notes: Sequence[str] = ()
    hidden: int = 0  # rows that are not in `rows`

    @property
    def text(self) -> str:
        """The summary as lines of text."""
        shown = self._escaped(LONGEST_CELL)
        table = align_rows([shown.heads, *shown.rows], right=self.numbers) if shown.rows else []
        return "\n".join([shown.title, *table, *self._more, *shown.notes])

    @property
    def html(self) -> str:
        """The summary as HTML, for notebooks."""
        return fill_template("summary.html", shown=self._escaped(LONGEST_IN_HTML), more=self._more)

    @property
    def _more(self) -> list[str]:
        hidden = self.hidden + max(0, len(self.rows) - MOST_ROWS)
        return [f"… and {hidden:,} more".replace(",", " ")] if hidden > 0 else []

    def _escaped(self, longest: int) -> Summary:
        """Return printable lines of text and the first rows."""

        def cell(text: str) -> str:
            return printable_line(shorten_line(text, longest))

        return replace(
            self,
            title=printable_line(shorten_line(self.title, LONGEST_IN_HTML)),
            heads=[printable_line(head) for head in self.heads],
            rows=[[cell(text) for text in row] for row in self.rows[:MOST_ROWS]],
            notes=[printable_line(note) for note in self.notes if note],
        )

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html


class Summarized:
    """An object that shows itself by its summary: as `repr`, and as HTML in notebooks."""

    __slots__ = ()

    def _summary(self) -> Summary:
        raise NotImplementedError

    def __repr__(self) -> str:
        return self._summary().text

    def _repr_html_(self) -> str:
        return self._summary().html
