"""Group by time buckets between two public dates: every hour, day, week, month, quarter or year is
a public key, so every bucket has an answer, empty ones too.

*Whole*   The first bucket holds the first date, the last bucket the last date, and both are whole
          buckets. Rows of other times are left out, as with all public keys. Times are in UTC;
          weeks begin on Monday.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import islice

from ..expr.expressions import ColumnRef, Expr, as_expr, python_text
from ..expr.types import Type
from ..expr.value_sets import buckets
from . import query_refusals as refusals

UNITS = ("year", "quarter", "month", "week", "day", "hour")
MOST_BUCKETS = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class Calendar:
    """The buckets of a column of moments, from the bucket of `first` to the bucket of `last`."""

    of: Expr
    unit: str
    first: datetime
    last: datetime

    @property
    def expression(self) -> Expr:
        """Return the expression for the beginning of a row's bucket."""
        return self.of.date_trunc(self.unit)

    @property
    def text(self) -> str:
        """Return the calendar as Python code."""
        of = repr(self.of.name) if isinstance(self.of, ColumnRef) else python_text(self.of)
        ends = f"'{self.first.isoformat()}', '{self.last.isoformat()}'"
        return f"sf.calendar({of}, {self.unit!r}, {ends})"

    def keys(self, schema: Mapping[str, Type]) -> tuple[date | datetime, ...]:
        """Return the beginnings of all buckets, in the type of the column."""
        moment = self.expression.type(schema)
        listed = list(islice(buckets(self.first, self.last, self.unit), MOST_BUCKETS + 1))
        if len(listed) > MOST_BUCKETS:
            raise refusals.TOO_MANY_BUCKETS(
                unit=self.unit,
                most=MOST_BUCKETS,
                coarser=UNITS[max(UNITS.index(self.unit) - 1, 0)],
            )
        if moment.kind == "date":
            return tuple(bucket.date() for bucket in listed)
        return (
            tuple(bucket.replace(tzinfo=UTC) for bucket in listed) if moment.zone else tuple(listed)
        )


def calendar(
    of: str | Expr, unit: str, first: str | date | datetime, last: str | date | datetime
) -> Calendar:
    """Public time buckets: `group_by(month=sf.calendar("day", "month", "2026-01-01",
    "2026-12-31"))`.
    """
    if unit not in UNITS:
        raise refusals.UNKNOWN_CALENDAR_UNIT(unit=unit, units=", ".join(UNITS))
    ends = _moment(first, "first"), _moment(last, "last")
    if ends[0] > ends[1]:
        raise refusals.DATES_NOT_IN_ORDER(first=first, last=last)
    return Calendar(as_expr(of), unit, *ends)


def _moment(value: str | date | datetime, argument: str) -> datetime:
    moment = read_moment(value)
    if moment is None:
        raise refusals.NOT_A_DATE(argument=argument, value=value)
    return moment


def read_moment(value: object) -> datetime | None:
    """Read a public date, or a moment in UTC; return None if it is neither."""
    try:
        moment: object = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return None
    if isinstance(moment, datetime):
        return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    if isinstance(moment, date):
        return datetime(moment.year, moment.month, moment.day)
    return None
