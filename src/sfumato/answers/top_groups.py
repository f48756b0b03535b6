"""Keep the groups with the largest values: for counts by key the most frequent keys, first the
mode. This is post-processing, and free.

*Noise*     Of counts, the noise on each group is no larger than a private choice of the largest
            alone would need: one unit moves all of them together by what it may move one. So the
            counts come with the choice, for nothing.
*Level*     The groups are chosen by noisy values, so the intervals of these hold for all groups
            before the choice at once (`chosen_groups`).
*Sure*      From intervals that hold for all groups at once, a label says how many of the shown
            groups are among the largest of the named groups, with 95 % confidence.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..exact.numbers import probability
from . import answer_refusals as refusals
from .answer import Answer
from .answer_records import Column
from .chosen_groups import take_first_groups
from .column_kinds import KINDS
from .intervals import has_interval, interval, values
from .proportions import withheld_labels
from .render import footnote_texts as texts
from .render.tabulate import level_text

LEVEL = probability("0.95", "confidence")


def top(answer: Answer, count: int, name: str | None) -> Answer:
    """Keep `count` groups, the largest first; ties in the order of keys, groups without a value
    last.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise refusals.TOP_COUNT(count=count)
    if answer.tables:
        keys = ", ".join(map(repr, answer.tables[0].keys))
        raise refusals.STACKED_TABLES(method=f"top({count})", example=f"table({keys}).top({count})")
    if name is None and len(answer.columns) != 1:
        raise refusals.TOP_WITHOUT_COLUMN(
            count=count, columns=len(answer.columns), column=answer.names[0]
        )
    column = answer.column(name if name is not None else answer.names[0])
    if column.is_binned:
        raise refusals.TOP_BY_HISTOGRAM(count=count, name=column.name)
    numbers = values(answer, column)
    order = np.argsort(np.where(np.isnan(numbers), np.inf, -numbers), kind="stable")[:count]
    shown = take_first_groups(answer, column.pieces, order.tolist())
    return replace(
        shown,
        processing=(
            *answer.processing,
            *_labels(answer, column, count, cut=len(shown.rows) < len(answer.rows)),
        ),
    )


def _labels(answer: Answer, column: Column, count: int, *, cut: bool) -> list[str]:
    shown = texts.TOP_MANY if count > 1 else texts.TOP_ONE
    labels = [shown.format(count=count, name=column.name)] if cut else []
    if cut and KINDS[column.kind].ranks_groups and has_interval(answer, column):
        low, high = interval(answer, column, LEVEL, simultaneous=True)
        sure = sum(int((np.delete(high, i) >= low[i]).sum()) < count for i in range(len(low)))
        among = "" if answer.complete else texts.AMONG_NAMED
        certainty = texts.SURE_MANY if count > 1 else texts.SURE_ONE if sure else texts.UNSURE_ONE
        level = level_text(LEVEL)
        labels.append(certainty.format(level=level, sure=sure, count=count, among=among))
    return [*labels, *(withheld_labels(answer) if cut else ())]
