"""Draw a budget over time: the spent part as steps, below the promised budget."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .plot_style import COLOURS, FAINT, INK, figure, legend, quiet, tint

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

WHOLE = "spent, all together"
PROMISED = "promised: the budget"


@dataclass(frozen=True, slots=True, eq=False)
class Purse:
    """One number of a budget over time, and the spent part: in total, and by share. Each value
    holds from its time on.
    """

    name: str
    budget: NDArray[np.float64]
    spent: NDArray[np.float64]
    shares: Mapping[str, NDArray[np.float64]]


def budget(times: Sequence[datetime.datetime], purses: Sequence[Purse], *, title: str) -> Figure:
    """Draw the purses below each other, the total filled, each share in its own colour."""
    import matplotlib.dates

    dates: Any = matplotlib.dates  # its functions have no types

    canvas = figure(7.6, 1.6 + 2.6 * len(purses), title)
    grid = canvas.subplots(len(purses), 1, sharex=True, squeeze=False)
    x = np.asarray(dates.date2num(list(times)), dtype=np.float64)
    margin = max(float(x[-1] - x[0]), 1e-6) * 0.04
    ends = np.append(x, x[-1] + margin)  # the last step is seen
    handles: dict[str, Artist] = {}
    for axes, purse in zip(grid[:, 0], purses, strict=True):
        quiet(axes)
        spent, promised = (np.append(values, values[-1]) for values in (purse.spent, purse.budget))
        axes.fill_between(ends, spent, step="post", facecolor=tint(COLOURS[0], 0.2), linewidth=0)
        (handles[WHOLE],) = axes.step(ends, spent, where="post", color=COLOURS[0], linewidth=2.0)
        for colour, (name, values) in zip(
            COLOURS[1:] * len(purse.shares), purse.shares.items(), strict=False
        ):
            (handles[name],) = axes.step(
                ends, np.append(values, values[-1]), where="post", color=colour, linewidth=1.3
            )
        (handles[PROMISED],) = axes.step(
            ends, promised, where="post", color=INK, linewidth=1.3, linestyle=(0, (5, 3))
        )
        gone = purse.spent[-1] / purse.budget[-1] if purse.budget[-1] else 0.0
        axes.annotate(
            f"{100 * gone:.3g} %",
            (x[-1], spent[-1]),
            xytext=(4, 4),
            textcoords="offset points",
            fontsize=9,
            color=COLOURS[0],
            ha="left",
        )
        axes.set_xlim(ends[0] - margin / 4, ends[-1] + margin)
        axes.set_ylim(0, 1.12 * float(promised.max()) or 1.0)
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_ylabel(purse.name, fontsize=10.5, color=INK)
    brief = times[-1] - times[0] < datetime.timedelta(days=1)
    locator = dates.AutoDateLocator(minticks=3, maxticks=5 if brief else 8)
    grid[-1, 0].xaxis.set_major_locator(locator)
    grid[-1, 0].xaxis.set_major_formatter(
        dates.DateFormatter("%H:%M:%S")
        if brief
        else dates.ConciseDateFormatter(locator, show_offset=False)
    )
    days = dict.fromkeys((f"{times[0]:%Y-%m-%d}", f"{times[-1]:%Y-%m-%d}"))
    grid[-1, 0].set_xlabel(f"{' to '.join(days)}, UTC", fontsize=9.5, color=FAINT)
    order = [WHOLE, *(name for name in handles if name not in (WHOLE, PROMISED)), PROMISED]
    legend(canvas, {name: handles[name] for name in order}, min(4, len(order)))
    return canvas
