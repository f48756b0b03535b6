"""Aggregates of a query: count, sum, mean, quantile and the others, as public records.

`tables.plan.components` says what each aggregate needs from the engine.

*Null*      Every aggregate of a column skips null and NaN, as in SQL; `count()` counts all rows.
*Bounds*    `low=` and `high=` default to the declared bounds. Values outside are clipped.
*Weighted*  If units are bounded by weights, a unit with more than `max_rows` rows is down-weighted
            to that many in total: means, spreads and quantiles are those of the weighted rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Literal

from ...exact.numbers import Number, exact, probability, shown, text
from ..expr.expressions import Expr, as_expr
from . import query_refusals as refusals

AggregateKind = Literal[
    "count",
    "count_units",
    "count_distinct",
    "sum",
    "ratio",
    "mean",
    "weighted_mean",
    "variance",
    "std",
    "quantile",
    "percentile",
    "histogram",
]

MOST_EDGES = 10_001
MOST_PARTS = 10_000  # the largest denominator of a quantile


@dataclass(frozen=True, slots=True, eq=False)
class Aggregate:
    """One aggregate: of which values (`of`) and rows (`where`), with bounds `low` and `high`."""

    kind: AggregateKind
    of: Expr | None = None
    where: Expr | None = None
    low: Fraction | None = None
    high: Fraction | None = None
    q: Fraction | None = None
    edges: tuple[Fraction, ...] = ()
    interval: bool = True
    confidence: Fraction = Fraction(19, 20)
    by: Expr | None = None  # a second column: the divisor of a ratio, or the weight of a row
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

    def filter(self, where: Expr) -> Aggregate:
        """Aggregate only the rows that meet a condition. Other rows still count towards the
        contribution bound of their unit.
        """
        _check_condition(where, "filter")
        both = where if self.where is None else self.where & where
        return replace(self, where=both)


class Aggregates(tuple[Aggregate, ...]):
    """Several aggregates from one release; each becomes a column."""

    __slots__ = ()

    def filter(self, where: Expr) -> Aggregates:
        """Aggregate only the rows that meet a condition."""
        return Aggregates(aggregate.filter(where) for aggregate in self)


def count(of: str | Expr | None = None) -> Aggregate:
    """The number of rows, or of rows with a value."""
    return Aggregate("count", None if of is None else as_expr(of))


def count_if(where: Expr) -> Aggregate:
    """The number of rows for which a condition holds."""
    _check_condition(where, "count_if")
    return Aggregate("count", where=where)


def count_units() -> Aggregate:
    """The number of units: each counts once in a group, and in at most `max_groups` groups."""
    return Aggregate("count_units")


def count_distinct(of: str | Expr) -> Aggregate:
    """The number of different values in a group. At most `max_rows` values of a unit count, over
    all groups; a value counts once, however many units have it.
    """
    return Aggregate("count_distinct", as_expr(of))


def sum(  # noqa: A001  # users write sf.sum
    of: str | Expr,
    *,
    weight: str | Expr | None = None,
    low: Number | None = None,
    high: Number | None = None,
) -> Aggregate:
    """The sum of a column, each value clipped to its bounds; with `weight`, of weight times value,
    and `low` and `high` are those of the product.
    """
    return Aggregate(
        "sum",
        as_expr(of) if weight is None else as_expr(weight) * as_expr(of),
        None,
        *_ends(low, high),
    )


def ratio(
    of: str | Expr, by: str | Expr, *, low: Number | None = None, high: Number | None = None
) -> Aggregate:
    """The sum of one column over the sum of another; `low` and `high` are those of the first."""
    return Aggregate("ratio", as_expr(of), None, *_ends(low, high), by=as_expr(by))


def mean(
    of: str | Expr,
    *,
    weight: str | Expr | None = None,
    low: Number | None = None,
    high: Number | None = None,
) -> Aggregate:
    """The mean of a column, each value clipped to its bounds; with `weight`, each counts with its
    weight, which is clipped to its own.
    """
    if weight is not None:
        return Aggregate("weighted_mean", as_expr(of), None, *_ends(low, high), by=as_expr(weight))
    return Aggregate("mean", as_expr(of), None, *_ends(low, high))


def var(of: str | Expr, *, low: Number | None = None, high: Number | None = None) -> Aggregate:
    """The variance of a column: mean square minus squared mean of the clipped values."""
    return Aggregate("variance", as_expr(of), None, *_ends(low, high))


def std(of: str | Expr, *, low: Number | None = None, high: Number | None = None) -> Aggregate:
    """The standard deviation of a column: the root of its variance."""
    return Aggregate("std", as_expr(of), None, *_ends(low, high))


def quantile(
    of: str | Expr,
    q: Number,
    *,
    low: Number | None = None,
    high: Number | None = None,
    interval: bool = True,
    confidence: Number = 0.95,
) -> Aggregate:
    """A quantile of a column. Half of its cost pays for the ends of an interval, unless
    `interval=False`.
    """
    part = probability(q, "q", one=True)
    if part.denominator > MOST_PARTS:
        raise refusals.QUANTILE_TOO_FINE(q=shown(q), most=MOST_PARTS)
    return Aggregate(
        "quantile",
        as_expr(of),
        None,
        *_ends(low, high),
        part,
        (),
        interval,
        probability(confidence, "confidence", zero=False),
    )


def min(  # noqa: A001  # users write sf.min
    of: str | Expr,
    *,
    low: Number | None = None,
    high: Number | None = None,
    confidence: Number = 0.95,
) -> Aggregate:
    """The approximate minimum: a quantile that, with this confidence, is not below the least value.
    The plan says how many rows lie below it.
    """
    return Aggregate(
        "quantile",
        as_expr(of),
        None,
        *_ends(low, high),
        Fraction(0),
        (),
        True,
        probability(confidence, "confidence", zero=False),
        beyond="min",
    )


def max(  # noqa: A001  # users write sf.max
    of: str | Expr,
    *,
    low: Number | None = None,
    high: Number | None = None,
    confidence: Number = 0.95,
) -> Aggregate:
    """The approximate maximum: a quantile that, with this confidence, is not above the largest
    value. The plan says how many rows lie above it.
    """
    return Aggregate(
        "quantile",
        as_expr(of),
        None,
        *_ends(low, high),
        Fraction(1),
        (),
        True,
        probability(confidence, "confidence", zero=False),
        beyond="max",
    )


def quantiles(
    of: str | Expr,
    probabilities: Iterable[Number],
    *,
    low: Number | None = None,
    high: Number | None = None,
) -> Aggregates:
    """Several quantiles of a column from one noisy count of its values: any number for one price,
    in increasing order.

    `aggregate(p=sf.quantiles("age", [0.25, 0.5]))` has the columns p_25 and p_50.
    """
    parts = tuple(quantile(of, q).q or Fraction(0) for q in probabilities)
    if not parts or len(set(parts)) < len(parts):
        raise refusals.PROBABILITIES_MISSING_OR_TWICE(count=len(parts))
    return Aggregates(
        Aggregate("percentile", as_expr(of), None, *_ends(low, high), q) for q in parts
    )


def percent(q: Fraction) -> str:
    """Return a probability in percent, for the name of a quantile's column: 25 for a quarter."""
    return _exactly(100 * q).replace("/", "_over_").replace(".", "_")


