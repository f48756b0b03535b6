"""Draw two laws over each other and, below, their ratio with the promised band e^−ε to e^ε."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .law_plots import LawPanel, draw
from .plot_style import COLOURS, FAINT, INK, figure, legend, name_axes, quiet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BAND = COLOURS[2]
_BEYOND = COLOURS[3]


def ratios(panels: Sequence[LawPanel], *, epsilon: float, title: str, across: str) -> Figure:
    """Draw each panel's first two laws, and their ratio on a logarithmic axis with the band from
    e^−ε to e^ε.
    """
    canvas = figure(max(7.8, 0.6 + 3.8 * len(panels)), 5.8, title)
    from matplotlib.lines import Line2D  # after figure(), which refuses when matplotlib is missing
    from matplotlib.patches import Patch

    rows = canvas.subplots(2, len(panels), sharex="col", squeeze=False, height_ratios=(3, 2))
    quotients = [_quotient(panel) for panel in panels]
    reach = 1.15 * max(epsilon, *(float(np.abs(np.log(q)).max()) for _, q in quotients))
    handles: dict[str, Artist] = {}
    for column, panel in enumerate(panels):
        handles |= draw(rows[0, column], panel)
        rows[0, column].tick_params(labelbottom=True)
        _draw_ratio(rows[1, column], *quotients[column], epsilon=epsilon, reach=reach)
        name_axes(rows[1, column], across)
    name_axes(rows[0, 0], up="probability")
    name_axes(rows[1, 0], up="ratio, first to second")
    handles["ratio inside the band"] = Line2D(
        [], [], marker="o", markersize=4.5, color=INK, linestyle="none"
    )
    handles["outside"] = Line2D([], [], marker="o", markersize=4.5, color=_BEYOND, linestyle="none")
    handles["$e^{-ε}$ to $e^{ε}$"] = Patch(color=_BAND, alpha=0.16)
    legend(canvas, handles, 3)
    return canvas


def _quotient(panel: LawPanel) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the integers at which both laws are positive, and the first law over the second."""
    first, second = list(panel.laws.values())[:2]
    both = (first > 0) & (second > 0)
    return panel.integers[both], first[both] / second[both]


def _draw_ratio(
    axes: Axes, at: NDArray[np.int64], ratio: NDArray[np.float64], *, epsilon: float, reach: float
) -> None:
    quiet(axes)
    axes.set_yscale("log")
    axes.minorticks_off()
    low, high = math.exp(-epsilon), math.exp(epsilon)
    axes.set_yticks([low, 1.0, high], [f"$e^{{-ε}}$ ≈ {low:.2g}", "1", f"$e^{{ε}}$ ≈ {high:.3g}"])
    axes.set_ylim(math.exp(-reach), math.exp(reach))
    axes.axhspan(low, high, color=_BAND, alpha=0.16, linewidth=0)
    # Laplace's ratio is e^ε or e^−ε itself, and its double may lie next to it
    inside = np.abs(np.log(ratio)) <= epsilon * (1 + 1e-9)
    for chosen, colour in ((inside, INK), (~inside, _BEYOND)):
        axes.plot(at[chosen], ratio[chosen], "o", markersize=3.2, color=colour, markeredgewidth=0)
    axes.axhline(1.0, color=FAINT, linewidth=0.7, zorder=1)
