"""The record of one aggregate of a query: which kind, of which values and rows, between which ends.

`tables.aggregates` has the kinds, and the functions that build these records.

*Null*      Every aggregate of a column skips null and NaN, as in SQL; `count()` counts all rows.
*Bounds*    `low` and `high` default to the declared bounds. Values outside are clipped.
*Weighted*  If units are bounded by weights, a unit with more than `max_rows` rows is down-weighted
            to that many in total: means, spreads and quantiles are those of the weighted rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from ...exact.numbers import Number, exact, shown, text
from ..expr.expressions import Expr
from . import query_refusals as refusals


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Aggregate:
    """One aggregate: of which values (`of`) and rows (`where`), with bounds `low` and `high`."""

    kind: str
    of: Expr | None = None
    where: Expr | None = None
    low: Fraction | None = None
    high: Fraction | None = None
    q: Fraction | None = None
    edges: tuple[Fraction, ...] = ()
    interval: bool = True
    confidence: Fraction = Fraction(19, 20)
    by: Expr | None = None  # a second column: a divisor, a weight, or the other of a pair
    beyond: Literal["", "min", "max"] = ""  # a quantile that stands for the least or largest value

    @property
    def text(self) -> str:
        """Return the aggregate as text; equal aggregates have equal texts."""
        arguments = [self.of.text] if self.of is not None else []
        arguments += [self.by.text] if self.by is not None else []
        if self.q is not None and not self.beyond:
            arguments.append(_exactly(self.q))
        arguments += [
            f"{name}={_exactly(end)}"
            for name, end in (("low", self.low), ("high", self.high))
            if end is not None
        ]
        if self.edges:
            arguments.append(f"edges=[{', '.join(_exactly(edge) for edge in self.edges)}]")
        if self.where is not None:
            arguments.append(f"where={self.where.text}")
        if self.kind == "quantile":
            arguments.append(
                f"confidence={_exactly(self.confidence)}" if self.interval else "interval=False"
            )
        return f"{self.beyond or self.kind}({', '.join(arguments)})"

    def __repr__(self) -> str:
        return self.text

    def filter(self, where: Expr) -> Aggregate:
        """Aggregate only the rows that meet a condition. Other rows still count towards the
        contribution bound of their unit.
        """
        check_condition(where, "filter")
        both = where if self.where is None else self.where & where
        return replace(self, where=both)


class Aggregates(tuple[Aggregate, ...]):
    """Several aggregates from one release; each becomes a column."""

    __slots__ = ()

    def filter(self, where: Expr) -> Aggregates:
        """Aggregate only the rows that meet a condition."""
        return Aggregates(aggregate.filter(where) for aggregate in self)


def percent(q: Fraction) -> str:
    """Return a probability in percent, for the name of a quantile's column: 25 for a quarter."""
    return _exactly(100 * q).replace("/", "_over_").replace(".", "_")


def _exactly(number: Fraction) -> str:
    """Write a number in decimals, or as a fraction if decimals would round it: different aggregates
    have different texts.
    """
    short = text(number)
    return short if short[-1] != "…" else str(number)


def check_condition(where: object, method: str) -> None:
    """Refuse a condition that is no expression."""
    if not isinstance(where, Expr):
        raise refusals.AGGREGATE_CONDITION_NOT_EXPRESSION(method=method, type=type(where).__name__)


def bounds_of(low: Number | None, high: Number | None) -> tuple[Fraction | None, Fraction | None]:
    """Return the bounds of an aggregate as exact numbers; both are given, or none is."""
    if (low is None) != (high is None):
        raise refusals.LOW_OR_HIGH_MISSING(low=shown(low), high=shown(high))
    if low is None or high is None:
        return None, None
    ends = exact(low, "low"), exact(high, "high")
    if not ends[0] < ends[1]:
        raise refusals.LOW_NOT_BELOW_HIGH(low=shown(low), high=shown(high))
    return ends
