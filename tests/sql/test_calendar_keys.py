"""CALENDAR in GROUP BY: the same groups as in the fluent form."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.session import Table

from .asking import refused

TEXT = "SELECT {} AS bucket, COUNT(*) AS n FROM visits GROUP BY {}"
MONTHS = "CALENDAR(day, 'month', DATE '2025-11-15', '2026-02-01')"


@pytest.mark.parametrize("by", [MONTHS, "1", "bucket", "ALL"])
def test_both_forms_are_one_plan(table: Table, by: str) -> None:
    text = table.plan(TEXT.format(MONTHS, by), epsilon=1)
    fluent = (
        table.group_by(bucket=sf.calendar("day", "month", "2025-11-15", "2026-02-01"))
        .aggregate(n=sf.count())
        .plan(epsilon=1)
    )
    assert text.query.text == fluent.query.text
    assert repr(text.mechanism) == repr(fluent.mechanism)
    assert text.query.public


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("CALENDAR(day, 'moon', '2026-01-01', '2026-02-01')", "calendar.unit"),
        ("CALENDAR(day, 'month', '2026-03-01', '2026-02-01')", "calendar.dates"),
        ("CALENDAR(day, 'month', 'soon', '2026-02-01')", "calendar.dates"),
        ("CALENDAR(day, 'month', 3, '2026-02-01')", "sql.group"),
        ("CALENDAR(day, 'month')", "sql.group"),
        ("CALENDAR(age, 'month', '2026-01-01', '2026-02-01')", "expression.type"),
        ("CALENDAR(day, 'month', day, '2026-02-01')", "sql.group"),
    ],
)
def test_refused(table: Table, text: str, code: str) -> None:
    assert refused(table, TEXT.format(text, "1")).code == code


def test_it_is_no_function_of_rows(table: Table) -> None:
    assert (
        refused(table, f"SELECT COUNT(*) AS n FROM visits WHERE {MONTHS} IS NULL").code
        == "sql.function"
    )
