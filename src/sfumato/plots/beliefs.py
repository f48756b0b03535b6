"""Draw the band in which a posterior belief stays, whatever the answer, for every prior."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .plot_style import COLOURS, FAINT, RULE, figure, legend, name_axes, quiet, tint

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

Band = tuple[NDArray[np.float64], NDArray[np.float64]]
"""The lower and the upper end over the same priors."""


def beliefs(
    priors: NDArray[np.float64], bands: Mapping[str, Band], *, title: str, mark: float | None = None
) -> Figure:
    """Draw the bands over each other, the widest first, with the ends of every band as numbers at
    the prior `mark`.
    """
    canvas = figure(6.4, 6.0, title)
    axes = canvas.subplots()
    quiet(axes)
    axes.grid(axis="x", color=RULE, linewidth=0.7)
    colours = dict(zip(bands, COLOURS, strict=False))
    widest = sorted(bands, key=lambda name: -float((bands[name][1] - bands[name][0]).max()))
    handles: dict[str, Artist] = {}
    certain = np.concatenate(([0.0], priors, [1.0]))
    for name in widest:
        # no answer moves a certainty
        low, high = (np.concatenate(([0.0], end, [1.0])) for end in bands[name])
        handles[name] = axes.fill_between(
            certain,
            low,
            high,
            facecolor=tint(colours[name], 0.22),
            edgecolor=colours[name],
            linewidth=1.2,
        )
        for end in (low, high):
            axes.plot(certain, end, color=colours[name], linewidth=1.6)
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1.0, linestyle=(0, (4, 3)))
    if mark is not None:
        axes.axvline(mark, color=FAINT, linewidth=0.8, zorder=1)
        for name in bands:
            for end, above in zip(bands[name], (False, True), strict=True):
                height = float(np.interp(mark, priors, end))
                axes.plot(
                    [mark],
                    [height],
                    "o",
                    markersize=5,
                    markerfacecolor="white",
                    markeredgecolor=colours[name],
                    markeredgewidth=1.4,
                    zorder=5,
                )
                place: dict[str, Any] = (
                    {"xytext": (-7, 3), "ha": "right", "va": "bottom"}
                    if above
                    else {"xytext": (7, -3), "ha": "left", "va": "top"}
                )
                outward = (math.ceil if above else math.floor)(1000 * height) / 10
                axes.annotate(
                    f"{outward:g} %",
                    (mark, height),
                    textcoords="offset points",
                    fontsize=9,
                    color=colours[name],
                    **place,
                )
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    ticks = np.linspace(0, 1, 6)
    axes.set_xticks(ticks, [f"{100 * t:.0f} %" for t in ticks])
    axes.set_yticks(ticks, [f"{100 * t:.0f} %" for t in ticks])
    name_axes(axes, "belief before the answer", "belief after it")
    legend(canvas, {name: handles[name] for name in bands}, len(bands))
    return canvas
