"""Formats of PostgreSQL, Spark and MySQL become those of strftime."""

from __future__ import annotations

import pytest

from sfumato.session import Table
from sfumato.sql.patterns.date_formats import (
    MYSQL,
    POSTGRES,
    SPARK,
    FormatLanguage,
    translate,
)

from .asking import lines, refused

ASK = "SELECT COUNT(*) AS n FROM visits WHERE "


@pytest.mark.parametrize(
    ("form", "codes", "written"),
    [
        ("YYYY-MM-DD HH24:MI:SS", POSTGRES, "%Y-%m-%d %H:%M:%S"),
        ("FMDay, Month", POSTGRES, "%A, %B"),
        ('"Q" YYYY', POSTGRES, "Q %Y"),
        ('YYYY"%"', POSTGRES, "%Y%%"),
        ("yyyy-MM-dd'T'HH:mm:ss", SPARK, "%Y-%m-%dT%H:%M:%S"),
        ("EEEE d", SPARK, None),
        ("%d.%m.%Y %H:%i", MYSQL, "%d.%m.%Y %H:%M"),
        ("%W, %M", MYSQL, "%A, %B"),
        ("YYYY-HH", POSTGRES, None),  # of 12 hours
        ("YY", POSTGRES, None),
        ("%T", MYSQL, None),
        ("YYYY'T'MM", POSTGRES, None),  # PostgreSQL prints the quotes
        ('yyyy"-"MM', SPARK, None),  # and Spark these
        ("yyyy''MM", SPARK, None),  # a quote itself
        ("yyyy'a''b'", SPARK, None),
        ("yyyy[-MM]", SPARK, None),  # an optional part
        ("%Y'-'%m", MYSQL, None),
    ],
)
def test_translate(form: str, codes: FormatLanguage, written: str | None) -> None:
    assert translate(form, codes) == written


@pytest.mark.parametrize(
    "text",
    [
        "STRFTIME(day, '%Y-%m') = 'a'",
        "STRFTIME('%Y-%m', day) = 'a'",
        "TO_CHAR(day, 'YYYY-MM') = 'a'",
        "DATE_FORMAT(day, 'yyyy-MM') = 'a'",
        "DATE_FORMAT(day, '%Y-%m') = 'a'",
    ],
)
def test_five_spellings_are_one_question(table: Table, text: str) -> None:
    assert lines(table, ASK + text)[0] == "where strftime(day, '%Y-%m') = 'a'"


@pytest.mark.parametrize(
    ("text", "rewrite"),
    [
        ("STRFTIME(day, '%W') = '3'", "EXTRACT(WEEK FROM day) = 3"),
        ("STRFTIME(day, note) = '3'", "DATE_TRUNC("),
        ("TO_CHAR(day, 'Q') = '3'", "EXTRACT(QUARTER FROM day)"),
    ],
)
def test_other_formats_are_refused(table: Table, text: str, rewrite: str) -> None:
    refusal = refused(table, ASK + text)
    assert refusal.code == "sql.function"
    assert "COUNT(*)" in refusal.rewrite, rewrite
