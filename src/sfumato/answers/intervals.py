"""Compute the values of a column and their confidence intervals, as arrays of doubles.

*Level*     Each cell by itself, or all cells of the column at once. n cells of m pieces hold
            together with probability c if every one holds with c^(1/(n·m)): noises of different
            cells are independent. Where pieces share draws, each piece misses with (1 − c)/m.
*Quotient*  Of a mean or a ratio: S/N ≤ θ says that S − θ·N ≤ 0, whose noise has a known law for
            every θ. The interval holds the θ for which the released S − θ·N is within the bound of
            its noise: one event, for every number of rows (`quotient_intervals`).
            No cell is told from another, so nothing depends on which groups a private selection let
            through.
*Formula*   Of released columns: from their pieces, each of which counts once (`joint_intervals`);
            or, where a part is no smooth function of pieces, from the intervals of the columns.
*Chosen*    Where noisy values chose the groups that are shown, each of their draws is asked to hold
            with c^(1/(n·m)), n the number of groups before the choice: then all groups hold at
            once, so those that are shown do. Pieces that had no part in the choice keep their own
            level (`chosen_groups`).
*Shown*     A count that decided itself whether its group is shown has an interval for its noise
            given that (`shown_counts`).
*Quantile*  Its interval is released with it, at a level that was fixed before; no other level
            follows from it. Wider ends that hold in all groups at once are released beside it: they
            hold where the quantile itself chose the groups. Of MIN and MAX the value is an end, and
            no interval is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..exact.balls import Rounding
from ..exact.exact_ratios import Ratios, multiply_by_step, shift_integers, to_double, to_doubles
from ..exact.numbers import Number, probability, text
from ..tables.aggregates.column_kind import Box, Side
from ..tables.aggregates.prefix_noise import prefix_interval, read_prefixes
from . import answer_refusals as refusals
from . import formula, joint_intervals, percentiles
from .answer_records import Column, Noisy, share_draws, source_groups, strategy_of
from .column_kinds import KINDS
from .group_intervals import group_ends, has_group_interval
from .quotient_intervals import quotient_ends
from .shown_counts import decided_itself, lower_widths

if TYPE_CHECKING:
    from .answer import Answer

Doubles = NDArray[np.float64]
ALL = slice(None)
ALL_ENDS = 5
"""The columns of a quantile: its value, the ends of its interval, and the ends in all groups."""
_WAY: dict[Side, Rounding] = {"low": "down", "high": "up"}


def values(answer: Answer, column: Column, rows: slice = ALL) -> Doubles:
    """Compute the values of some groups; for a histogram, a row of bins for each group."""
    if answer.tables:
        from .stack_tables import stack_values

        return stack_values(answer, lambda table: values(table, table.column(column.name)))[rows]
    if column.sources:
        return formula.values(column, lambda leaf: values(answer, leaf))[rows]
    if column.formula is not None:
        return formula.values(column, lambda leaf: values(answer, leaf, rows))
    if column.kind == "percentile":
        return percentiles.values(column, _pieces_of(answer, column)[0], rows)
    if column.kind == "cumulative" and column.processed is None:
        (piece,) = _pieces_of(answer, column)
        return read_prefixes(strategy_of(column), piece.values[rows], piece.step)
    cells = _piece_integers(answer, column, rows)
    if column.processed is not None:
        processed = np.array(
            [to_double(v, "nearest") for v in column.processed.values], dtype=np.float64
        )
        shape = (len(column.edges) - 1,) if column.is_binned else ()
        return processed.reshape(len(answer.rows), *shape)[rows]
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
    if answer.tables:
        from .stack_tables import stack_intervals

        low, high = stack_intervals(answer, column.name, level, simultaneous=simultaneous)
        return low[rows], high[rows]
    if column.kind == "quantile":
        return _released_interval(answer, column, level, simultaneous=simultaneous, rows=rows)
    simultaneous = simultaneous or hold_simultaneously(answer, column)
    if column.sources:
        return _group_interval(answer, column, 1 - level, simultaneous=simultaneous, rows=rows)
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
    term = (
        None
        if formula.has_one_place(column) or any(map(decided_itself, _pieces_of(answer, column)))
        else joint_intervals.write_out(column, answer.pieces)
    )
    if term is None:
        return _interval_by_columns(answer, column, 1 - level, simultaneous, rows)
    cells = [
        simultaneous_cells(answer, column, piece, simultaneous=simultaneous)
        for piece in _pieces_of(answer, column)
    ]
    missing = (1 - level) / max(cells)
    if (quotient := joint_intervals.as_quotient(term)) is not None:
        return joint_intervals.quotient_interval(quotient, answer.pieces, rows, missing)
    low, high = joint_intervals.smooth_interval(term, answer.pieces, column.pieces, rows, missing)
    least, most = _interval_by_columns(
        answer, column, (1 - level) * joint_intervals.COLUMNS, simultaneous, rows
    )
    return np.maximum(low, least), np.minimum(high, most)


def _interval_by_columns(
    answer: Answer, column: Column, missing: Fraction, simultaneous: bool, rows: slice
) -> tuple[Doubles, Doubles]:
    """The ends of a formula by interval arithmetic on the intervals of its columns."""
    each = missing / formula.count_operands(column)
    return formula.interval(
        column,
        lambda leaf: _box_interval(answer, leaf, each, simultaneous=simultaneous, rows=rows),
    )


def _group_interval(
    answer: Answer, column: Column, missing: Fraction, *, simultaneous: bool, rows: slice
) -> tuple[Doubles, Doubles]:
    """The ends of a column across groups; where noisy values chose its rows, those of all rows
    before the choice at once.
    """
    if not has_interval(answer, column):
        raise refusals.NO_COMMON_CONFIDENCE(name=column.name)
    if not answer.rows:
        return np.zeros(0), np.zeros(0)
    chosen = int(column.numbers.get("among", 0))
    low, high = group_ends(
        column_rows(column, answer.pieces, rows),
        answer.pieces,
        lambda leaf: values(answer, leaf),
        lambda leaf, risk: _box_interval(answer, leaf, risk, simultaneous=False, rows=ALL),
        missing,
        max(1, chosen, len(answer.rows) if simultaneous else 1),
    )
    shape = len(answer.rows[rows])
    return np.broadcast_to(low, shape).copy(), np.broadcast_to(high, shape).copy()


def column_rows(column: Column, pieces: Sequence[Noisy], rows: slice) -> Column:
    """Return a column across groups with some of its rows."""
    assert column.formula is not None
    if rows == ALL:
        return column
    count = formula.count_rows(column.formula, source_groups(column, pieces))
    at = np.arange(count)[rows]
    return replace(column, formula=column.formula.rows(at, source_groups(column, pieces)))


def _box_interval(
    answer: Answer, column: Column, missing: Fraction, *, simultaneous: bool, rows: slice
) -> tuple[Doubles, Doubles]:
    """The ends of a released column; they miss with a chance of at most `missing`."""
    pieces = _pieces_of(answer, column)
    cells = [
        simultaneous_cells(answer, column, piece, simultaneous=simultaneous) for piece in pieces
    ]
    if column.kind == "percentile":
        return percentiles.interval(column, pieces[0], 1 - missing / cells[0], rows)
    if column.kind == "cumulative":
        assert pieces[0].law is not None
        ends = prefix_interval(
            strategy_of(column),
            pieces[0].values[rows],
            pieces[0].step,
            pieces[0].law,
            missing / cells[0],
        )
        low, high = (_clamp_to_possible(column, end) for end in ends)
        return low, high
    integers = _piece_integers(answer, column, rows)
    if KINDS[column.kind].is_quotient and all(piece.law is not None for piece in pieces):
        ends = quotient_ends(column, integers, pieces, missing / max(cells))
        low, high = (_clamp_to_possible(column, end) for end in ends)
        return low, high
    if (term := joint_intervals.write_column(column, answer.pieces)) is not None:
        low, high = joint_intervals.smooth_interval(
            term, answer.pieces, column.pieces, rows, missing / max(cells)
        )
        least, most = _ends_over_box(
            column, pieces, cells, integers, missing * joint_intervals.COLUMNS
        )
        return np.maximum(low, least), np.minimum(high, most)
    return _ends_over_box(column, pieces, cells, integers, missing)


def _ends_over_box(
    column: Column,
    pieces: Sequence[Noisy],
    cells: Sequence[int],
    integers: Sequence[NDArray[np.int64]],
    missing: Fraction,
) -> tuple[Doubles, Doubles]:
    """The extremes of a column over the box of its pieces."""
    count = len(pieces)
    halves = [
        piece.half_width(1 - missing / count, number)
        if share_draws(pieces)
        else piece.half_width(1 - missing, count * number)
        for piece, number in zip(pieces, cells, strict=True)
    ]
    boxes = [
        Box(
            z - lower_widths(piece, z, missing / (count * number))
            if decided_itself(piece)
            else shift_integers(z, -half),
            shift_integers(z, half),
            piece.step,
        )
        for z, half, piece, number in zip(integers, halves, pieces, cells, strict=True)
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
    values chose the groups. Ends of a quantile with draws of their own never choose groups.
    """
    if answer.tables:
        return any(hold_simultaneously(table, table.column(column.name)) for table in answer.tables)
    return "among" in column.numbers or any(
        piece.among != 0 and (piece.law is not None or piece.values.shape[1] == ALL_ENDS)
        for piece in _pieces_of(answer, column)
    )


