"""The kinds of columns: how each computes its value and interval ends from released pieces.

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
from .exact_ratios import Integers, Ratios, as_python_ints, multiply_by_step, square_roots

Side = Literal["low", "high"]
Limits = tuple[Fraction | None, Fraction | None]


class Box(NamedTuple):
    """The integers between which a piece's exact integers lie, and the value of one step."""

    low: Integers
    high: Integers
    step: Fraction


class BoxEnd(NamedTuple):
    """One end of the possible values over a box, and the groups for which it is valid; None means
    all groups.
    """

    ratios: Ratios
    valid: NDArray[np.bool_] | None = None


Finish = Callable[[Column, Sequence[Box], Side], BoxEnd]
"""Computes one end of a column from the boxes of its pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How a kind of column is computed, from how many pieces, and between which limits."""

    finish: Finish
    pieces: int = 1
    limits: Callable[[Column], Limits] = lambda _: (None, None)
    counts: bool = False  # of rows or units: whole and not negative, before weights and noise
    # over groups: the groups' values sum to the value of all, where the weight of a row does not
    # depend on groups (`Weighing.adds`)
    adds: bool = False


def _additive(_: Column, boxes: Sequence[Box], side: Side) -> BoxEnd:
    (box,) = boxes
    return BoxEnd(multiply_by_step(box.low if side == "low" else box.high, box.step))


def _mean(column: Column, boxes: Sequence[Box], side: Side) -> BoxEnd:
    """centre + S/N: the least quotient has the least S, over the largest N if it is positive."""
    s, n = boxes
    valid, rows = _positive(n)
    top = as_python_ints(s.low if side == "low" else s.high)
    bottom = np.where((top >= 0) == (side == "low"), rows[1], rows[0])
    unit = s.step / n.step
    return BoxEnd(
        Ratios(top * unit.numerator, bottom * unit.denominator).plus(column.numbers["centre"]),
        valid,
    )


def _variance(_: Column, boxes: Sequence[Box], side: Side) -> BoxEnd:
    """Q/N − (S/N)², concave in 1/N: its least value is at an end of N, its largest there or where
    2S²/N = Q.
    """
    q, s, n = boxes
    valid, (fewest, most) = _positive(n)
    squares = as_python_ints(s.low) ** 2, as_python_ints(s.high) ** 2
    a, b = (q.step / n.step), (s.step / n.step) ** 2
    common = a.denominator * b.denominator
    if side == "low":
        top, square = as_python_ints(q.low), np.maximum(*squares)
    else:
        top, square = (
            as_python_ints(q.high),
            np.where(
                (as_python_ints(s.low) <= 0) & (as_python_ints(s.high) >= 0),
                0,
                np.minimum(*squares),
            ),
        )
    linear, bent = (
        top * (a.numerator * b.denominator),
        square * (b.numerator * a.denominator),
    )  # f = (linear·N − bent)/(common·N²)
    at_fewest, at_most = (
        Ratios(linear * rows - bent, common * rows * rows) for rows in (fewest, most)
    )
    best = _extreme(at_fewest, at_most, side)
    if side == "high":
        inside = (linear * fewest < 2 * bent) & (2 * bent < linear * most)
        best = Ratios(
            np.where(inside, linear * linear, best.top),
            np.where(inside, 4 * common * np.where(inside, bent, 1), best.bottom),
        )
    return BoxEnd(best, valid)


def _std(column: Column, boxes: Sequence[Box], side: Side) -> BoxEnd:
    variance, valid = _variance(column, boxes, side)
    return BoxEnd(square_roots(variance, up=side == "high"), valid)


def _ratio(_: Column, boxes: Sequence[Box], side: Side) -> BoxEnd:
    """S/N: as in a mean, with both signs changed where N is negative. Invalid where N may be 0."""
    s, n = boxes
    negative = np.asarray(n.high < 0, dtype=np.bool_)
    valid = np.asarray(n.low > 0, dtype=np.bool_) | negative
    low, high = (
        np.where(negative, -as_python_ints(n.high), as_python_ints(n.low)),
        np.where(negative, -as_python_ints(n.low), as_python_ints(n.high)),
    )
    top = (
        np.where(negative, -as_python_ints(s.high), as_python_ints(s.low))
        if side == "low"
        else np.where(negative, -as_python_ints(s.low), as_python_ints(s.high))
    )
    bottom = np.where(valid, np.where((top >= 0) == (side == "low"), high, low), 1)
    unit = s.step / n.step
    return BoxEnd(Ratios(top * unit.numerator, bottom * unit.denominator), valid)


def slack(column: Column) -> Fraction:
    """Return how far rounding to a grid may have moved the value; 0 if that was not recorded."""
    return column.numbers.get("slack", Fraction(0))


def _ends(column: Column) -> Limits:
    """Return the bounds of clipped values. Rounding to the grid comes later and keeps them."""
    return column.numbers["low"], column.numbers["high"]


def _spread(column: Column) -> Limits:
    """Return the limits of a variance or a standard deviation: at most (half the range)²."""
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
    "computed": Kind(finish=_additive, pieces=0),  # from other columns: see `formula`
}
"""Every kind of column. The pieces of a mean are the sum from the centre, then the rows; those of a
variance are the squares, the sum, then the rows.
"""


def _positive(box: Box) -> tuple[NDArray[np.bool_], tuple[Integers, Integers]]:
    """Return where a number of rows is surely positive, and its ends there (1 elsewhere)."""
    valid = np.asarray(box.low > 0, dtype=np.bool_)
    return valid, (
        np.where(valid, as_python_ints(box.low), 1),
        np.where(valid, as_python_ints(box.high), 1),
    )


def _extreme(a: Ratios, b: Ratios, side: Side) -> Ratios:
    first = (a.top * b.bottom < b.top * a.bottom) == (side == "low")
    return Ratios(np.where(first, a.top, b.top), np.where(first, a.bottom, b.bottom))
