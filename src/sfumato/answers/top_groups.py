"""The groups with the largest values: of counts by key, the most frequent keys, the first of them
the mode. Post-processing, so it is free.

*Noise*     Of counts, the noise on each group is no larger than a private choice of the largest
            alone would need: one unit moves all of them together by what it may move one. So the
            counts come with the choice, for nothing.
*Level*     The groups are chosen by noisy values, so the intervals of these hold for all groups
            before the choice at once (`chosen`).
*Sure*      By intervals that hold for all groups at once it is said how many of those shown are
            surely among the largest of the groups that are named.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import Refused
from ..exact.numbers import probability
from .answer import Answer
from .answer_records import Column
from .chosen_groups import first
from .intervals import has_interval, interval, values
from .proportions import unnamed
from .render.tabulate import level_text

LEVEL = probability("0.95", "confidence")
_SURE = frozenset(
    {"count", "count_units", "count_distinct", "sum", "mean", "weighted_mean", "variance", "std"}
)


def top(answer: Answer, count: int, name: str | None) -> Answer:
    """So many groups, the largest first; ties in the order of their keys, groups without a value
    last.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise Refused(
            "answer.top",
            f"top({count!s:.40})",
            "it is a whole number of groups, from 1 on",
            "top(3)",
        )
    if name is None and len(answer.columns) != 1:
        raise Refused(
            "answer.top",
            f"top({count})",
            f"there are {len(answer.columns)} columns: by which one?",
            f"top({count}, {answer.names[0]!r})",
        )
    column = answer.column(name if name is not None else answer.names[0])
    if column.kind == "histogram":
        raise Refused(
            "answer.top",
            f"top({count}, {column.name!r})",
            "a histogram is many numbers",
            "a column of one number for each group",
        )
    numbers = values(answer, column)
    order = np.argsort(np.where(np.isnan(numbers), np.inf, -numbers), kind="stable")[:count]
    shown = first(answer, column.pieces, order.tolist())
    return replace(
        shown,
        processing=(
            *answer.processing,
            *_labels(answer, column, count, cut=len(shown.rows) < len(answer.rows)),
        ),
    )


def _labels(answer: Answer, column: Column, count: int, *, cut: bool) -> list[str]:
    few = f"are the {count} groups" if count > 1 else "is the group"
    said = [f"shown {few} with the largest {column.name}"] if cut else []
    if cut and column.kind in _SURE and has_interval(answer, column):
        low, high = interval(answer, column, LEVEL, simultaneous=True)
        sure = sum(int((np.delete(high, i) >= low[i]).sum()) < count for i in range(len(low)))
        named = "" if answer.complete else " of the groups that were named"
        said.append(
            f"{sure} of them surely, with {level_text(LEVEL)}, are among the {count} largest{named}"
            if count > 1
            else _one(sure, named)
        )
    return [*said, *(unnamed(answer) if cut else ())]


def _one(sure: int, named: str) -> str:
    return (
        f"it surely is the largest{named}, with {level_text(LEVEL)}"
        if sure
        else "another one may be larger"
    )
