"""What every dialect reads is read by DuckDB too, and doubles are written as they are."""

from __future__ import annotations

import math
import re
from types import SimpleNamespace

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.tables.engine import engine_refusals
from sfumato.tables.engine.dialects.literals import (
    BOOL_OF_TEXT,
    DAY,
    INFINITE,
    MOMENT,
    NUMBER,
    check_digits,
    double,
)

from ...refusing import refusal

DUCK = duckdb.connect()


def read(text: str, kind: str) -> object:
    """What DuckDB makes of a text."""
    return DUCK.execute(f"SELECT TRY_CAST(? AS {kind})", [text]).fetchall()[0][0]


@given(
    st.from_regex(NUMBER.replace("255", "30").replace("1,4", "1,2"), fullmatch=True).filter(
        lambda text: "\n" not in text
    )
)
def test_what_is_a_number_is_one_to_duckdb(text: str) -> None:
    assert re.search(NUMBER, text)
    assert read(text, "DOUBLE") == float(text)


@pytest.mark.parametrize(
    "text", ["", "+", ".", "e5", "1e", "0x1F", "1_000", "1,5", "nan", "inf", "1 2", "--1"]
)
def test_what_is_no_number(text: str) -> None:
    assert not re.search(NUMBER, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("inf", True),
        ("-infinity", True),
        ("+inf", True),
        ("infinit", False),
        ("info", False),
        ("nan", False),
    ],
)
def test_what_is_infinite(text: str, expected: bool) -> None:
    assert bool(re.search(INFINITE, text)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-31", True),
        ("2026-1-3", True),
        ("2026-01-31 12:30", True),
        ("2026-01-31T12:30:00.123456Z", True),
        ("2026-01-31 12:30:00+01:30", True),
        ("31.1.2026", False),
        ("tomorrow", False),
        ("2026-01", False),
        ("2026-01-31 12", False),
        ("12026-01-31", False),
        ("2026-01-31 12:30:00.1234567", False),
    ],
)
def test_what_is_a_moment(text: str, expected: bool) -> None:
    assert bool(re.search(MOMENT, text)) is expected
    if expected:
        assert read(text, "TIMESTAMP") is not None
        day = re.search(DAY, text)
        assert day is not None
        assert read(day[0], "DATE") is not None


@pytest.mark.parametrize(
    "text",
    ["true", "T", "1", "yes", "Y", "False", "f", "0", "NO", "n", "", "on", "truth", " true", None],
)
def test_truth_is_read_as_by_duckdb(text: str | None) -> None:
    row = DUCK.execute(
        f"SELECT {BOOL_OF_TEXT}, TRY_CAST(a_ AS BOOLEAN) FROM (SELECT CAST(? AS VARCHAR) AS a_)",
        [text],
    ).fetchall()[0]
    assert row[0] == row[1]


@given(st.floats())
def test_a_double_is_itself(value: float) -> None:
    parsed = DUCK.execute(f"SELECT {double(value, 'DOUBLE')}").fetchall()[0][0]
    assert (
        math.isnan(parsed)
        if math.isnan(value)
        else (parsed, math.copysign(1, parsed)) == (value, math.copysign(1, value))
    )


def test_a_float_gives_no_more_digits_than_it_has() -> None:
    for entry in (
        engine_refusals.DECIMAL_TOO_LONG_FOR_POSTGRES,
        engine_refusals.DECIMAL_TOO_LONG_FOR_SPARK,
    ):
        check_digits(SimpleNamespace(precision=18, scale=18), entry)
        refused = refusal(
            lambda entry=entry: check_digits(SimpleNamespace(precision=19, scale=19), entry),
            "engine.language",
        )
        assert (refused.reason, refused.rewrite) == (
            entry.reason,
            "TRY_CAST(spend AS decimal(18,18))",
        )
