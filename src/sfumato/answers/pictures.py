"""From a column of an answer to its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import Refused
from ..exact.numbers import Number
from ..plots.answer import Bars, Bins, bars, bins
from .intervals import has_interval, interval, level_of, values
from .layout import key_text, level_text, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .answer import Answer

PANELS = 6
"""Histograms of more groups are not drawn side by side."""


def plot(answer: Answer, name: str, *, confidence: Number, top: int, title: str | None) -> Figure:
    """Bars by group, or by bin; the largest first where not all groups have room."""
    column = answer.column(name)
    if not answer.rows or isinstance(top, bool) or not isinstance(top, int) or top < 1:
        raise Refused("answer.plot", f"plot({name!r})", f"{len(answer.rows)} groups, of which {top!r:.20} are to be drawn", "an answer with a group, top=20")
    found = values(answer, column)
    known = has_interval(answer, column)
    low, high = interval(answer, column, level_of(column, confidence)) if known else (found, found)
    labels = [", ".join(map(key_text, row)) for row in answer.rows]
    note = f"{level_text(level_of(column, confidence))} intervals, each cell" if known else ""
    heading = printable(title if title is not None else column.text or name)
    room = min(top, PANELS) if column.kind == "histogram" else top
    order = np.arange(len(labels))
    if len(labels) > room:
        size = found.sum(axis=1) if column.kind == "histogram" else found
        order = np.argsort(-size, kind="stable")[:room]
        note = "; ".join(said for said in (f"the {room} largest of {len(labels)} groups", note) if said)
    if column.kind == "histogram":
        edges = np.array([float(edge) for edge in column.edges])
        panels = [Bins(labels[i], edges, found[i], low[i], high[i]) for i in order]
        return bins(panels, title=heading, across=printable(name), note=note)
    chosen = Bars(tuple(labels[i] for i in order), found[order], low[order], high[order])
    return bars(chosen, title=heading, across=printable(name), up=printable(", ".join(answer.keys)), note=note)
