"""The periods of a stream: their beginnings, and which one holds a moment."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import islice, pairwise

import pytest

from sfumato.streams.period_calendar import PeriodCalendar
from sfumato.tables.expr.types import Type
from sfumato.tables.expr.value_sets import buckets
from sfumato.tables.query.calendars import UNITS

MOMENTS = Type("timestamp")


@pytest.mark.parametrize("every", UNITS)
def test_periods_are_the_buckets_of_the_calendar(every: str) -> None:
    first = datetime(2023, 11, 30, 17, 45)
    calendar = PeriodCalendar.starting(first, every, MOMENTS)
    listed = list(islice(buckets(first, datetime(2050, 1, 1), every), 30))
    assert [calendar.start(number) for number in range(1, len(listed) + 1)] == listed
    for number, (begin, end) in enumerate(pairwise(listed), start=1):
        assert calendar.number_at(begin) == calendar.number_at(end - timedelta(seconds=1)) == number
    assert calendar.number_at(listed[0] - timedelta(seconds=1)) == 0


def test_keys_have_the_type_of_the_column() -> None:
    dates = PeriodCalendar.starting("2026-01-15", "month", Type("date"))
    assert [dates.key(1), dates.key(2), dates.key(13)] == [
        date(2026, 1, 1),
        date(2026, 2, 1),
        date(2027, 1, 1),
    ]
    assert type(dates.key(1)) is date
    here = PeriodCalendar.starting(datetime(2026, 1, 1, 1, tzinfo=UTC), "hour", MOMENTS)
    assert here.key(2) == datetime(2026, 1, 1, 2)
    zoned = PeriodCalendar.starting(
        "2026-01-01T01:00:00+02:00", "day", Type("timestamp", zone="UTC")
    )
    assert zoned.key(1) == datetime(2025, 12, 31, tzinfo=UTC)
