"""Totals of one unit's rows."""

from __future__ import annotations

import pytest

from sfumato.session import Table

from .asking import lines, refused

TEXT = (
    "SELECT COUNT(*) AS n FROM (SELECT user_id, {} AS x FROM visits GROUP BY user_id) AS s "
    "WHERE x IS NOT NULL"
)

MADE = {
    "COUNT(*)": "count()",
    "COUNT(spend)": "count(spend)",
    "COUNT(DISTINCT city)": "count_distinct(city)",
    "COUNT_IF(vip)": "count(where=vip)",
    "COUNT(*) FILTER (WHERE vip)": "count(where=vip)",
    "SUM(age)": "sum(age)",
    "SUM(spend) FILTER (WHERE age > 3)": "sum(spend, where=age > 3)",
    "SUM(amount)": "sum(amount)",
    "SUM(vip)": "sum(vip)",
    "SUM(CLAMP(spend / age, 0, 1))": "sum(clip(spend / age, 0, 1))",
    "AVG(spend)": "mean(spend)",
    "MIN(day)": "min(day)",
    "MAX(note)": "max(note)",
}


@pytest.mark.parametrize("text", MADE)
def test_made(table: Table, text: str) -> None:
    assert lines(table, TEXT.format(text))[0] == f"per user_id: x = {MADE[text]}"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SUM(spend / age)", "stage.total"),
        ("AVG(LN(spend))", "stage.total"),
        ("SUM(note)", "stage.total"),
        ("MIN(vip)", "stage.total"),
        ("COUNT(*) FILTER (WHERE age)", "stage.total"),
        ("STDDEV(age)", "sql.aggregate"),
        ("MEDIAN(age)", "sql.aggregate"),
        ("ANY_VALUE(note)", "sql.aggregate"),
        ("STRING_AGG(note, ',')", "sql.aggregate"),
        ("COUNT(DISTINCT city, note)", "sql.aggregate"),
        ("SUM(DISTINCT age)", "sql.distinct"),
        ("SUM(COUNT(*))", "sql.aggregate"),
        ("age", "sql.group"),
        ("MAX(nothing)", "sql.column"),
    ],
)
def test_refused(table: Table, text: str, code: str) -> None:
    assert refused(table, TEXT.format(text)).code == code
