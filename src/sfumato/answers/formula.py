"""Compute columns from released columns: ratios, differences, proportions. This is
post-processing: only the released columns cost anything.

*Interval*   Each of m operands lies in its interval with probability 1 − (1 − c)/m, so all of
             them do with probability c, whether they share noise or not. Interval arithmetic gives
             ends for the result. It does not see that one operand may stand in two places, so it
             may be wider than it has to be, never narrower.
*Rounding*   Every end is moved one double outward after every operation.
*Unknown*    A division by zero has no value, which is NaN here; where a divisor may be zero the
             ends are infinite.
*Lacking*    Noise may decide whether NULLIF and SQRT have a value. Ends are those of the value, if
             there is one without noise. Operations that pass over missing values take wider ends
             (`may_lack_value`).
*Quantiles*  have an interval of their own, at a level that was fixed before: a column computed from
             one quantile alone has it too, others have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .column_kinds import KINDS
from .group_frames import FRAME_OPERATIONS, Frames

if TYPE_CHECKING:
    from .answer_records import Column

Doubles = NDArray[np.float64]
Ends = tuple[Doubles, Doubles]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Formula:
    """An operation on formulas, or a number, or a released column. The released column's pieces are
    indices into the pieces of the computed column, or into its sources if it is computed across
    groups; then `frames` are the ranges of groups of an operation, and `number` is its value where
    a range has no group.
    """

    op: str
    args: tuple[Formula, ...] = ()
    number: Fraction | None = None
    column: Column | None = None
    frames: Frames | None = None

    def leaves(self) -> Iterator[Column]:
        """Yield the released columns that the formula uses."""
        if self.column is not None:
            yield self.column
        for arg in self.args:
            yield from arg.leaves()

    def piece_numbers(self) -> Iterator[int]:
        """Yield the pieces of all operands."""
        for leaf in self.leaves():
            yield from leaf.pieces

    def rows(self, at: Places, groups: Callable[[Column], int]) -> Formula:
        """Return the formula for the rows at these places; `groups` counts those of a column."""
        if self.frames is not None:
            return replace(self, frames=self.frames.rows(at))
        if self.column is not None:
            return Formula("pick", (self,), frames=Frames.single(at, groups(self.column)))
        return replace(self, args=tuple(arg.rows(at, groups) for arg in self.args))


def values(column: Column, read: Callable[[Column], Doubles]) -> Doubles:
    """Compute a column's values from its operands' values; `read` looks up an operand."""
    formula = _formula(column)
    results = evaluate(formula, lambda leaf: read(place_in(leaf, column)))
    if column.sources:
        return np.atleast_1d(results)
    return np.broadcast_to(results, read(place_in(next(formula.leaves()), column)).shape).copy()


def interval(column: Column, read: Callable[[Column], Ends]) -> Ends:
    """Compute a column's interval ends from its operands' ends, which hold all at once."""
    formula = _formula(column)
    low, high = _ends(formula, lambda leaf: read(place_in(leaf, column)))
    shape = read(place_in(next(formula.leaves()), column))[0].shape
    return np.broadcast_to(low, shape).copy(), np.broadcast_to(high, shape).copy()


def count_rows(formula: Formula, groups: Callable[[Column], int]) -> int:
    """Count the rows of a formula across groups; raise ValueError where its parts do not fit."""
    if formula.column is not None:
        return groups(formula.column)
    counts = {count_rows(arg, groups) for arg in formula.args if arg.number is None or arg.frames}
    if formula.frames is None:
        if len(counts) > 1:
            raise ValueError(counts)
        return counts.pop() if counts else 1
    if counts - {len(formula.frames.order)} or len(formula.args) > 1:
        raise ValueError(counts)
    return len(formula.frames.start)


def sole_quantile(column: Column) -> Column | None:
    """Return the quantile that a column is computed from, if it uses no other column."""
    leaves = list(_formula(column).leaves())
    first = leaves[0]
    return (
        place_in(first, column)
        if first.kind == "quantile" and all(leaf.pieces == first.pieces for leaf in leaves)
        else None
    )


def has_interval(column: Column) -> bool:
    """Tell whether every operand has ends that interval arithmetic can combine."""
    return sole_quantile(column) is not None or all(
        leaf.kind != "quantile" for leaf in _formula(column).leaves()
    )


def count_operands(column: Column) -> int:
    """Count the different released columns whose intervals must hold together."""
    return len(
        {
            (leaf.kind, leaf.pieces, tuple(sorted(leaf.numbers.items())))
            for leaf in _formula(column).leaves()
        }
    )


def _formula(column: Column) -> Formula:
    assert column.formula is not None
    return column.formula


def has_one_place(column: Column) -> bool:
    """Tell whether a column is computed from one released column that stands in one place."""
    return len(list(_formula(column).leaves())) == 1


def may_lack_value(formula: Formula) -> bool:
    """Tell whether a formula may have no value without noise although its ends are finite. Where a
    divisor may be zero the ends are infinite, also if NULLIF takes the zero away.
    """
    lacking = [may_lack_value(arg) for arg in formula.args]
    if formula.op in ("coalesce", "least", "greatest"):
        return all(lacking)
    if formula.op == "/":
        divisor = formula.args[1]
        if divisor.op == "nullif" and divisor.args[1].number == 0:
            lacking[1] = may_lack_value(divisor.args[0])
        return any(lacking)
    return formula.op in ("nullif", "sqrt") or any(lacking)


def has_quotient(formula: Formula) -> bool:
    """Tell whether a formula divides, or reads a column that does: then it may lack a value."""
    leaf = formula.column
    divides = formula.op == "/" or (leaf is not None and KINDS[leaf.kind].is_quotient)
    return divides or any(map(has_quotient, formula.args))


def ends_operation(formula: Formula) -> Callable[[Sequence[Ends]], Ends]:
    """Return how the operation of a formula acts on ends. LEAST and GREATEST pass over arguments
    without a value, and are then between all ends.
    """
    if formula.op in ("least", "greatest") and any(map(may_lack_value, formula.args)):
        return _hull
    return OPERATIONS[formula.op][1]


def place_in(leaf: Column, column: Column) -> Column:
    """Return an operand with its pieces as indices into those of the answer."""
    held = column.sources or column.pieces
    return replace(leaf, pieces=tuple(held[i] for i in leaf.pieces))


def evaluate(formula: Formula, read: Callable[[Column], Doubles]) -> Doubles:
    """Compute a formula; `read` looks up an operand."""
    if formula.column is not None:
        return read(formula.column)
    if formula.frames is not None:
        of = evaluate(formula.args[0], read) if formula.args else None
        over = FRAME_OPERATIONS[formula.op](of, formula.frames)
        if formula.number is None:
            return over
        return np.where(formula.frames.sizes == 0, float(formula.number), over)
    if formula.number is not None:
        return np.asarray(float(formula.number))
    with np.errstate(all="ignore"):
        return np.asarray(OPERATIONS[formula.op][0](*(evaluate(arg, read) for arg in formula.args)))


def _ends(formula: Formula, read: Callable[[Column], Ends]) -> Ends:
    if formula.column is not None:
        return read(formula.column)
    if formula.number is not None:
        near = np.asarray(float(formula.number))
        return (
            (near, near) if Fraction(float(near)) == formula.number else _round_outward(near, near)
        )
    with np.errstate(all="ignore"):
        return ends_operation(formula)([_ends(arg, read) for arg in formula.args])


def _round_outward(low: Doubles, high: Doubles) -> Ends:
    """Move both ends one double outward; NaN becomes infinite."""
    down, up = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
    return np.where(np.isnan(down), -np.inf, down), np.where(np.isnan(up), np.inf, up)


def _corners(operation: Callable[[Doubles, Doubles], Doubles]) -> Callable[[Sequence[Ends]], Ends]:
    """Lift an operation whose extremes lie at the ends of its arguments to intervals."""

    def ends(args: Sequence[Ends]) -> Ends:
        (a, b), (c, d) = args
        corners = [operation(x, y) for x in (a, b) for y in (c, d)]
        # a corner that is NaN makes both ends NaN
        return _round_outward(reduce(np.minimum, corners), reduce(np.maximum, corners))

    return ends


def _quotient(args: Sequence[Ends]) -> Ends:
    c, d = args[1]
    low, high = _corners(np.divide)(args)
    maybe = (c <= 0) & (d >= 0)
    return np.where(maybe, -np.inf, low), np.where(maybe, np.inf, high)


def _rising(operation: Callable[[Doubles], Doubles]) -> Callable[[Sequence[Ends]], Ends]:
    return lambda args: _round_outward(operation(args[0][0]), operation(args[0][1]))


def _root(x: Doubles) -> Doubles:
    return np.sqrt(np.maximum(x, 0.0))


def _absolute(args: Sequence[Ends]) -> Ends:
    (low, high) = args[0]
    return np.maximum(np.maximum(low, -high), 0.0), np.maximum(-low, high)


def _round(x: Doubles, digits: Doubles) -> Doubles:
    """Round to a number of digits, halves away from zero, as SQL does."""
    scale = 10.0**digits
    moved = np.sign(x) * np.floor(np.abs(x) * scale + 0.5) / scale
    return np.where(np.isfinite(moved), moved, x)


def _round_ends(args: Sequence[Ends]) -> Ends:
    digits = args[1][0]
    return _round_outward(_round(args[0][0], digits), _round(args[0][1], digits))


def _hull(args: Sequence[Ends]) -> Ends:
    return reduce(np.minimum, [low for low, _ in args]), reduce(
        np.maximum, [high for _, high in args]
    )


def _coalesce(*parts: Doubles) -> Doubles:
    return reduce(lambda a, b: np.where(np.isnan(a), b, a), parts)


def _extreme(operation: Callable[[Doubles, Doubles], Doubles]) -> Callable[[Sequence[Ends]], Ends]:
    return lambda args: (
        reduce(operation, [low for low, _ in args]),
        reduce(operation, [high for _, high in args]),
    )


OPERATIONS: dict[str, tuple[Callable[..., Doubles], Callable[[Sequence[Ends]], Ends]]] = {
    "+": (np.add, _corners(np.add)),
    "-": (np.subtract, _corners(np.subtract)),
    "*": (np.multiply, _corners(np.multiply)),
    "/": (lambda a, b: np.where(b == 0, np.nan, a / b), _quotient),
    "negate": (np.negative, lambda args: (-args[0][1], -args[0][0])),
    "abs": (np.abs, _absolute),
    "round": (_round, _round_ends),
    "floor": (np.floor, _rising(np.floor)),
    "ceil": (np.ceil, _rising(np.ceil)),
    "sqrt": (np.sqrt, _rising(_root)),
    "least": (lambda *parts: reduce(np.fmin, parts), _extreme(np.minimum)),
    "greatest": (lambda *parts: reduce(np.fmax, parts), _extreme(np.maximum)),
    "coalesce": (_coalesce, _hull),
    "nullif": (lambda a, b: np.where(a == b, np.nan, a), lambda args: args[0]),
}
"""Every operation by name: how it acts on values, and on the ends of intervals."""
