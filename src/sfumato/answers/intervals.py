"""The values of a column, and the intervals around them, as arrays of doubles.

*Level*     Each cell by itself, or all cells of the column at once: the draws are independent, so n
            cells of m pieces hold together with probability c if every draw holds with c^(1/(n·m)).
            No cell is told from another, so nothing depends on which groups a private selection let
            through.
*Chosen*    Where noisy values chose the groups that are shown, each of their draws is asked to hold
            with c^(1/(n·m)), n the number of groups before the choice: then all groups hold at
            once, so those that are shown do. Pieces that had no part in the choice keep their own
            level (`chosen`).
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

from ..errors import Refused
from ..exact.balls import Rounding
from ..exact.numbers import Number, probability, text
from . import formula, percentiles
from .answer_records import Column, Noisy
from .column_kinds import KINDS, Box, Side, slack
from .exact_ratios import Ratios, doubles, moved, one, times

if TYPE_CHECKING:
    from .answer import Answer

Doubles = NDArray[np.float64]
ALL = slice(None)
_WAY: dict[Side, Rounding] = {"low": "down", "high": "up"}


def values(answer: Answer, column: Column, rows: slice = ALL) -> Doubles:
    """The values of these groups; of a histogram, a row of bins for each group."""
    if column.formula is not None:
        return formula.values(column, lambda leaf: values(answer, leaf, rows))
    if column.kind == "percentile":
        return percentiles.values(column, _pieces(answer, column)[0], rows)
    cells = _cells(answer, column, rows)
    if column.processed is not None:
        given = np.array([one(v, "nearest") for v in column.processed.values], dtype=np.float64)
        return given.reshape(len(answer.rows), *cells[0].shape[1:])[rows]
    kind = KINDS[column.kind]
    ratios, known = kind.finish(
        column,
        [Box(z, z, p.step) for z, p in zip(cells, _pieces(answer, column), strict=True)],
        "low",
    )
    found, limits = doubles(ratios), kind.limits(column)
    if known is not None and limits[0] is not None and limits[1] is not None:
        found = np.where(known, found, one((limits[0] + limits[1]) / 2, "nearest"))
    elif known is not None:
        found = np.where(known, found, np.nan)
    low, high = (None if limit is None else one(limit, "nearest") for limit in limits)
    return _between(found, low, high)


def interval(
    answer: Answer,
    column: Column,
    confidence: Number = 0.95,
    *,
    simultaneous: bool = False,
    rows: slice = ALL,
) -> tuple[Doubles, Doubles]:
    """The lower and the upper ends for these groups."""
    level = probability(confidence, "confidence", zero=False)
    if column.kind == "quantile":
        return _released(answer, column, level, simultaneous=simultaneous, rows=rows)
    simultaneous = simultaneous or together(answer, column)
    if column.formula is not None:
        return _computed(answer, column, level, simultaneous=simultaneous, rows=rows)
    return _boxed(answer, column, level, len(column.pieces), simultaneous=simultaneous, rows=rows)


def _computed(
    answer: Answer, column: Column, level: Fraction, *, simultaneous: bool, rows: slice
) -> tuple[Doubles, Doubles]:
    if (own := formula.quantile(column)) is not None:
        ends = _released(answer, own, level, simultaneous=simultaneous, rows=rows)
        return formula.interval(column, lambda _: ends)
    if not formula.has_interval(column):
        reason = (
            "it is computed from a quantile and from something else, which do not hold "
            "together at any known level"
        )
        raise Refused(
            "answer.interval",
            f"interval({column.name!r})",
            reason,
            "the intervals of what it is computed from",
        )
    events = formula.events(column)
    return formula.interval(
        column,
        lambda leaf: _boxed(answer, leaf, level, events, simultaneous=simultaneous, rows=rows),
    )


def _boxed(
    answer: Answer, column: Column, level: Fraction, events: int, *, simultaneous: bool, rows: slice
) -> tuple[Doubles, Doubles]:
    """The ends over the box in which the exact integers lie, if every draw stays within its
    half-width; `events` are the pieces that have to hold together.
    """
    pieces = _pieces(answer, column)
    draws = [events * cells(answer, column, piece, simultaneous=simultaneous) for piece in pieces]
    if column.kind == "percentile":
        return percentiles.interval(column, pieces[0], 1 - (1 - level) / draws[0], rows)
    found = _cells(answer, column, rows)
    halves = [piece.half_width(level, count) for piece, count in zip(pieces, draws, strict=True)]
    boxes = [
        Box(moved(z, -half), moved(z, half), piece.step)
        for z, half, piece in zip(found, halves, pieces, strict=True)
    ]
    return _end(column, boxes, "low"), _end(column, boxes, "high")


def cells(answer: Answer, column: Column, piece: Noisy, *, simultaneous: bool = False) -> int:
    """How many cells of a piece have to hold together: one, all that are shown, or all from which
    its values chose those that are shown.
    """
    if piece.among is None:
        reason = (
            "its values chose the groups that are shown, and the older version that wrote "
            "this did not record from how many"
        )
        raise Refused(
            "answer.interval",
            f"interval({column.name!r})",
            reason,
            "the answer before groups were left out, or a new release",
        )
    groups = piece.among or (len(answer.rows) if simultaneous else 0)
    return max(1, groups * max(1, len(column.edges) - 1))


def together(answer: Answer, column: Column) -> bool:
    """Whether the intervals of a column hold for all shown groups at once: its own noisy values
    chose them. The ends of a quantile chose nothing.
    """
    return any(piece.law is not None and piece.among != 0 for piece in _pieces(answer, column))


def has_interval(answer: Answer, column: Column) -> bool:
    """Whether there is one: a quantile may have been released alone, or be MIN or MAX of groups
    that it chose itself.
    """
    pieces = _pieces(answer, column)
    if column.kind == "quantile":
        return _has_ends(pieces[0])
    if column.formula is not None:
        return formula.has_interval(column) and all(
            piece.among is not None if piece.law is not None else _has_ends(piece)
            for piece in pieces
        )
    return all(piece.law is not None and piece.among is not None for piece in pieces)


def _has_ends(piece: Noisy) -> bool:
    """Whether a quantile has ends that hold: those released with it. Of MIN and MAX, by a shifted
    choice, one end is the value, which must not have chosen.
    """
    return piece.values.shape[1] == 3 and (
        piece.among == 0
        or (piece.among is not None and getattr(piece.mechanism, "shift", None) == 0)
    )


def level_of(column: Column, confidence: Number) -> Fraction:
    """The level at which a column can be asked: the one that is wanted, or the one that a quantile
    was released at.
    """
    return (
        column.numbers["confidence"]
        if "confidence" in column.numbers
        else probability(confidence, "confidence", zero=False)
    )


def _end(column: Column, boxes: Sequence[Box], side: Side) -> Doubles:
    kind = KINDS[column.kind]
    ratios, known = kind.finish(column, boxes, side)
    found, limits = (
        doubles(ratios.plus(-slack(column) if side == "low" else slack(column)), _WAY[side]),
        kind.limits(column),
    )
    mine = limits[0] if side == "low" else limits[1]
    if known is not None:
        found = np.where(
            known,
            found,
            one(mine, _WAY[side]) if mine is not None else -np.inf if side == "low" else np.inf,
        )
    return _cut(column, found)


def _cut(column: Column, ends: Doubles) -> Doubles:
    """What is impossible is left out of an interval; what a helper excluded, too."""
    low, high = KINDS[column.kind].limits(column)
    found = _between(
        ends, None if low is None else one(low, "down"), None if high is None else one(high, "up")
    )
    return found if column.floor is None else np.maximum(found, one(column.floor, "down"))


def _between(found: Doubles, low: float | None, high: float | None) -> Doubles:
    return found if low is None or high is None else np.clip(found, low, high)


def _released(
    answer: Answer, column: Column, level: Fraction, *, simultaneous: bool, rows: slice
) -> tuple[Doubles, Doubles]:
    (piece,) = _pieces(answer, column)
    place, fixed = f"interval({column.name!r}, {text(level)})", column.numbers["confidence"]
    if piece.values.shape[1] != 3:
        reason = (
            "only the quantile itself was released; how far it is off depends on the data around it"
        )
        raise Refused(
            "answer.interval", place, reason, "sf.quantile(…, interval=True) in a new release"
        )
    if not _has_ends(piece):
        reason = (
            "its values chose the groups that are shown, and one end of its interval is the "
            "value itself"
        )
        raise Refused(
            "answer.interval",
            place,
            reason,
            f"interval({column.name!r}, {text(fixed)}) of the answer before groups were left out",
        )
    if simultaneous and len(answer.rows) > 1:
        reason = (
            f"its interval was released for each group by itself, at {text(fixed)}; all "
            f"groups at once would need other ends"
        )
        raise Refused(
            "answer.level",
            place,
            reason,
            (
                f"interval({column.name!r}, {text(fixed)}), or sf.quantile(…, confidence=…) "
                f"in a new release"
            ),
        )
    if level != fixed:
        reason = (
            f"its interval was released at the level {text(fixed)}, and no other follows from it"
        )
        raise Refused(
            "answer.level",
            place,
            reason,
            (
                f"interval({column.name!r}, {text(fixed)}), or sf.quantile(…, "
                f"confidence={text(level)}) in a new release"
            ),
        )
    lower, upper = (
        np.minimum(*piece.values[rows, 1:].T),
        np.maximum(*piece.values[rows, 1:].T),
    )  # crossed ends miss anyway
    boxes = [Box(lower, upper, piece.step)]
    return _end(column, boxes, "low"), _end(column, boxes, "high")


def exactly(answer: Answer, column: Column) -> Ratios:
    """The released values of a column that is one piece, as exact numbers."""
    (cells,), (piece,) = _cells(answer, column, ALL), _pieces(answer, column)
    return times(cells, piece.step)


def _pieces(answer: Answer, column: Column) -> list[Noisy]:
    return [answer.pieces[i] for i in column.pieces]


def _cells(answer: Answer, column: Column, rows: slice) -> list[NDArray[np.int64]]:
    """The integers of each piece: one for each group, or a row of bins."""
    wide = column.kind == "histogram"
    return [
        piece.values[rows] if wide else piece.values[rows, 0] for piece in _pieces(answer, column)
    ]
