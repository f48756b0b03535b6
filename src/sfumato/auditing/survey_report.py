"""Reports of a survey, as a table and as a plot; and the plot of one audit.

*Table*    A row for each mechanism and ε: what is claimed, the largest bound that was proven over
           all pairs, rounded down, and the verdict.
*Picture*  Every row as a point: the part of the claim that is proven. What lies beyond the line is
           refuted; nothing sound does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..plots.plot_style import COLOURS, FAINT, INK, RULE, figure, legend, name_axes, quiet
from .audit_result import Audit, down
from .survey import SurveyRow

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure


def table_lines(rows: Sequence[SurveyRow]) -> list[str]:
    """Format the survey as lines of text."""
    head = ("mechanism", "ε", "claimed", "proven", "share", "pairs", "how", "verdict")
    body = [
        (
            row.name,
            f"{row.epsilon:g}",
            f"{row.measure} {row.claimed:.4g}",
            down(row.proven, 4),
            _share(row),
            str(row.pairs),
            _how(row),
            row.verdict,
        )
        for row in rows
    ]
    widths = [max(len(cells[i]) for cells in (head, *body)) for i in range(len(head))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
        for cells in (head, *body)
    ]


def markdown_table(rows: Sequence[SurveyRow]) -> str:
    """Format the survey as a Markdown table."""
    body = [
        (
            f"| {row.name} | {row.epsilon:g} | {row.measure} {row.claimed:.4g} | "
            f"{down(row.proven, 4)} | {_share(row)} | {_how(row)} | {row.verdict} |"
        )
        for row in rows
    ]
    return (
        "\n".join(
            [
                "| mechanism | ε | claimed | proven | share | how | verdict |",
                "|---|---|---|---|---|---|---|",
                *body,
            ]
        )
        + "\n"
    )


def _share(row: SurveyRow) -> str:
    if row.claimed <= 0:
        return "–"
    part = row.proven / row.claimed
    return f"{math.floor(1000 * part) / 10:.1f}%" if math.isfinite(part) else "∞"


def _how(row: SurveyRow) -> str:
    return "arithmetic" if row.exact else f"{row.samples} draws"


def plot_survey(rows: Sequence[SurveyRow]) -> Figure:
    """Plot the proven part of every claim: a line for each mechanism, a point for each ε, filled
    where arithmetic proves it.
    """
    names = list(dict.fromkeys(row.name for row in rows))
    levels = sorted({row.epsilon for row in rows})
    canvas = figure(8.4, 1.6 + 0.2 * len(names))
    axes = canvas.subplots()
    quiet(axes)
    axes.grid(axis="both", color=RULE, linewidth=0.6)
    most = 1.06
    axes.axvspan(1, most, color=COLOURS[1], alpha=0.12, linewidth=0)
    axes.axvline(1, color=INK, linewidth=1)
    handles: dict[str, Artist] = {}
    for i, level in enumerate(levels):
        colour = COLOURS[i % len(COLOURS)]
        for exact in (True, False):
            chosen = [row for row in rows if row.epsilon == level and row.exact is exact]
            across = [min(row.proven / row.claimed, most) if row.claimed else 0.0 for row in chosen]
            up = [names.index(row.name) + 0.12 * (i - (len(levels) - 1) / 2) for row in chosen]
            inside = colour if exact else "white"
            axes.plot(
                across,
                up,
                "o",
                clip_on=False,
                markersize=4.2,
                markeredgewidth=1.1,
                markerfacecolor=inside,
                markeredgecolor=colour,
            )
        (handles[f"ε = {level:g}"],) = axes.plot([], [], "o", color=colour, markersize=5)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(-0.01, most)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "claim"])
    axes.set_xlabel(
        (
            "proven part of the claim, the largest over all pairs · filled: by arithmetic, "
            "open: by draws"
        ),
        fontsize=9,
        color=INK,
    )
    axes.set_title(
        "What is claimed, and what an attacker can prove of it",
        fontsize=13,
        color=INK,
        fontweight="bold",
    )
    legend(canvas, handles, len(levels), size=9)
    return canvas


def plot_audit(audit: Audit) -> Figure:
    """Plot the attacker's two errors and the least errors that the claim allows."""
    canvas = figure(5.6, 5.2)
    axes = canvas.subplots()
    quiet(axes)
    across = np.linspace(0, 1, 201)
    axes.plot(
        across,
        [audit.claim.tradeoff(float(a)) for a in across],
        color=COLOURS[0],
        linewidth=1.8,
        label=f"the least that {audit.claim} allows",
    )
    axes.plot([0, 1], [1, 0], color=FAINT, linewidth=0.8, linestyle="--", label="guessing")
    low, high = audit.limits
    axes.plot(
        [high],
        [1 - low],
        "X" if audit.verdict == "violated" else "o",
        color=COLOURS[1],
        markersize=8,
        label="at most, with this event",
    )
    name_axes(axes, "chance of a false alarm", "chance of a miss")
    axes.set_title(
        f"{audit.verdict}: ε ≥ {down(audit.epsilon_lower, 3)} of {audit.claimed_epsilon:.3g}",
        fontsize=12,
        color=INK,
        fontweight="bold",
    )
    axes.legend(frameon=False, fontsize=9, labelcolor=INK)
    return canvas
