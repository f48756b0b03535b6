"""Draw privacy profiles: the least δ at each ε, on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .plot_style import COLOURS, FAINT, INK, figure, name_axes, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def profiles(
    epsilons: NDArray[np.float64],
    curves: Mapping[str, NDArray[np.float64]],
    *,
    title: str,
    least: float = 1e-12,
    mark: float | None = None,
) -> Figure:
    """Draw δ(ε) by name, down to `least`. With `mark`, draw a line at that δ, and write in the
    legend the ε at which each curve meets it.
    """
    canvas = figure(7.2, 4.6, title)
    axes = canvas.subplots()
    quiet(axes)
    axes.set_yscale("log")
    axes.minorticks_off()
    for colour, (name, deltas) in zip(COLOURS, curves.items(), strict=False):
        shown = np.where(deltas > 0, deltas, np.nan)
        label = name
        if mark is not None and deltas.min() <= mark <= deltas.max():
            at = float(epsilons[np.argmax(deltas <= mark)])
            axes.plot(
                [at],
                [mark],
                "o",
                markersize=6,
                markerfacecolor="white",
                markeredgecolor=colour,
                markeredgewidth=1.5,
                zorder=5,
            )
            label = f"{name}: ε = {at:.2f} at δ = {mark:g}"
        axes.plot(epsilons, shown, color=colour, linewidth=1.9, label=label)
    if mark is not None:
        axes.axhline(mark, color=FAINT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    axes.set_xlim(epsilons[0], epsilons[-1])
    axes.set_ylim(least, 1)
    name_axes(axes, "ε")
    axes.set_ylabel("δ", fontsize=9.5, color=INK, rotation=0, labelpad=12)
    axes.legend(loc="upper right", frameon=False, fontsize=9.5, labelcolor=INK)
    return canvas
