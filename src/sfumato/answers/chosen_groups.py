"""Select groups of an answer, and record which noisy values chose them.

*Record*    A piece whose values took part in the choice keeps in `among` how many groups there were
            to choose from; its intervals then hold for all of these groups at once, so for those
            that are shown, whichever these are. Pieces that took no part have noise that is
            independent of the choice, and keep their level. Keys are not noisy: a choice by keys,
            or by their order, depends on no noise.
*Shared*    A piece that shares draws of noise with one that chose took part in the choice, too.
*Number*    How many groups there were is public where keys are; else it is a number of the released
            answer, so telling it is post-processing.
*Order*     Values that decided the order alone left out nothing. They are remembered (`sorts`),
            because a later choice of the first groups is a choice by these values.
*Proof*     docs/proofs/answer-intervals.md, "After a choice by released values"
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .answer_records import Column, Noisy, source_groups
from .proportions import TOTAL

if TYPE_CHECKING:
    from .answer import Answer


def choose_groups(
    answer: Answer, places: Sequence[int], among: Mapping[int, int], sorts: Iterable[int] = ()
) -> Answer:
    """Keep the groups at these places, in this order. `among` maps a piece to the number of groups
    its values chose from; `sorts` lists the pieces that decided the order.
    """
    at = np.array(places, dtype=np.int64)
    cut, sorting = len(at) < len(answer.rows), with_shared_draws(answer, sorts)
    among = {
        i: most
        for chooser, most in sorted(among.items(), key=lambda item: item[1])
        for i in with_shared_draws(answer, [chooser])
    }
    grouped = {i for column in answer.columns for i in column.pieces}
    sources = {i for column in answer.columns for i in column.sources}
    remaining = [
        i
        for i, piece in enumerate(answer.pieces)
        if i in grouped or i in sources or not (cut and piece.name == TOTAL)
    ]
    moved = {place: i for i, place in enumerate(remaining)}
    pieces = tuple(
        _select_rows(answer.pieces[i], at, among.get(i, 0), sorts=i in sorting)
        if i in grouped
        else answer.pieces[i]
        for i in remaining
    )
    names = {draw.name for i in among for draw in answer.pieces[i].draws}
    columns = tuple(
        _select_across(answer, column, at, moved, names)
        if column.sources
        else _select_column_rows(column, at, moved)
        for column in answer.columns
    )
    return replace(
        answer,
        rows=tuple(answer.rows[i] for i in at),
        pieces=pieces,
        columns=columns,
        complete=answer.complete and not cut,
    )


def take_first_groups(answer: Answer, by: Iterable[int], places: Sequence[int]) -> Answer:
    """Keep the groups at these places: the first in the order of the values of the pieces `by`.
    Ties keep the earlier order of the groups.
    """
    sorting = set(by)
    deciding = {*sorting, *sorting_pieces(answer)} if len(places) < len(answer.rows) else ()
    return choose_groups(answer, places, dict.fromkeys(deciding, len(answer.rows)), sorting)


def mark_shown_groups(answer: Answer, most: int) -> Answer:
    """Mark an answer of which only `most` lines are shown: if noisy values decided the order of the
    groups, they chose the shown ones.
    """
    if answer.tables:
        chosen = len(answer.rows) > most and any(map(sorting_pieces, answer.tables))
        marked = (_mark_sorted(table, len(answer.rows)) for table in answer.tables)
        return replace(answer, tables=tuple(marked)) if chosen else answer
    lines = len(answer.rows) * max(1, *(len(column.edges) - 1 for column in answer.columns), 1)
    return answer if lines <= most else _mark_sorted(answer, len(answer.rows))


def _mark_sorted(answer: Answer, among: int) -> Answer:
    """Mark the pieces whose order decided which of so many groups are shown."""
    if not (by := sorting_pieces(answer)):
        return answer
    names = {draw.name for i in by for draw in answer.pieces[i].draws}
    return replace(
        answer,
        columns=tuple(
            replace(column, numbers={"among": Fraction(among), **column.numbers})
            if any(draw.name in names for i in column.sources for draw in answer.pieces[i].draws)
            else column
            for column in answer.columns
        ),
        pieces=tuple(
            _mark_choice(piece, among) if i in by else piece
            for i, piece in enumerate(answer.pieces)
        ),
    )


def with_shared_draws(answer: Answer, places: Iterable[int]) -> set[int]:
    """Return the pieces at these places, and those that share draws of noise with them."""
    chosen = set(places)
    names = {draw.name for i in chosen for draw in answer.pieces[i].draws}
    return chosen | {
        i
        for i, piece in enumerate(answer.pieces)
        if any(draw.name in names for draw in piece.draws)
    }


def sorting_pieces(answer: Answer) -> set[int]:
    """Return the pieces whose values decided the order of the groups."""
    return {i for i, piece in enumerate(answer.pieces) if piece.sorts}


def _select_rows(
    piece: Noisy, at: np.ndarray[tuple[int], np.dtype[np.int64]], among: int, *, sorts: bool
) -> Noisy:
    return replace(_mark_choice(piece, among), values=piece.values[at], sorts=piece.sorts or sorts)


def _mark_choice(piece: Noisy, among: int) -> Noisy:
    """Record a choice. A piece that chose earlier keeps its larger number of groups."""
    return piece if piece.among != 0 else replace(piece, among=among)


def _select_across(
    answer: Answer,
    column: Column,
    at: np.ndarray[tuple[int], np.dtype[np.int64]],
    moved: Mapping[int, int],
    names: set[str],
) -> Column:
    """Select rows of a column across groups. If values with its noise chose them, it records from
    how many rows; and that its rows are no longer the groups of its sources.
    """
    assert column.formula is not None
    shared = any(draw.name in names for i in column.sources for draw in answer.pieces[i].draws)
    numbers = dict(column.numbers)
    if shared:
        numbers.setdefault("among", Fraction(len(answer.rows)))
    if len(at) < len(answer.rows) or (np.diff(at) < 0).any():
        numbers["moved"] = Fraction(1)
    return replace(
        column,
        sources=tuple(moved[i] for i in column.sources),
        formula=column.formula.rows(at, source_groups(column, answer.pieces)),
        numbers=numbers,
    )


def _select_column_rows(
    column: Column, at: np.ndarray[tuple[int], np.dtype[np.int64]], moved: Mapping[int, int]
) -> Column:
    selected = replace(column, pieces=tuple(moved[i] for i in column.pieces))
    if column.processed is None:
        return selected
    cells = max(1, len(column.edges) - 1)
    values = tuple(
        column.processed.values[i * cells + j] for i in at.tolist() for j in range(cells)
    )
    return replace(selected, processed=replace(column.processed, values=values))
