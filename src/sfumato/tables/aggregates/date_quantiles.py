"""Quantiles of dates: a date is a number of days since 1970, a timestamp counts by its date.

*Bounds*   The ends that a condition of the question gives; else the 179 years from 1950 on, which
           have as many days as a quantile has points. Other dates are clipped to these ends. Wide
           bounds cost little: the noise of a quantile is in rows.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction

from ..expr.expressions import FunctionCall, call, literal
from ..expr.grids import Grid
from ..query.aggregate import Aggregate
from ..query.stages import Rows
from .column_kind import Numbers

FIRST = date(1970, 1, 1)
ENDS = (date(1950, 1, 1), date(1950, 1, 1) + timedelta(days=2**16 - 1))


def count_days(aggregate: Aggregate, rows: Rows) -> tuple[Aggregate, Numbers]:
    """Return the quantile of a date as one of days since 1970, and the number that marks its
    column; other aggregates as they are.
    """
    of = aggregate.of
    if of is None or of.type(rows.schema).kind not in ("date", "timestamp"):
        return aggregate, {}
    moments = rows.facts.values(of).moments
    first, last = ENDS if moments is None else (moment.date() for moment in moments)
    low, high = (Fraction((end - FIRST).days) for end in (first, last))
    counted = replace(
        aggregate,
        of=call("days_between", of, literal(FIRST)),
        low=low if aggregate.low is None else aggregate.low,
        high=high if aggregate.high is None else aggregate.high,
    )
    return counted, {"days": Fraction(1)}


def days_rule(aggregate: Aggregate, grid: Grid) -> str:
    """Return the rule about the ends that dates are clipped to."""
    first, last = (FIRST + timedelta(days=int(end * grid.step)) for end in (grid.low, grid.high))
    of = aggregate.of.text if aggregate.of is not None else ""
    return f"{of} by its date, clipped to {first} … {last}"


def value_text(aggregate: Aggregate) -> str:
    """Write the values of a quantile as the caller did: the date, not its number of days."""
    of = aggregate.of
    if isinstance(of, FunctionCall) and of.function.name == "days_between":
        later, earlier = of.arguments
        if earlier.text == literal(FIRST).text:
            return later.text
    return "" if of is None else of.text
