"""Casts: what fits, and null for what does not."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from sfumato.tables.expr.expressions import col, literal
from sfumato.tables.expr.types import CASTS, NAMES, Type

from ..refusing import refusal
from .computing import computed

X = col("x")


@pytest.mark.parametrize(
    ("x", "to", "value"),
    [
        (("int64", 128), "int8", None),
        (("int64", -128), "int8", -128),
        (("float64", 2.5), "int64", 3),
        (("float64", -2.5), "int64", -3),
        (("float64", 0.49999999999999994), "int64", 0),
        (("float64", 1e300), "int64", None),
        (("float64", float("nan")), "int64", None),
        (("float64", float("inf")), "decimal(38,0)", None),
        (("float64", 1e39), "float32", None),
        (("decimal(4,2)", Decimal("0.50")), "int8", 1),
        (("decimal(4,2)", Decimal("99.99")), "decimal(3,1)", None),
        (("decimal(4,2)", Decimal("-0.25")), "decimal(3,1)", Decimal("-0.3")),
        (("int64", 2**53 + 1), "float64", 2.0**53),
        (("bool", True), "int8", 1),
        (("int8", 3), "bool", True),
        (("int8", 0), "bool", False),
        (("string", " 42 "), "int64", 42),
        (("string", "2.5"), "int64", 3),
        (("string", "hello"), "int64", None),
        (("string", ""), "float64", None),
        (("string", "nan"), "float64", None),
        (("string", "inf"), "float64", float("inf")),
        (("string", "9" * 39), "decimal(38,0)", None),
        (("string", "true"), "bool", True),
        (("string", "perhaps"), "bool", None),
        (("string", "2026-01-31"), "date", date(2026, 1, 31)),
        (("string", "2026-02-30"), "date", None),
        (("string", "10000-01-01"), "date", None),
        (("string", "infinity"), "date", None),
        (("string", "0044-03-15 (BC)"), "timestamp", None),
        (
            ("string", "2020-01-01T00:00:00+02:00"),
            "timestamp with time zone",
            datetime(2019, 12, 31, 22),
        ),
        (("string", "2020-01-01T00:00:00+02:00"), "timestamp", datetime(2020, 1, 1)),
        (("string", "294247-01-10 04:00:54.775806+00"), "timestamp with time zone", None),
        (("string", "9999-12-31 23:59:59-12:00"), "timestamp with time zone", None),
        (("timestamp", datetime(2020, 1, 1, 23)), "date", date(2020, 1, 1)),
        (("date", date(2020, 1, 1)), "timestamp", datetime(2020, 1, 1)),
        (
            ("timestamp with time zone", datetime(2020, 1, 1, tzinfo=UTC)),
            "timestamp",
            datetime(2020, 1, 1),
        ),
        (("decimal(4,2)", Decimal("0.50")), "string", "0.50"),
        (("date", date(1, 1, 1)), "string", "0001-01-01"),
        (("timestamp", datetime(2020, 1, 1, 0, 0, 0, 120000)), "string", "2020-01-01 00:00:00.12"),
        (("bool", False), "string", "false"),
        (("uuid", "0" * 31 + "7"), "string", "00000000-0000-0000-0000-000000000007"),
        (("string", "no"), "uuid", None),
    ],
)
def test_values(x: tuple[str, Any], to: str, value: Any) -> None:
    assert computed(X.cast(to), x=x) == value


def test_small_decimals_keep_their_zero() -> None:
    assert computed(literal(Decimal("0.5")).cast("decimal(1,1)").cast("string")) == "0.5"


@pytest.mark.parametrize("source_type", dict.fromkeys(NAMES.values()), ids=str)
@pytest.mark.parametrize("target_type", dict.fromkeys(NAMES.values()), ids=str)
def test_the_table_of_casts(source_type: Type, target_type: Type) -> None:
    expression = X.cast(target_type)
    if target_type.kind in CASTS[source_type.kind]:
        assert expression.type({"x": source_type}) == target_type
    else:
        refusal(lambda: expression.type({"x": source_type}), "expression.type")


def test_a_null_takes_any_type() -> None:
    for target_type in dict.fromkeys(NAMES.values()):
        assert computed(literal(None).cast(target_type)) is None
