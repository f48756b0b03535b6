"""Plot a column of an answer.

*Dates*      are in order on an axis: a line with a band, one for each value of the other keys.
*Numbers*    as keys are in order, too: bars, or a line if there are many.
*Categories* are bars, in the order of the answer; if there are many, the largest.
*Curves*     of cumulative counts have a band, a line for each group.
*Histograms* have a panel for each group. Bins of different widths show densities, so that areas
             compare.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
from numpy.typing import NDArray

from ...exact.numbers import Number
from ...plots.bars import Bars, Bins, bars, bins
from ...plots.lines import MOST_LINES, Line, lines
from .. import answer_refusals as refusals
from ..answer_records import Column, Key
from ..chosen_groups import take_first_groups
from ..date_columns import date_texts, holds_dates
from ..intervals import has_interval, hold_simultaneously, interval, level_of, values
from .tabulate import key_text, level_text, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..answer import Answer

DENSITY = "density (count per unit)"

_FEWEST_POINTS = 3  # of a line
_EQUAL = 1 + 1e-9  # the ratio up to which widths of bins are equal

Curves = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
"""Values and interval ends, a row for each group."""

PANELS = 6
"""The most histograms that one plot shows side by side."""


def plot(answer: Answer, name: str, *, confidence: Number, top: int, title: str | None) -> Figure:
    """Draw a line along dates or many numbers, else a bar for each group or bin; if there are more
    than `top` groups, the largest ones.
    """
    if answer.tables:  # totals beside their parts would make one scale of two
        return plot(answer.tables[0], name, confidence=confidence, top=top, title=title)
    column = answer.column(name)
    if not answer.rows:
        raise refusals.NO_GROUP_TO_PLOT(name=name)
    if isinstance(top, bool) or not isinstance(top, int) or top < 1:
        raise refusals.PLOT_TOP(name=name, top=top)
    heading = printable(title if title is not None else column.text or name)
    if not column.is_binned and (axis := _axis_key(answer, top)) is not None:
        return _plot_lines(answer, column, axis, heading, confidence)
    most = {"histogram": PANELS, "cumulative": MOST_LINES}.get(column.kind, top)
    room, all_ = min(top, most), len(answer.rows)
    if all_ > room:
        size = values(answer, column)
        order = np.argsort(-(size.sum(axis=1) if column.is_binned else size), kind="stable")[:room]
        answer = take_first_groups(answer, column.pieces, order.tolist())
        column = answer.column(name)
    heights, has_ends = values(answer, column), has_interval(answer, column)
    low, high = (
        interval(answer, column, level_of(column, confidence)) if has_ends else (heights, heights)
    )
    labels = [", ".join(map(key_text, row)) for row in answer.rows]
    parts = [f"the {room} largest of {all_} groups"] if all_ > room else []
    note = "; ".join([*parts, *_interval_text(answer, column, confidence)])
    if column.kind == "cumulative":
        return _plot_curves(column, labels, (heights, low, high), heading, note)
    if column.kind == "histogram":
        edges = np.array([float(edge) for edge in column.edges])
        widths = np.diff(edges)
        is_density = bool(widths.max() > _EQUAL * widths.min())
        if is_density:
            heights, low, high = (numbers / widths for numbers in (heights, low, high))
        panels = [
            Bins(*parts)
            for parts in zip(labels, [edges] * len(labels), heights, low, high, strict=True)
        ]
        up = DENSITY if is_density else ""
        return bins(panels, title=heading, across=printable(name), up=up, note=note)
    figure = bars(
        Bars(tuple(labels), heights, low, high),
        title=heading,
        across=printable(name),
        up=printable(", ".join(answer.keys)),
        note=note,
    )
    return _with_dates(figure, "x", low, high) if holds_dates(column) else figure


def _with_dates(
    figure: Figure, along: Literal["x", "y"], low: NDArray[np.float64], high: NDArray[np.float64]
) -> Figure:
    """Label an axis of days since 1970 with dates, and show the part of it that has intervals."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes = figure.axes[0]
    axis = axes.xaxis if along == "x" else axes.yaxis
    axis.set_major_formatter(FuncFormatter(lambda days, _: date_texts(np.array([days]))[0]))
    axis.set_major_locator(MaxNLocator(5, integer=True))
    first, last = float(low.min()), float(high.max())
    margin = max(1.0, (last - first) / 10)
    limits = (first - margin, last + margin)
    if along == "x":
        axes.set_xlim(*limits)
    else:
        axes.set_ylim(*limits)
    return figure


def _plot_curves(
    column: Column, labels: list[str], numbers: Curves, heading: str, note: str
) -> Figure:
    """Draw a curve with a band for each group, from 0 at the first edge on."""
    edges = [float(edge) for edge in column.edges]
    heights, low, high = (np.pad(part, [(0, 0), (1, 0)]) for part in numbers)
    return lines(
        [
            Line(*curve)
            for curve in zip(labels, [edges] * len(labels), heights, low, high, strict=True)
        ],
        title=heading,
        across="below"
        if not column.text
        else printable(column.text.partition("(")[2].split(",")[0]),
        up=printable(column.name),
        note=note,
    )


def _axis_key(answer: Answer, top: int) -> int | None:
    """Return the place of the key along which groups lie in order: dates, or more numbers than
    `top` bars; None if bars show the groups better.
    """
    for place in range(len(answer.keys)):
        kinds = {type(row[place]) for row in answer.rows} - {type(None)}
        is_dates = bool(kinds) and all(issubclass(kind, date) for kind in kinds)
        is_numbers = bool(kinds) and kinds <= {int, float, Decimal}
        points = {row[place] for row in answer.rows} - {None}
        if len(points) < _FEWEST_POINTS or not (is_dates or (is_numbers and len(points) > top)):
            continue
        series = {_others(row, place) for row in answer.rows}
        return place if len(series) <= MOST_LINES else None
    return None


def _plot_lines(
    answer: Answer, column: Column, place: int, heading: str, confidence: Number
) -> Figure:
    heights, has_ends = values(answer, column), has_interval(answer, column)
    low, high = (
        interval(answer, column, level_of(column, confidence)) if has_ends else (heights, heights)
    )
    members: dict[tuple[Key, ...], list[int]] = {}
    for i, row in enumerate(answer.rows):
        if row[place] is not None:
            members.setdefault(_others(row, place), []).append(i)
    series = []
    for others, rows in members.items():
        # all dates or all numbers: either has an order
        points = cast("list[float]", [answer.rows[i][place] for i in rows])
        order = sorted(range(len(rows)), key=points.__getitem__)
        ordered = [rows[i] for i in order]
        label = ", ".join(map(key_text, others))
        series.append(
            Line(label, [points[i] for i in order], heights[ordered], low[ordered], high[ordered])
        )
    without = sum(row[place] is None for row in answer.rows)
    parts = [f"groups without {printable(answer.keys[place])} are left out"] if without else []
    figure = lines(
        series,
        title=heading,
        across=printable(answer.keys[place]),
        up=printable(column.name),
        note="; ".join([*parts, *_interval_text(answer, column, confidence)]),
    )
    return _with_dates(figure, "y", low, high) if holds_dates(column) else figure


def _others(row: tuple[Key, ...], place: int) -> tuple[Key, ...]:
    return (*row[:place], *row[place + 1 :])


def _interval_text(answer: Answer, column: Column, confidence: Number) -> list[str]:
    """Say what the drawn intervals are; nothing if the column has none."""
    if not has_interval(answer, column):
        return []
    together = "all of them at once" if hold_simultaneously(answer, column) else "each cell"
    return [f"{level_text(level_of(column, confidence))} intervals, {together}"]
