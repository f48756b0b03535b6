"""Lay out short texts in columns of a terminal. Wide characters (emoji, ideographs) take two
columns; characters that could move the cursor are escaped.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

_JOINERS = "\u200c\u200d"  # they shape letters and emoji, and move nothing


def printable_line(text: str) -> str:
    """Escape every character that is not printable: line breaks, terminal codes, marks that reverse
    the line.
    """
    return "".join(
        c if c.isprintable() or c in _JOINERS else c.encode("unicode_escape").decode() for c in text
    )


def display_width(text: str) -> int:
    """Count the terminal columns that a text takes."""
    from rich.cells import cell_len

    return cell_len(text)


def shorten_line(text: str, most: int) -> str:
    """Cut a text to so many characters, with an ellipsis at its end."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def align_rows(rows: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> list[str]:
    """Write rows of cells as lines with aligned columns: those in `right` to the right."""
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(_pad(row, widths, right)).rstrip() for row in rows]


def _pad(row: Sequence[str], widths: Sequence[int], right: Collection[int]) -> list[str]:
    gaps = [" " * (width - display_width(cell)) for cell, width in zip(row, widths, strict=True)]
    return [
        gap + cell if i in right else cell + gap
        for i, (cell, gap) in enumerate(zip(row, gaps, strict=True))
    ]
