"""Public calendars: every bucket between two dates, whole, in the type of the column."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from random import Random
from typing import Any

import pytest

from sfumato.guarantees import Pure
from sfumato.tables import aggregates as ag
from sfumato.tables.declare.declaration import declare
from sfumato.tables.expr.types import Type
from sfumato.tables.plan.query_plan import plan
from sfumato.tables.query.calendars import UNITS, calendar
from sfumato.tables.query.stages import Rows
from sfumato.testing.exact_checks import through_the_door

from ..refusing import refusal
from .oracle import date_add, date_trunc
from .worlds import Bench, Nobody, row

DAYS = {"d": Type.of("date"), "t": Type.of("timestamp"), "z": Type.of("timestamp").bare}


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    new_bench = Bench()
    yield new_bench
    new_bench.close()


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("2026-01-01", "2026-03-31"),
        ("2024-02-28", "2024-03-01"),
        ("2026-06-15", "2026-06-15"),
        ("2025-12-29", "2026-01-04"),
    ],
)
def test_the_buckets_are_those_of_every_moment_between(unit: str, first: str, last: str) -> None:
    """Walked through hour by hour, with the truncation of the independent evaluator."""
    at, end, walked = datetime.fromisoformat(first), datetime.fromisoformat(last), []
    while at <= end:
        walked.append(date_trunc(unit, at))
        at = date_add(at, 1, "hour")
    assert list(calendar("t", unit, first, last).keys(DAYS)) == list(dict.fromkeys(walked))
    if unit != "hour":
        assert list(calendar("d", unit, first, last).keys(DAYS)) == list(
            dict.fromkeys(day.date() for day in walked)
        )


def test_the_ends_of_time() -> None:
    assert calendar("d", "year", "9998-05-01", "9999-12-31").keys(DAYS) == (
        date(9998, 1, 1),
        date(9999, 1, 1),
    )
    assert calendar("d", "day", "0001-01-01", "0001-01-02").keys(DAYS) == (
        date(1, 1, 1),
        date(1, 1, 2),
    )
    assert calendar("d", "month", date(2026, 1, 5), datetime(2026, 2, 1, tzinfo=UTC)).keys(
        DAYS
    ) == (date(2026, 1, 1), date(2026, 2, 1))


def test_every_bucket_answers(bench: Bench) -> None:
    declared = declare(name="world", schema=bench.schema, unit="user", max_rows=5)
    for column, zone in (("k1", None), ("u0", None), ("t0", UTC)):
        query = (
            Rows.of(declared, Nobody())
            .group_by(month=calendar(column, "month", "2026-01-20", "2026-04-01"))
            .aggregate(n=ag.count())
        )
        release_plan = plan(query, Pure(1), bench.source)
        times: list[Any] = [
            datetime(2026, 3, 5, 4, tzinfo=zone),
            datetime(2026, 1, 1, tzinfo=zone),
            datetime(2025, 12, 31, 23, tzinfo=zone),
            None,
        ]
        values = [None if t is None else t.date() for t in times] if column == "k1" else times
        bench.put([{**row(Random(0)), "user": 1, column: value} for value in values])
        through = through_the_door(release_plan)
        assert [key.month for (key,) in through.groups.rows] == [1, 2, 3, 4]
        assert (through.pieces[0].values[:, 0] >> 20).tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("about", "code"),
    [
        (("t", "moon", "2026-01-01", "2026-01-02"), "calendar.unit"),
        (("t", "day", "2026-01-03", "2026-01-02"), "calendar.dates"),
        (("t", "day", "first", "2026-01-02"), "calendar.dates"),
        (("t", "day", 3, "2026-01-02"), "calendar.dates"),
    ],
)
def test_refused(about: tuple[Any, ...], code: str) -> None:
    refusal(lambda: calendar(*about), code)


def test_too_many_buckets_and_no_hours_in_days(bench: Bench) -> None:
    refusal(
        lambda: calendar("t", "hour", "1900-01-01", "2026-01-01").keys(DAYS), "calendar.buckets"
    )
    refusal(lambda: calendar("d", "hour", "2026-01-01", "2026-01-02").keys(DAYS), "expression.type")
    rows = Rows.of(declare(name="world", schema=bench.schema), Nobody())
    refusal(
        lambda: rows.group_by(k1=calendar("k1", "month", "2026-01-01", "2026-02-01")), "stage.keys"
    )
