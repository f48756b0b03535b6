"""An answer as tables of other libraries, and as CSV: keys, then values; with `intervals`, also
name_low and name_high.

A histogram has a column for each bin. Intervals are those at 95 %, each cell by itself; of a
quantile, at the level it was released with, if it has one. Text in CSV that a spreadsheet would
take for a formula gets an apostrophe in front, names of columns too.
"""

from __future__ import annotations

import csv
import io
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Refused
from ..answer_records import Column, Key
from ..intervals import has_interval, interval, level_of
from .tabulate import key_text

if TYPE_CHECKING:
    import polars

    from ..answer import Answer

CONFIDENCE = 0.95


def columns(answer: Answer, *, intervals: bool) -> dict[str, NDArray[Any]]:
    """The numbers, by the names that they have in a table."""
    found: dict[str, NDArray[Any]] = {}
    for column in answer.columns:
        values = [answer[column.name]]
        if intervals and has_interval(answer, column):
            values += interval(answer, column, level_of(column, CONFIDENCE))
        for suffix, numbers in zip(("", "_low", "_high"), values, strict=False):
            for name, cells in _named(column, numbers):
                if f"{name}{suffix}" in found or f"{name}{suffix}" in answer.keys:
                    reason = "two columns of the table would have this name"
                    raise Refused(
                        "answer.names",
                        f"{name}{suffix}",
                        reason,
                        "intervals=False, or other names of the aggregates",
                    )
                found[f"{name}{suffix}"] = cells
    return found


def to_arrow(answer: Answer, *, intervals: bool = False) -> Any:
    """An Arrow table; UUIDs are text."""
    pa = _library("pyarrow")
    keys = {
        name: pa.array([_arrow_key(row[i]) for row in answer.rows])
        for i, name in enumerate(answer.keys)
    }
    return pa.table(
        {
            **keys,
            **{
                name: pa.array(values)
                for name, values in columns(answer, intervals=intervals).items()
            },
        }
    )


def to_pandas(answer: Answer, *, intervals: bool = False) -> Any:
    """A pandas frame."""
    pd = _library("pandas")
    keys = {name: [row[i] for row in answer.rows] for i, name in enumerate(answer.keys)}
    return pd.DataFrame({**keys, **columns(answer, intervals=intervals)})


def to_polars(answer: Answer, *, intervals: bool = False) -> polars.DataFrame:
    """A Polars frame."""
    frame: polars.DataFrame = _library("polars").from_arrow(to_arrow(answer, intervals=intervals))
    return frame


def to_csv(answer: Answer, path: str | Path | None = None, *, intervals: bool = False) -> str:
    """Text in UTF-8, with lines as RFC 4180 has them."""
    from ...ledger.export import safe

    numbers = columns(answer, intervals=intervals)
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


def _named(column: Column, numbers: NDArray[Any]) -> list[tuple[str, NDArray[Any]]]:
    if column.kind != "histogram":
        return [(column.name, numbers)]
    return [
        (f"{column.name} {label}", np.ascontiguousarray(numbers[:, i]))
        for i, label in enumerate(column.bins)
    ]


def _arrow_key(key: Key) -> Any:
    return str(key) if type(key).__name__ == "UUID" else key


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise Refused(
            "answer.library",
            name,
            f"{name} is not installed",
            "pip install 'sfumato[tables]', or to_csv()",
        ) from None
