"""Draw Rényi curves: the bound at each order α, with the limit that a pure promise sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .plot_style import COLOURS, FAINT, figure, legend, name_axes, quiet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure


def orders(
    alphas: NDArray[np.float64],
    curves: Mapping[str, NDArray[np.float64]],
    *,
    title: str,
    limits: Mapping[str, float] | None = None,
) -> Figure:
    """Draw D_α by name over the orders, both axes logarithmic; a curve tends to the value of its
    name in `limits`.
    """
    canvas = figure(7.2, 4.6, title)
    axes = canvas.subplots()
    quiet(axes)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.minorticks_off()
    handles: dict[str, Artist] = {}
    for colour, (name, values) in zip(COLOURS, curves.items(), strict=False):
        (handles[name],) = axes.plot(alphas, values, color=colour, linewidth=1.9)
        limit = (limits or {}).get(name)
        if limit is not None:
            axes.axhline(limit, color=colour, linewidth=0.9, linestyle=(0, (4, 3)))
            above = limit == max((limits or {}).values())
            side: dict[str, Any] = (
                {"xytext": (5, 3), "va": "bottom"} if above else {"xytext": (5, -4), "va": "top"}
            )
            axes.annotate(
                f"{limit:.3g} at α = ∞",
                (alphas[0], limit),
                textcoords="offset points",
                fontsize=9,
                color=colour,
                **side,
            )
    axes.axhline(1.0, color=FAINT, linewidth=0.9, zorder=1)
    axes.set_xlim(alphas[0], alphas[-1])
    axes.xaxis.set_major_formatter("{x:g}")
    heights = [
        h
        for h in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)
        if min(v.min() for v in curves.values()) <= h <= max(v.max() for v in curves.values())
    ]
    axes.set_yticks(heights, [f"{h:g}" for h in heights])
    name_axes(axes, "order α", "bound on the divergence of order α")
    legend(canvas, handles, len(curves))
    return canvas
