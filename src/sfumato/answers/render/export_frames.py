"""Export an answer to Arrow, pandas, Polars and CSV: keys, then values; with `intervals`, also
name_low and name_high.

A histogram has a column for each bin. Intervals hold at 95 % for each cell by itself; those of a
quantile at the level of its release. CSV text and column names that a spreadsheet would run as a
formula get an apostrophe in front.
"""

from __future__ import annotations

import csv
import io
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import answer_refusals as refusals
from ..answer_records import Column, Key
from ..intervals import has_interval, interval, level_of
from .tabulate import key_text

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from ..answer import Answer

CONFIDENCE = 0.95


def value_columns(answer: Answer, *, intervals: bool) -> dict[str, NDArray[np.float64]]:
    """Return the values, and the interval ends if asked for, by column name."""
    named_values: dict[str, NDArray[np.float64]] = {}
    for column in answer.columns:
        values = [answer[column.name]]
        if intervals and has_interval(answer, column):
            values += interval(answer, column, level_of(column, CONFIDENCE))
        for suffix, numbers in zip(("", "_low", "_high"), values, strict=False):
            for name, cells in _named_columns(column, numbers):
                if f"{name}{suffix}" in named_values or f"{name}{suffix}" in answer.keys:
                    raise refusals.EXPORTED_NAME_TWICE(name=f"{name}{suffix}")
                named_values[f"{name}{suffix}"] = cells
    return named_values


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
        writer.writerow([*keys, *(repr(values[i]) for values in lists)])
    if path is not None:
        Path(path).write_text(out.getvalue(), encoding="utf-8", newline="")
    return out.getvalue()


def _named_columns(
    column: Column, numbers: NDArray[np.float64]
) -> list[tuple[str, NDArray[np.float64]]]:
    if column.kind != "histogram":
        return [(column.name, numbers)]
    return [
        (f"{column.name} {label}", np.ascontiguousarray(numbers[:, i]))
        for i, label in enumerate(column.bins)
    ]


def _arrow_key(key: Key) -> Key:
    return str(key) if type(key).__name__ == "UUID" else key


def _import_library(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise refusals.LIBRARY_MISSING(library=name) from None
