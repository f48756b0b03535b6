"""Check that the parts of an answer fit together. No released number is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import answer_refusals as refusals
from .column_kinds import KINDS
from .percentiles import tree_of

if TYPE_CHECKING:
    from .answer import Answer

NUMBERS = {
    "mean": ("low", "high", "centre"),
    "weighted_mean": ("low", "high", "centre"),
    "variance": ("low", "high"),
    "std": ("low", "high"),
    "quantile": ("low", "high", "confidence"),
    "percentile": ("low", "high", "q", "step", "leaves", "branching", "levels", "shift"),
}
"""The public numbers that each kind of column needs."""


def check_answer(answer: Answer) -> None:
    """Refuse an answer whose keys, columns and pieces do not fit together."""
    names: Sequence[str] = (*answer.keys, *answer.names)
    if (
        not all(isinstance(name, str) for name in names)
        or len(set(names)) != len(names)
        or not answer.columns
    ):
        raise refusals.ANSWER_SHAPE_1(names=", ".join(map(str, names)))
    if not set(map(len, answer.rows)) <= {len(answer.keys)}:
        raise refusals.ANSWER_SHAPE_2(keys_count=len(answer.keys))
    for column in answer.columns:
        kind = KINDS.get(column.kind)
        if kind is None:
            raise refusals.ANSWER_KIND_1(name=column.name, kind=column.kind, KINDS=", ".join(KINDS))
        place = f"{column.name}: {column.kind}"
        if (column.formula is not None) != (column.kind == "computed"):
            raise refusals.ANSWER_SHAPE_3(place=place)
        piece_count = max(1, len(column.pieces)) if column.formula is not None else kind.pieces
        if len(column.pieces) != piece_count or not all(
            0 <= i < len(answer.pieces) for i in column.pieces
        ):
            raise refusals.ANSWER_SHAPE_4(
                place=place,
                kind=column.kind,
                piece_count=piece_count,
                pieces_count=len(answer.pieces),
                value=len(answer.pieces) - 1,
            )
        shapes = [answer.pieces[i].values.shape for i in column.pieces]
        if any(
            piece.among and piece.among < len(answer.rows)
            for piece in (answer.pieces[i] for i in column.pieces)
        ):
            raise refusals.ANSWER_SHAPE_5(place=place, rows_count=len(answer.rows))
        if lacking := [
            number for number in NUMBERS.get(column.kind, ()) if number not in column.numbers
        ]:
            raise refusals.ANSWER_SHAPE_6(place=place, lacking=", ".join(lacking))
        trees = {
            tree_of(leaf).cells
            for leaf in (column, *(column.formula.leaves() if column.formula is not None else ()))
            if leaf.kind == "percentile"
        }
        widths = {
            "histogram": {len(column.edges) - 1},
            "quantile": {1, 3},
            "percentile": trees,
            "computed": {1, 3} | trees,
        }.get(column.kind, {1})
        if any(shape[0] != len(answer.rows) or shape[1] not in widths for shape in shapes):
            raise refusals.ANSWER_SHAPE_7(place=place, shapes=shapes, rows_count=len(answer.rows))
