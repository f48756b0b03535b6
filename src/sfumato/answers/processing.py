"""Post-process an answer: no negative counts, whole numbers, groups that agree with totals. Each
step is free and adds a label to the answer.

*Kept*      The released pieces stay in the answer. Intervals are those of the release, cut where a
            step excludes values, so they still hold; an adjusted value need not lie in their
            middle.
*Totals*    Groups x with variance v each and totals t_j with variances w_j: the x that minimises
            Σ(x − g)²/v + Σ(A_j·x − t_j)²/w_j, A_j the sums that the totals are of. A public total
            has w = 0: it holds exactly. A reconciled total is the sum of its groups: it moved, too,
            unless it is public. Counts become whole numbers: their running totals are rounded, so
            each moves by less than 1, and a whole public total stays exact.
*From*      Totals are reconciled with the released numbers: what was done to answer and totals
            before is done anew. Pass all totals at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import NamedTuple

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
Total = Answer | Number


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
    before = {c.name: c.processed.values for c in answer.columns if c.processed is not None}
    # columns whose groups may no longer add up to what an earlier label says
    moved = tuple(
        texts.AGREEING.partition("{origin}")[0].format(name=name)
        for name, processed in changed.items()
        if before.get(name) != processed.values
    )
    labels = tuple(
        existing
        for existing in answer.processing
        if existing != label and not (moved and existing.startswith(moved))
    )
    return replace(answer, columns=columns, processing=(*labels, label))


class _Sum(NamedTuple):
    """A total: the places of the cells that it sums, its value, and the variance of its noise."""

    places: tuple[int, ...]
    value: Fraction
    variance: Fraction


def agreeing(answer: Answer, totals: Sequence[Total], name: str | None = None) -> Answer:
    """Adjust the groups so that they agree with totals; a total by some of the keys has one value
    for each of its groups.
    """
    column = _find_additive_column(answer, name)
    if not answer.complete:
        raise refusals.GROUPS_INCOMPLETE(name=column.name)
    _check_weighing(answer, f"agreeing(name={column.name!r})")
    raw = _shown_values(answer, replace(column, processed=None))
    variance = answer.pieces[column.pieces[0]].variance
    sums = [each for total in totals for each in _sums_of(total, column, answer)]
    values = _least_squares(raw, variance, sums)
    is_whole = KINDS[column.kind].counts
    if is_whole and all(each.variance or each.value.denominator == 1 for each in sums):
        values = _round_running(values)
    else:
        is_whole = False
    origin = (
        texts.TOTAL_RELEASED.format(total=f"{float(sum(values, _NONE)):,.10g}")
        if any(isinstance(total, Answer) for total in totals)
        else texts.TOTAL_PUBLIC
    )
    return _with_processed(
        answer,
        {column.name: Processed(tuple(values), column.floor, is_whole)},
        texts.AGREEING.format(name=column.name, origin=origin),
    )


def _least_squares(
    raw: Sequence[Fraction], variance: Fraction, sums: Sequence[_Sum]
) -> list[Fraction]:
    """Solve x = g + v·Aᵀ(v·A·Aᵀ + W)⁻¹(t − A·g): exactly where no two sums share a cell."""
    gaps = [each.value - sum((raw[i] for i in each.places), _NONE) for each in sums]
    moved = list(raw)
    if sum(len(each.places) for each in sums) == len({i for each in sums for i in each.places}):
        for each, gap in zip(sums, gaps, strict=True):
            spread = len(each.places) * variance + each.variance
            for i in each.places:
                moved[i] += gap * variance / spread if spread else _NONE
        return moved
    members = np.zeros((len(sums), len(raw)))
    for row, each in enumerate(sums):
        members[row, list(each.places)] = 1.0
    spreads = float(variance) * members @ members.T
    spreads += np.diag([float(each.variance) for each in sums])
    pulls, *_ = np.linalg.lstsq(spreads, np.array(list(map(float, gaps))), rcond=None)
    moved = [
        g + Fraction(float(variance) * step)
        for g, step in zip(raw, (members.T @ pulls).tolist(), strict=True)
    ]
    for each in sums:  # rounding errors of a public total of everything
        if not each.variance:
            rest = each.value - sum((moved[i] for i in each.places), _NONE)
            for i in each.places:
                moved[i] += rest / len(each.places)
    return moved


def _round_running(values: Sequence[Fraction]) -> list[Fraction]:
    """Round the running totals, halves up, and return their differences."""
    running = accumulate(values, initial=_NONE)
    rounded_totals = [math.floor(total + Fraction(1, 2)) for total in running]
    return [Fraction(after - before) for before, after in pairwise(rounded_totals)]


def _sums_of(total: Total, column: Column, answer: Answer) -> list[_Sum]:
    """Return the sums that a total states, over the cells of the answer."""
    cells = max(1, len(column.edges) - 1)
    targets, variance, keys = _targets(total, column, answer)
    members: dict[tuple[object, ...], list[int]] = {}
    for i, row in enumerate(answer.rows):
        part = tuple(row[answer.keys.index(key)] for key in keys)
        members.setdefault(part, []).extend(range(i * cells, (i + 1) * cells))
    if set(members) != set(targets):
        raise refusals.TOTAL_GROUPS(totals=len(targets), needed=len(members))
    return [_Sum(tuple(places), targets[part], variance) for part, places in members.items()]


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
    totals = _shown_values(total, replace(same[0], processed=None))
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
