"""Draw integer laws over each other: the law of an answer on one dataset, and on its neighbour."""

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
class LawPanel:
    """One plot: probabilities over the same consecutive integers, a mark at one of them, a title
    and a remark.
    """

    title: str
    remark: str
    integers: NDArray[np.int64]
    laws: Mapping[str, NDArray[np.float64]]
    mark: int | None = None


def laws(panels: Sequence[LawPanel], *, title: str, across: str, mark: str = "") -> Figure:
    """Draw the panels in a row. Each has its own axes, because the laws differ in width by orders
    of magnitude; `across` labels the horizontal axis.
    """
    # the title and the legend need their room, even over one panel
    canvas = figure(max(7.0, 0.6 + 3.6 * len(panels)), 4.3, title)
    from matplotlib.lines import Line2D  # after figure(), which refuses when matplotlib is missing

    handles: dict[str, Artist] = {}
    for column, (axes, panel) in enumerate(
        zip(np.ravel(canvas.subplots(1, len(panels))), panels, strict=True)
    ):
        handles |= draw(axes, panel)
        if panel.mark is not None:
            # A rare mark far outside must not squeeze the laws into a line: it becomes an arrow at
            # the edge that points to it.
            at = float(np.clip(panel.mark, *axes.get_xlim()))
            shape = "^" if at == panel.mark else "<" if at > panel.mark else ">"
            axes.plot([at], [0.0], marker=shape, markersize=9, color=INK, clip_on=False, zorder=5)
            handles[mark] = Line2D([], [], marker="^", markersize=9, color=INK, linestyle="none")
        name_axes(axes, across, "" if column else "probability")
    legend(canvas, handles, len(handles))
    return canvas


def draw(axes: Axes, panel: LawPanel) -> dict[str, Artist]:
    """Draw one panel's laws and title into axes, and return the handles for a legend."""
    from matplotlib.ticker import MaxNLocator

    quiet(axes)
    edges = np.append(panel.integers, panel.integers[-1] + 1) - 0.5
    handles: dict[str, Artist] = {}
    for colour, (name, law) in zip(COLOURS, panel.laws.items(), strict=False):
        axes.stairs(law, edges, fill=True, color=colour, alpha=0.18, linewidth=0)
        handles[name] = axes.stairs(law, edges, color=colour, linewidth=1.8)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, 1.08 * max(law.max() for law in panel.laws.values()))
    axes.set_title(panel.title, fontsize=11, color=INK, pad=24)
    axes.text(
        0.5,
        1.03,
        panel.remark,
        transform=axes.transAxes,
        ha="center",
        va="bottom",
        fontsize=9,
        color=FAINT,
    )
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))
    return handles
