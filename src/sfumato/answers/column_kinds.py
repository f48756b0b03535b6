"""How a column is finished from its pieces: its value, and the ends of its interval. A table of
kinds.

*Box*       With probability c the noise of every piece stays within its half-width, all pieces
            together (the draws are independent: each is asked to hold with c^(1/m)). Then the exact
            integers lie in a box, and the exact value between its extremes over that box. A value
            is that of a box without width.
*Rounding*  Ends go outward, values to the nearest double; in between everything is exact. What
            rounding of the data to a grid may have moved, where the column knows it (`slack`), is
            added to both ends.
*Limits*    Values and ends are cut to what is possible: a mean of clipped values lies between the
            bounds. Where the number of rows may be zero or less, nothing is known: the interval is
            all that is possible, and its middle the value if the released number itself is.
*Proof*     docs/proofs/answer-intervals.md
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .answer_records import Column
from .exact_ratios import Ratios, Whole, long, roots, times

Side = Literal["low", "high"]
Limits = tuple[Fraction | None, Fraction | None]


class Box(NamedTuple):
    """Between which integers a piece's exact ones lie, and what a step is worth."""

    low: Whole
    high: Whole
    step: Fraction


class End(NamedTuple):
    """One end of what is possible over a box, and where it is known at all; None stands for
    everywhere.
    """

    ratios: Ratios
    known: NDArray[np.bool_] | None = None


Finish = Callable[[Column, Sequence[Box], Side], End]
"""An end over the boxes of a column's pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How a kind of column is finished, out of how many pieces, and between which limits."""

    finish: Finish
    pieces: int = 1
    limits: Callable[[Column], Limits] = lambda _: (None, None)
    counts: bool = False  # of rows or units: whole and not negative, before weights and noise
    # over groups: the groups' values sum to the value of all, where the weight of a row does not
    # depend on groups (`Weighing.adds`)
    adds: bool = False


def _additive(_: Column, boxes: Sequence[Box], side: Side) -> End:
    (box,) = boxes
    return End(times(box.low if side == "low" else box.high, box.step))


def _mean(column: Column, boxes: Sequence[Box], side: Side) -> End:
    """centre + S/N: the least quotient has the least S, over the largest N if it is positive."""
    s, n = boxes
    known, rows = _positive(n)
    top = long(s.low if side == "low" else s.high)
    bottom = np.where((top >= 0) == (side == "low"), rows[1], rows[0])
    unit = s.step / n.step
    return End(
        Ratios(top * unit.numerator, bottom * unit.denominator).plus(column.numbers["centre"]),
        known,
    )


def _variance(_: Column, boxes: Sequence[Box], side: Side) -> End:
    """Q/N − (S/N)², concave in 1/N: its least value is at an end of N, its largest there or where
    2S²/N = Q.
    """
    q, s, n = boxes
    known, (fewest, most) = _positive(n)
    squares = long(s.low) ** 2, long(s.high) ** 2
    a, b = (q.step / n.step), (s.step / n.step) ** 2
    common = a.denominator * b.denominator
    if side == "low":
        top, square = long(q.low), np.maximum(*squares)
    else:
        top, square = (
            long(q.high),
            np.where((long(s.low) <= 0) & (long(s.high) >= 0), 0, np.minimum(*squares)),
        )
    linear, bent = (
        top * (a.numerator * b.denominator),
        square * (b.numerator * a.denominator),
    )  # f = (linear·N − bent)/(common·N²)
    one, other = (Ratios(linear * rows - bent, common * rows * rows) for rows in (fewest, most))
    best = _extreme(one, other, side)
    if side == "high":
        inside = (linear * fewest < 2 * bent) & (2 * bent < linear * most)
        best = Ratios(
            np.where(inside, linear * linear, best.top),
            np.where(inside, 4 * common * np.where(inside, bent, 1), best.bottom),
        )
    return End(best, known)


def _std(column: Column, boxes: Sequence[Box], side: Side) -> End:
    variance, known = _variance(column, boxes, side)
    return End(roots(variance, up=side == "high"), known)


def _ratio(_: Column, boxes: Sequence[Box], side: Side) -> End:
    """S/N: as a quotient of a mean, and with both signs changed where N is below zero. Nothing is
    known where it may be zero.
    """
    s, n = boxes
    negative = np.asarray(n.high < 0, dtype=np.bool_)
    known = np.asarray(n.low > 0, dtype=np.bool_) | negative
    low, high = (
        np.where(negative, -long(n.high), long(n.low)),
        np.where(negative, -long(n.low), long(n.high)),
    )
    top = (
        np.where(negative, -long(s.high), long(s.low))
        if side == "low"
        else np.where(negative, -long(s.low), long(s.high))
    )
    bottom = np.where(known, np.where((top >= 0) == (side == "low"), high, low), 1)
    unit = s.step / n.step
    return End(Ratios(top * unit.numerator, bottom * unit.denominator), known)


def slack(column: Column) -> Fraction:
    """How far rounding to a grid may have moved the value, where that is known."""
    return column.numbers.get("slack", Fraction(0))


def _ends(column: Column) -> Limits:
    """Of values that were clipped: rounding to the grid comes after, and leaves the ends where they
    are.
    """
    return column.numbers["low"], column.numbers["high"]


def _spread(column: Column) -> Limits:
    """At most half the range away from the middle of the range, in the mean square."""
    half = (column.numbers["high"] - column.numbers["low"]) / 2
    return Fraction(0), half if column.kind == "std" else half**2


KINDS: dict[str, Kind] = {
    "count": Kind(finish=_additive, counts=True, adds=True),
    "count_units": Kind(finish=_additive, counts=True),
    "count_distinct": Kind(finish=_additive, counts=True),
    "sum": Kind(finish=_additive, adds=True),
    "ratio": Kind(finish=_ratio, pieces=2),
    "mean": Kind(finish=_mean, pieces=2, limits=_ends),
    "weighted_mean": Kind(finish=_mean, pieces=2, limits=_ends),
    "variance": Kind(finish=_variance, pieces=3, limits=_spread),
    "std": Kind(finish=_std, pieces=3, limits=_spread),
    "quantile": Kind(finish=_additive, limits=_ends),
    "percentile": Kind(
        finish=_additive, limits=_ends
    ),  # from all cells of its piece: see `percentiles`
    "histogram": Kind(finish=_additive, counts=True, adds=True),
    "computed": Kind(finish=_additive, pieces=0),  # from other columns: see `computed`
}
"""Every kind of column. The pieces are, in this order: of a mean the sum from the centre and the
rows; of a spread the squares, the sum and the rows.
"""


def _positive(box: Box) -> tuple[NDArray[np.bool_], tuple[Whole, Whole]]:
    """Where a number of rows is surely above zero, and its ends; 1 stands where it is not."""
    known = np.asarray(box.low > 0, dtype=np.bool_)
    return known, (np.where(known, long(box.low), 1), np.where(known, long(box.high), 1))


def _extreme(a: Ratios, b: Ratios, side: Side) -> Ratios:
    first = (a.top * b.bottom < b.top * a.bottom) == (side == "low")
    return Ratios(np.where(first, a.top, b.top), np.where(first, a.bottom, b.bottom))
