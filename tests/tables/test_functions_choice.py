"""One value out of several."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from sfumato.tables.expr.expressions import Expr, col, when

from .computing import computed

A, B = col("a"), col("b")
NAN = float("nan")


@pytest.mark.parametrize(
    ("expression", "a", "b", "value"),
    [
        (
            when(A > 1, "big").when(A > 0, "small").otherwise("none"),
            ("int8", 2),
            ("int8", 0),
            "big",
        ),
        (
            when(A > 1, "big").when(A > 0, "small").otherwise("none"),
            ("int8", 1),
            ("int8", 0),
            "small",
        ),
        (
            when(A > 1, "big").when(A > 0, "small").otherwise("none"),
            ("int8", None),
            ("int8", 0),
            "none",
        ),
        (when(A > 1, "big").otherwise(None), ("int8", 0), ("int8", 0), None),
        (when(A > 1, A).otherwise(B), ("int8", 2), ("decimal(4,2)", Decimal("0.50")), Decimal(2)),
        (when(A.is_null(), B).otherwise(A), ("float64", NAN), ("int8", 3), 3.0),
        (when(A > 0, A).otherwise(0), ("float64", NAN), ("int8", 0), 0.0),
        (A.coalesce(B, 7), ("float64", NAN), ("int8", None), 7.0),
        (A.fill_null(0), ("int8", None), ("int8", 0), 0),
        (A.coalesce(B), ("date", date(2026, 1, 31)), ("timestamp", None), datetime(2026, 1, 31)),
        (A.nullif(B), ("int8", 3), ("int64", 3), None),
        (A.nullif(B), ("int8", 3), ("int64", None), 3),
        (A.least(B), ("int8", 3), ("int8", None), 3),
        (A.least(B), ("float64", NAN), ("float64", 2.0), 2.0),
        (A.greatest(B), ("float64", NAN), ("float64", 2.0), 2.0),
        (A.greatest(B), ("int8", None), ("int8", None), None),
        (A.greatest(B), ("string", "a"), ("string", "B"), "a"),
        (A.least(B), ("bool", True), ("bool", False), False),
    ],
)
def test_values(expression: Expr, a: tuple[str, Any], b: tuple[str, Any], value: Any) -> None:
    assert computed(expression, a=a, b=b) == value


def test_branches_that_are_not_taken_do_no_harm() -> None:
    """Each branch is total, so that it does not matter whether the engine computes it for rows that
    take the other.
    """
    assert computed(when(A == 0, 0).otherwise(1 / A), a=("int8", 0)) == 0.0
    assert computed(when(A <= 0, None).otherwise(A.ln()), a=("int8", -1)) is None
