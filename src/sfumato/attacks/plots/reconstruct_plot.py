"""Plot reconstruction: bits before rounding, and the share of right bits over the noise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...plots.plot_style import COLOURS, FAINT, INK, figure, legend, name_axes, quiet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

    from ..reconstruct import Reconstruction
    from ..threshold import NoiseThreshold


def draw_bits(result: Reconstruction) -> Figure:
    """Draw each person's estimated bit, in the colour of the true bit, and the rounding line at
    ½.
    """
    canvas = figure(
        7.4, 3.8, f"Secrets from {len(result.answers.values)} counts: {result.answers.against}"
    )
    axes = canvas.subplots()
    quiet(axes)
    place = np.arange(result.answers.people)
    truth = result.answers.truth
    kinds = (
        {"": np.ones_like(place, dtype=bool)}
        if truth is None
        else {"does not have it": truth == 0, "has it": truth == 1}
    )
    handles: dict[str, Artist] = {}
    for (name, chosen), colour in zip(kinds.items(), COLOURS, strict=False):
        (handles[name],) = axes.plot(
            place[chosen],
            result.estimate[chosen],
            "o",
            color=colour,
            markersize=4.5,
            linestyle="none",
        )
    axes.axhline(0.5, color=FAINT, linewidth=1.0, linestyle=(0, (4, 3)))
    name_axes(axes, "person", "what the answers say")
    if truth is not None:
        legend(canvas, handles, 2, size=9)
    return canvas


def draw_threshold(result: NoiseThreshold) -> Figure:
    """Draw the share of right bits over the noise in units of √n: one curve for each number of
    people, and the expected curve.
    """
    from matplotlib.ticker import PercentFormatter

    canvas = figure(7.4, 4.2, "Reconstruction: how much noise hides a secret")
    axes = canvas.subplots()
    quiet(axes)
    handles: dict[str, Artist] = {}
    for n, wrong, colour in zip(result.sizes, result.wrong, COLOURS, strict=False):
        (handles[f"{n} people"],) = axes.plot(
            result.levels, 1 - wrong, "o-", color=colour, linewidth=1.7, markersize=4
        )
    if result.method == "least squares":
        (handles["expected of least squares"],) = axes.plot(
            result.levels, 1 - result.expected, color=INK, linewidth=1.0, linestyle=(0, (4, 3))
        )
    axes.axhline(0.5, color=FAINT, linewidth=0.9)
    axes.text(result.levels[0], 0.505, "guessing", fontsize=9, color=FAINT, va="bottom")
    axes.set_xscale("log")
    low, high = math.floor(math.log10(result.levels[0])), math.ceil(math.log10(result.levels[-1]))
    ticks = [
        f * 10.0**e
        for e in range(low, high + 1)
        for f in (1, 2, 5)
        if result.levels[0] <= f * 10.0**e <= result.levels[-1]
    ]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    if len(ticks) > 1:
        axes.set_xlim(result.levels[0], result.levels[-1])
    axes.set_ylim(0.45, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0, symbol=" %"))
    name_axes(
        axes,
        "standard deviation of the noise in each count, divided by √n",
        "secrets that come out right",
    )
    legend(canvas, handles, 4, size=9)
    return canvas
