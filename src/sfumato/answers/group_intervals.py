"""Intervals of columns that are computed across released groups.

*Linear*    Sums, means, neighbours and differences are weighted sums of released cells. Their noise
            is a weighted sum of independent draws, whose law is known (`noise.weighted_sums`).
*Quotient*  A share, or a rate of change, is a quotient S/N of two such sums: S − θ·N is noise alone
            for the exact θ, and the interval is the set of θ for which it is within its bound
            (`quotient_intervals`).
*Chosen*    Where noisy values chose the groups of a range, or ordered them, the weights depend on
            the noise. Then the intervals of all groups before the choice hold at once, and so does
            what they give for any range. So it is for the least, the largest and the rank, too.
*Lacking*   Groups without a value are left out. Where noise decides which groups these are, sums
            count them with 0 or with their value, means and extremes lie between all ends; counts
            of such values and ranks by them have no interval.
*Operands*  Of m operands in one expression each misses with (1 − c)/m.
*Shown*     An interval is about the groups that were released: a sum over groups does not cover
            those that were withheld.
*Proof*     docs/proofs/answer-intervals.md, "Across groups"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from ..tables.aggregates.column_kind import finish_sum
from .answer_records import Column, Noisy
from .column_kinds import KINDS
from .formula import (
    Ends,
    Formula,
    ends_operation,
    evaluate,
    has_quotient,
    may_lack_value,
    place_in,
)
from .group_frames import FRAME_OPERATIONS, RANKS, Doubles, Frames
from .shown_counts import decided_itself
from .weighted_groups import WeightedGroups, quotient_of_groups

ReadEnds = Callable[[Column, Fraction], Ends]
"""Returns ends of an operand in every group, for a chance to miss."""


class Operand(Protocol):
    """A part of an expression whose intervals are computed as one."""

    @property
    def count(self) -> int:
        """How many intervals it needs that hold together, in a row."""

    def ends(self, missing: Fraction, cells: int) -> Ends:
        """Return the ends in every row, if each interval misses with `missing`, of so many cells
        together.
        """


def group_ends(
    column: Column,
    pieces: tuple[Noisy, ...],
    read: Callable[[Column], Doubles],
    read_ends: ReadEnds,
    missing: Fraction,
    cells: int,
) -> Ends:
    """Return the ends of a column across groups, of so many cells together."""
    operand = _operand(column, pieces, read, read_ends)
    assert operand is not None  # `has_group_interval` told
    low, high = operand.ends(missing / max(1, operand.count), cells)
    values = evaluate(
        column.formula or Formula("number"), lambda leaf: read(place_in(leaf, column))
    )
    is_empty = np.isnan(np.atleast_1d(values))
    return np.where(is_empty, -np.inf, low), np.where(is_empty, np.inf, high)


def has_group_interval(column: Column, pieces: tuple[Noisy, ...]) -> bool:
    """Tell whether a column across groups has an interval."""

    def zeros(leaf: Column) -> Doubles:
        return np.zeros(len(pieces[leaf.pieces[0]].values))

    return _operand(column, pieces, zeros, lambda *_: (np.zeros(0), np.zeros(0))) is not None


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns a formula into operands."""

    column: Column
    pieces: tuple[Noisy, ...]
    read: Callable[[Column], Doubles]
    read_ends: ReadEnds

    def operand(self, formula: Formula) -> Operand | None:
        """Return the operand of a formula; None if nothing is known about how far it is off."""
        weighted = self.weighted(formula)
        if weighted is not None:
            return weighted
        if formula.column is not None:
            return self._leaf(place_in(formula.column, self.column))
        if formula.frames is not None:
            return self._over(formula, formula.frames)
        if formula.op == "/":
            top, bottom = (self.weighted(arg) for arg in formula.args)
            if top is not None and bottom is not None and top.can_join(bottom):
                return _Quotient(top, bottom)
        args = [self.operand(arg) for arg in formula.args]
        parts = [arg for arg in args if arg is not None]
        if len(parts) < len(args):
            return None
        return _Expression(ends_operation(formula), tuple(parts))

    def weighted(self, formula: Formula) -> WeightedGroups | None:
        """Return a formula as a weighted sum of released cells, if it is one."""
        if formula.column is not None:
            leaf = place_in(formula.column, self.column)
            piece = self.pieces[leaf.pieces[0]]
            return (
                WeightedGroups.of(leaf, piece, self.read(leaf)) if _is_linear(leaf, piece) else None
            )
        if formula.frames is not None:
            return self._weighted_over(formula, formula.frames)
        if formula.number is not None:
            return WeightedGroups.fixed(float(formula.number))
        if formula.op not in ("+", "-", "*", "/", "negate"):
            return None
        args = [self.weighted(arg) for arg in formula.args]
        parts = [arg for arg in args if arg is not None]
        if len(parts) < len(args):
            return None
        if formula.op == "negate":
            return parts[0].times(-1.0)
        first, second = parts
        if formula.op in ("+", "-"):
            return first.plus(second if formula.op == "+" else second.times(-1.0))
        if formula.op == "*" and first.is_fixed:
            first, second = second, first
        if not second.is_fixed:
            return None
        if formula.op == "*":
            return first.times(second.constant)
        with np.errstate(all="ignore"):
            return first.times(np.where(second.constant == 0, np.nan, 1 / second.constant))

    def _weighted_over(self, formula: Formula, frames: Frames) -> WeightedGroups | None:
        if frames.is_chosen or formula.op not in ("sum_over", "mean_over", "pick", "count_over"):
            return None
        if formula.op == "count_over":
            if any(may_lack_value(arg) or has_quotient(arg) for arg in formula.args):
                return None
            return WeightedGroups.fixed(frames.sizes.astype(np.float64))
        inner = self.weighted(formula.args[0])
        if inner is None:
            return None
        if formula.op == "pick":
            return inner.picked(frames, formula.number)
        return inner.over(frames, is_mean=formula.op == "mean_over")

    def _leaf(self, leaf: Column) -> Operand | None:
        pieces = [self.pieces[i] for i in leaf.pieces]
        if any(piece.law is None or piece.among is None for piece in pieces):
            return None
        return _Leaf(leaf, any(piece.among for piece in pieces), self.read_ends)

    def _over(self, formula: Formula, frames: Frames) -> Operand | None:
        if formula.op == "count_over" or not formula.args:
            return None
        lacks = may_lack_value(formula.args[0])
        if formula.op in RANKS and lacks:
            return None
        inner = self.operand(formula.args[0])
        chosen = int(self.column.numbers.get("among", 0))
        return None if inner is None else _Over(formula, frames, inner, chosen, lacks)


