"""Find lines of a CSV file that could not be read: how many, and the likely cause.

*Left out*  What `tables.engine.csv_files` leaves out: for a protected table silently, as who is
            left out is nobody's business. An owner who looks at raw data has to know, or a file in
            another encoding would look like a smaller table.
*Counted*   Lines after the first one that are not empty, less the rows that were read.
*Likely*    Where a file is not UTF-8, its encoding; else commas and quotes.
"""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...errors import Refused
from .. import attack_refusals as refusals

_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadLines:
    """How many of a file's lines are not in the table, and the likely cause."""

    lines: int
    of: int
    foreign: bool  # whether the file is not UTF-8

    @property
    def sentence(self) -> str:
        reason = self.refusal("").reason
        return f"{reason}. The people in these lines are not part of what follows."

    def refusal(self, name: str) -> Refused:
        """Build the refusal of a table that has no rows, or would look complete without them."""
        text = refusals.LINES_NOT_UTF8 if self.foreign else refusals.LINES_WITH_OTHER_FIELDS
        return text(file=name, unread=self.lines, lines=self.of)


def find_unread(paths: Iterable[str], rows: int) -> UnreadLines | None:
    """Find the lines of these files that are missing from so many rows; None where none is."""
    files = [_count_lines(path) for path in paths]
    lines = sum(many for many, _ in files)
    return (
        UnreadLines(lines=lines - rows, of=lines, foreign=not all(clean for _, clean in files))
        if lines > rows
        else None
    )


def _count_lines(path: str) -> tuple[int, bool]:
    """Count lines that are not empty, without the first, and tell whether all is UTF-8. A line ends
    at \\r and at \\n.
    """
    starts, after_break, clean = -1, True, True
    decoder = codecs.getincrementaldecoder("utf-8")()
    with gzip.open(path) if path.lower().endswith(".gz") else open(path, "rb") as file:
        while chunk := file.read(_AT_ONCE):
            data = np.frombuffer(chunk, dtype=np.uint8)
            breaks = (data == 10) | (data == 13)
            starts += int((~breaks & np.concatenate([[after_break], breaks[:-1]])).sum())
            after_break = bool(breaks[-1])
            clean = clean and _decodes(decoder, chunk)
    return starts, clean and _decodes(decoder, b"", final=True)


def _decodes(decoder: codecs.IncrementalDecoder, chunk: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError:
        return False
    return True
