"""The periods of a stream: hours, days, weeks, months, quarters or years, numbered from 1."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime

from ..tables.expr.types import MONTHS, Type
from ..tables.expr.value_sets import LENGTHS, begin
from ..tables.query.calendars import UNITS, read_moment
from . import streams_refusals as refusals
from .stream_options import Moment


@dataclass(frozen=True, slots=True)
class PeriodCalendar:
    """Periods of one length from the one that holds the first moment on. Times are in UTC, weeks
    begin on Monday. `of` is the type of the column of times.
    """

    begin: datetime
    every: str
    of: Type

    @classmethod
    def starting(cls, start: Moment, every: str, of: Type) -> PeriodCalendar:
        """Begin with the whole period that holds `start`."""
        if every not in UNITS:
            raise refusals.UNKNOWN_PERIOD(every=every, units=", ".join(UNITS))
        if every == "hour" and of.kind == "date":
            raise refusals.HOURS_OF_DATES()
        return cls(begin(moment_of(start, "start"), every), every, of)

    def start(self, number: int) -> datetime:
        """Return the first moment of a period; of the period after the last one, its end."""
        if self.every in LENGTHS:
            return self.begin + (number - 1) * LENGTHS[self.every]
        month = self.begin.year * 12 + self.begin.month - 1 + (number - 1) * MONTHS[self.every]
        return self.begin.replace(year=month // 12, month=month % 12 + 1)

    def key(self, number: int) -> date | datetime:
        """Return the first moment of a period, in the type of the column."""
        start = self.start(number)
        if self.of.kind == "date":
            return start.date()
        return start.replace(tzinfo=UTC) if self.of.zone else start

    def number_at(self, moment: datetime) -> int:
        """Return the number of the period that holds a moment; below 1 before the first."""
        if self.every in LENGTHS:
            return 1 + (moment - self.begin) // LENGTHS[self.every]
        months = (moment.year - self.begin.year) * 12 + moment.month - self.begin.month
        return 1 + months // MONTHS[self.every]


def moment_of(value: Moment, argument: str) -> datetime:
    """Return a public date, or a moment in UTC; refuse what is neither."""
    moment = read_moment(value)
    if moment is None:
        raise refusals.NOT_A_MOMENT(argument=argument, value=value)
    return moment