def has_interval(answer: Answer, column: Column) -> bool:
    """Tell whether a column has an interval. A quantile released alone has none, and neither has a
    MIN or MAX that chose the groups.
    """
    if answer.tables:
        return all(has_interval(table, table.column(column.name)) for table in answer.tables)
    pieces = _pieces_of(answer, column)
    if column.kind == "quantile":
        return _has_ends(pieces[0])
    if column.sources:
        return has_group_interval(column, answer.pieces)
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
    if piece.values.shape[1] == ALL_ENDS:
        return piece.among is not None
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
    return _reach_possible(column, _clamp_to_possible(column, end), side)


def _reach_possible(column: Column, ends: Doubles, side: Side) -> Doubles:
    """Extend an interval that misses all possible values to the nearer end of these: a count below
    0 may be 0.
    """
    least, most = KINDS[column.kind].possible(column.numbers)
    if side == "high" and least is not None:
        return np.maximum(ends, to_double(least, "up"))
    if side == "low" and most is not None:
        return np.minimum(ends, to_double(most, "down"))
    return ends


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
    """Clamp numbers to the limits that exist."""
    least, most = -np.inf if low is None else low, np.inf if high is None else high
    clamped: Doubles = np.clip(numbers, least, most)
    return clamped


def _released_interval(
    answer: Answer, column: Column, level: Fraction, *, simultaneous: bool, rows: slice
) -> tuple[Doubles, Doubles]:
    (piece,) = _pieces_of(answer, column)
    name, fixed = column.name, column.numbers["confidence"]
    stated, released = text(level), text(fixed)
    has_all_ends = piece.values.shape[1] == ALL_ENDS
    if piece.values.shape[1] != 3 and not has_all_ends:
        raise refusals.QUANTILE_WITHOUT_INTERVAL(name=name, level=stated)
    if not _has_ends(piece):
        raise refusals.QUANTILE_CHOSE_GROUPS(name=name, level=stated, released=released)
    if simultaneous and len(answer.rows) > 1 and not has_all_ends:
        raise refusals.LEVEL_FOR_EACH_GROUP(name=name, level=stated, released=released)
    if level != fixed:
        raise refusals.LEVEL_NOT_RELEASED(name=name, level=stated, released=released)
    columns = slice(3, 5) if has_all_ends and (simultaneous or piece.among) else slice(1, 3)
    ends = piece.values[rows, columns].T
    lower, upper = np.minimum(*ends), np.maximum(*ends)  # crossed ends miss anyway
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
    wide = column.is_binned
    return [
        piece.values[rows] if wide else piece.values[rows, 0]
        for piece in _pieces_of(answer, column)
    ]
