"""Merge several releases of the same question into one answer: a weighted average of their pieces,
with its own interval.

*Weights*   By the inverse of the variances, in parts of 2^16: any weights that sum to 1 are right,
            these are nearly the best, and the variances are public.
*Interval*  From the law of the weighted sum of the noises (`noise.weighted_sums`). Means and
            variances are computed from averaged pieces, as always (`intervals`).
*Cost*      The sum of the costs of the answers. Merging costs nothing.
*Same*      The releases must have bounded their units in the same way, else they are about
            different numbers: L1 weights are not L2 weights, and where rows are drawn every release
            has its own.
*Once*      Every release counts once. A release that is passed twice, from the store or as a copy,
            is refused, because its noise is not independent of itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ..exact.exact_ratios import as_python_ints
from . import answer_refusals as refusals
from .answer import Answer
from .answer_records import Column, Draw, Key, LinearNoise, Noisy, Paid
from .proportions import is_pooled
from .render import footnote_texts as texts
from .shown_counts import averages_such, decided_itself

PARTS = 1 << 16
"""A weight is a whole number of parts 1/PARTS."""

SAME = ("dataset", "unit", "relation", "declaration")
"""The facts that answers about the same data have in common."""


def merge(answers: Sequence[Answer]) -> Answer:
    """Merge several releases of the same question into one answer. Groups that some release does
    not show are left out.
    """
    releases = tuple(answers)
    if stacked := [answer for answer in releases if answer.tables]:
        keys = ", ".join(map(repr, stacked[0].tables[0].keys))
        raise refusals.STACKED_TABLES(method="merge", example=f"table({keys})")
    _check_mergeable(releases)
    first = releases[0]
    places = [{_row_label(row): i for i, row in enumerate(answer.rows)} for answer in releases]
    labels = [label for label in places[0] if all(label in place for place in places)]
    rows = tuple(first.rows[places[0][label]] for label in labels)
    chosen = [np.array([place[label] for label in labels], dtype=np.int64) for place in places]
    sizes = [len(answer.rows) for answer in releases]
    grouped = {first.pieces[i].name for column in first.columns for i in column.pieces}
    common = set.intersection(
        *({piece.name for piece in answer.pieces if piece.law is not None} for answer in releases)
    )
    together = {name for name in common if is_pooled(name)}
    used = [piece.name for piece in first.pieces if piece.name in grouped | together]
    pieces = tuple(
        _average_pieces(
            [_piece_named(answer, name) for answer in releases],
            chosen if name in grouped else None,
            sizes,
        )
        for name in used
    )
    return Answer(
        keys=first.keys,
        rows=rows,
        pieces=pieces,
        columns=tuple(
            replace(c, pieces=tuple(used.index(first.pieces[i].name) for i in c.pieces))
            for c in first.columns
        ),
        cost=reduce(lambda a, b: a + b, (answer.cost for answer in releases)),
        receipts=_receipts(releases),
        rules=tuple(dict.fromkeys(rule for answer in releases for rule in answer.rules)),
        processing=(
            *_left_out_labels(releases),
            texts.MERGED.format(n=len(_receipts(releases)) or len(releases)),
        ),
        facts={
            **first.facts,
            "mechanisms": [m for answer in releases for m in answer.facts.get("mechanisms", [])],
        },
        budget=first.budget,
        weighing=first.weighing,
        complete=all(answer.complete for answer in releases),
    )


def _average_pieces(
    pieces: Sequence[Noisy], rows: Sequence[NDArray[np.int64]] | None, sizes: Sequence[int]
) -> Noisy:
    """Average a piece over releases: Σ weight·piece, as integers on a common step.

    If the values of one release chose its groups, the average chose from the groups that all
    releases had before the choice: no more than the release with the fewest.
    """
    shares = _weights([piece.variance for piece in pieces])
    step = (
        Fraction(
            math.gcd(*(piece.step.numerator for piece in pieces)),
            math.lcm(*(piece.step.denominator for piece in pieces)),
        )
        / PARTS
    )
    each = [
        Fraction(share, PARTS) * piece.step / step
        for share, piece in zip(shares, pieces, strict=True)
    ]  # whole numbers
    integers = [
        as_python_ints(piece.values if rows is None else piece.values[rows[i]])
        for i, piece in enumerate(pieces)
    ]
    values = sum(
        (int(factor) * z for factor, z in zip(each[1:], integers[1:], strict=True)),
        start=int(each[0]) * integers[0],
    )
    draws = [
        Draw(draw.mechanism, draw.weight * factor, f"{release}/{draw.name}")
        for release, (piece, factor) in enumerate(zip(pieces, each, strict=True))
        for draw in piece.draws
    ]
    decided = any(decided_itself(piece) or averages_such(piece) for piece in pieces)
    before = [
        None if piece.among is None or decided else piece.among or size
        for piece, size in zip(pieces, sizes, strict=True)
    ]
    among = (
        0
        if all(piece.among == 0 for piece in pieces) and not decided
        else None
        if None in before
        else min(count for count in before if count is not None)
    )
    return Noisy(
        pieces[0].name,
        values,
        step,
        LinearNoise(tuple(draws)),
        among,
        sorts=any(piece.sorts for piece in pieces),
    )


def _left_out_labels(answers: Sequence[Answer]) -> list[str]:
    """Collect the labels about left-out groups, each once."""
    return list(
        dict.fromkeys(
            label
            for answer in answers
            for label in answer.processing
            if label.startswith(texts.LEFT_OUT)
        )
    )


def _weights(variances: Sequence[Fraction]) -> list[int]:
    """Compute weights in proportion to the inverse variances: integers that sum to PARTS."""
    inverse = [1 / v for v in variances]
    shares = [max(1, int(PARTS * w / sum(inverse))) for w in inverse]
    shares[shares.index(max(shares))] += PARTS - sum(shares)
    return shares


def _piece_named(answer: Answer, name: str) -> Noisy:
    return next(piece for piece in answer.pieces if piece.name == name)


def _row_label(row: tuple[Key, ...]) -> tuple[object, ...]:
    """Turn a row of keys into a label that equals itself, which NaN does not."""
    return tuple(
        "NaN" if isinstance(key, float) and math.isnan(key) else (type(key), key) for key in row
    )


def _receipts(answers: Sequence[Answer]) -> tuple[Paid, ...]:
    return tuple(paid for answer in answers for paid in answer.receipts)


def _check_mergeable(answers: Sequence[Answer]) -> None:
    if len(answers) < 2:
        raise refusals.TOO_FEW_ANSWERS(count=len(answers))
    first = answers[0]
    receipts = _receipts(answers)
    if len(set(receipts)) != len(receipts) or len({answer.to_json() for answer in answers}) != len(
        answers
    ):
        raise refusals.SAME_RELEASE_TWICE(count=len(answers))
    for answer in answers:
        if [_question_of(c) for c in answer.columns] != [
            _question_of(c) for c in first.columns
        ] or answer.keys != first.keys:
            raise refusals.OTHER_QUESTION(
                columns=", ".join(answer.names),
                keys=", ".join(answer.keys) or "nothing",
                first_columns=", ".join(first.names),
                first_keys=", ".join(first.keys) or "nothing",
            )
        for name in (*SAME, "question"):
            if answer.facts.get(name) != first.facts.get(name):
                raise refusals.OTHER_DATA(fact=name)
        _check_weighing(answer, first)
        if any(column.processed is not None or column.sources for column in answer.columns):
            raise refusals.MERGED_AFTER_PROCESSING()
        for column in answer.columns:
            for i in column.pieces:
                name, law = answer.pieces[i].name, answer.pieces[i].law
                if law is None or not any(piece.name == name for piece in first.pieces):
                    raise refusals.MERGED_WITHOUT_NOISE(name=column.name, kind=column.kind)


def _check_weighing(answer: Answer, first: Answer) -> None:
    """Refuse releases that bounded their units in different ways: they estimate different
    numbers.
    """
    mine, reference = answer.weighing, first.weighing
    if mine is None or reference is None:
        raise refusals.MERGED_WEIGHING_NOT_RECORDED()
    if mine.rule == "drawn" or (
        mine.rule != "row" and any(column.kind == "count_distinct" for column in answer.columns)
    ):
        raise refusals.MERGED_ROWS_DRAWN(columns=", ".join(answer.names))
    if mine != reference:
        raise refusals.MERGED_OTHER_WEIGHING(first=reference, second=mine)


def _question_of(column: Column) -> tuple[object, ...]:
    return column.name, column.kind, column.text, dict(column.numbers), column.edges
