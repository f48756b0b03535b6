"""STRFTIME: texts from the parts of a moment."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from sfumato.errors import Refused
from sfumato.tables.expr.expressions import call, col
from sfumato.tables.expr.functions_format import CODES, LONGEST, is_format, pieces_of
from sfumato.tables.expr.types import Type
from sfumato.tables.query.column_facts import ColumnFacts

from .computing import computed

D = col("d")


@pytest.mark.parametrize(
    ("form", "d", "text"),
    [
        ("%Y-%m", ("date", date(2026, 1, 31)), "2026-01"),
        ("%Y", ("date", date(7, 1, 31)), "0007"),
        ("%F", ("date", date(2026, 12, 5)), "2026-12-05"),
        ("%d.%m.%Y", ("date", date(2026, 12, 5)), "05.12.2026"),
        ("%B %Y", ("date", date(2026, 5, 5)), "May 2026"),
        ("%a %b", ("date", date(2026, 5, 5)), "Tue May"),
        ("%A", ("date", date(2023, 12, 31)), "Sunday"),
        ("%u", ("date", date(2023, 12, 31)), "7"),
        ("%j", ("date", date(2020, 12, 31)), "366"),
        ("W%V", ("date", date(2024, 12, 30)), "W01"),
        ("%H:%M:%S", ("timestamp", datetime(2026, 1, 1, 3, 4, 5, 999999)), "03:04:05"),
        ("%T", ("timestamp with time zone", datetime(2026, 1, 1, 3, 4, tzinfo=UTC)), "03:04:00"),
        ("100 %% %Y", ("date", date(2026, 1, 1)), "100 % 2026"),
        ("%Y", ("date", None), None),
    ],
)
def test_values(form: str, d: tuple[str, Any], text: str | None) -> None:
    assert computed(call("strftime", D, form), d=d) == text


@pytest.mark.parametrize("form", list(CODES))
def test_public_keys_are_the_texts_of_all_days(form: str) -> None:
    """Without ends: of a format without the year. Between ends: of their days, and no others."""
    is_clock = form in ("%H", "%M", "%S")
    kind = "timestamp" if is_clock else "date"
    rows = ColumnFacts({"d": Type.of(kind)})
    moments = [
        datetime(2019, 12, 1) + timedelta(days=37 * day, seconds=7919 * day) for day in range(99)
    ]
    days = moments if is_clock else [moment.date() for moment in moments]
    texts = {computed(call("strftime", D, form), d=(kind, day)) for day in days}
    every = rows.keys(call("strftime", D, form), Type.of("string"))
    assert set(every) >= texts if form != "%Y" else every == ()
    last = days[40]
    within = rows.where(D.between(days[0], last)).keys(call("strftime", D, form), Type.of("string"))
    assert set(within) >= {computed(call("strftime", D, form), d=(kind, at)) for at in days[:41]}
    if form == "%Y":
        assert within == ("2019", "2020", "2021", "2022", "2023")


def test_a_date_has_no_time() -> None:
    with pytest.raises(Refused, match="no time of day"):
        call("strftime", D, "%Y %H").type({"d": Type.of("date")})


@pytest.mark.parametrize("form", ["", "year", "%", "%W", "%-d", "%c", "%Y" * LONGEST, "%Y %", 3])
def test_other_formats_are_refused(form: Any) -> None:
    assert not is_format(form)
    with pytest.raises(Refused, match="as a constant"):
        call("strftime", D, form).type({"d": Type.of("date")})


def test_a_percent_sign_is_no_code() -> None:
    assert pieces_of("%%F %F") == ["%%", "F ", "%Y", "-", "%m", "-", "%d"]


def test_every_code_is_in_the_rule() -> None:
    from sfumato.tables.expr.functions import FUNCTIONS

    assert all(f"`{code}`" in FUNCTIONS["strftime"].rule for code in CODES)
