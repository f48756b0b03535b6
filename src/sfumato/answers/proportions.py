"""Estimate the proportions of clipped and of withheld rows from released numbers, with intervals.

*Clipped*    Of the rows with a value, how many lay below and above the bounds: three counts with
             noise, over all groups together.
*Withheld*   Of the counted rows, how many are in groups that are not shown: (total − Σ
             shown)/total, from noisy numbers. How many groups is never told. Both count the same
             rows with the same weights: `count` is the number of all rows of a group, without a
             condition. Where weights are bounded in the Euclidean norm over groups no total has
             them, and nothing is said; nor where it is not known how rows were weighed.
*Interval*   The extreme quotients over the box in which the exact counts lie, with the given
             probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ..exact.exact_ratios import to_double
from ..exact.numbers import Number, probability
from ..noise.weighted_sums import sum_bound
from .answer_records import Noisy
from .render import footnote_texts as texts
from .render.format_digits import format_share
from .shown_counts import decided_itself, lower_widths

if TYPE_CHECKING:
    from .answer import Answer

CLIPPED, TOTAL, COUNT = "clipped:", "total", "count"
_NONE, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Share:
    """An estimated proportion of the rows, with an interval of this confidence."""

    value: float
    low: float
    high: float
    confidence: float

    @property
    def words(self) -> str:
        """The proportion as text: 2 % ± 1 %, or 1 % (between 0 % and 4 %)."""
        return format_share(self.value, self.low, self.high)


def clipped_shares(answer: Answer, confidence: Number = 0.95) -> dict[str, tuple[Share, Share]]:
    """Estimate, for every clipped column, the proportions of rows below and above its bounds."""
    level = probability(confidence, "confidence", zero=False)
    shares = {}
    for piece in (answer.tables or (answer,))[0].pieces:  # the same in all tables
        if piece.name.startswith(CLIPPED) and piece.law is not None:
            counts = [int(v) * piece.step for v in piece.values[0]]
            below, above = (_share_of_count(piece, counts, i, level) for i in (0, 2))
            shares[piece.name.removeprefix(CLIPPED)] = below, above
    return shares


def withheld_share(answer: Answer, confidence: Number = 0.95) -> Share | None:
    """Estimate the proportion of counted rows in groups that are not shown; None if all groups are
    shown, or if no total was released.
    """
    total = next((piece for piece in answer.pieces if piece.name == TOTAL), None)
    grouped = {i for column in answer.columns for i in column.pieces}
    counted = next((answer.pieces[i] for i in grouped if answer.pieces[i].name == COUNT), None)
    if (
        total is None
        or counted is None
        or total.law is None
        or counted.law is None
        or answer.weighing is None
        or answer.weighing.rule == "root"
    ):
        return None
    level = probability(confidence, "confidence", zero=False)
    all_, shown = (
        int(total.values[0, 0]) * total.step,
        sum(counted.values[:, 0].tolist()) * counted.step,
    )
    each = (1 - level) / 2
    wide = total.step * total.half_width(1 - each)
    below, above = (counted.step * width for width in _sum_widths(counted, each))
    if all_ <= 0:
        return Share(0.5, 0.0, 1.0, float(level))
    hidden = all_ - shown
    low, high = _NONE, _ONE
    if all_ - wide > 0:  # 1 − shown/all: least where much is shown of little
        least, most = max(shown - below, _NONE), shown + above
        low, high = 1 - max(most, _NONE) / (all_ - wide), 1 - least / (all_ + wide)
    return _clamped_share(hidden / all_, low, high, level)


def _sum_widths(piece: Noisy, missing: Fraction) -> tuple[Fraction, Fraction]:
    """Bound how far the sum of a piece's values lies above the exact sum, and below it."""
    law, count = piece.law, len(piece.values)
    assert law is not None
    around = sum_bound(((law, _ONE, count),), missing)
    if not decided_itself(piece) or not count:
        return around, around
    # given which groups are shown their noise is not symmetric: all lower ends at once
    lower = lower_widths(piece, piece.values[:, 0], missing / count)
    return Fraction(sum(map(int, lower))), Fraction(piece.half_width(1 - missing / count) * count)


def withheld_labels(answer: Answer) -> tuple[str, ...]:
    """Return the label for groups that were too small to be named, before others were left out;
    nothing where the share may be 0.
    """
    share = withheld_share(answer)
    if share is None or not share.low:
        return ()
    text = texts.ALL_UNNAMED if share.low == 1 else texts.UNNAMED
    return (text.format(share=share.words),)


def is_pooled(name: str) -> bool:
    """Tell whether a piece counts clipped or withheld rows over all groups together."""
    return name == TOTAL or name.startswith(CLIPPED)


def _share_of_count(piece: Noisy, counts: Sequence[Fraction], which: int, level: Fraction) -> Share:
    law = piece.law
    assert law is not None
    mine, others = counts[which], sum((c for i, c in enumerate(counts) if i != which), _NONE)
    each = (1 - level) / 2
    near, far = (
        piece.step * piece.half_width(1 - each),
        piece.step * sum_bound(((law, _ONE, len(counts) - 1),), each),
    )
    fewest, most = max(mine - near, _NONE), max(mine + near, _NONE)
    low = fewest / (fewest + max(others + far, _NONE)) if fewest else _NONE
    high = most / (most + max(others - far, _NONE)) if most else _NONE
    rows = max(mine, _NONE) + max(others, _NONE)
    return _clamped_share(max(mine, _NONE) / rows if rows else Fraction(1, 2), low, high, level)


def _clamped_share(value: Fraction, low: Fraction, high: Fraction, level: Fraction) -> Share:
    low, high = min(max(low, _NONE), _ONE), min(max(high, _NONE), _ONE)
    return Share(
        to_double(min(max(value, low), high), "nearest"),
        to_double(low, "down"),
        to_double(high, "up"),
        float(level),
    )
