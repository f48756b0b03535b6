"""Draw published numbers with their intervals: a bar for each group or histogram bin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .plot_style import COLOURS, FAINT, INK, RULE, figure, name_axes, quiet, tint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LONG = 28  # letters of a label
_BAR = tint(COLOURS[0], 0.55)


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """A number for each label, with the ends of its interval; without an interval, both ends are
    the number.
    """

    labels: tuple[str, ...]
    values: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """A histogram: a number for each bin between the edges, with the ends of its interval."""

    label: str
    edges: NDArray[np.float64]
    values: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def bars(drawn: Bars, *, title: str, across: str, up: str = "", note: str = "") -> Figure:
    """Draw the bars below each other, the first on top, so that long labels can be read."""
    count = len(drawn.labels)
    canvas = figure(7.4, 1.5 + 0.32 * max(count, 2))
    axes = canvas.subplots()
    quiet(axes)
    set_title(canvas, title)
    axes.grid(visible=False, axis="y")
    axes.grid(axis="x", color=RULE, linewidth=0.7)
    axes.spines["bottom"].set_visible(False)
    places = np.arange(count)
    axes.barh(places, drawn.values, height=0.66, color=_BAR)
    if (drawn.high > drawn.low).any():
        middles, halves = _halves(drawn)
        axes.errorbar(
            middles, places, xerr=halves, fmt="none", ecolor=INK, elinewidth=1.2, capsize=2.5
        )
    axes.axvline(0.0, color=FAINT, linewidth=0.8)
    axes.set_yticks(places, [escape_label(label) for label in drawn.labels])
    axes.set_ylim(count - 0.4, -0.6)
    axes.xaxis.set_major_formatter(format_thousands)
    name_axes(axes, escape_label(across) + (f"\n{note}" if note else ""), escape_label(up))
    return canvas


def bins(
    panels: Sequence[Bins], *, title: str, across: str, up: str = "", note: str = ""
) -> Figure:
    """Draw each histogram in axes of its own, all to the same scale."""
    columns = min(3, len(panels))
    lines = math.ceil(len(panels) / columns)
    canvas = figure(max(7.0, 3.1 * columns), 1.3 + 2.5 * lines if lines > 1 else 4.2)
    set_title(canvas, title)
    grid = np.ravel(canvas.subplots(lines, columns, sharex=True, sharey=True, squeeze=False))
    for axes, panel in zip(grid, panels, strict=False):
        _draw(axes, panel)
        if panel.label:
            axes.set_title(escape_label(panel.label), fontsize=10.5, color=INK)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    if up:
        canvas.supylabel(escape_label(up), fontsize=9.5, color=INK)
    canvas.supxlabel(escape_label(across) + (f"\n{note}" if note else ""), fontsize=9.5, color=INK)
    return canvas


def _draw(axes: Axes, panel: Bins) -> None:
    quiet(axes)
    axes.spines["bottom"].set_visible(False)
    axes.stairs(panel.values, panel.edges, fill=True, color=_BAR, linewidth=0)
    axes.stairs(panel.values, panel.edges, color=COLOURS[0], linewidth=1.3)
    if (panel.high > panel.low).any():
        middles, halves = _halves(panel)
        axes.errorbar(
            panel.edges[:-1] + np.diff(panel.edges) / 2,
            middles,
            yerr=halves,
            fmt="none",
            ecolor=INK,
            elinewidth=1.2,
            capsize=2.5,
        )
    axes.axhline(0.0, color=FAINT, linewidth=0.8)
    axes.set_xlim(panel.edges[0], panel.edges[-1])
    axes.yaxis.set_major_formatter(format_thousands)


def _halves(drawn: Bars | Bins) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the middles of the intervals, which need not be the values, and half their widths."""
    half = (drawn.high - drawn.low) / 2
    return drawn.low + half, half


def set_title(canvas: Figure, title: str) -> None:
    """Write the title above the plots."""
    canvas.suptitle(escape_label(title, 80), fontsize=12, color=INK, fontweight="bold")


def escape_label(label: str, most: int = _LONG) -> str:
    """Shorten a label, and escape dollar signs, which would start mathematics."""
    cut = label if len(label) <= most else f"{label[: most - 1]}…"
    return cut.replace("\\", r"\\").replace("$", r"\$") if "$" in cut else cut


def format_thousands(value: float, _: object = None) -> str:
    """Format a number beside an axis, thousands apart."""
    return f"{value:,.10g}".replace(",", " ").replace("-", "−")
