"""Tables that a stream publishes: sums over ranges of periods, with intervals.

*Values*     Sums of integers that were published: nothing here reads data.
*Sum*        of a column whose rows are counted, too: the centred sum S plus N times the centre.
*Interval*   Each holds by itself with the stated probability. That of a mean is Fieller's: the θ
             for which the noise of S − θ·N explains what was seen, within the bounds of the column.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..answers.render.format_digits import decimal_places, format_cell
from ..answers.render.tabulate import key_text, printable
from ..exact.numbers import Number, probability
from ..ledger.export import safe
from ..mechanisms.series.running_sums import Numbers, RunningSums, normal_width
from ..plots.lines import MOST_LINES, Line, lines
from ..tables.declare.declaration import Key
from ..tables.plan.components import ColumnPlan
from ..templates.summary import MOST_ROWS, Summarized, Summary
from . import streams_refusals as refusals

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Range = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredComponent:
    """A component of the columns: its noise, and the value of one of its integers."""

    noise: RunningSums
    step: Fraction

    def spreads(self, ranges: Sequence[Range]) -> tuple[Floats, Floats]:
        """Return the deviation of the noise of each range, and how far rounding may move a sum
        beyond it.
        """
        pairs = {
            pair: (
                self.noise.deviation(pair[1], pair[0]) * float(self.step),
                float(self.noise.slack(pair[1], pair[0]) * self.step),
            )
            for pair in set(ranges)
        }
        deviations, slacks = zip(*(pairs[pair] for pair in ranges), strict=True)
        return np.array(deviations), np.array(slacks)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StreamTable(Summarized):
    """Published sums: a row for each range of periods and each group."""

    title: str
    keys: tuple[str, ...]  # the period, then the groups
    labels: tuple[date, ...]  # of the ranges
    ranges: tuple[Range, ...]
    groups: tuple[tuple[Key, ...], ...]
    columns: tuple[ColumnPlan, ...]
    measures: tuple[MeasuredComponent, ...]
    sums: tuple[Numbers, ...]  # of each measure: ranges × groups

    @property
    def rows(self) -> list[tuple[Key, ...]]:
        """The keys of each row."""
        return [(label, *group) for label in self.labels for group in self.groups]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the value columns, without the keys."""
        return tuple(column.name for column in self.columns)

    def __len__(self) -> int:
        return len(self.labels) * len(self.groups)

    def __getitem__(self, name: str) -> NDArray[np.float64] | NDArray[np.object_]:
        """Return a column: a number, or a key, for each row."""
        if name in self.keys:
            at = self.keys.index(name)
            keys = np.empty(len(self), dtype=object)
            keys[:] = [row[at] for row in self.rows]
            return keys
        return self._values(self._column(name)).ravel()

    def interval(self, name: str, confidence: Number = 0.95) -> tuple[Floats, Floats]:
        """Return the lower and upper ends of each row's interval."""
        level = probability(confidence, "confidence", zero=False)
        low, high = self._ends(self._column(name), level)
        return low.ravel(), high.ravel()

    def latest(self) -> StreamTable:
        """Return the rows of the last range alone."""
        return StreamTable(
            self.title,
            self.keys,
            self.labels[-1:],
            self.ranges[-1:],
            self.groups,
            self.columns,
            self.measures,
            tuple(sums[-1:] for sums in self.sums),
        )

    def __iter__(self) -> Iterator[dict[str, object]]:
        """Yield each row as a dictionary of keys and values."""
        columns = {name: self[name].tolist() for name in self.names}
        for i, row in enumerate(self.rows):
            yield dict(zip(self.keys, row, strict=True)) | {
                name: values[i] for name, values in columns.items()
            }

    def to_pandas(self, *, intervals: bool = False) -> pandas.DataFrame:
        """Return keys and values as a pandas frame; with `intervals`, also name_low and name_high
        at 95 %.
        """
        import pandas as pd

        keys = {name: list(self[name]) for name in self.keys}
        return pd.DataFrame({**keys, **self._numbers(intervals=intervals)})

    def to_csv(self, path: str | Path | None = None, *, intervals: bool = False) -> str:
        """Return keys and values as CSV, and write it to `path` if there is one. Text that a
        spreadsheet would run as a formula gets an apostrophe in front.
        """
        numbers = self._numbers(intervals=intervals)
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(map(safe, (*self.keys, *numbers)))
        lists = [values.tolist() for values in numbers.values()]
        for i, row in enumerate(self.rows):
            cells = (safe(key) if isinstance(key, str) else key_text(key) for key in row)
            writer.writerow([*cells, *(repr(values[i]) for values in lists)])
        if path is not None:
            Path(path).write_text(out.getvalue(), encoding="utf-8", newline="")
        return out.getvalue()

    def plot(
        self, name: str | None = None, *, confidence: Number = 0.95, title: str | None = None
    ) -> Figure:
        """Draw a column over time: a line with a band for each of the first groups."""
        column = self._column(name or self.names[0])
        level = probability(confidence, "confidence", zero=False)
        values, (low, high) = self._values(column), self._ends(column, level)
        shown = range(min(len(self.groups), MOST_LINES))
        series = [
            Line(
                ", ".join(map(key_text, self.groups[i])) or column.name,
                self.labels,
                values[:, i],
                low[:, i],
                high[:, i],
            )
            for i in shown
        ]
        more = len(self.groups) - len(shown)
        note = f"bands: {100 * float(level):g} % intervals" + (
            f"; the first {len(shown)} of {len(self.groups)} groups" if more else ""
        )
        heading = printable(self.title if title is None else title)
        return lines(series, title=heading, across=self.keys[0], up=column.name, note=note)

    def _column(self, name: str) -> ColumnPlan:
        for column in self.columns:
            if column.name == name:
                return column
        raise refusals.UNKNOWN_STREAM_COLUMN(
            name=name, columns=", ".join((*self.keys, *self.names)), first=self.names[0]
        )

    def _numbers(self, *, intervals: bool) -> dict[str, Floats]:
        numbers: dict[str, Floats] = {}
        for name in self.names:
            numbers[name] = self._values(self._column(name)).ravel()
            if intervals:
                numbers[f"{name}_low"], numbers[f"{name}_high"] = self.interval(name)
        return numbers

    def _values(self, column: ColumnPlan) -> Floats:
        top, *bottom = (self._scaled(place) for place in column.components)
        if not bottom:
            return top
        (rows,), centre = bottom, float(column.numbers["centre"])
        if column.kind == "sum":
            return top + centre * rows
        with np.errstate(divide="ignore", invalid="ignore"):
            means = centre + np.where(rows > 0, top / rows, 0.0)
        return np.clip(means, *_limits(column))

    def _ends(self, column: ColumnPlan, level: Fraction) -> tuple[Floats, Floats]:
        if column.kind == "mean":
            return self._mean_ends(column, level)
        middle = self._values(column)
        width = widths(column, self.measures, self.ranges, level)[:, None]
        width = width + np.abs(middle) * 2.0**-50  # what doubles round
        return middle - width, middle + width

    def _mean_ends(self, column: ColumnPlan, level: Fraction) -> tuple[Floats, Floats]:
        """The θ with |S − θ·N| ≤ w·√(a² + θ²b²) + s, as the roots of a quadratic; the bounds where
        N may be 0.
        """
        top, bottom = column.components
        (low, high), centre = _limits(column), float(column.numbers["centre"])
        total, rows = self._scaled(top), self._scaled(bottom)
        (a, move), (b, shake) = (
            tuple(part[:, None] for part in self.measures[place].spreads(self.ranges))
            for place in (top, bottom)
        )
        w = float(normal_width(level)) * (1 + 2.0**-40)
        room = rows**2 - (w * b) ** 2
        positive = (rows > 0) & (room > 0)
        room = np.where(positive, room, 1.0)

        def root(middle: Floats, sign: int) -> Floats:
            under = (middle * b) ** 2 + (rows * a) ** 2 - (w * a * b) ** 2
            return (middle * rows + sign * w * np.sqrt(np.maximum(under, 0.0))) / room

        below, above = np.full_like(total, low), np.full_like(total, high)
        for _ in range(3):  # each time for the θ that are left
            farthest = np.maximum(np.abs(below - centre), np.abs(above - centre))
            slack = move + shake * farthest
            below = np.where(positive, np.clip(centre + root(total - slack, -1), low, high), low)
            above = np.where(positive, np.clip(centre + root(total + slack, 1), low, high), high)
        return below, above

    def _scaled(self, place: int) -> Floats:
        """The sums of a measure in the units of its column."""
        return self.sums[place].astype(np.float64) * float(self.measures[place].step)

    def _summary(self) -> Summary:
        shown = self.rows[-MOST_ROWS:]
        cells: list[list[str]] = []
        for column in self.columns:
            values, (low, high) = self[column.name], self.interval(column.name)
            near = list(zip(values, low, high, strict=True))[-len(shown) :]
            cells.append(
                [
                    str(format_cell(v, (a, b), decimal_places((b - a) / 2), _limits(column)))
                    for v, a, b in near
                ]
            )
        hidden = len(self) - len(shown)
        return Summary(
            title=self.title,
            heads=(*self.keys, *self.names),
            rows=[
                [*map(key_text, row), *(column[i] for column in cells)]
                for i, row in enumerate(shown)
            ],
            numbers=frozenset(range(len(self.keys), len(self.keys) + len(self.columns))),
            notes=[
                f"the last {len(shown)} of {len(self)} rows" if hidden else "",
                "± at 95 %, each by itself",
            ],
        )


def widths(
    column: ColumnPlan,
    measures: Sequence[MeasuredComponent],
    ranges: Sequence[Range],
    level: Fraction,
) -> Floats:
    """Half the width of the interval of a count or a sum over each range, rounded up. For a mean:
    that of its centred sum.
    """
    top, *bottom = (measures[place].spreads(ranges) for place in column.components)
    deviation, slack = top
    if bottom and column.kind == "sum":
        centre = abs(float(column.numbers["centre"]))
        ((rows, shake),) = bottom
        deviation, slack = np.hypot(deviation, centre * rows), slack + centre * shake
    return (float(normal_width(level)) * deviation + slack) * (1 + 2.0**-30)


def _limits(column: ColumnPlan) -> tuple[float, float]:
    """The ends between which the values of a mean lie."""
    if column.kind != "mean":
        return -math.inf, math.inf
    return float(column.numbers["low"]), float(column.numbers["high"])
