"""The picture of averaging: the mean of more and more answers beside the truth, and where a budget
ends it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...plots.plot_style import COLOURS, FAINT, INK, figure, legend, name_axes, quiet, tint
from ..lib.attack_text import named

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..averaging import Averaging


def draw(found: Averaging) -> Figure:
    """The running mean over the number of answers, within two standard deviations, on a logarithmic
    axis.
    """
    canvas = figure(7.4, 4.2, "The same question again and again")
    axes = canvas.subplots()
    quiet(axes)
    m = np.arange(1, len(found.answers) + 1)
    half = 2 * found.sd / np.sqrt(m)
    band = axes.fill_between(
        m, found.truth - half, found.truth + half, color=tint(COLOURS[0], 0.16), linewidth=0
    )
    (mean,) = axes.plot(m, found.means, color=COLOURS[0], linewidth=1.8)
    truth = axes.axhline(found.truth, color=INK, linewidth=1.0, linestyle=(0, (4, 3)))
    handles = {
        "mean of the answers so far": mean,
        "two standard deviations": band,
        "the truth": truth,
    }
    ends = found.ledger.answers
    if 0 < ends <= len(m):
        handles[f"a budget of ε = {float(found.ledger.budget):g} ends here"] = axes.axvline(
            ends, color=COLOURS[2], linewidth=2.2
        )
    if found.needed <= len(m):
        handles[f"{found.needed} answers: right with 95 %"] = axes.axvline(
            found.needed, color=COLOURS[1], linewidth=2.2
        )
    axes.set_xscale("log")
    axes.set_xlim(1, max(2, len(m)))
    axes.xaxis.set_major_formatter("{x:g}")
    name_axes(axes, f"answers at {named(found.epsilon)} each", "their mean")
    axes.tick_params(axis="x", which="minor", length=0, color=FAINT)
    legend(canvas, handles, 3, size=9)
    return canvas
