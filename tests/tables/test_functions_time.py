"""Dates and timestamps, to the ends of the calendar."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from sfumato.tables.expr.expressions import Expr, col

from ..refusing import refusal
from .computing import computed

D, E = col("d"), col("e")
LAST = datetime(9999, 12, 31, 23, 59, 59, 999999)


@pytest.mark.parametrize(
    ("expression", "d", "value"),
    [
        (D.year(), ("date", date(1, 1, 1)), 1),
        (D.quarter(), ("date", date(2020, 12, 31)), 4),
        (D.week(), ("date", date(2024, 12, 30)), 1),
        (D.week(), ("date", date(2010, 1, 3)), 53),
        (D.day_of_week(), ("date", date(2024, 1, 1)), 1),
        (D.day_of_week(), ("date", date(2023, 12, 31)), 7),
        (D.day_of_year(), ("date", date(2020, 12, 31)), 366),
        (D.day_name(), ("date", date(2024, 1, 1)), "Monday"),
        (D.day_name(), ("date", date(2023, 12, 31)), "Sunday"),
        (D.month_name(), ("timestamp", datetime(9999, 12, 31, 23, 59, 59)), "December"),
        (D.month_name(), ("date", date(1, 1, 1)), "January"),
        (D.hour(), ("timestamp with time zone", datetime(2026, 3, 29, 1, 30, tzinfo=UTC)), 1),
        (D.second(), ("timestamp", datetime(2026, 3, 29, 1, 30, 59, 999999)), 59),
        (D.date_trunc("week"), ("date", date(1, 1, 3)), date(1, 1, 1)),
        (D.date_trunc("quarter"), ("date", date(2020, 6, 30)), date(2020, 4, 1)),
        (D.date_trunc("hour"), ("timestamp", LAST), datetime(9999, 12, 31, 23)),
        (D.date_trunc("day"), ("timestamp", LAST), datetime(9999, 12, 31)),
        (D.date_add(1, "month"), ("date", date(2020, 1, 31)), date(2020, 2, 29)),
        (D.date_add(-1, "year"), ("date", date(2020, 2, 29)), date(2019, 2, 28)),
        (D.date_add(1, "month"), ("date", date(9999, 11, 30)), date(9999, 12, 30)),
        (D.date_add(1, "month"), ("date", date(9999, 12, 1)), None),
        (D.date_add(-1, "month"), ("date", date(1, 1, 31)), None),
        (D.date_add(1, "day"), ("date", date(9999, 12, 31)), None),
        (D.date_add(1, "second"), ("timestamp", LAST), None),
        (D.date_add(-1, "week"), ("date", date(1, 1, 8)), date(1, 1, 1)),
        (D.date_add(36, "hour"), ("timestamp", datetime(2026, 3, 28, 12)), datetime(2026, 3, 30)),
        (D.date_add(4 * 10**11, "year"), ("date", date(2020, 1, 1)), None),
        (D.date_add(4 * 10**11, "second"), ("timestamp", datetime(2020, 1, 1)), None),
        (D.date_add(0, "month"), ("date", date(9999, 12, 31)), date(9999, 12, 31)),
        (D.epoch(), ("timestamp", datetime(1969, 12, 31, 23, 59, 59, 500000)), -0.5),
        (D.epoch(), ("date", date(1, 1, 1)), -62135596800.0),
        (D.year(), ("date", 2**31 - 1), None),
        (D.epoch(), ("timestamp", 2**63 - 1), None),
        (D.hour(), ("timestamp with time zone", 2**63 - 2), None),
    ],
)
def test_values(expression: Expr, d: tuple[str, Any], value: Any) -> None:
    assert computed(expression, d=d) == value


@pytest.mark.parametrize(
    ("d", "e", "days"),
    [
        (("date", date(2020, 3, 1)), ("date", date(2020, 2, 28)), 2),
        (("date", date(1, 1, 1)), ("date", date(9999, 12, 31)), -3652058),
        (("timestamp", datetime(2020, 1, 2, 1)), ("timestamp", datetime(2020, 1, 1, 23)), 1),
        (
            ("timestamp with time zone", datetime(2020, 1, 2, 1, tzinfo=UTC)),
            ("date", date(2020, 1, 1)),
            1,
        ),
        (("date", date(2020, 1, 1)), ("date", -(2**31) + 1), None),
    ],
)
def test_days_between(d: tuple[str, Any], e: tuple[str, Any], days: int | None) -> None:
    assert computed(D.days_between(E), d=d, e=e) == days


@pytest.mark.parametrize("unit", ["hour", "minute", "second"])
def test_a_date_has_no_time_of_day(unit: str) -> None:
    refusal(lambda: computed(D.date_trunc(unit), d=("date", None)), "expression.type")
    refusal(lambda: computed(D.date_add(1, unit), d=("date", None)), "expression.type")
