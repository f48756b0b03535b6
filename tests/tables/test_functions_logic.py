"""Three-valued logic, and comparisons of what is not quite alike."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import product
from typing import Any

import pytest

from sfumato.tables.expr.expressions import Expr, col, literal

from .computing import computed

A, B = col("a"), col("b")
TRUTHS = (True, False, None)


@pytest.mark.parametrize(("a", "b"), list(product(TRUTHS, TRUTHS)))
def test_kleene(a: bool | None, b: bool | None) -> None:
    values: dict[str, Any] = {"a": ("bool", a), "b": ("bool", b)}
    both = False if False in (a, b) else None if None in (a, b) else True
    either = True if True in (a, b) else None if None in (a, b) else False
    assert computed(A & B, **values) is both
    assert computed(A | B, **values) is either
    assert computed(A ^ B, **values) is (None if None in (a, b) else a != b)
    assert computed(~A, **values) is (None if a is None else not a)
    assert computed(A.identical(B), **values) is (a is b)
    assert computed(~(A & B), **values) is computed(~A | ~B, **values)


@pytest.mark.parametrize(
    ("expression", "a", "b", "value"),
    [
        (A == B, ("float64", float("nan")), ("float64", float("nan")), None),
        (A > 3, ("float64", float("nan")), ("int8", 0), None),
        (~(A > 3), ("float64", float("nan")), ("int8", 0), None),
        (A.is_null(), ("float64", float("nan")), ("int8", 0), True),
        (A.not_null(), ("float64", float("nan")), ("int8", 0), False),
        (A.is_in([1.5, 2.5]), ("float64", 2.5), ("int8", 0), True),
        (A.is_in([1, 2]), ("float64", float("nan")), ("int8", 0), None),
        (A.is_in([]), ("int8", 3), ("int8", 0), False),
        (A.identical(B), ("float64", float("nan")), ("float64", None), True),
        (A == B, ("float64", 0.0), ("float64", -0.0), True),
        (A == B, ("int64", 2**53 + 1), ("decimal(38,0)", Decimal(2**53 + 1)), True),
        (A == B, ("int64", 2**53 + 1), ("decimal(38,0)", Decimal(2**53)), False),
        (A < B, ("int64", 2**63 - 1), ("decimal(38,20)", Decimal("0.1")), False),
        (A == 0.1, ("decimal(4,2)", Decimal("0.10")), ("int8", 0), True),
        (Decimal("9.99") < A, ("int8", 10), ("int8", 0), True),
        (A < B, ("string", "Z"), ("string", "a"), True),
        (A < B, ("string", "\uffff"), ("string", "😀"), True),
        (A == B, ("string", "é"), ("string", "e\u0301"), False),
        (A <= "2026-01-31", ("date", date(2026, 1, 31)), ("int8", 0), True),
        (A < "2026-01-31 12:00", ("date", date(2026, 1, 31)), ("int8", 0), True),
        (A == B, ("date", date(2026, 1, 31)), ("timestamp", datetime(2026, 1, 31)), True),
        (
            A == B,
            ("timestamp", datetime(2026, 1, 31)),
            ("timestamp with time zone", datetime(2026, 1, 31, tzinfo=UTC)),
            True,
        ),
        (
            literal("00000000-0000-0000-0000-000000000007") == A,
            ("uuid", "0" * 31 + "7"),
            ("int8", 0),
            True,
        ),
        (A.between(1, B), ("int8", 5), ("int64", 5), True),
        (A.between(1, B), ("int8", 5), ("int64", None), None),
        (A.between(9, B), ("int8", 5), ("int64", None), False),
        (A.is_null(), ("date", 2**31 - 1), ("int8", 0), True),
    ],
)
def test_comparisons(
    expression: Expr, a: tuple[str, Any], b: tuple[str, Any], value: bool | None
) -> None:
    assert computed(expression, a=a, b=b) is value
