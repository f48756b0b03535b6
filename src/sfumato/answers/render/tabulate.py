"""Turn an answer into tables of short texts: keys, and for each column a value with its margin. The
text and HTML renderers draw these tables.

Each histogram has its own table, with a row for each bin. Keys come from data: they are printed as
text that can neither move the cursor nor reverse the line.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ...exact.numbers import Number
from ..answer_records import Column, Key
from ..column_kinds import KINDS
from ..date_columns import date_texts, holds_dates
from ..group_frames import RANKS
from ..intervals import has_interval, interval, level_of, values
from . import footnote_texts as texts
from .format_digits import Cell, decimal_places, format_cell, format_significant

if TYPE_CHECKING:
    from ..answer import Answer

_JOINERS = "\u200c\u200d"  # they shape letters and emoji, and move nothing


@dataclass(frozen=True, slots=True)
class TextTable:
    """Headings, the keys and cells of each row, and the number of rows that are not shown."""

    keys: tuple[str, ...]
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    cells: tuple[tuple[Cell, ...], ...]  # row by row
    numeric: tuple[bool, ...]  # which keys are numbers
    more: int

    @property
    def more_note(self) -> str:
        """The note about rows that are not shown; empty if there are none."""
        thousands = f"{self.more:,}".replace(",", " ")
        return texts.MORE_ROWS.format(more=thousands) if self.more else ""


def build_tables(answer: Answer, confidence: Number, most: int) -> list[TextTable]:
    """Build one table of all plain columns, then one table for each histogram."""
    flat = [column for column in answer.columns if not column.is_binned]
    flat_tables = [_flat_table(answer, flat, confidence, most)] if flat else []
    return [
        *flat_tables,
        *(
            _histogram_table(answer, column, confidence, most)
            for column in answer.columns
            if column.is_binned
        ),
    ]


def _flat_table(answer: Answer, columns: list[Column], confidence: Number, most: int) -> TextTable:
    shown = slice(0, most)
    cells = [_format_cells(answer, column, confidence, shown) for column in columns]
    rows = tuple(map(tuple, key_texts(answer)[shown]))
    names = tuple(printable(column.name) for column in columns)
    numeric = tuple(_is_numeric(answer, i) for i in range(len(answer.keys)))
    return TextTable(
        tuple(map(printable, answer.keys)),
        names,
        rows,
        tuple(zip(*cells, strict=True)),
        numeric,
        max(0, len(answer.rows) - most),
    )


def _histogram_table(answer: Answer, column: Column, confidence: Number, most: int) -> TextTable:
    bins = column.bins
    groups = max(1, most // len(bins)) if answer.rows else 0
    shown = slice(0, groups)
    cells = _format_cells(answer, column, confidence, shown)
    rows = tuple((*row, label) for row in key_texts(answer)[shown] for label in bins)
    numeric = (*(_is_numeric(answer, i) for i in range(len(answer.keys))), False)
    more = max(0, len(answer.rows) - groups) * len(bins)
    return TextTable(
        (*map(printable, answer.keys), "bin"),
        (printable(column.name),),
        rows,
        tuple((c,) for c in cells),
        numeric,
        more,
    )


def _format_cells(answer: Answer, column: Column, confidence: Number, shown: slice) -> list[Cell]:
    numbers = np.ravel(values(answer, column, shown))
    if not has_interval(answer, column):
        if holds_dates(column):
            return [Cell(text) for text in date_texts(numbers)]
        return [Cell(format_significant(v)) for v in numbers.tolist()]
    low, high = (
        np.ravel(end) for end in interval(answer, column, level_of(column, confidence), rows=shown)
    )
    if holds_dates(column):
        ends = zip(date_texts(low, np.floor), date_texts(high, np.ceil), strict=True)
        return [
            Cell(text, f"[{least}, {most}]")
            for text, (least, most) in zip(date_texts(numbers), ends, strict=True)
        ]
    halves = (high - low) / 2
    positive = halves[(halves > 0) & np.isfinite(halves)]
    is_whole = column.formula is not None and column.formula.op in (*RANKS, "count_over")
    places = decimal_places(float(positive.min())) if positive.size and not is_whole else 0
    limits = _possible_range(column)
    return [
        format_cell(v, (a, b), places, limits)
        for v, a, b in zip(numbers.tolist(), low.tolist(), high.tolist(), strict=True)
    ]


def _possible_range(column: Column) -> tuple[float, float]:
    """Return the least and the largest possible value of a column."""
    low, high = KINDS[column.kind].limits(column.numbers)
    least = max(
        (float(limit) for limit in (low, column.floor) if limit is not None), default=-math.inf
    )
    return least, math.inf if high is None else float(high)


def key_texts(answer: Answer) -> list[list[str]]:
    """Format the keys of all rows for print; a key that a table rolls up says so."""
    if not answer.tables:
        return [list(map(key_text, row)) for row in answer.rows]
    by = [set(table.keys) for table in answer.tables for _ in table.rows]
    grouped = set().union(*by)
    places = range(len(by)) if answer.places is None else answer.places
    return [
        [
            texts.ROLLED_UP if name in grouped and name not in by[place] else key_text(key)
            for name, key in zip(answer.keys, row, strict=True)
        ]
        for place, row in zip(places, answer.rows, strict=True)
    ]


def key_text(key: Key) -> str:
    """Format a key for print."""
    match key:
        case None:
            return "null"
        case bool():
            return "true" if key else "false"
        case float():
            return f"{key:.17g}" if float(f"{key:.15g}") != key else f"{key:.15g}"
        case datetime.datetime():
            return key.isoformat(sep=" ")
        case str():
            return printable(key)
    return str(key)


def printable(text: str) -> str:
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


def level_text(level: Fraction) -> str:
    """Format a confidence level: 95 %."""
    return f"{float(100 * level):g} %"


def _is_numeric(answer: Answer, place: int) -> bool:
    kinds = {type(row[place]) for row in answer.rows[:1000]} - {type(None)}
    return bool(kinds) and all(issubclass(kind, int | float) and kind is not bool for kind in kinds)
