"""Several answers to the same question, released at different times, as one: a weighted average of
their pieces, with the interval that belongs to it.

*Weights*   By the inverse of the variances, in parts of 2^16: any weights that sum to 1 are right,
            these are nearly the best, and the variances are public.
*Interval*  From the law of the weighted sum of the noises (`sums`). Means and spreads are finished
            from averaged pieces, by the same box as always.
*Cost*      What the answers cost, added up. Nothing new is paid.
*Same*      The releases must have bounded their units in the same way, else they are about
            different numbers: L1 weights are not L2 weights, and where rows are drawn every release
            has its own.
*Once*      Every release counts once: the same one given twice, from the store or a copy, is
            refused, for its noise is not independent of itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ..errors import Refused
from ..guarantees import Guarantee, Relation
from ..mechanisms.shared.mechanism import Mechanism
from .answer import Answer
from .answer_records import Column, Key, Noisy, Paid, law_of
from .exact_ratios import long
from .noise_sums import Term, within
from .proportions import pooled

PARTS = 1 << 16
"""Weights are whole numbers of these."""

LABEL = "the weighted average of {n} releases of the same question"
LEFT_OUT = "shown "
"""With this begins what an answer says where groups were left out of it."""

SAME = ("dataset", "unit", "relation", "declaration")
"""Facts that are the same of answers about the same data."""


@dataclass(frozen=True, slots=True)
class SumLaw:
    """The law of a weighted sum of independent noises, in steps."""

    terms: tuple[Term, ...]

    @property
    def variance(self) -> float:
        return sum(count * float(weight) ** 2 * law.variance for law, weight, count in self.terms)

    def half_width(self, confidence: Fraction, *, values: int = 1) -> int:
        """What the sum stays within; several of them by the union bound."""
        return math.ceil(within(self.terms, (1 - confidence) / values))


@dataclass(frozen=True, slots=True, repr=False)
class Merged(Mechanism):
    """Several mechanisms, each with the weight of its integers in the merged ones."""

    parts: tuple[tuple[Mechanism, Fraction], ...]

    @property
    def relation(self) -> Relation | None:  # type: ignore[override]
        return self.parts[0][0].relation

    @property
    def unit(self) -> str | None:  # type: ignore[override]
        return self.parts[0][0].unit

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (reduce(lambda a, b: a + b, (mechanism.promise for mechanism, _ in self.parts)),)

    @property
    def law(self) -> SumLaw:
        laws = [(law_of(mechanism), weight) for mechanism, weight in self.parts]
        return SumLaw(tuple((law, weight, 1) for law, weight in laws if law is not None))


def merge(answers: Sequence[Answer]) -> Answer:
    """One answer out of several releases of the same question. Groups that not all of them show are
    left out.
    """
    found = tuple(answers)
    _check(found)
    first = found[0]
    places = [{_label(row): i for i, row in enumerate(answer.rows)} for answer in found]
    labels = [label for label in places[0] if all(label in place for place in places)]
    rows = tuple(first.rows[places[0][label]] for label in labels)
    chosen = [np.array([place[label] for label in labels], dtype=np.int64) for place in places]
    sizes = [len(answer.rows) for answer in found]
    grouped = {first.pieces[i].name for column in first.columns for i in column.pieces}
    common = set.intersection(
        *({piece.name for piece in answer.pieces if piece.law is not None} for answer in found)
    )
    together = {name for name in common if pooled(name)}
    used = [piece.name for piece in first.pieces if piece.name in grouped | together]
    pieces = tuple(
        _piece(
            [_named(answer, name) for answer in found], chosen if name in grouped else None, sizes
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
        cost=reduce(lambda a, b: a + b, (answer.cost for answer in found)),
        receipts=_receipts(found),
        rules=tuple(dict.fromkeys(rule for answer in found for rule in answer.rules)),
        processing=(*_left_out(found), LABEL.format(n=len(_receipts(found)) or len(found))),
        facts={
            **first.facts,
            "mechanisms": [m for answer in found for m in answer.facts.get("mechanisms", [])],
        },
        budget=first.budget,
        weighing=first.weighing,
        complete=all(answer.complete for answer in found),
    )


def _piece(
    pieces: Sequence[Noisy], rows: Sequence[NDArray[np.int64]] | None, sizes: Sequence[int]
) -> Noisy:
    """Σ weight·piece over releases, as integers on a step that holds them all.

    Where the values of one release chose its groups, those of the average chose from the groups
    that all releases had before the choice: no more than the release with the fewest.
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
    taken = [
        long(piece.values if rows is None else piece.values[rows[i]])
        for i, piece in enumerate(pieces)
    ]
    values = sum(
        (int(factor) * z for factor, z in zip(each[1:], taken[1:], strict=True)),
        start=int(each[0]) * taken[0],
    )
    parts: list[tuple[Mechanism, Fraction]] = []
    for piece, factor in zip(pieces, each, strict=True):
        mine = (
            piece.mechanism.parts
            if isinstance(piece.mechanism, Merged)
            else ((piece.mechanism, Fraction(1)),)
        )
        parts += [(mechanism, weight * factor) for mechanism, weight in mine]
    before = [
        None if piece.among is None else piece.among or size
        for piece, size in zip(pieces, sizes, strict=True)
    ]
    among = (
        0
        if all(piece.among == 0 for piece in pieces)
        else None
        if None in before
        else min(count for count in before if count is not None)
    )
    return Noisy(
        pieces[0].name,
        values,
        step,
        Merged(tuple(parts)),
        among,
        sorts=any(piece.sorts for piece in pieces),
    )


