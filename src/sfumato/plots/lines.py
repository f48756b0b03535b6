"""Draw published numbers in order along an axis of dates or numbers: a line with a band of its
intervals for each series.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .bars import escape_label, format_thousands, set_title
from .plot_style import COLOURS, FAINT, figure, legend, name_axes, quiet, tint

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.container import Container
    from matplotlib.figure import Figure

MOST_LINES = len(COLOURS)
"""The most series that one plot tells apart."""

_FEW_POINTS = 60  # up to which each point has a mark


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A series: places on the axis in order, a number at each, and the ends of its interval."""

    label: str
    places: Sequence[date] | Sequence[float]
    values: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def lines(series: Sequence[Line], *, title: str, across: str, up: str, note: str = "") -> Figure:
    """Draw each series as a line with a band. The axis of numbers begins at 0 if 0 is near."""
    canvas = figure(7.4, 4.4)
    axes = canvas.subplots()
    quiet(axes)
    set_title(canvas, title)
    handles: dict[str, Artist | Container] = {}
    for line, colour in zip(series, COLOURS, strict=False):
        places = np.array(line.places)
        axes.fill_between(
            places, line.low, line.high, color=tint(colour, 0.28), linewidth=0, alpha=0.8
        )
        (drawn,) = axes.plot(
            places,
            line.values,
            color=colour,
            linewidth=1.5,
            marker="o" if len(places) <= _FEW_POINTS else "",
            markersize=3.5,
        )
        handles[escape_label(line.label)] = drawn
    lowest = min(float(line.low.min()) for line in series)
    highest = max(float(line.high.max()) for line in series)
    if lowest <= 0:
        axes.axhline(0.0, color=FAINT, linewidth=0.8)
    elif lowest < highest / 2:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(format_thousands)
    _mark_dates(canvas, series)
    name_axes(axes, escape_label(across) + (f"\n{note}" if note else ""), escape_label(up))
    if len(series) > 1:
        legend(canvas, handles, min(3, len(series)))
    return canvas


def _mark_dates(canvas: Figure, series: Sequence[Line]) -> None:
    """Write dates in short: months and days, the year where it begins."""
    if not isinstance(series[0].places[0], date):
        return
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    axis = canvas.axes[0].xaxis
    locator = AutoDateLocator(minticks=3, maxticks=9)  # type: ignore[no-untyped-call]  # no stubs
    axis.set_major_locator(locator)
    formatter = ConciseDateFormatter(locator)  # type: ignore[no-untyped-call]  # no stubs
    axis.set_major_formatter(formatter)
