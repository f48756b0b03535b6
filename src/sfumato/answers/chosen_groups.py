"""Some of the groups of an answer, and a record of which noisy values chose them.

*Record*    A piece whose values took part in the choice keeps in `among` how many groups there were
            to choose from; its intervals then hold for all of these groups at once, so for those
            that are shown, whichever these are. Pieces that took no part have noise that is
            independent of the choice, and keep their level. Keys, and the order of keys, are no
            noisy values: who chooses by them chooses by nothing that noise has moved.
*Number*    How many groups there were is public where keys are; else it is a number of the released
            answer, so telling it is post-processing.
*Order*     Values that decided the order alone left out nothing. They are remembered (`sorts`),
            because whoever then takes the first groups chooses by them.
*Proof*     docs/proofs/answer-intervals.md, "After a choice by released values"
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .answer_records import Column, Noisy
from .proportions import TOTAL

if TYPE_CHECKING:
    from .answer import Answer


def choose(
    answer: Answer, places: Sequence[int], among: Mapping[int, int], sorts: Iterable[int] = ()
) -> Answer:
    """The groups at these places, in this order. `among` says of pieces from how many groups their
    values chose; `sorts` names those that decided the order.
    """
    at = np.array(places, dtype=np.int64)
    cut, sorting = len(at) < len(answer.rows), set(sorts)
    grouped = {i for column in answer.columns for i in column.pieces}
    kept = [
        i
        for i, piece in enumerate(answer.pieces)
        if i in grouped or not (cut and piece.name == TOTAL)
    ]
    moved = {place: i for i, place in enumerate(kept)}
    pieces = tuple(
        _taken(answer.pieces[i], at, among.get(i, 0), sorts=i in sorting)
        if i in grouped
        else answer.pieces[i]
        for i in kept
    )
    columns = tuple(_column(column, at, moved) for column in answer.columns)
    return replace(
        answer,
        rows=tuple(answer.rows[i] for i in at),
        pieces=pieces,
        columns=columns,
        complete=answer.complete and not cut,
    )


def first(answer: Answer, by: Iterable[int], places: Sequence[int]) -> Answer:
    """The groups at these places, which are the first in the order of the values of some pieces.
    Ties kept the order in which the groups stood before.
    """
    sorting = set(by)
    deciding = {*sorting, *sorted_by(answer)} if len(places) < len(answer.rows) else ()
    return choose(answer, places, dict.fromkeys(deciding, len(answer.rows)), sorting)


def shown_first(answer: Answer, most: int) -> Answer:
    """The answer as it is where so many lines of it are shown: if noisy values decided the order of
    the groups, they chose those that are shown.
    """
    lines = len(answer.rows) * max(1, *(len(column.edges) - 1 for column in answer.columns), 1)
    if lines <= most or not (by := sorted_by(answer)):
        return answer
    return replace(
        answer,
        pieces=tuple(
            _marked(piece, len(answer.rows)) if i in by else piece
            for i, piece in enumerate(answer.pieces)
        ),
    )


def sorted_by(answer: Answer) -> set[int]:
    """The pieces whose values decided the order of the groups."""
    return {i for i, piece in enumerate(answer.pieces) if piece.sorts}


def _taken(
    piece: Noisy, at: np.ndarray[tuple[int], np.dtype[np.int64]], among: int, *, sorts: bool
) -> Noisy:
    return replace(_marked(piece, among), values=piece.values[at], sorts=piece.sorts or sorts)


def _marked(piece: Noisy, among: int) -> Noisy:
    """A piece that chose before did so from at least as many groups."""
    return piece if piece.among != 0 else replace(piece, among=among)


def _column(
    column: Column, at: np.ndarray[tuple[int], np.dtype[np.int64]], moved: Mapping[int, int]
) -> Column:
    found = replace(column, pieces=tuple(moved[i] for i in column.pieces))
    if column.processed is None:
        return found
    cells = max(1, len(column.edges) - 1)
    kept = tuple(column.processed.values[i * cells + j] for i in at.tolist() for j in range(cells))
    return replace(found, processed=replace(column.processed, values=kept))
