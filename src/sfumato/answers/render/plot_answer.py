"""Plot a column of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...exact.numbers import Number
from ...plots.bars import Bars, Bins, bars, bins
from .. import answer_refusals as refusals
from ..chosen_groups import take_first_groups
from ..intervals import has_interval, hold_simultaneously, interval, level_of, values
from .tabulate import key_text, level_text, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..answer import Answer

PANELS = 6
"""The most histograms that one plot shows side by side."""


def plot(answer: Answer, name: str, *, confidence: Number, top: int, title: str | None) -> Figure:
    """Draw a bar for each group or bin; if there are more than `top` groups, the largest ones."""
    column = answer.column(name)
    if not answer.rows:
        raise refusals.NO_GROUP_TO_PLOT(name=name)
    if isinstance(top, bool) or not isinstance(top, int) or top < 1:
        raise refusals.PLOT_TOP(name=name, top=top)
    heading = printable(title if title is not None else column.text or name)
    room, all_ = min(top, PANELS) if column.kind == "histogram" else top, len(answer.rows)
    if all_ > room:
        size = values(answer, column)
        order = np.argsort(
            -(size.sum(axis=1) if column.kind == "histogram" else size), kind="stable"
        )[:room]
        answer = take_first_groups(answer, column.pieces, order.tolist())
        column = answer.column(name)
    heights, has_ends = values(answer, column), has_interval(answer, column)
    low, high = (
        interval(answer, column, level_of(column, confidence)) if has_ends else (heights, heights)
    )
    labels = [", ".join(map(key_text, row)) for row in answer.rows]
    interval_text = (
        (
            f"{level_text(level_of(column, confidence))} intervals, "
            f"{'all of them at once' if hold_simultaneously(answer, column) else 'each cell'}"
        )
        if has_ends
        else ""
    )
    note = "; ".join(
        part
        for part in (f"the {room} largest of {all_} groups" if all_ > room else "", interval_text)
        if part
    )
    if column.kind == "histogram":
        edges = np.array([float(edge) for edge in column.edges])
        panels = [
            Bins(*parts)
            for parts in zip(labels, [edges] * len(labels), heights, low, high, strict=True)
        ]
        return bins(panels, title=heading, across=printable(name), note=note)
    return bars(
        Bars(tuple(labels), heights, low, high),
        title=heading,
        across=printable(name),
        up=printable(", ".join(answer.keys)),
        note=note,
    )
