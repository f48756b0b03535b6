"""Constants: which values are, of which types, and how they are written."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

from sfumato.tables.expr.constants import (
    EMPTY_SPAN,
    as_constant,
    narrowest_integer,
    parse_text,
    span,
    text,
    type_of,
)
from sfumato.tables.expr.types import Type

from ..refusing import refusal

ROME = timezone(timedelta(hours=2))


class Colour(str, Enum):  # noqa: UP042  # a StrEnum is a case of its own
    RED = "red"


class Level(IntEnum):
    HIGH = 300


@pytest.mark.parametrize(
    ("value", "kind", "written"),
    [
        (True, "bool", "TRUE"),
        (127, "int8", "127"),
        (128, "int16", "128"),
        (-(2**31), "int32", "-2147483648"),
        (2**63 - 1, "int64", str(2**63 - 1)),
        (2**63, "decimal(19,0)", str(2**63)),
        (10**38 - 1, "decimal(38,0)", "9" * 38),
        (0.1, "float64", "0.1"),
        (-0.0, "float64", "0.0"),
        (math.inf, "float64", "inf"),
        ("it's", "string", "'it''s'"),
        (Decimal("1.50"), "decimal(3,2)", "DECIMAL '1.50'"),
        (Decimal("1E+3"), "decimal(4,0)", "DECIMAL '1000'"),
        (Decimal("-0E-3"), "decimal(1,0)", "DECIMAL '0'"),
        (Decimal("0.001"), "decimal(3,3)", "DECIMAL '0.001'"),
        (date(2026, 1, 31), "date", "DATE '2026-01-31'"),
        (datetime(2026, 1, 31, 1, 2, 3, 4), "timestamp", "TIMESTAMP '2026-01-31 01:02:03.000004'"),
        (
            datetime(2026, 1, 31, 1, tzinfo=ROME),
            "timestamp with time zone",
            "TIMESTAMP WITH TIME ZONE '2026-01-30 23:00:00+00:00'",
        ),
        (UUID(int=7), "uuid", "UUID '00000000-0000-0000-0000-000000000007'"),
        (np.int64(300), "int16", "300"),
        (np.float32(0.5), "float64", "0.5"),
        (np.bool_(False), "bool", "FALSE"),
        (np.str_("x"), "string", "'x'"),
        (
            np.datetime64("2026-01-31T01:02:03", "ns"),
            "timestamp",
            "TIMESTAMP '2026-01-31 01:02:03'",
        ),
        (pd.Timestamp("2026-01-31"), "timestamp", "TIMESTAMP '2026-01-31 00:00:00'"),
        (Colour.RED, "string", "'red'"),
        (Level.HIGH, "int16", "300"),
    ],
    ids=repr,
)
def test_types_and_texts(value: Any, kind: str, written: str) -> None:
    held = as_constant(value)
    assert type_of(held) == Type.of(kind + " not null")
    assert text(held) == written
    assert as_constant(held) == held


def test_null_has_a_type_of_its_own() -> None:
    assert type_of(None).kind == "null"
    assert type_of(None).nullable
    assert text(None) == "NULL"
    assert span(None) == EMPTY_SPAN


@pytest.mark.parametrize(
    "value",
    [
        math.nan, np.float64("nan"), Decimal("nan"), Decimal("inf"), 10**38, -(10**5000),
        Decimal("1e38"), Decimal("1e-39"),
        "a\0b", "\ud800", "x" * 5000, b"x", [1], {1}, (1,), object(),
        time(1), timedelta(1), Fraction(1, 3), 1j, pd.NaT, pd.NA, np.array([1]),
        np.timedelta64(1, "s"), datetime(1, 1, 1, tzinfo=ROME),
    ],
    ids=lambda value: f"{type(value).__name__}",
)  # fmt: skip
def test_what_is_no_constant_is_refused(value: Any) -> None:
    refusal(lambda: as_constant(value), "expression.literal")


def test_spans() -> None:
    assert span(Decimal("0.1")) == (Fraction(1, 10), Fraction(1, 10))
    assert span(0.5) == (Fraction(1, 2), Fraction(1, 2))
    assert span(True) is span("1") is span(math.inf) is span(date(2026, 1, 1)) is None


@pytest.mark.parametrize(
    ("ends", "kind"),
    [
        ((0, 127), "int8"),
        ((-129, 0), "int16"),
        ((0, 2**31), "int64"),
        ((-(2**63), 2**63 - 1), "int64"),
    ],
)
def test_the_narrowest_integer(ends: tuple[int, int], kind: str) -> None:
    assert narrowest_integer((Fraction(ends[0]), Fraction(ends[1]))) == Type.of(kind)


def test_beyond_64_bits_there_is_none() -> None:
    assert narrowest_integer((Fraction(0), Fraction(2**63))) is None
    assert narrowest_integer(None) is None


def test_texts_are_read_as_moments() -> None:
    assert parse_text("2026-01-31", Type.of("date"), "x") == date(2026, 1, 31)
    assert parse_text("2026-01-31", Type.of("timestamp"), "x") == datetime(2026, 1, 31)
    assert parse_text("2026-01-31T01:00:00+02:00", Type.of("timestamp"), "x") == datetime(
        2026,
        1,
        30,
        23,
        tzinfo=timezone.utc,  # noqa: UP017  # the other spelling of datetime.UTC
    )
    assert parse_text("{00000000-0000-0000-0000-000000000007}", Type.of("uuid"), "x") == UUID(int=7)


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("yesterday", "date"),
        ("2026-02-30", "date"),
        ("", "timestamp"),
        ("7", "uuid"),
        ("5", "int64"),
        ("0001-01-01T00:00:00+02:00", "timestamp"),
    ],
)
def test_what_is_none_is_refused(written: str, kind: str) -> None:
    refusal(lambda: parse_text(written, Type.of(kind), "x = '…'"), "expression.literal")
