"""Draw the errors of all pairs of columns as squares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .plot_style import COLOURS, FAINT, INK, figure, tint

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NUMBERED = 12  # columns up to which the squares show their numbers


def draw_error_squares(names: Sequence[str], errors: NDArray[np.float64]) -> Figure:
    """Draw a square of errors from 0 to 1: pairs off the diagonal, columns on it. The darker, the
    larger.
    """
    count = len(names)
    canvas = figure(2.6 + 0.46 * count, 1.9 + 0.46 * count, "Error of each pair of columns")
    from matplotlib.colors import LinearSegmentedColormap

    axes = canvas.subplots()
    shades = LinearSegmentedColormap.from_list("errors", ["#FFFFFF", tint(COLOURS[0], 0.9)])
    top = max(0.05, float(errors.max(initial=0.0)))
    shown = axes.imshow(errors, cmap=shades, vmin=0.0, vmax=top)
    axes.set_xticks(range(count), names, rotation=45, ha="right", fontsize=8.5, color=INK)
    axes.set_yticks(range(count), names, fontsize=8.5, color=INK)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    if count <= _NUMBERED:
        for (i, j), error in np.ndenumerate(errors):
            ink = "white" if error > 0.6 * top else INK
            axes.text(j, i, f"{100 * error:.1f}", ha="center", va="center", fontsize=7.5, color=ink)
    bar = canvas.colorbar(shown, ax=axes, shrink=0.7)
    bar.set_label("part of the rows in another cell", fontsize=9, color=FAINT)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, length=0)
    canvas.supxlabel(
        "numbers in %; on the diagonal the columns by themselves", fontsize=8.5, color=FAINT
    )
    return canvas