def _operand(
    column: Column,
    pieces: tuple[Noisy, ...],
    read: Callable[[Column], Doubles],
    read_ends: ReadEnds,
) -> Operand | None:
    assert column.formula is not None
    return _Reader(column, pieces, read, read_ends).operand(column.formula)


def _is_linear(leaf: Column, piece: Noisy) -> bool:
    """Tell whether a column's values are the released integers times a step, with noise that had
    no part in a choice: of groups by HAVING or the like, or of which groups are shown at all.
    """
    kind = KINDS[leaf.kind]
    return (
        kind.finish is finish_sum
        and kind.pieces == 1
        and leaf.kind not in ("histogram", "cumulative", "quantile", "percentile", "computed")
        and piece.law is not None
        and piece.among == 0
        and not decided_itself(piece)
        and leaf.processed is None
        and "slack" not in leaf.numbers
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Leaf:
    """A released column with its own interval."""

    column: Column
    is_chosen: bool  # its intervals hold for all groups at once
    read_ends: ReadEnds

    count = 1

    def ends(self, missing: Fraction, cells: int) -> Ends:
        return self.read_ends(self.column, missing if self.is_chosen else missing / cells)


@dataclass(frozen=True, slots=True, eq=False)
class _Quotient:
    """A quotient of two weighted sums of cells."""

    top: WeightedGroups
    bottom: WeightedGroups

    count = 1

    def ends(self, missing: Fraction, cells: int) -> Ends:
        return quotient_of_groups(self.top, self.bottom, missing / cells)


@dataclass(frozen=True, slots=True, eq=False)
class _Expression:
    """An operation on operands, by interval arithmetic."""

    operation: Callable[[Sequence[Ends]], Ends]
    args: tuple[Operand, ...]

    @property
    def count(self) -> int:
        return sum(arg.count for arg in self.args)

    def ends(self, missing: Fraction, cells: int) -> Ends:
        with np.errstate(all="ignore"):
            return self.operation([arg.ends(missing, cells) for arg in self.args])


@dataclass(frozen=True, slots=True, eq=False)
class _Over:
    """An operation on ranges of groups whose intervals hold all at once."""

    formula: Formula
    frames: Frames
    inner: Operand
    chosen: int  # the number of groups before a choice by released values
    lacks: bool  # whether groups may have no value without noise

    @property
    def count(self) -> int:
        return self.inner.count

    def ends(self, missing: Fraction, cells: int) -> Ends:  # holds for any number
        # one event for all groups, so for every row
        low, high = self.inner.ends(missing, max(1, len(self.frames.order), self.chosen))
        low, high = (np.broadcast_to(end, len(self.frames.order)) for end in (low, high))
        if self.formula.op in RANKS:
            return _rank_ends(self.formula, self.frames, low, high)
        below = above = FRAME_OPERATIONS[self.formula.op]
        if self.lacks and self.formula.op == "sum_over":
            low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
        elif self.lacks and self.formula.op != "pick":
            below, above = FRAME_OPERATIONS["min_over"], FRAME_OPERATIONS["max_over"]
        least, most = below(low, self.frames), above(high, self.frames)
        if self.formula.number is not None:
            near, is_empty = float(self.formula.number), self.frames.sizes == 0
            return np.where(is_empty, near, least), np.where(is_empty, near, most)
        if self.formula.op not in ("sum_over", "mean_over"):
            return least, most
        margin = (len(low) + 16) * 2.0**-52 * (_sizes(low, self.frames) + _sizes(high, self.frames))
        return least - margin, most + margin


def _sizes(values: Doubles, frames: Frames) -> Doubles:
    finite = np.where(np.isfinite(values), np.abs(values), 0.0)
    return np.nan_to_num(FRAME_OPERATIONS["sum_over"](finite, frames))


def _rank_ends(formula: Formula, frames: Frames, low: Doubles, high: Doubles) -> Ends:
    """Return the least and the largest rank: groups surely before, and groups that may be."""
    assert frames.at is not None
    surely, maybe, distinct, size = (np.zeros(len(frames.start)) for _ in range(4))
    for i, group in enumerate(frames.at.tolist()):
        part = frames.order[frames.start[i] : frames.end[i]]
        before = low[part] > high[group]
        surely[i], size[i] = before.sum(), len(part)
        maybe[i] = (high[part] >= low[group]).sum() - 1  # but itself
        distinct[i] = _apart(low[part][before], high[part][before])
    if formula.op == "dense_rank":
        surely = distinct
    first, last = surely + 1, maybe + 1
    if formula.op == "ntile":
        assert formula.number is not None
        parts = int(formula.number)
        return _tile(first, size, parts), _tile(last, size, parts)
    return first, last


def _apart(low: Doubles, high: Doubles) -> int:
    """Count intervals that do not meet: so many values surely differ."""
    count, reach = 0, -np.inf
    for i in np.argsort(high, kind="stable"):
        if low[i] > reach:
            count, reach = count + 1, high[i]
    return count


def _tile(position: Doubles, size: Doubles, parts: int) -> Doubles:
    """Return the tile of a position: the first size mod parts tiles have one group more."""
    each, more = np.divmod(size, parts)
    inside = more * (each + 1)
    with np.errstate(all="ignore"):
        late = more + np.ceil((position - inside) / np.maximum(each, 1))
        return np.asarray(np.where(position <= inside, np.ceil(position / (each + 1)), late))
