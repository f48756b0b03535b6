"""Helpers that make answers look as one expects: not negative, whole, adding up. All of it is
post-processing: free, and labelled.

The released pieces stay in the answer. Intervals are those of the release, cut where a helper
excludes values, so they hold as before; a value that was moved need no longer stand in their
middle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ..errors import Refused
from ..exact.numbers import Number, exact
from .answer import Answer
from .answer_records import RULES, Column, Processed
from .column_kinds import KINDS
from .intervals import exactly
from .merge import SAME

_NONE = Fraction(0)
NON_NEGATIVE = "counts, and sums of what is never negative, are not shown below 0"
ROUNDED = "counts are rounded to whole numbers"
AGREEING = (
    "groups of {name} were moved to add up to a total that {what}, each by its part of the noise"
)


def non_negative(answer: Answer) -> Answer:
    """Negative values become 0, and intervals are cut there."""

    def raised(column: Column, values: Sequence[Fraction]) -> Processed:
        whole = column.processed is not None and column.processed.whole
        return Processed(tuple(max(v, _NONE) for v in values), _NONE, whole)

    return _each(
        answer,
        lambda c: KINDS[c.kind].counts or (c.kind == "sum" and c.numbers.get("low", -1) >= 0),
        raised,
        NON_NEGATIVE,
    )


def rounded(answer: Answer) -> Answer:
    """Halves go up."""

    def whole(column: Column, values: Sequence[Fraction]) -> Processed:
        return Processed(
            tuple(Fraction(math.floor(v + Fraction(1, 2))) for v in values), column.floor, True
        )

    return _each(answer, lambda c: KINDS[c.kind].counts, whole, ROUNDED)


def agreeing(answer: Answer, total: Answer | Number, name: str | None = None) -> Answer:
    """The least squares solution, each number weighted by the inverse of its variance.

    With n groups of variance v and a total of variance w, the gap total − Σ groups is shared out:
    each group takes v/(n·v + w) of it, the total the rest; a public total has w = 0. A total that
    is grouped by some of the keys is one for each of its groups. Groups and total have to be about
    the same bounded rows: every group is there, and a row weighs the same in both.
    """
    column = _additive(answer, name)
    if not answer.complete:
        reason = (
            "groups may be withheld or left out, so those that are shown need not add up to "
            "the total"
        )
        raise Refused(
            "answer.agreeing",
            f"agreeing(name={column.name!r})",
            reason,
            "public keys, which show every group, before HAVING, LIMIT or top",
        )
    _check_weighing(answer, f"agreeing(name={column.name!r})")
    values, piece = _values(answer, column), answer.pieces[column.pieces[0]]
    cells = max(1, len(column.edges) - 1)
    members: dict[tuple[object, ...], list[int]] = {}
    targets, spread, kept = _targets(total, column, answer)
    for i, row in enumerate(answer.rows):
        members.setdefault(tuple(row[answer.keys.index(k)] for k in kept), []).append(i)
    if set(members) != set(targets):
        raise Refused(
            "answer.agreeing",
            f"{len(targets)} totals",
            f"the groups fall into {len(members)} parts, and not the same ones",
            "a total of the same rows",
        )
    moved = list(values)
    for part, rows in members.items():
        places = [row * cells + cell for row in rows for cell in range(cells)]
        gap = targets[part] - sum((values[i] for i in places), _NONE)
        whole = len(places) * piece.variance + spread
        each = gap * piece.variance / whole if whole else _NONE
        for i in places:
            moved[i] += each
    what = "was released apart" if isinstance(total, Answer) else "is public"
    return _with(
        answer,
        {column.name: Processed(tuple(moved), column.floor)},
        AGREEING.format(name=column.name, what=what),
    )


def _targets(
    total: Answer | Number, column: Column, answer: Answer
) -> tuple[dict[tuple[object, ...], Fraction], Fraction, tuple[str, ...]]:
    """The totals by their keys, the variance of their noise, and the names of the keys."""
    if not isinstance(total, Answer):
        return {(): exact(total, "total")}, _NONE, ()
    _check_weighing(total, "total=…")
    _check_same(answer, total)
    keys = answer.keys
    if set(total.keys) - set(keys) or len(total.keys) == len(keys):
        raise Refused(
            "answer.agreeing",
            f"a total by {', '.join(total.keys) or 'nothing'}",
            "it is grouped by fewer of the same keys",
            "total=a release without keys",
        )
    same = [
        c
        for c in total.columns
        if (c.kind, c.text) == (column.kind, column.text)
        or (column.kind == "histogram" and c.kind == "count")
    ]
    same = [c for c in same if len(c.edges) < 2]
    if len(same) != 1:
        raise Refused(
            "answer.agreeing",
            f"a total of {', '.join(total.names)}",
            f"one column has to be the total of {column.name}",
            f"a {column.kind} alone",
        )
    found = _values(total, same[0])
    return (
        dict(zip(total.rows, found, strict=True)),
        total.pieces[same[0].pieces[0]].variance,
        total.keys,
    )


def _check_weighing(answer: Answer, place: str) -> None:
    """Refuse an answer whose bounded groups need not add up to what another release says of all
    rows.
    """
    if answer.weighing is None:
        reason = "how it bounded its units is not recorded, so its groups need not add up"
        raise Refused(
            "answer.agreeing",
            place,
            reason,
            "a new release, or Answer(…, weighing=Weighing(…)) if you know it",
        )
    if not answer.weighing.adds:
        reason = (
            f"its groups do not add up to a total that is released apart: "
            f"{RULES[answer.weighing.rule]}"
        )
        raise Refused(
            "answer.agreeing",
            place,
            reason,
            'releases with sf.Pure(…), which has L1 weights, and bounding="weights" in protect(…)',
        )


def _check_same(answer: Answer, total: Answer) -> None:
    """Refuse a total of other rows, or of rows that weigh something else."""
    for name in (*SAME, "rows"):
        if answer.facts.get(name) != total.facts.get(name):
            raise Refused(
                "answer.agreeing",
                name,
                f"the total is about something else: another {name}",
                "a total of the same rows of the same data",
            )
    mine, other = answer.weighing, total.weighing
    assert mine is not None
    assert other is not None
    if (mine.rule, mine.rows, mine.bits) != (other.rule, other.rows, other.bits):
        reason = f"the two bounded units differently: {mine}, and {other}"
        raise Refused(
            "answer.agreeing",
            "different weighing",
            reason,
            "releases with promises of one kind: sf.Pure(…) for each",
        )


def _additive(answer: Answer, name: str | None) -> Column:
    adding = [column for column in answer.columns if KINDS[column.kind].adds]
    if name is None and len(adding) != 1:
        raise Refused(
            "answer.agreeing",
            "agreeing(total=…)",
            f"{len(adding)} columns add up over groups: which one?",
            f"name={(adding or answer.columns)[0].name!r}",
        )
    column = answer.column(name) if name is not None else adding[0]
    if not KINDS[column.kind].adds:
        reason = f"a {column.kind} of all is not the sum over groups" + (
            ": a unit may be in several" if column.kind == "count_units" else ""
        )
        raise Refused("answer.agreeing", f"name={column.name!r}", reason, "a count or a sum")
    return column


def _values(answer: Answer, column: Column) -> Sequence[Fraction]:
    """What a column shows now, exactly."""
    if column.processed is not None:
        return column.processed.values
    top, bottom = exactly(answer, column)
    assert isinstance(bottom, int)
    return [Fraction(int(v), bottom) for v in np.ravel(top)]


def _each(
    answer: Answer,
    concerns: Callable[[Column], bool],
    change: Callable[[Column, Sequence[Fraction]], Processed],
    label: str,
) -> Answer:
    changed = {
        column.name: change(column, _values(answer, column))
        for column in answer.columns
        if concerns(column)
    }
    return _with(answer, changed, label) if changed else answer


def _with(answer: Answer, changed: dict[str, Processed], label: str) -> Answer:
    columns = tuple(
        replace(column, processed=changed.get(column.name, column.processed))
        for column in answer.columns
    )
    labels = tuple(said for said in answer.processing if said != label)
    return replace(answer, columns=columns, processing=(*labels, label))
