"""Draw curves over a common axis: densities, distribution functions, errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .plot_style import COLOURS, FAINT, INK, figure, legend, name_axes, quiet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """One plot: curves by name over the same points, the labels of the axes, and a point with a
    remark.

    If `heights` is given, only these heights are marked on the vertical axis; `logarithmic` holds
    for both axes.
    """

    title: str
    x: NDArray[np.float64]
    curves: Mapping[str, NDArray[np.float64]]
    across: str
    up: str
    heights: Sequence[float] = ()
    logarithmic: bool = False
    point: tuple[float, float] | None = None
    remark: str = ""
    shift: tuple[float, float] = (10.0, -10.0)  # of the remark from its point


def graphs(drawn: Sequence[Graph], *, title: str) -> Figure:
    """Draw the graphs in a row. A curve keeps its colour wherever its name occurs again."""
    # the title and the legend need their room, even over one graph
    canvas = figure(max(6.8, 0.6 + 3.8 * len(drawn)), 4.0, title)
    names = list(dict.fromkeys(name for graph in drawn for name in graph.curves))
    colours = dict(zip(names, COLOURS, strict=False))
    handles: dict[str, Artist] = {}
    for axes, graph in zip(np.ravel(canvas.subplots(1, len(drawn))), drawn, strict=True):
        quiet(axes)
        for name, y in graph.curves.items():
            (handles[name],) = axes.plot(graph.x, y, color=colours[name], linewidth=1.9)
        _label(axes, graph)
    legend(canvas, handles, len(handles))
    return canvas


def _label(axes: Axes, graph: Graph) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    axes.set_title(graph.title, fontsize=11, color=INK, pad=10)
    name_axes(axes, graph.across, graph.up)
    axes.set_xlim(graph.x[0], graph.x[-1])
    if graph.logarithmic:
        axes.set_xscale("log")
        axes.set_yscale("log")
        heights = np.concatenate(list(graph.curves.values()))
        for axis, values in ((axes.xaxis, graph.x), (axes.yaxis, heights)):
            axis.set_major_locator(
                LogLocator(subs=(1.0, 2.0, 5.0) if values.max() < 1e4 * values.min() else (1.0,))
            )
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter("{x:g}")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
        axes.set_ylim(0, 1.06 * max(y.max() for y in graph.curves.values()))
    if graph.heights:
        axes.set_yticks(graph.heights, [f"{height:g}" for height in graph.heights])
    if graph.point is not None:
        axes.plot(
            *graph.point,
            "o",
            markersize=7,
            markerfacecolor="white",
            markeredgecolor=INK,
            markeredgewidth=1.4,
            zorder=5,
        )
        axes.annotate(
            graph.remark,
            graph.point,
            xytext=graph.shift,
            textcoords="offset points",
            va="top",
            fontsize=9,
            color=FAINT,
        )
