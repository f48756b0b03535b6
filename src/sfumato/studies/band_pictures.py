"""Plot a table: every printed number as a mark on the band of our repetitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..plots.plot_style import COLOURS, FAINT, INK, RULE, figure, legend, name_axes, quiet, tint
from .printed import Interval
from .study import StudyRow, Verdict

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.container import Container
    from matplotlib.figure import Figure

MARKS = {
    Verdict.AGREES: (COLOURS[2], "o", "printed, agrees"),
    Verdict.UNLIKELY: (COLOURS[5], "^", "printed, unlikely"),
    Verdict.MISPRINT: (COLOURS[1], "X", "printed, a misprint"),
    Verdict.UNSAFE: (COLOURS[3], "D", "printed, set-up unsafe"),
    Verdict.DIFFERS: (INK, "s", "printed, differs"),
}
"""Colour, shape and name of a printed number's mark."""


def strips(rows: Sequence[StudyRow], *, title: str, log: bool = False) -> Figure:
    """Draw one strip for each row: the middle 90 % of repetitions, the band of 1 − 10⁻⁶ behind it,
    the printed number on it. With `log`, for errors, all rows share one axis. Otherwise each strip
    has its own axis, from −1 to 1 across its band, because means of large and small n differ by
    orders of magnitude.
    """
    canvas = figure(7.6, 1.5 + 0.34 * len(rows), title)
    axes = canvas.subplots()
    quiet(axes)
    axes.grid(visible=False)
    axes.grid(axis="x", color=RULE, linewidth=0.7)
    handles: dict[str, Artist] = {}
    for place, row in enumerate(rows):
        if row.band is None or row.spread is None or row.value is None or row.printed_value is None:
            continue
        scale = _identity if log else _across(row.band)
        colour, shape, name = MARKS[row.verdict]
        printed = scale(row.printed_value)
        band = [scale(end) for end in row.band]
        (handles["1 − 10⁻⁶ of runs"],) = axes.plot(
            band, [place, place], color=tint(COLOURS[0], 0.18), linewidth=9, solid_capstyle="butt"
        )
        (handles["middle 90 % of ours"],) = axes.plot(
            [scale(end) for end in row.spread],
            [place, place],
            color=tint(COLOURS[0], 0.55),
            linewidth=9,
            solid_capstyle="butt",
        )
        (handles["our median"],) = axes.plot(
            [scale(row.value)],
            [place],
            color=COLOURS[0],
            marker="|",
            markersize=11,
            markeredgewidth=2,
            linestyle="none",
        )
        (handles[name],) = axes.plot(
            [printed],
            [place],
            color=colour,
            marker=shape,
            markersize=7,
            markeredgecolor="white",
            linestyle="none",
            zorder=5,
            clip_on=False,
        )
    if log:
        axes.set_xscale("log")
        axes.minorticks_off()
    else:
        axes.set_xticks([-1, 0, 1], ["lower end of the band", "its middle", "upper end"])
    axes.set_yticks(range(len(rows)), [row.cell for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", labelsize=8.5)
    axes.spines["bottom"].set_color(FAINT)
    legend(canvas, handles, 3, size=9)
    return canvas


def bars(
    names: Sequence[str], groups: Mapping[str, Sequence[float]], *, title: str, up: str
) -> Figure:
    """Draw groups of bars over the same names."""
    canvas = figure(
        min(10.4, max(6.8, 1.2 + 0.42 * len(names) * max(1, len(groups) - 1))), 3.9, title
    )
    axes = canvas.subplots()
    quiet(axes)
    width = 0.8 / len(groups)
    handles: dict[str, Artist | Container] = {}
    for place, (name, heights) in enumerate(groups.items()):
        at = [i + (place - (len(groups) - 1) / 2) * width for i in range(len(names))]
        handles[name] = axes.bar(at, heights, width=0.92 * width, color=COLOURS[place])
    axes.set_xticks(range(len(names)), names)
    name_axes(axes, up=up)
    if len(groups) > 1:
        legend(canvas, handles, len(groups))
    return canvas


def spreads(
    groups: Mapping[str, Sequence[float]], *, title: str, across: str, exact: float | None = None
) -> Figure:
    """Draw groups of random draws as box plots: boxes from quartile to quartile, whiskers over the
    middle 90 %, points beyond.
    """
    canvas = figure(7.2, 1.9 + 0.55 * len(groups), title)
    axes = canvas.subplots()
    quiet(axes)
    axes.grid(visible=False)
    axes.grid(axis="x", color=RULE, linewidth=0.7)
    boxes = axes.boxplot(
        list(groups.values()),
        orientation="horizontal",
        whis=(5, 95),
        widths=0.55,
        patch_artist=True,
        tick_labels=list(groups),
        flierprops={"marker": ".", "markersize": 3, "markeredgecolor": FAINT},
        medianprops={"color": INK},
    )
    for colour, box in zip(COLOURS, boxes["boxes"], strict=False):
        box.set_facecolor(tint(colour, 0.5))
        box.set_edgecolor(colour)
    if exact is not None:
        axes.axvline(exact, color=INK, linewidth=1.0, linestyle=(0, (4, 3)))
    name_axes(axes, across)
    axes.invert_yaxis()
    return canvas


def _identity(value: float) -> float:
    return value


def _across(band: Interval) -> Callable[[float], float]:
    low, high = band
    return lambda value: 2 * (value - low) / (high - low) - 1
