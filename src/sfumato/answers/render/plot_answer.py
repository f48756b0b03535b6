"""From a column of an answer to its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...errors import Refused
from ...exact.numbers import Number
from ...plots.bars import Bars, Bins, bars, bins
from ..chosen_groups import first
from ..intervals import has_interval, interval, level_of, together, values
from .tabulate import key_text, level_text, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..answer import Answer

PANELS = 6
"""Histograms of more groups are not drawn side by side."""


def plot(answer: Answer, name: str, *, confidence: Number, top: int, title: str | None) -> Figure:
    """Bars by group, or by bin; the largest first where not all groups have room."""
    column = answer.column(name)
    if not answer.rows or isinstance(top, bool) or not isinstance(top, int) or top < 1:
        raise Refused(
            "answer.plot",
            f"plot({name!r})",
            f"{len(answer.rows)} groups, of which {top!r:.20} are to be drawn",
            "an answer with a group, top=20",
        )
    heading = printable(title if title is not None else column.text or name)
    room, all_ = min(top, PANELS) if column.kind == "histogram" else top, len(answer.rows)
    if all_ > room:
        size = values(answer, column)
        order = np.argsort(
            -(size.sum(axis=1) if column.kind == "histogram" else size), kind="stable"
        )[:room]
        answer = first(answer, column.pieces, order.tolist())
        column = answer.column(name)
    found, known = values(answer, column), has_interval(answer, column)
    low, high = interval(answer, column, level_of(column, confidence)) if known else (found, found)
    labels = [", ".join(map(key_text, row)) for row in answer.rows]
    held = (
        (
            f"{level_text(level_of(column, confidence))} intervals, "
            f"{'all of them at once' if together(answer, column) else 'each cell'}"
        )
        if known
        else ""
    )
    note = "; ".join(
        said
        for said in (f"the {room} largest of {all_} groups" if all_ > room else "", held)
        if said
    )
    if column.kind == "histogram":
        edges = np.array([float(edge) for edge in column.edges])
        panels = [
            Bins(*parts)
            for parts in zip(labels, [edges] * len(labels), found, low, high, strict=True)
        ]
        return bins(panels, title=heading, across=printable(name), note=note)
    return bars(
        Bars(tuple(labels), found, low, high),
        title=heading,
        across=printable(name),
        up=printable(", ".join(answer.keys)),
        note=note,
    )
