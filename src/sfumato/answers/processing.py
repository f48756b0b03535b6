"""Post-process an answer: no negative counts, whole numbers, groups that add up to a total. Each
step is free and adds a label to the answer.

The released pieces stay in the answer. Intervals are those of the release, cut where a step
excludes values, so they still hold; an adjusted value need not lie in their middle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ..exact.numbers import Number, exact
from ..mechanisms.linear.linear_queries import rising as never_falling
from . import answer_refusals as refusals
from .answer import Answer
from .answer_records import RULES, Column, Processed
from .column_kinds import KINDS
from .intervals import exact_values, values
from .merge import SAME
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


def agreeing(answer: Answer, total: Answer | Number, name: str | None = None) -> Answer:
    """Adjust the groups to a total by least squares, weighted by the inverse variances.

    With n groups of variance v and a total of variance w, each group takes v/(n·v + w) of the gap
    total − Σ groups, and the total takes the rest; a public total has w = 0. A total that is
    grouped by some of the keys has one value for each of its groups. Groups and total must be about
    the same bounded rows: every group is shown, and a row has the same weight in both.
    """
    column = _find_additive_column(answer, name)
    if not answer.complete:
        raise refusals.GROUPS_INCOMPLETE(name=column.name)
    _check_weighing(answer, f"agreeing(name={column.name!r})")
    values, piece = _shown_values(answer, column), answer.pieces[column.pieces[0]]
    cells = max(1, len(column.edges) - 1)
    members: dict[tuple[object, ...], list[int]] = {}
    targets, spread, total_keys = _targets(total, column, answer)
    for i, row in enumerate(answer.rows):
        members.setdefault(tuple(row[answer.keys.index(k)] for k in total_keys), []).append(i)
    if set(members) != set(targets):
        raise refusals.TOTAL_GROUPS(totals=len(targets), needed=len(members))
    moved = list(values)
    for part, rows in members.items():
        places = [row * cells + cell for row in rows for cell in range(cells)]
        gap = targets[part] - sum((values[i] for i in places), _NONE)
        denominator = len(places) * piece.variance + spread
        each = gap * piece.variance / denominator if denominator else _NONE
        for i in places:
            moved[i] += each
    origin = texts.TOTAL_RELEASED if isinstance(total, Answer) else texts.TOTAL_PUBLIC
    return _with_processed(
        answer,
        {column.name: Processed(tuple(moved), column.floor)},
        texts.AGREEING.format(name=column.name, origin=origin),
    )


def _targets(
    total: Answer | Number, column: Column, answer: Answer
) -> tuple[dict[tuple[object, ...], Fraction], Fraction, tuple[str, ...]]:
    """Return the totals by their keys, the variance of their noise, and the names of the keys."""
    if not isinstance(total, Answer):
        return {(): exact(total, "total")}, _NONE, ()
    _check_weighing(total, "total=…")
    _check_same(answer, total)
    keys = answer.keys
    if set(total.keys) - set(keys) or len(total.keys) == len(keys):
        raise refusals.TOTAL_KEYS(
            total_keys=", ".join(total.keys) or "nothing", keys=", ".join(keys) or "of the answer"
        )
    same = [
        c
        for c in total.columns
        if (c.kind, c.text) == (column.kind, column.text)
        or (column.kind == "histogram" and c.kind == "count")
    ]
    same = [c for c in same if len(c.edges) < 2]
    if len(same) != 1:
        raise refusals.TOTAL_COLUMN(
            columns=", ".join(total.names), name=column.name, count=len(same), kind=column.kind
        )
    totals = _shown_values(total, same[0])
    return (
        dict(zip(total.rows, totals, strict=True)),
        total.pieces[same[0].pieces[0]].variance,
        total.keys,
    )


def _check_weighing(answer: Answer, place: str) -> None:
    """Refuse an answer whose bounded groups need not add up to another release's total."""
    if answer.weighing is None:
        raise refusals.WEIGHING_NOT_RECORDED(place=place)
    if not answer.weighing.adds:
        raise refusals.GROUPS_DO_NOT_ADD(place=place, rule=RULES[answer.weighing.rule])


def _check_same(answer: Answer, total: Answer) -> None:
    """Refuse a total of other rows, or of rows with other weights."""
    for name in (*SAME, "rows"):
        if answer.facts.get(name) != total.facts.get(name):
            raise refusals.TOTAL_OF_OTHER_ROWS(fact=name)
    weighing, total_weighing = answer.weighing, total.weighing
    assert weighing is not None
    assert total_weighing is not None
    if (weighing.rule, weighing.rows, weighing.bits) != (
        total_weighing.rule,
        total_weighing.rows,
        total_weighing.bits,
    ):
        raise refusals.OTHER_WEIGHING(weighing=weighing, total_weighing=total_weighing)


def _find_additive_column(answer: Answer, name: str | None) -> Column:
    if answer.tables:
        raise refusals.STACKED_TABLES(method="agreeing", example=_first_table(answer))
    adding = [column for column in answer.columns if KINDS[column.kind].adds]
    if name is None and len(adding) != 1:
        raise refusals.SEVERAL_ADDING_COLUMNS(
            count=len(adding), name=(adding or answer.columns)[0].name
        )
    column = answer.column(name) if name is not None else adding[0]
    if column.kind == "count_units" and not KINDS[column.kind].adds:
        raise refusals.UNITS_DO_NOT_ADD(name=column.name)
    if not KINDS[column.kind].adds:
        raise refusals.COLUMN_DOES_NOT_ADD(name=column.name, kind=column.kind)
    return column


def _shown_values(answer: Answer, column: Column) -> Sequence[Fraction]:
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
        raise refusals.STACKED_TABLES(method="this", example=_first_table(answer))
    changed = {
        column.name: change(column, _shown_values(answer, column))
        for column in answer.columns
        if concerns(column)
    }
    return _with_processed(answer, changed, label) if changed else answer


def _first_table(answer: Answer) -> str:
    return f"table({', '.join(map(repr, answer.tables[0].keys))})"


def _with_processed(answer: Answer, changed: dict[str, Processed], label: str) -> Answer:
    columns = tuple(
        replace(column, processed=changed.get(column.name, column.processed))
        for column in answer.columns
    )
    labels = tuple(existing for existing in answer.processing if existing != label)
    return replace(answer, columns=columns, processing=(*labels, label))
