"""Draw the counts of a histogram: the exact ones, and the published ones with their error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .plot_style import COLOURS, INK, figure, legend, name_axes, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def cells(
    edges: NDArray[np.float64],
    exact: NDArray[np.int64],
    published: NDArray[np.int64],
    *,
    error: float,
    title: str,
    across: str,
) -> Figure:
    """Draw the exact counts as filled steps and the published counts as points with error bars."""
    canvas = figure(7.0, 4.2, title)
    axes = canvas.subplots()
    quiet(axes)
    exactly = axes.stairs(exact, edges, fill=True, color=COLOURS[0], alpha=0.22, linewidth=0)
    axes.stairs(exact, edges, color=COLOURS[0], linewidth=1.6)
    middles = edges[:-1] + np.diff(edges) / 2
    points, *_ = axes.errorbar(
        middles,
        published,
        yerr=error,
        fmt="o",
        color=COLOURS[1],
        markersize=4.5,
        elinewidth=1.3,
        capsize=2.5,
    )
    axes.axhline(0.0, color=INK, linewidth=0.7)
    axes.set_xlim(edges[0], edges[-1])
    name_axes(axes, across, "count")
    legend(canvas, {"exact, and secret": exactly, f"published, ± {error:g}": points}, 2)
    return canvas