def median(
    of: str | Expr,
    *,
    low: Number | None = None,
    high: Number | None = None,
    interval: bool = True,
    confidence: Number = 0.95,
) -> Aggregate:
    """The quantile at one half."""
    return quantile(of, "1/2", low=low, high=high, interval=interval, confidence=confidence)


def histogram(of: str | Expr, *, edges: Iterable[Number]) -> Aggregate:
    """The number of rows in each bin [e₀, e₁), [e₁, e₂), …; the last bin is closed. Values outside
    are in no bin.
    """
    ends = tuple(exact(edge, "edge") for edge in edges)
    if not 2 <= len(ends) <= MOST_EDGES or any(a >= b for a, b in pairwise(ends)):
        raise refusals.EDGES_NOT_INCREASING(count=len(ends), most=MOST_EDGES)
    return Aggregate("histogram", as_expr(of), edges=ends)


def _exactly(number: Fraction) -> str:
    """Write a number in decimals, or as a fraction if decimals would round it: different aggregates
    have different texts.
    """
    short = text(number)
    return short if short[-1] != "…" else str(number)


def _check_condition(where: object, method: str) -> None:
    if not isinstance(where, Expr):
        raise refusals.AGGREGATE_CONDITION_NOT_EXPRESSION(method=method, type=type(where).__name__)


def _ends(low: Number | None, high: Number | None) -> tuple[Fraction | None, Fraction | None]:
    if (low is None) != (high is None):
        raise refusals.LOW_OR_HIGH_MISSING(low=shown(low), high=shown(high))
    if low is None or high is None:
        return None, None
    ends = exact(low, "low"), exact(high, "high")
    if not ends[0] < ends[1]:
        raise refusals.LOW_NOT_BELOW_HIGH(low=shown(low), high=shown(high))
    return ends
