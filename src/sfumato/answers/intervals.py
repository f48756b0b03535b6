"""Compute the values of a column and their confidence intervals, as arrays of doubles.

*Level*     Each cell by itself, or all cells of the column at once. n cells of m pieces hold
            together with probability c if every one holds with c^(1/(n·m)): noises of different
            cells are independent. Where pieces share draws, each piece misses with (1 − c)/m.
*Quotient*  Of a mean or a ratio: S/N ≤ θ says that S − θ·N ≤ 0, whose noise has a known law for
            every θ. The interval holds the θ for which the released S − θ·N is within the bound of
            its noise: one event, for every number of rows (`quotient_intervals`).
            No cell is told from another, so nothing depends on which groups a private selection let
            through.
*Chosen*    Where noisy values chose the groups that are shown, each of their draws is asked to hold
            with c^(1/(n·m)), n the number of groups before the choice: then all groups hold at
            once, so those that are shown do. Pieces that had no part in the choice keep their own
            level (`chosen_groups`).
*Quantile*  Its interval is released with it, at a level that was fixed before; no other level
            follows from it. Its ends are draws of their own, so they hold as before where the
            quantile itself chose the groups. Of MIN and MAX the value is an end, and no interval is
            left.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..exact.balls import Rounding
from ..exact.exact_ratios import Ratios, multiply_by_step, shift_integers, to_double, to_doubles
from ..exact.numbers import Number, probability, text
from ..tables.aggregates.column_kind import Box, Side
from . import answer_refusals as refusals
from . import formula, percentiles
from .answer_records import Column, Noisy, share_draws
from .column_kinds import KINDS
from .quotient_intervals import quotient_ends

if TYPE_CHECKING:
    from .answer import Answer

Doubles = NDArray[np.float64]
ALL = slice(None)
_WAY: dict[Side, Rounding] = {"low": "down", "high": "up"}


def values(answer: Answer, column: Column, rows: slice = ALL) -> Doubles:
    """Compute the values of some groups; for a histogram, a row of bins for each group."""
    if column.formula is not None:
        return formula.values(column, lambda leaf: values(answer, leaf, rows))
    if column.kind == "percentile":
        return percentiles.values(column, _pieces_of(answer, column)[0], rows)
    cells = _piece_integers(answer, column, rows)
    if column.processed is not None:
        processed = np.array(
            [to_double(v, "nearest") for v in column.processed.values], dtype=np.float64
        )
        return processed.reshape(len(answer.rows), *cells[0].shape[1:])[rows]
    kind = KINDS[column.kind]
    # slack widens intervals only
    plain = {name: number for name, number in column.numbers.items() if "slack" not in name}
    ratios, valid = kind.finish(
        plain,
        [Box(z, z, p.step) for z, p in zip(cells, _pieces_of(answer, column), strict=True)],
        "low",
    )
    numbers, limits = to_doubles(ratios), kind.limits(column.numbers)
    if valid is not None and limits[0] is not None and limits[1] is not None:
        numbers = np.where(valid, numbers, to_double((limits[0] + limits[1]) / 2, "nearest"))
    elif valid is not None:
        numbers = np.where(valid, numbers, np.nan)
    low, high = (None if limit is None else to_double(limit, "nearest") for limit in limits)
    return _clamp(numbers, low, high)


def interval(
    answer: Answer,
    column: Column,
    confidence: Number = 0.95,
    *,
    simultaneous: bool = False,
    rows: slice = ALL,
) -> tuple[Doubles, Doubles]:
    """Compute the lower and upper interval ends for some groups."""
    level = probability(confidence, "confidence", zero=False)
    if column.kind == "quantile":
        return _released_interval(answer, column, level, simultaneous=simultaneous, rows=rows)
    simultaneous = simultaneous or hold_simultaneously(answer, column)
    if column.formula is not None:
        return _formula_interval(answer, column, level, simultaneous=simultaneous, rows=rows)
    return _box_interval(answer, column, 1 - level, simultaneous=simultaneous, rows=rows)


def _formula_interval(
    answer: Answer, column: Column, level: Fraction, *, simultaneous: bool, rows: slice
) -> tuple[Doubles, Doubles]:
    if (quantile := formula.sole_quantile(column)) is not None:
        ends = _released_interval(answer, quantile, level, simultaneous=simultaneous, rows=rows)
        return formula.interval(column, lambda _: ends)
    if not formula.has_interval(column):
        raise refusals.NO_COMMON_CONFIDENCE(name=column.name)
    missing = (1 - level) / formula.count_operands(column)
    return formula.interval(
        column,
        lambda leaf: _box_interval(answer, leaf, missing, simultaneous=simultaneous, rows=rows),
    )


def _box_interval(
    answer: Answer, column: Column, missing: Fraction, *, simultaneous: bool, rows: slice
) -> tuple[Doubles, Doubles]:
    """The ends over the box in which the exact integers lie, if every draw stays within its
    half-width: all of them do but for a chance of `missing`.
    """
    pieces = _pieces_of(answer, column)
    cells = [
        simultaneous_cells(answer, column, piece, simultaneous=simultaneous) for piece in pieces
    ]
    if column.kind == "percentile":
        return percentiles.interval(column, pieces[0], 1 - missing / cells[0], rows)
    integers = _piece_integers(answer, column, rows)
    if KINDS[column.kind].is_quotient and all(piece.law is not None for piece in pieces):
        ends = quotient_ends(column, integers, pieces, missing / max(cells))
        low, high = (_clamp_to_possible(column, end) for end in ends)
        return low, high
    count = len(pieces)
    halves = [
        piece.half_width(1 - missing / count, number)
        if share_draws(pieces)
        else piece.half_width(1 - missing, count * number)
        for piece, number in zip(pieces, cells, strict=True)
    ]
    boxes = [
        Box(shift_integers(z, -half), shift_integers(z, half), piece.step)
        for z, half, piece in zip(integers, halves, pieces, strict=True)
    ]
    return _interval_end(column, boxes, "low"), _interval_end(column, boxes, "high")


def simultaneous_cells(
    answer: Answer, column: Column, piece: Noisy, *, simultaneous: bool = False
) -> int:
    """Count the cells of a piece that must hold together: one, all shown ones, or all groups from
    which the piece's values chose the shown ones.
    """
    if piece.among is None:
        raise refusals.CHOICE_NOT_RECORDED(name=column.name)
    groups = piece.among or (len(answer.rows) if simultaneous else 0)
    return max(1, groups * max(1, len(column.edges) - 1))


def hold_simultaneously(answer: Answer, column: Column) -> bool:
    """Tell whether a column's intervals hold for all shown groups at once, because its own noisy
    values chose the groups. The ends of a quantile never choose groups.
    """
    return any(piece.law is not None and piece.among != 0 for piece in _pieces_of(answer, column))


def has_interval(answer: Answer, column: Column) -> bool:
    """Tell whether a column has an interval. A quantile released alone has none, and neither has a
    MIN or MAX that chose the groups.
    """
    pieces = _pieces_of(answer, column)
    if column.kind == "quantile":
        return _has_ends(pieces[0])
    if column.formula is not None:
        return formula.has_interval(column) and all(
            piece.among is not None if piece.law is not None else _has_ends(piece)
            for piece in pieces
        )
    return all(piece.law is not None and piece.among is not None for piece in pieces)


def _has_ends(piece: Noisy) -> bool:
    """Tell whether a quantile has valid ends: those released with it. MIN and MAX use a shifted
    choice: one end is the value itself, which must not have chosen the groups.
    """
    return piece.values.shape[1] == 3 and (
        piece.among == 0
        or (piece.among is not None and getattr(piece.mechanism, "shift", None) == 0)
    )


def level_of(column: Column, confidence: Number) -> Fraction:
    """Return the confidence of a column's intervals: for a quantile, the level of its release."""
    return (
        column.numbers["confidence"]
        if "confidence" in column.numbers
        else probability(confidence, "confidence", zero=False)
    )


