"""The common style of all plots: colours that everybody can tell apart, also in print, and quiet
axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from . import plot_refusals as refusals

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.container import Container
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe and Ito 2008
INK = "#222222"
FAINT = "#6F6F6F"
RULE = "#D9D9D9"


def figure(width: float, height: float, title: str = "") -> Figure:
    """Make an empty figure, in inches, with a title. It belongs to the caller: pyplot's global list
    of figures stays untouched. Notebooks show it by itself.
    """
    try:
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        from .shown_figure import ShownFigure
    except ImportError:
        raise refusals.MATPLOTLIB_MISSING() from None
    canvas = ShownFigure(
        figsize=(width, height),
        dpi=160,
        facecolor="white",
        layout=ConstrainedLayoutEngine(w_pad=0.14, h_pad=0.12),
    )
    if title:
        canvas.suptitle(title, fontsize=13, color=INK, fontweight="bold")
    return canvas


def tint(colour: str, strength: float) -> str:
    """Mix a colour with white into an opaque colour, so that overlapping areas do not mix."""
    mixed = (round(255 + strength * (int(colour[i : i + 2], 16) - 255)) for i in (1, 3, 5))
    return "#" + "".join(f"{channel:02X}" for channel in mixed)


def quiet(axes: Axes) -> None:
    """Remove the frame except the base line, and draw light horizontal lines."""
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)
    axes.tick_params(colors=FAINT, labelcolor=INK, length=0, pad=7, labelsize=9)
    axes.grid(axis="y", color=RULE, linewidth=0.7)
    axes.set_axisbelow(True)


def name_axes(axes: Axes, across: str = "", up: str = "") -> None:
    """Label the axes that have a name."""
    if across:
        axes.set_xlabel(across, fontsize=9.5, color=INK)
    if up:
        axes.set_ylabel(up, fontsize=9.5, color=INK)


def legend(
    canvas: Figure,
    handles: Mapping[str, Artist | Container],
    columns: int,
    *,
    size: float = 9.5,
) -> None:
    """Draw the legend below the plots."""
    canvas.legend(
        cast("list[Artist]", list(handles.values())),  # the stubs leave containers out
        list(handles),
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=size,
        labelcolor=INK,
    )
