"""Check that the parts of an answer fit together. No released number is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import answer_refusals as refusals
from .answer_records import Column, source_groups, strategy_of
from .column_kinds import KINDS
from .formula import count_rows
from .percentiles import tree_of

if TYPE_CHECKING:
    from .answer import Answer


def check_answer(answer: Answer) -> None:
    """Refuse an answer whose keys, columns and pieces do not fit together."""
    names: Sequence[str] = (*answer.keys, *answer.names)
    if (
        not all(isinstance(name, str) for name in names)
        or len(set(names)) != len(names)
        or not answer.columns
    ):
        raise refusals.COLUMN_NAMES(names=", ".join(map(str, names)))
    if not set(map(len, answer.rows)) <= {len(answer.keys)}:
        raise refusals.ROW_LENGTH(count=len(answer.keys))
    if answer.tables:
        _check_tables(answer)
        return
    for column in answer.columns:
        kind = KINDS.get(column.kind)
        if kind is None:
            raise refusals.UNKNOWN_KIND(name=column.name, kind=column.kind, kinds=", ".join(KINDS))
        if (column.formula is not None) != (column.kind == "computed"):
            raise refusals.FORMULA_AND_KIND(name=column.name, kind=column.kind)
        has_many = column.formula is not None
        piece_count = max(1, len(column.pieces)) if has_many else kind.pieces
        if column.sources:
            piece_count = 0
        if len(column.pieces) != piece_count or not all(
            0 <= i < len(answer.pieces) for i in (*column.pieces, *column.sources)
        ):
            raise refusals.PIECE_NUMBERS(
                name=column.name,
                kind=column.kind,
                needed=piece_count,
                count=len(answer.pieces),
                last=len(answer.pieces) - 1,
            )
        shapes = [answer.pieces[i].values.shape for i in column.pieces]
        if any(
            piece.among and piece.among < len(answer.rows)
            for piece in (answer.pieces[i] for i in column.pieces)
        ):
            raise refusals.AMONG_TOO_SMALL(
                name=column.name, kind=column.kind, groups=len(answer.rows)
            )
        if lacking := [number for number in kind.numbers if number not in column.numbers]:
            raise refusals.NUMBERS_MISSING(
                name=column.name, kind=column.kind, numbers=", ".join(lacking)
            )
        if column.sources:
            _check_across(answer, column)
            continue
        trees = {
            tree_of(leaf).cells
            for leaf in (column, *(column.formula.leaves() if column.formula is not None else ()))
            if leaf.kind == "percentile"
        }
        widths = {
            "histogram": {len(column.edges) - 1},
            "cumulative": {strategy_of(column).measured} if column.kind == "cumulative" else set(),
            "quantile": {1, 3, 5},
            "percentile": trees,
            "computed": {1, 3, 5} | trees,
        }.get(column.kind, {1})
        if any(shape[0] != len(answer.rows) or shape[1] not in widths for shape in shapes):
            raise refusals.PIECE_SHAPES(
                name=column.name, kind=column.kind, shapes=shapes, groups=len(answer.rows)
            )


def _check_tables(answer: Answer) -> None:
    """Refuse tables that do not have the columns or the number of rows of what stacks them."""
    total = sum(len(table.rows) for table in answer.tables)
    places = range(total) if answer.places is None else answer.places
    if len(places) != len(answer.rows) or not all(0 <= place < total for place in places):
        raise refusals.ROW_LENGTH(count=len(answer.keys))
    for table in answer.tables:
        if table.names != answer.names or table.tables:
            raise refusals.COLUMN_NAMES(names=", ".join(map(str, table.names)))


def _check_across(answer: Answer, column: Column) -> None:
    """Refuse a column across groups whose ranges do not fit its sources or the rows."""
    assert column.formula is not None
    try:
        if any(i not in range(len(column.sources)) for i in column.formula.piece_numbers()):
            raise ValueError(column.sources)
        rows = count_rows(column.formula, source_groups(column, answer.pieces))
    except (IndexError, ValueError):
        rows = -1
    if rows != len(answer.rows):
        raise refusals.PIECE_SHAPES(
            name=column.name,
            kind=column.kind,
            shapes=[answer.pieces[i].values.shape for i in column.sources],
            groups=len(answer.rows),
        )
