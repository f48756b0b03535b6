"""Post-process an answer: no negative counts, whole numbers. Each step is free and adds a label to
the answer.

The released pieces stay in the answer. Intervals are those of the release, cut where a step
excludes values, so they still hold; an adjusted value need not lie in their middle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ..mechanisms.linear.linear_queries import rising as never_falling
from . import answer_refusals as refusals
from .answer import Answer
from .answer_records import Column, Processed
from .column_kinds import KINDS
from .intervals import exact_values, values
from .render import footnote_texts as texts

_NONE = Fraction(0)


def non_negative(answer: Answer) -> Answer:
    """Replace negative counts, and negative sums of non-negative values, by 0; cut intervals."""

    def clamp_at_zero(column: Column, values: Sequence[Fraction]) -> Processed:
        is_whole = column.processed is not None and column.processed.is_whole
        return Processed(tuple(max(v, _NONE) for v in values), _NONE, is_whole)

    return _process_columns(
        answer,
        lambda c: KINDS[c.kind].counts or (c.kind == "sum" and c.numbers.get("low", -1) >= 0),
        clamp_at_zero,
        texts.NON_NEGATIVE,
    )


def rounded(answer: Answer) -> Answer:
    """Round counts to whole numbers; halves go up."""

    def round_values(column: Column, values: Sequence[Fraction]) -> Processed:
        return Processed(
            tuple(Fraction(math.floor(v + Fraction(1, 2))) for v in values), column.floor, True
        )

    return _process_columns(answer, lambda c: KINDS[c.kind].counts, round_values, texts.ROUNDED)


def rising(answer: Answer) -> Answer:
    """Replace cumulative counts by the nearest ones that never fall and are not below 0."""

    def straighten(column: Column, shown: Sequence[Fraction]) -> Processed:
        counts = np.array([float(value) for value in shown]).reshape(len(answer.rows), -1)
        curves = [never_falling(row) for row in counts]
        return Processed(tuple(Fraction(v) for curve in curves for v in curve.tolist()), _NONE)

    if not any(column.kind == "cumulative" for column in answer.columns):
        raise refusals.NOTHING_RISES(name=answer.names[0])
    return _process_columns(answer, lambda c: c.kind == "cumulative", straighten, texts.RISING)


def shown_values(answer: Answer, column: Column) -> Sequence[Fraction]:
    """Return the values that a column shows now, exactly."""
    if column.processed is not None:
        return column.processed.values
    if column.kind == "cumulative":
        return [Fraction(v) for v in np.ravel(values(answer, column)).tolist()]
    top, bottom = exact_values(answer, column)
    assert isinstance(bottom, int)
    return [Fraction(int(v), bottom) for v in np.ravel(top)]


def _process_columns(
    answer: Answer,
    concerns: Callable[[Column], bool],
    change: Callable[[Column, Sequence[Fraction]], Processed],
    label: str,
) -> Answer:
    if answer.tables:
        raise refusals.STACKED_TABLES(method="this", example=first_table(answer))
    changed = {
        column.name: change(column, shown_values(answer, column))
        for column in answer.columns
        if concerns(column)
    }
    return with_processed(answer, changed, label) if changed else answer


def first_table(answer: Answer) -> str:
    return f"table({', '.join(map(repr, answer.tables[0].keys))})"


def with_processed(answer: Answer, changed: dict[str, Processed], label: str) -> Answer:
    columns = tuple(
        replace(column, processed=changed.get(column.name, column.processed))
        for column in answer.columns
    )
    before = {column.name: column.processed for column in answer.columns}
    # columns whose groups may no longer add up to what an earlier label says
    moved = tuple(
        texts.AGREEING_START.format(name=name)
        for name, processed in changed.items()
        if before[name] is None or before[name].values != processed.values
    )
    labels = tuple(
        existing
        for existing in answer.processing
        if existing != label and not (moved and existing.startswith(moved))
    )
    return replace(answer, columns=columns, processing=(*labels, label))
