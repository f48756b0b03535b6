"""What may be asked of rows: aggregates, as records of public things. What each needs from the
engine is in `pieces`.

*Null*      A null or NaN value is skipped by every aggregate of a column, as in SQL; `count()`
            counts rows whatever they hold.
*Bounds*    `low=` and `high=` are those of the declaration where they are not given here. Values
            outside are counted as the nearer end.
*Weighted*  Where units are bounded by weights, a unit with more than `max_rows` rows counts for
            that many, each of its rows with the same part: means, spreads and quantiles are those
            of the weighted rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Literal

from ...errors import Refused
from ...exact.numbers import Number, exact, probability, shown, text
from ..expr.expressions import Expr, known

Kind = Literal[
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


@dataclass(frozen=True, slots=True, eq=False)
class Aggregate:
    """One aggregate: of which rows (`where`) and of what (`of`), within which ends."""

    kind: Kind
    of: Expr | None = None
    where: Expr | None = None
    low: Fraction | None = None
    high: Fraction | None = None
    q: Fraction | None = None
    edges: tuple[Fraction, ...] = ()
    interval: bool = True
    confidence: Fraction = Fraction(19, 20)
    by: Expr | None = None  # a second column: what is divided by, or the weight of a row
    beyond: Literal["", "min", "max"] = (
        ""  # of a quantile: that all rows lie on one side of it, but for some
    )

    @property
    def text(self) -> str:
        """As it would be written; equal aggregates have equal texts."""
        said = [self.of.text] if self.of is not None else []
        said += [self.by.text] if self.by is not None else []
        if self.q is not None and not self.beyond:
            said.append(_exactly(self.q))
        said += [
            f"{name}={_exactly(end)}"
            for name, end in (("low", self.low), ("high", self.high))
            if end is not None
        ]
        if self.edges:
            said.append(f"edges=[{', '.join(_exactly(edge) for edge in self.edges)}]")
        if self.where is not None:
            said.append(f"where={self.where.text}")
        if self.kind == "quantile":
            said.append(
                f"confidence={_exactly(self.confidence)}" if self.interval else "interval=False"
            )
        return f"{self.beyond or self.kind}({', '.join(said)})"

    def filter(self, where: Expr) -> Aggregate:
        """The same, of the rows for which this holds: they still count towards what their unit may
        contribute.
        """
        _check_condition(where, "filter")
        both = where if self.where is None else self.where & where
        return replace(self, where=both)


class Aggregates(tuple[Aggregate, ...]):
    """Several aggregates out of one release; each becomes a column."""

    __slots__ = ()

    def filter(self, where: Expr) -> Aggregates:
        """The same, of the rows for which this holds."""
        return Aggregates(one.filter(where) for one in self)


def count(of: str | Expr | None = None) -> Aggregate:
    """The number of rows, or of rows with a value."""
    return Aggregate("count", None if of is None else known(of))


def count_if(where: Expr) -> Aggregate:
    """The number of rows for which a condition holds."""
    _check_condition(where, "count_if")
    return Aggregate("count", where=where)


def count_units() -> Aggregate:
    """The number of units: each counts once in a group, and in at most `max_groups` groups."""
    return Aggregate("count_units")


def count_distinct(of: str | Expr) -> Aggregate:
    """The number of different values in a group. Of a unit at most `max_rows` values count, over
    all groups; a value counts once, whoever has it.
    """
    return Aggregate("count_distinct", known(of))


def sum(  # noqa: A001
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
        "sum", known(of) if weight is None else known(weight) * known(of), None, *_ends(low, high)
    )


def ratio(
    of: str | Expr, by: str | Expr, *, low: Number | None = None, high: Number | None = None
) -> Aggregate:
    """The sum of one column over the sum of another; `low` and `high` are those of the first."""
    return Aggregate("ratio", known(of), None, *_ends(low, high), by=known(by))


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
        return Aggregate("weighted_mean", known(of), None, *_ends(low, high), by=known(weight))
    return Aggregate("mean", known(of), None, *_ends(low, high))


def var(of: str | Expr, *, low: Number | None = None, high: Number | None = None) -> Aggregate:
    """The variance of a column: mean square minus squared mean of the clipped values."""
    return Aggregate("variance", known(of), None, *_ends(low, high))


def std(of: str | Expr, *, low: Number | None = None, high: Number | None = None) -> Aggregate:
    """The standard deviation of a column: the root of its variance."""
    return Aggregate("std", known(of), None, *_ends(low, high))


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
    if part.denominator > 10_000:
        raise Refused(
            "aggregate.quantile",
            f"q={shown(q)}",
            "so fine a fraction of the rows is not told apart",
            "q=0.5 or q=0.999",
        )
    return Aggregate(
        "quantile",
        known(of),
        None,
        *_ends(low, high),
        part,
        (),
        interval,
        probability(confidence, "confidence", zero=False),
    )


def min(  # noqa: A001
    of: str | Expr,
    *,
    low: Number | None = None,
    high: Number | None = None,
    confidence: Number = 0.95,
) -> Aggregate:
    """The least value but for some: a quantile that, with this confidence, is not below the least
    value. How many rows lie below it is in the plan.
    """
    return Aggregate(
        "quantile",
        known(of),
        None,
        *_ends(low, high),
        Fraction(0),
        (),
        True,
        probability(confidence, "confidence", zero=False),
        beyond="min",
    )


def max(  # noqa: A001
    of: str | Expr,
    *,
    low: Number | None = None,
    high: Number | None = None,
    confidence: Number = 0.95,
) -> Aggregate:
    """The largest value but for some: a quantile that, with this confidence, is not above the
    largest value.
    """
    return Aggregate(
        "quantile",
        known(of),
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
    """Several quantiles of a column out of one noisy count of its values: as many as one likes, for
    one price, and none below a smaller one.

    `aggregate(p=sf.quantiles("age", [0.25, 0.5]))` has the columns p_25 and p_50.
    """
    given = tuple(quantile(of, q).q or Fraction(0) for q in probabilities)
    if not given or len(set(given)) < len(given):
        raise Refused(
            "aggregate.quantile",
            f"{len(given)} probabilities",
            "there is one or more, each once",
            "[0.25, 0.5, 0.75]",
        )
    return Aggregates(Aggregate("percentile", known(of), None, *_ends(low, high), q) for q in given)


def percent(q: Fraction) -> str:
    """25 for a quarter: what the column of a quantile is called after."""
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
    """How many rows have a value in each bin [e₀, e₁), [e₁, e₂), …; the last bin is closed. Values
    outside are in none.
    """
    ends = tuple(exact(edge, "edge") for edge in edges)
    if not 2 <= len(ends) <= MOST_EDGES or any(a >= b for a, b in pairwise(ends)):
        raise Refused(
            "aggregate.edges",
            f"{len(ends)} edges",
            f"edges are from 2 to {MOST_EDGES} numbers, each above the one before",
            "edges=range(0, 121, 10)",
        )
    return Aggregate("histogram", known(of), edges=ends)


def _exactly(number: Fraction) -> str:
    """A number as one writes it, and as a fraction where that would be another number: different
    aggregates have different texts.
    """
    short = text(number)
    return short if short[-1] != "…" else str(number)


def _check_condition(where: object, place: str) -> None:
    if not isinstance(where, Expr):
        raise Refused(
            "aggregate.where",
            f"{place}({type(where).__name__})",
            "a condition is an expression on columns",
            f"{place}(sf.col('age') >= 18)",
        )


def _ends(low: Number | None, high: Number | None) -> tuple[Fraction | None, Fraction | None]:
    if (low is None) != (high is None):
        raise Refused(
            "aggregate.bounds",
            f"low={shown(low)}, high={shown(high)}",
            "bounds have two ends",
            "low=0, high=100",
        )
    if low is None or high is None:
        return None, None
    ends = exact(low, "low"), exact(high, "high")
    if not ends[0] < ends[1]:
        raise Refused(
            "aggregate.bounds",
            f"low={shown(low)}, high={shown(high)}",
            "the lower end lies below the upper one",
            "low=0, high=100",
        )
    return ends
