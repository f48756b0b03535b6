"""Draw trade-off curves: the errors of the best attacker, and the line of pure guessing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .plot_style import COLOURS, FAINT, INK, RULE, figure, legend, name_axes, quiet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Tradeoff:
    """One plot: least type-II errors by name, over the same type-I errors from 0 to 1."""

    title: str
    alphas: NDArray[np.float64]
    curves: Mapping[str, NDArray[np.float64]]


def tradeoffs(panels: Sequence[Tradeoff], *, title: str) -> Figure:
    """Draw square panels in a row. No attacker gets below a curve; the line of guessing needs no
    answer.
    """
    canvas = figure(max(6.6, 0.6 + 4.3 * len(panels)), 5.4, title)
    names = list(dict.fromkeys(name for panel in panels for name in panel.curves))
    colours = dict(zip(names, COLOURS, strict=False))
    handles: dict[str, Artist] = {}
    for axes, panel in zip(np.ravel(canvas.subplots(1, len(panels))), panels, strict=True):
        quiet(axes)
        axes.grid(axis="x", color=RULE, linewidth=0.7)
        for name, beta in panel.curves.items():
            (handles[name],) = axes.plot(panel.alphas, beta, color=colours[name], linewidth=1.9)
        lowest = np.minimum.reduce(list(panel.curves.values()))
        axes.fill_between(panel.alphas, 0, lowest, color=RULE, alpha=0.45, linewidth=0, zorder=0.5)
        axes.text(0.02, 0.02, "nobody gets here", fontsize=9, color=FAINT)
        (handles["guessing"],) = axes.plot(
            [0, 1], [1, 0], color=FAINT, linewidth=1.0, linestyle=(0, (4, 3))
        )
        axes.set_title(panel.title, fontsize=11, color=INK, pad=10)
        name_axes(axes, "type-I error: false alarms", "least type-II error: misses")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.set_aspect("equal")
        axes.set_xticks(np.linspace(0, 1, 6))
        axes.set_yticks(np.linspace(0, 1, 6))
    handles["guessing"] = handles.pop("guessing")  # last
    legend(canvas, handles, len(handles))
    return canvas
