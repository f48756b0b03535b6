"""Whether the parts of an answer fit together. Nothing here looks at a released number."""

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
"""The public numbers that a kind of column is not finished without."""


def check(answer: Answer) -> None:
    """Refuse what does not."""
    names: Sequence[str] = (*answer.keys, *answer.names)
    if (
        not all(isinstance(name, str) for name in names)
        or len(set(names)) != len(names)
        or not answer.columns
    ):
        raise Refused(
            "answer.shape",
            f"columns {', '.join(map(str, names))}",
            "an answer has a column or more, each with a name of its own",
            "other names",
        )
    if not set(map(len, answer.rows)) <= {len(answer.keys)}:
        raise Refused(
            "answer.shape",
            f"{len(answer.keys)} keys",
            "every row has one value for each key",
            "keys=('city',), rows=(('Roma',), ('Bari',))",
        )
    for column in answer.columns:
        kind = KINDS.get(column.kind)
        if kind is None:
            raise Refused(
                "answer.kind",
                f"{column.name}: {column.kind!r:.40}",
                "no column of that kind is known here",
                f"one of {', '.join(KINDS)}",
            )
        place = f"{column.name}: {column.kind}"
        if (column.formula is not None) != (column.kind == "computed"):
            raise Refused(
                "answer.shape",
                place,
                "a computed column, and no other, has a formula",
                "kind='computed', formula=…",
            )
        wanted = max(1, len(column.pieces)) if column.formula is not None else kind.pieces
        if len(column.pieces) != wanted or not all(
            0 <= i < len(answer.pieces) for i in column.pieces
        ):
            raise Refused(
                "answer.shape",
                place,
                f"it is made of {wanted} of the pieces",
                "the pieces of the kind, in its order",
            )
        shapes = [answer.pieces[i].values.shape for i in column.pieces]
        if any(
            piece.among and piece.among < len(answer.rows)
            for piece in (answer.pieces[i] for i in column.pieces)
        ):
            raise Refused(
                "answer.shape",
                place,
                "groups were chosen from no fewer than are shown",
                "among=0, or the number of groups before the choice",
            )
        if lacking := [
            number for number in NUMBERS.get(column.kind, ()) if number not in column.numbers
        ]:
            raise Refused(
                "answer.shape",
                place,
                f"without {', '.join(lacking)} it cannot be finished",
                "numbers={'low': …, 'high': …}",
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
                f"its pieces have {shapes} integers, for {len(answer.rows)} groups",
                "a row for each group, a cell for each number",
            )
