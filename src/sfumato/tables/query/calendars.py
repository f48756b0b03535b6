"""Time buckets between two public dates: every day, week, month, quarter, year or hour of them is a
group, and every one answers, empty ones too.

*Whole*   The first bucket is the one that holds the first date, the last the one that holds the
          last date, and both are taken whole. Rows of other times are left out, as with all public
          keys. Times are in UTC; weeks begin on Monday.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from ...errors import Refused
from ..expr.expressions import Expr, known
from ..expr.types import MONTHS, Type

UNITS = ("year", "quarter", "month", "week", "day", "hour")
MOST_BUCKETS = 100_000
_STEPS = {"week": timedelta(days=7), "day": timedelta(days=1), "hour": timedelta(hours=1)}


@dataclass(frozen=True, slots=True, eq=False)
class Calendar:
    """The buckets of a column of moments, from the one of `first` to the one of `last`."""

    of: Expr
    unit: str
    first: datetime
    last: datetime

    @property
    def expression(self) -> Expr:
        """The beginning of the bucket of a row."""
        return self.of.date_trunc(self.unit)

    def keys(self, schema: Mapping[str, Type]) -> tuple[date | datetime, ...]:
        """The beginnings of all buckets, in the type of the column."""
        moment = self.expression.type(schema)
        at = _begin(self.first, self.unit)
        found: list[datetime] = []
        while at <= self.last:
            if len(found) == MOST_BUCKETS:
                raise Refused(
                    "calendar.buckets",
                    f"calendar(…, {self.unit!r}, …)",
                    f"there are more than {MOST_BUCKETS} of them",
                    "a coarser unit",
                )
            found.append(at)
            try:
                at = _next(at, self.unit)
            except (OverflowError, ValueError):  # the end of time
                break
        if moment.kind == "date":
            return tuple(bucket.date() for bucket in found)
        return (
            tuple(bucket.replace(tzinfo=UTC) for bucket in found) if moment.zone else tuple(found)
        )


def calendar(
    of: str | Expr, unit: str, first: str | date | datetime, last: str | date | datetime
) -> Calendar:
    """Public time buckets: `group_by(month=sf.calendar("day", "month", "2026-01-01",
    "2026-12-31"))`.
    """
    if unit not in UNITS:
        raise Refused(
            "calendar.unit",
            f"unit={unit!r:.40}",
            f"a bucket is one of {', '.join(UNITS)}",
            "unit='month'",
        )
    ends = _moment(first, "first"), _moment(last, "last")
    if ends[0] > ends[1]:
        raise Refused(
            "calendar.dates",
            f"{first} … {last}",
            "the first date does not lie after the last",
            "'2026-01-01', '2026-12-31'",
        )
    return Calendar(known(of), unit, *ends)


def _moment(given: str | date | datetime, name: str) -> datetime:
    """A public date, or moment in UTC."""
    try:
        moment: object = datetime.fromisoformat(given) if isinstance(given, str) else given
    except ValueError:
        moment = None
    if isinstance(moment, datetime):
        return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    if isinstance(moment, date):
        return datetime(moment.year, moment.month, moment.day)
    raise Refused(
        "calendar.dates",
        f"{name}={given!r:.40}",
        "it is a date, or a date as text",
        f"{name}='2026-01-01'",
    )


def _begin(at: datetime, unit: str) -> datetime:
    if unit == "hour":
        return at.replace(minute=0, second=0, microsecond=0)
    day = datetime(at.year, at.month, at.day)
    if unit in MONTHS:
        return day.replace(day=1, month=(at.month - 1) // MONTHS[unit] * MONTHS[unit] + 1)
    if unit == "week" and day >= datetime.min + timedelta(days=day.weekday()):
        return day - timedelta(days=day.weekday())
    return day


def _next(at: datetime, unit: str) -> datetime:
    if unit in _STEPS:
        return at + _STEPS[unit]
    year, month = divmod(at.year * 12 + at.month - 1 + MONTHS[unit], 12)
    return at.replace(year=year, month=month + 1)
