"""MIN and MAX, by quantiles: the least and the largest value are one person's, what is published is
a point that some rows lie beyond.

*Point*      Of the largest value: the lower end of an interval for the 1-quantile, chosen by the
             exponential mechanism with the whole cost. With probability c it is not above the
             largest value; about as many rows lie above it as the plan says, a number that the
             noise asks for and no data.
*Interval*   From the point to the public bound beyond it. It holds the largest of the clipped
             values with probability c.
*Proof*      docs/proofs/weighted-quantile.md, of `ends`
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ...exact.numbers import text
from .components import Piece


def with_end(piece: Piece, values: Any) -> Any:
    """The chosen points of MIN or MAX as values with the ends of their intervals; of other
    quantiles, what was chosen.
    """
    if piece.aggregate is None or not piece.aggregate.beyond:
        return values
    point = values[:, 0]
    ends = (
        (np.full_like(point, piece.low), point)
        if piece.aggregate.beyond == "min"
        else (point, np.full_like(point, piece.high))
    )
    return np.stack([point, *ends], axis=1)


def rule(piece: Piece, noise: Any, bits: int) -> str:
    """What is said of MIN and MAX; nothing of other quantiles."""
    if piece.aggregate is None or not piece.aggregate.beyond:
        return ""
    assert piece.of is not None
    word, side = ("least", "below") if piece.aggregate.beyond == "min" else ("largest", "above")
    rows = Fraction(abs(noise.shift), 1 << bits)
    sure = text(piece.aggregate.confidence)
    return (
        f"the {word} {piece.of.text} is a quantile: about {float(rows):.3g} rows lie {side} "
        f"it, and at least one with probability {sure}"
    )
