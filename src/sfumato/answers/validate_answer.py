"""Check that the parts of an answer fit together. No released number is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import Refused
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
        raise Refused(
            "answer.shape",
            f"columns {', '.join(map(str, names))}",
            "an answer needs at least one column, and all names must differ",
            'aggregate(n=sf.count(), total=sf.sum("spend"))',
        )
    if not set(map(len, answer.rows)) <= {len(answer.keys)}:
        raise Refused(
            "answer.shape",
            f"{len(answer.keys)} keys",
            "every row needs one value for each key",
            "keys=('city',), rows=(('Roma',), ('Bari',))",
        )
    for column in answer.columns:
        kind = KINDS.get(column.kind)
        if kind is None:
            raise Refused(
                "answer.kind",
                f"{column.name}: {column.kind!r:.40}",
                "this version has no such kind of column",
                f"one of {', '.join(KINDS)}",
            )
        place = f"{column.name}: {column.kind}"
        if (column.formula is not None) != (column.kind == "computed"):
            raise Refused(
                "answer.shape",
                place,
                "a computed column needs a formula, and no other column may have one",
                "kind='computed' with a formula, or another kind without one",
            )
        piece_count = max(1, len(column.pieces)) if column.formula is not None else kind.pieces
        if len(column.pieces) != piece_count or not all(
            0 <= i < len(answer.pieces) for i in column.pieces
        ):
            raise Refused(
                "answer.shape",
                place,
                f"a {column.kind} needs {piece_count} of the {len(answer.pieces)} pieces",
                f"{piece_count} numbers from 0 to {len(answer.pieces) - 1} in pieces=",
            )
        shapes = [answer.pieces[i].values.shape for i in column.pieces]
        if any(
            piece.among and piece.among < len(answer.rows)
            for piece in (answer.pieces[i] for i in column.pieces)
        ):
            raise Refused(
                "answer.shape",
                place,
                f"{len(answer.rows)} groups are shown, so among= cannot be smaller",
                f"among=0, or among={len(answer.rows)} or more",
            )
        if lacking := [
            number for number in NUMBERS.get(column.kind, ()) if number not in column.numbers
        ]:
            raise Refused(
                "answer.shape",
                place,
                f"the column needs the numbers {', '.join(lacking)}",
                "numbers={'low': Fraction(0), 'high': Fraction(100)}, and the others it needs",
            )
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
            raise Refused(
                "answer.shape",
                place,
                f"its pieces have the shapes {shapes}, for {len(answer.rows)} groups",
                f"values with {len(answer.rows)} rows: one for each group",
            )
