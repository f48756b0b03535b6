"""What every local estimate can do with its rows: show, export and plot them.

Reports are public, and so is everything here.
"""

from __future__ import annotations

import csv
import io
import json
from abc import abstractmethod
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ..errors import missing_package
from ..exact.numbers import Number, interval_text
from ..templates.summary import Summarized, Summary
from ..templates.text_cells import printable_line
from . import local_refusals as refusals

if TYPE_CHECKING:
    from types import ModuleType

    import pandas
    import polars
    from matplotlib.figure import Figure

    from .oracle import Oracle

Row = dict[str, object]
"""The cells of a row by the name of their column: a label, numbers, and the ends `low`, `high`."""

_SPREADSHEET_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class EstimateViews(Summarized):
    """An estimate from local reports: its rows as text, HTML, frames, CSV, JSON and a picture."""

    __slots__ = ()

    oracle: Oracle
    reports: int
    value_name: ClassVar[str] = "frequency"
    """The column that a plot draws, and that an interval is about."""

    @abstractmethod
    def rows(self, confidence: Number = 0.95, *, simultaneous: bool = False) -> list[Row]:
        """Return a row for each number, with its interval; with `simultaneous`, all intervals hold
        together.
        """

    @abstractmethod
    def record(self) -> dict[str, object]:
        """Return the public record of the estimate, for JSON."""

    def to_pandas(self, confidence: Number = 0.95) -> pandas.DataFrame:
        """Export the rows as a pandas frame."""
        frame: pandas.DataFrame = _import("pandas").DataFrame(self.rows(confidence))
        return frame

    def to_polars(self, confidence: Number = 0.95) -> polars.DataFrame:
        """Export the rows as a Polars frame."""
        frame: polars.DataFrame = _import("polars").DataFrame(self.rows(confidence))
        return frame

    def to_csv(self, path: str | Path | None = None, confidence: Number = 0.95) -> str:
        """Export the rows as CSV. A label that a spreadsheet would run as a formula gets an
        apostrophe in front.
        """
        rows = self.rows(confidence)
        written = io.StringIO()
        table = csv.DictWriter(written, list(rows[0]) if rows else [], lineterminator="\r\n")
        table.writeheader()
        table.writerows({name: _safe(cell) for name, cell in row.items()} for row in rows)
        if path is not None:
            Path(path).write_text(written.getvalue(), encoding="utf-8", newline="")
        return written.getvalue()

    def to_json(self) -> str:
        """Export the record of the estimate as JSON."""
        return json.dumps(self.record(), ensure_ascii=False)

    def plot(self, *, confidence: Number = 0.95, title: str | None = None) -> Figure:
        """Draw a bar for each row, with its interval."""
        import numpy as np

        from ..plots.bars import Bars, bars

        rows = self.rows(confidence)
        if not rows:
            raise refusals.NOTHING_TO_PLOT(reports=self.reports)
        labels, values, low, high = zip(*(self._cells(row) for row in rows), strict=True)
        return bars(
            Bars(labels, np.array(values), np.array(low), np.array(high)),
            title=title or f"{self.reports} reports by {type(self.oracle).__name__}",
            across=self.value_name,
            note=f"{float(confidence):.4g} intervals, each by itself",
        )

    def _cells(self, row: Row) -> tuple[str, float, float, float]:
        """Return the label, the value and the ends of a row."""
        label = next((str(row[name]) for name in LABELS if name in row), self.value_name)
        value, low, high = (float(str(row[name])) for name in (self.value_name, "low", "high"))
        return printable_line(label), value, low, high

    def _summary(self) -> Summary:
        rows = self.rows()
        names = [name for name in (rows[0] if rows else {}) if name not in ("low", "high")]
        cells = []
        for row in rows:
            _, _, low, high = self._cells(row)
            shown = (row[name] for name in names)
            texts = [f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in shown]
            cells.append((*texts, interval_text(low, high)))
        return Summary(
            title=f"{type(self).__name__} from {self.reports} reports by "
            f"{type(self.oracle).__name__} · {self.oracle.promise.numbers_text} each",
            heads=(*names, "95 % interval"),
            rows=cells,
            numbers=frozenset(i for i, name in enumerate(names) if name not in LABELS),
            notes=[] if rows else ["nothing stands out of the noise"],
        )


LABELS = ("category", "bucket", "text")
"""The columns that are no numbers."""


def _safe(cell: object) -> object:
    is_formula = isinstance(cell, str) and cell.startswith(_SPREADSHEET_FORMULA)
    return f"'{cell}" if is_formula else cell


def _import(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise missing_package(error) or error from None
