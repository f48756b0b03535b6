"""Export an answer to Arrow, pandas, Polars and CSV: keys, then values; with `intervals`, also
name_low and name_high.

Counts are whole numbers, rounded from the released ones, with interval ends rounded outward: a
rounded value lies within its interval, and the interval holds as before. `answer["n"]` and
`to_json` keep fractions, which come from rows that count for a part. Values that a helper made,
such as groups that add up to a total, stay as the helper made them.

A histogram has a column for each bin. Intervals hold at 95 % for each cell by itself; those of
a quantile at the level of its release. CSV text and column names that a spreadsheet would run as a
formula get an apostrophe in front.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import date
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import answer_refusals as refusals
from ..answer_records import Column, Key
from ..column_kinds import KINDS
from ..date_columns import as_dates, holds_dates
from ..intervals import has_interval, interval, level_of
from .tabulate import key_text

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from ..answer import Answer

Numbers = NDArray[np.float64] | NDArray[np.int64]

CONFIDENCE = 0.95

_EXACT = 2.0**53  # doubles below it hold every whole number


def value_columns(answer: Answer, *, intervals: bool) -> dict[str, Numbers]:
    """Return the values, and the interval ends if asked for, by column name."""
    named_values: dict[str, Numbers] = {}
    for column in answer.columns:
        values = [answer[column.name]]
        if intervals and has_interval(answer, column):
            ends = interval(answer, column, level_of(column, CONFIDENCE))
            values += (
                (as_dates(ends[0], np.floor), as_dates(ends[1], np.ceil))
                if holds_dates(column)
                else ends
            )
        if KINDS[column.kind].counts and column.processed is None:
            values = [
                to_whole(numbers, round_numbers)
                for numbers, round_numbers in zip(
                    values, (np.rint, np.floor, np.ceil), strict=False
                )
            ]
        for suffix, numbers in zip(("", "_low", "_high"), values, strict=False):
            for name, cells in _named_columns(column, numbers):
                if f"{name}{suffix}" in named_values or f"{name}{suffix}" in answer.keys:
                    raise refusals.EXPORTED_NAME_TWICE(name=f"{name}{suffix}")
                named_values[f"{name}{suffix}"] = cells
    return named_values


def to_whole(numbers: Numbers, round_numbers: Callable[[Numbers], Numbers]) -> Numbers:
    """Round to whole numbers; those that doubles cannot hold exactly stay as they are."""
    rounded = round_numbers(numbers)
    fits = bool(np.isfinite(rounded).all()) and np.abs(rounded).max(initial=0.0) < _EXACT
    return rounded.astype(np.int64) if fits else numbers


def to_arrow(answer: Answer, *, intervals: bool = False) -> pyarrow.Table:
    """Export an answer as an Arrow table; UUIDs become text."""
    pa = _import_library("pyarrow")
    keys = {
        name: pa.array([_arrow_key(row[i]) for row in answer.rows])
        for i, name in enumerate(answer.keys)
    }
    return pa.table(
        {
            **keys,
            **{
                name: pa.array(values)
                for name, values in value_columns(answer, intervals=intervals).items()
            },
        }
    )


def to_pandas(answer: Answer, *, intervals: bool = False) -> pandas.DataFrame:
    """Export an answer as a pandas frame."""
    pd = _import_library("pandas")
    keys = {name: [row[i] for row in answer.rows] for i, name in enumerate(answer.keys)}
    return pd.DataFrame({**keys, **value_columns(answer, intervals=intervals)})


def to_polars(answer: Answer, *, intervals: bool = False) -> polars.DataFrame:
    """Export an answer as a Polars frame."""
    frame: polars.DataFrame = _import_library("polars").from_arrow(
        to_arrow(answer, intervals=intervals)
    )
    return frame


def to_csv(answer: Answer, path: str | Path | None = None, *, intervals: bool = False) -> str:
    """Export an answer as CSV (RFC 4180); a file is written in UTF-8."""
    from ...ledger.export import safe

    numbers = value_columns(answer, intervals=intervals)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(map(safe, (*answer.keys, *numbers)))
    lists = [values.tolist() for values in numbers.values()]
    for i, row in enumerate(answer.rows):
        keys = (
            safe(key) if isinstance(key, str) else "" if key is None else key_text(key)
            for key in row
        )  # −5 is a number, and safe
        writer.writerow([*keys, *(_csv_text(values[i]) for values in lists)])
    if path is not None:
        Path(path).write_text(out.getvalue(), encoding="utf-8", newline="")
    return out.getvalue()


def _csv_text(value: object) -> str:
    """Write a value for CSV: a date as 2026-01-31, nothing for none."""
    return str(value or "") if value is None or isinstance(value, date) else repr(value)


def _named_columns(column: Column, numbers: Numbers) -> list[tuple[str, Numbers]]:
    if not column.is_binned:
        return [(column.name, numbers)]
    named: list[tuple[str, Numbers]] = []
    for i, label in enumerate(column.bins):
        named.append((f"{column.name} {label}", numbers[:, i].copy()))
    return named


def _arrow_key(key: Key) -> Key:
    return str(key) if type(key).__name__ == "UUID" else key


def _import_library(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise refusals.LIBRARY_MISSING(library=name) from None
