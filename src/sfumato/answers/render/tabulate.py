"""An answer as tables of short texts, for whoever draws them: keys, and for each column a value
with its margin.

Histograms have tables of their own, with a row for each bin. What somebody's data hold as a key is
shown as text that can neither move the cursor nor turn the line around.
"""

from __future__ import annotations

import datetime
import math
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ...exact.numbers import Number
from ..answer_records import Column, Key
from ..column_kinds import KINDS
from ..intervals import has_interval, interval, level_of, values
from .format_digits import Cell, cell, decimals, significant

if TYPE_CHECKING:
    from ..answer import Answer

_JOINERS = "\u200c\u200d"  # they shape letters and emoji, and move nothing


@dataclass(frozen=True, slots=True)
class Table:
    """Texts: what stands above, the keys and the cells of each row, and how many rows there are
    beside those shown.
    """

    keys: tuple[str, ...]
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    cells: tuple[tuple[Cell, ...], ...]  # row by row
    numeric: tuple[bool, ...]  # which keys are numbers
    more: int


def tables(answer: Answer, confidence: Number, most: int) -> list[Table]:
    """The columns side by side, then each histogram by itself."""
    flat = [column for column in answer.columns if column.kind != "histogram"]
    found = [_flat(answer, flat, confidence, most)] if flat else []
    return [
        *found,
        *(
            _bins(answer, column, confidence, most)
            for column in answer.columns
            if column.kind == "histogram"
        ),
    ]


def _flat(answer: Answer, columns: list[Column], confidence: Number, most: int) -> Table:
    shown = slice(0, most)
    cells = [_cells(answer, column, confidence, shown) for column in columns]
    rows = tuple(tuple(map(key_text, row)) for row in answer.rows[shown])
    names = tuple(printable(column.name) for column in columns)
    numeric = tuple(_numeric(answer, i) for i in range(len(answer.keys)))
    return Table(
        tuple(map(printable, answer.keys)),
        names,
        rows,
        tuple(zip(*cells, strict=True)),
        numeric,
        max(0, len(answer.rows) - most),
    )


def _bins(answer: Answer, column: Column, confidence: Number, most: int) -> Table:
    bins = column.bins
    groups = max(1, most // len(bins)) if answer.rows else 0
    shown = slice(0, groups)
    cells = _cells(answer, column, confidence, shown)
    rows = tuple((*map(key_text, row), label) for row in answer.rows[shown] for label in bins)
    numeric = (*(_numeric(answer, i) for i in range(len(answer.keys))), False)
    more = max(0, len(answer.rows) - groups) * len(bins)
    return Table(
        (*map(printable, answer.keys), "bin"),
        (printable(column.name),),
        rows,
        tuple((c,) for c in cells),
        numeric,
        more,
    )


def _cells(answer: Answer, column: Column, confidence: Number, shown: slice) -> list[Cell]:
    found = np.ravel(values(answer, column, shown))
    if not has_interval(answer, column):
        return [Cell(significant(v)) for v in found.tolist()]
    low, high = (
        np.ravel(end) for end in interval(answer, column, level_of(column, confidence), rows=shown)
    )
    halves = (high - low) / 2
    positive = halves[(halves > 0) & np.isfinite(halves)]
    places = decimals(float(positive.min())) if positive.size else 0
    limits = _limits(column)
    return [
        cell(v, (a, b), places, limits)
        for v, a, b in zip(found.tolist(), low.tolist(), high.tolist(), strict=True)
    ]


def _limits(column: Column) -> tuple[float, float]:
    """What no interval of the column goes beyond."""
    low, high = KINDS[column.kind].limits(column)
    least = max(
        (float(limit) for limit in (low, column.floor) if limit is not None), default=-math.inf
    )
    return least, math.inf if high is None else float(high)


def key_text(key: Key) -> str:
    """A key as one reads it."""
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
    """Whatever is no printable character is written as an escape: line breaks, terminal codes,
    marks that reverse the line.
    """
    return "".join(
        c if c.isprintable() or c in _JOINERS else c.encode("unicode_escape").decode() for c in text
    )


def width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(
        0
        if unicodedata.category(c) in ("Mn", "Me") or c in _JOINERS
        else 2
        if unicodedata.east_asian_width(c) in "WF"
        else 1
        for c in text
    )


def level_text(level: Fraction) -> str:
    """95 %."""
    return f"{float(100 * level):g} %"


def _numeric(answer: Answer, place: int) -> bool:
    kinds = {type(row[place]) for row in answer.rows[:1000]} - {type(None)}
    return bool(kinds) and all(issubclass(kind, int | float) and kind is not bool for kind in kinds)