def _left_out(answers: Sequence[Answer]) -> list[str]:
    """What was said where groups were left out, each once."""
    return list(
        dict.fromkeys(
            said for answer in answers for said in answer.processing if said.startswith(LEFT_OUT)
        )
    )


def _weights(variances: Sequence[Fraction]) -> list[int]:
    """Whole numbers of parts, in proportion to the inverse variances; their sum is the whole."""
    inverse = [1 / v for v in variances]
    shares = [max(1, int(PARTS * w / sum(inverse))) for w in inverse]
    shares[shares.index(max(shares))] += PARTS - sum(shares)
    return shares


def _named(answer: Answer, name: str) -> Noisy:
    return next(piece for piece in answer.pieces if piece.name == name)


def _label(row: tuple[Key, ...]) -> tuple[object, ...]:
    """A row that is equal to itself, as NaN is not."""
    return tuple(
        "NaN" if isinstance(key, float) and math.isnan(key) else (type(key), key) for key in row
    )


def _receipts(answers: Sequence[Answer]) -> tuple[Paid, ...]:
    return tuple(paid for answer in answers for paid in answer.receipts)


def _check(answers: Sequence[Answer]) -> None:
    if len(answers) < 2:
        raise Refused(
            "answer.merge", f"merge of {len(answers)}", "there is nothing to merge", "merge([a, b])"
        )
    first = answers[0]
    receipts = _receipts(answers)
    if len(set(receipts)) != len(receipts) or len({answer.to_json() for answer in answers}) != len(
        answers
    ):
        raise Refused(
            "answer.merge",
            f"{len(answers)} answers",
            "the same release is among them twice, and agrees with itself",
            "each release once",
        )
    for answer in answers:
        if [_asked(c) for c in answer.columns] != [
            _asked(c) for c in first.columns
        ] or answer.keys != first.keys:
            raise Refused(
                "answer.merge",
                f"{', '.join(answer.names)} by {', '.join(answer.keys) or 'nothing'}",
                "it is not the same question",
                "the same query",
            )
        for name in (*SAME, "question"):
            if answer.facts.get(name) != first.facts.get(name):
                raise Refused(
                    "answer.merge",
                    name,
                    f"the answers are about different things: another {name}",
                    "answers about the same data",
                )
        _check_weighing(answer, first)
        if any(column.processed is not None for column in answer.columns):
            raise Refused(
                "answer.merge",
                "a processed answer",
                "averages are taken of what was released",
                "merge first, process then",
            )
        for column in answer.columns:
            for i in column.pieces:
                name, law = answer.pieces[i].name, answer.pieces[i].law
                if law is None or not any(piece.name == name for piece in first.pieces):
                    raise Refused(
                        "answer.merge",
                        f"{column.name}: {column.kind}",
                        "only what has added noise is averaged",
                        "a query without quantiles",
                    )


def _check_weighing(answer: Answer, first: Answer) -> None:
    """Averages are of one number. It is one only where every release bounded its units in the same
    way.
    """
    mine, other = answer.weighing, first.weighing
    if mine is None or other is None:
        reason = (
            "how it bounded its units is not recorded, so it may not be about the same "
            "bounded values"
        )
        raise Refused(
            "answer.merge",
            "an answer of unknown weighing",
            reason,
            "new releases of the question, or Answer(…, weighing=Weighing(…)) if you know it",
        )
    if mine.rule == "drawn" or (
        mine.rule != "row" and any(column.kind == "count_distinct" for column in answer.columns)
    ):
        reason = (
            "every release draws which rows, or which values, of a unit count, so two "
            "releases are not about the same bounded values"
        )
        rewrite = (
            'bounding="weights" in protect(…), and count_units() in the place of different values'
        )
        raise Refused("answer.merge", f"{', '.join(answer.names)}", reason, rewrite)
    if mine != other:
        reason = f"they bounded units differently: {other}, and {mine}"
        raise Refused(
            "answer.merge",
            "different weighing",
            reason,
            "releases with promises of one kind: sf.Pure(…) for each, or sf.ZCDP(…) for each",
        )


def _asked(column: Column) -> tuple[object, ...]:
    return column.name, column.kind, column.text, dict(column.numbers), column.edges
