"""Draw success rates with their intervals, and the rate that the promise allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .plot_style import COLOURS, FAINT, INK, figure, legend, name_axes, quiet, tint

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.container import Container
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class SuccessRate:
    """One measured success rate with its limits, the largest allowed rate, and the rate of pure
    guessing.
    """

    name: str
    rate: float
    low: float | None = None
    high: float | None = None
    bound: float | None = None
    chance: float | None = None


def successes(
    columns: Sequence[SuccessRate],
    *,
    title: str,
    up: str,
    rate: str = "succeeds",
    chance: str = "guessing alone",
) -> Figure:
    """Draw a bar for each rate, with a line for its limits, a tick for the allowed rate and a dot
    for guessing, if given. `rate` and `chance` name the bar and the dot in the legend.
    """
    from matplotlib.ticker import PercentFormatter

    canvas = figure(max(6.8, 1.5 + 1.05 * len(columns)), 4.2, title)
    axes = canvas.subplots(1, 1)
    quiet(axes)
    handles: dict[str, Artist | Container] = {}
    promised = any(column.bound is not None for column in columns)
    for place, column in enumerate(columns):
        bare = promised and column.bound is None
        handles[f"{rate}, nothing promised" if bare else rate] = axes.bar(
            [place], [column.rate], width=0.56, color=tint(COLOURS[bare], 0.55)
        )
        axes.annotate(
            f"{100 * column.rate:.3g} %",
            (place, 0),
            xytext=(0, 5),
            textcoords="offset points",
            ha="center",
            fontsize=8.5,
            color=INK,
        )
        if column.low is not None and column.high is not None:
            (handles["limits of the true rate"],) = axes.plot(
                [place] * 2,
                [column.low, column.high],
                color=INK,
                linewidth=1.6,
                solid_capstyle="butt",
            )
        if column.bound is not None:
            (handles["the most that is allowed"],) = axes.plot(
                [place - 0.38, place + 0.38], [column.bound] * 2, color=COLOURS[2], linewidth=2.4
            )
        if column.chance is not None:
            (handles[chance],) = axes.plot(
                [place],
                [column.chance],
                "o",
                color="white",
                markeredgecolor=FAINT,
                markersize=6,
                linestyle="none",
            )
    axes.set_xticks(range(len(columns)), [column.name for column in columns])
    axes.set_ylim(0, 1.09)
    axes.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0, symbol=" %"))
    name_axes(axes, up=up)
    if len(handles) > 1:
        legend(canvas, handles, min(len(handles), 3), size=9)
    return canvas
