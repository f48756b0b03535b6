"""Plot averaging: the mean of more and more answers, the truth, and where a budget ends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...plots.plot_style import COLOURS, FAINT, INK, figure, legend, name_axes, quiet, tint
from ..lib.attack_text import epsilon_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..averaging import Averaging


def draw(result: Averaging) -> Figure:
    """Draw the running mean over the number of answers, with two standard deviations, on a
    logarithmic axis.
    """
    canvas = figure(7.4, 4.2, "The same question again and again")
    axes = canvas.subplots()
    quiet(axes)
    m = np.arange(1, len(result.answers) + 1)
    half = 2 * result.sd / np.sqrt(m)
    band = axes.fill_between(
        m, result.truth - half, result.truth + half, color=tint(COLOURS[0], 0.16), linewidth=0
    )
    (mean,) = axes.plot(m, result.means, color=COLOURS[0], linewidth=1.8)
    truth = axes.axhline(result.truth, color=INK, linewidth=1.0, linestyle=(0, (4, 3)))
    handles = {
        "mean of the answers so far": mean,
        "two standard deviations": band,
        "the truth": truth,
    }
    ends = result.ledger.answers
    if 0 < ends <= len(m):
        handles[f"a budget of ε = {float(result.ledger.budget):g} ends here"] = axes.axvline(
            ends, color=COLOURS[2], linewidth=2.2
        )
    if result.needed <= len(m):
        handles[f"{result.needed} answers: right with 95 %"] = axes.axvline(
            result.needed, color=COLOURS[1], linewidth=2.2
        )
    axes.set_xscale("log")
    axes.set_xlim(1, max(2, len(m)))
    axes.xaxis.set_major_formatter("{x:g}")
    name_axes(axes, f"answers at {epsilon_label(result.epsilon)} each", "their mean")
    axes.tick_params(axis="x", which="minor", length=0, color=FAINT)
    legend(canvas, handles, 3, size=9)
    return canvas
