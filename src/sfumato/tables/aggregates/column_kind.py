"""What sfumato knows about a kind of column, and about a kind of aggregate: one record for each.

*Box*       With probability c the noise of every piece stays within its half-width, all pieces
            together: each holds with c^(1/m), or with 1 − (1 − c)/m where pieces share draws. Then
            the exact integers lie in a box, and the exact value between its extremes over that box.
            A value is that of a box without width.
*Rounding*  Ends go outward, values to the nearest double; in between everything is exact. What
            rounding of the data to a grid may have moved, where the column knows it (`slack`), is
            added to both ends.
*Limits*    Values and ends are cut to what is possible: a mean of clipped values lies between the
            bounds. Where the number of rows may be zero or less, nothing is known: the interval is
            all that is possible, and its middle the value if the released number itself is.
*Reach*     Counts and sums are released as they come, also where noise makes a count negative. An
            interval that lies wholly below 0 then reaches up to 0: no number is said to have a sign
            that it cannot have.
*Proof*     docs/proofs/answer-intervals.md
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...exact.exact_ratios import Integers, Ratios, as_python_ints, multiply_by_step
from ..expr.expressions import Expr
from ..query.aggregate import Aggregate
from ..query.stages import Rows
from .component import Component

Side = Literal["low", "high"]
Numbers = Mapping[str, Fraction]
"""The public numbers of a column: bounds, centre, slack and others, by name."""
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


Finish = Callable[[Numbers, Sequence[Box], Side], BoxEnd]
"""Computes one end of a column from the boxes of its pieces."""


def finish_sum(_: Numbers, boxes: Sequence[Box], side: Side) -> BoxEnd:
    """Return the end of the one piece itself."""
    (box,) = boxes
    return BoxEnd(multiply_by_step(box.low if side == "low" else box.high, box.step))


def count_range(_: Numbers) -> Limits:
    """Return between which a number of rows or of units lies."""
    return Fraction(0), None


def value_bounds(numbers: Numbers) -> Limits:
    """Return the bounds of clipped values. Rounding to the grid comes later and keeps them."""
    return numbers["low"], numbers["high"]


class Tracer(ABC):
    """A symbol for a number: arithmetic on it is recorded."""

    __slots__ = ()

    @abstractmethod
    def combine(self, op: str, *others: Tracer | Fraction | int) -> Tracer:
        """Apply an operation to this number and others."""

    def __add__(self, summand: Tracer | Fraction | int) -> Tracer:
        return self.combine("+", summand)

    def __sub__(self, summand: Tracer | Fraction | int) -> Tracer:
        return self.combine("-", summand)

    def __mul__(self, factor: Tracer | Fraction | int) -> Tracer:
        return self.combine("*", factor)

    def __truediv__(self, divisor: Tracer | Fraction | int) -> Tracer:
        return self.combine("/", divisor)

    def root(self) -> Tracer:
        return self.combine("sqrt")

    def widened(self, slack: Fraction) -> Tracer:
        """Return a number that is at most `slack` away."""
        return self.combine("widened", slack)

    def at_least_one(self) -> Tracer:
        """Return the same number, where it is surely 1 or more."""
        return self.combine("at_least_one")


Trace = Callable[[Numbers, Sequence[Tracer]], Tracer]


def trace_sum(_: Numbers, pieces: Sequence[Tracer]) -> Tracer:
    """Write a count or a sum: the piece itself."""
    return pieces[0]


def trace_quotient(_: Numbers, pieces: Sequence[Tracer]) -> Tracer:
    """Write the quotient of two pieces."""
    return pieces[0] / pieces[1]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ColumnKind:
    """How a kind of column is computed, from how many pieces, and between which limits."""

    name: str
    finish: Finish = finish_sum
    trace: Trace | None = None  # the same in symbols, where all pieces are inside the limits
    pieces: int = 1
    limits: Callable[[Numbers], Limits] = lambda _: (None, None)
    # between which the exact value lies, where a released one may lie beyond: an interval that
    # misses all of this reaches to the nearer end of it
    possible: Callable[[Numbers], Limits] = lambda _: (None, None)
    numbers: tuple[str, ...] = ()  # that every column of the kind has
    counts: bool = False  # of rows or units: whole and not negative, before weights and noise
    # over groups: the groups' values sum to the value of all, where the weight of a row does not
    # depend on groups (`Weighing.adds`)
    adds: bool = False
    # what the error follows: the noise alone, the noise and the size of a group, or the ranks of
    # rows
    error_of: Literal["noise", "size", "rank"] = "noise"
    is_quotient: bool = False  # `centre` + the first piece over the second: an exact interval
    # of a quotient: that of the exact sums always lies between the limits (rounded products and
    # rounded weights may give one that does not)
    keeps_limits: bool = False
    ranks_groups: bool = True  # `top` tells which groups are surely among the largest


Shape = Literal["count", "condition", "column", "pair", "quantile", "median", "bins", "quantiles"]
"""The shapes of arguments in SQL; `sql.aggregate_calls` reads each."""


@dataclass(frozen=True, slots=True)
class SqlCall:
    """One way to call an aggregate in SQL, for readers and for the page: by sqlglot's classes, or
    by names for which sqlglot has no class. Without a shape another call reads it.
    """

    text: str
    about: str
    shape: Shape | None = None
    build: Callable[..., Aggregate] | None = None
    nodes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    typed: str = ""  # what the page types; the text and a bracket if it is empty

    def __call__(self, *values: Expr, **options: object) -> Aggregate:
        """Build the aggregate of the values that a reader of SQL found."""
        assert self.build is not None
        return self.build(*values, **options)


def error_of_noise(_: Numbers, widths: Sequence[Fraction], __: int) -> Fraction | None:
    """Return the half-width of the one component."""
    return widths[0]


def assume_value(numbers: Numbers, _: int, place: Fraction) -> Fraction:
    """Return the point at `place` between the bounds of a value."""
    return numbers["low"] + place * (numbers["high"] - numbers["low"])


Directions = Sequence[Sequence[float]]


def move_each(_: Numbers, largest: Sequence[float]) -> Directions:
    """Return one direction for each component, relative to the most that a row adds to it."""
    return [
        [1 / most if i == j else 0.0 for j in range(len(largest))] for i, most in enumerate(largest)
    ]


def move_quotient(_: Numbers, largest: Sequence[float]) -> Directions:
    """Return how a quotient S/N moves: like S − θ·N, for two typical θ."""
    top, bottom = largest
    typical = top / bottom / math.sqrt(3)  # the root mean square of a uniform θ
    return [(1.0, -typical), (1.0, typical)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AggregateKind(ColumnKind):
    """One kind of aggregate: its column, the components it needs, what is expected before data is
    read, and how SQL and the client write it.
    """

    components: Callable[[Aggregate, Rows], tuple[list[Component], Numbers]]
    # from the numbers, the half-widths of the components and the rows of a group; None: no limit
    error: Callable[[Numbers, Sequence[Fraction], int], Fraction | None] = error_of_noise
    # the value in a group of so many rows, if all values lie at a place between their bounds
    assume: Callable[[Numbers, int, Fraction], Fraction | None] = assume_value
    # of a quotient S/N: the θ for which the noise of S − θ·N may be largest; assumed before data
    extreme_quotients: Callable[[Numbers], Sequence[Fraction]] = lambda _: ()
    # how the value moves with its components near typical values, up to a factor: the planner
    # chooses noise for the average over these directions, from the most that a row adds to each
    directions: Callable[[Numbers, Sequence[float]], Directions] = move_each
    calls: tuple[SqlCall, ...]
    client: str  # as the client writes it
    client_beyond: Mapping[str, str] = field(default_factory=dict)  # of MIN and MAX
    about: str
    example: str


def positive_rows(box: Box) -> tuple[NDArray[np.bool_], tuple[Integers, Integers]]:
    """Return where a number of rows is surely positive, and its ends there (1 elsewhere)."""
    valid = np.asarray(box.low > 0, dtype=np.bool_)
    return valid, (
        np.where(valid, as_python_ints(box.low), 1),
        np.where(valid, as_python_ints(box.high), 1),
    )


def extreme(a: Ratios, b: Ratios, side: Side) -> Ratios:
    """Return the smaller of two ratios for the low side, the larger for the high side."""
    first = (a.top * b.bottom < b.top * a.bottom) == (side == "low")
    return Ratios(np.where(first, a.top, b.top), np.where(first, a.bottom, b.bottom))