def _interval_end(column: Column, boxes: Sequence[Box], side: Side) -> Doubles:
    kind = KINDS[column.kind]
    ratios, valid = kind.finish(column.numbers, boxes, side)
    slack = column.numbers.get("slack", Fraction(0))  # how far rounding to a grid may have moved it
    end = to_doubles(ratios.plus(-slack if side == "low" else slack), _WAY[side])
    limits = kind.limits(column.numbers)
    limit = limits[0] if side == "low" else limits[1]
    if valid is not None:
        end = np.where(
            valid,
            end,
            to_double(limit, _WAY[side])
            if limit is not None
            else -np.inf
            if side == "low"
            else np.inf,
        )
    return _clamp_to_possible(column, end)


def _clamp_to_possible(column: Column, ends: Doubles) -> Doubles:
    """Clamp interval ends to the possible values, and to the floor that a helper set."""
    low, high = KINDS[column.kind].limits(column.numbers)
    clamped = _clamp(
        ends,
        None if low is None else to_double(low, "down"),
        None if high is None else to_double(high, "up"),
    )
    return clamped if column.floor is None else np.maximum(clamped, to_double(column.floor, "down"))


def _clamp(numbers: Doubles, low: float | None, high: float | None) -> Doubles:
    return numbers if low is None or high is None else np.clip(numbers, low, high)


def _released_interval(
    answer: Answer, column: Column, level: Fraction, *, simultaneous: bool, rows: slice
) -> tuple[Doubles, Doubles]:
    (piece,) = _pieces_of(answer, column)
    name, fixed = column.name, column.numbers["confidence"]
    stated, released = text(level), text(fixed)
    if piece.values.shape[1] != 3:
        raise refusals.QUANTILE_WITHOUT_INTERVAL(name=name, level=stated)
    if not _has_ends(piece):
        raise refusals.QUANTILE_CHOSE_GROUPS(name=name, level=stated, released=released)
    if simultaneous and len(answer.rows) > 1:
        raise refusals.LEVEL_FOR_EACH_GROUP(name=name, level=stated, released=released)
    if level != fixed:
        raise refusals.LEVEL_NOT_RELEASED(name=name, level=stated, released=released)
    lower, upper = (
        np.minimum(*piece.values[rows, 1:].T),
        np.maximum(*piece.values[rows, 1:].T),
    )  # crossed ends miss anyway
    boxes = [Box(lower, upper, piece.step)]
    return _interval_end(column, boxes, "low"), _interval_end(column, boxes, "high")


def exact_values(answer: Answer, column: Column) -> Ratios:
    """Return the released values of a one-piece column as exact numbers."""
    (cells,), (piece,) = _piece_integers(answer, column, ALL), _pieces_of(answer, column)
    return multiply_by_step(cells, piece.step)


def _pieces_of(answer: Answer, column: Column) -> list[Noisy]:
    return [answer.pieces[i] for i in column.pieces]


def _piece_integers(answer: Answer, column: Column, rows: slice) -> list[NDArray[np.int64]]:
    """Return the integers of each piece of a column: one for each group, or a row of bins."""
    wide = column.kind == "histogram"
    return [
        piece.values[rows] if wide else piece.values[rows, 0]
        for piece in _pieces_of(answer, column)
    ]
