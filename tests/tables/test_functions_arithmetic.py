"""Sums, products, quotients: their types, and the values where machines go wrong."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from sfumato.tables.expr.expressions import Expr, col
from sfumato.tables.expr.types import Type

from .computing import computed

A, B = col("a"), col("b")
LEAST, MOST = -(2**63), 2**63 - 1


@pytest.mark.parametrize(
    ("expression", "a", "b", "kind"),
    [
        (A + B, "int8", "int8", "int16"),
        (A + B, "int32", "int32", "int64"),
        (A + B, "int64", "int64", "float64"),
        (A + 1, "int64", "int8", "float64"),
        (A + 1, "int8", "int8", "int16"),
        (A - 1 + 1, "int8", "int8", "int16"),
        (A * B, "int16", "int16", "int32"),
        (A * B, "int32", "int32", "int64"),
        (A * 0, "int64", "int8", "int64"),
        (-A, "int8", "int8", "int16"),
        (-A, "int64", "int8", "float64"),
        (A + B, "decimal(18,4)", "int8", "decimal(19,4)"),
        (A + B, "decimal(38,0)", "decimal(4,2)", "float64"),
        (A * B, "decimal(18,4)", "decimal(18,4)", "decimal(36,8)"),
        (A * B, "decimal(38,20)", "decimal(4,2)", "float64"),
        (A / B, "int8", "int8", "float64"),
        (A // 10, "int64", "int8", "int64"),
        (A // B, "int64", "int64", "float64"),
        (A // B, "int32", "int8", "int64"),
        (A % 7, "int64", "int8", "int8"),
        (A % B, "int64", "int64", "float64"),
        (A.mod(B), "int64", "int32", "int64"),
        (A % B, "decimal(4,2)", "int8", "float64"),
        (A**2, "int8", "int8", "float64"),
        (A + B, "float32", "int8", "float64"),
    ],
)
def test_types(expression: Expr, a: str, b: str, kind: str) -> None:
    assert str(expression.type({"a": Type.of(a), "b": Type.of(b)}).bare) == kind


@pytest.mark.parametrize(
    ("expression", "a", "b", "value"),
    [
        (A + B, ("int8", 127), ("int8", 127), 254),
        (A - 1 + 1, ("int8", -128), ("int8", 0), -128),
        (-(0 - A), ("int8", -128), ("int8", 0), -128),
        (A * 0, ("int64", MOST), ("int8", 0), 0),
        (
            A * 0 * B,
            ("decimal(38,0)", Decimal(10**38 - 1)),
            ("decimal(38,0)", Decimal(10**38 - 1)),
            0,
        ),
        (A + B, ("int64", MOST), ("int64", MOST), 2.0**64),
        (-A, ("int64", LEAST), ("int8", 0), 2.0**63),
        (A // B, ("int32", -7), ("int8", 2), -4),
        (A.div(B), ("int32", -7), ("int8", 2), -3),
        (A % B, ("int32", -7), ("int8", 2), 1),
        (A % B, ("int32", 7), ("int8", -2), -1),
        (A.mod(B), ("int32", -7), ("int8", 2), -1),
        (A // 10, ("int64", LEAST), ("int8", 0), -922337203685477581),
        (A // 3, ("int64", MOST), ("int8", 0), MOST // 3),
        (A % 10, ("int64", LEAST), ("int8", 0), 2),
        (A.mod(B), ("int64", LEAST), ("int8", -1), 0),
        (A.div(B), ("int64", LEAST), ("int8", -1), 2.0**63),
        (A % (2**63 - 1), ("int64", -1), ("int8", 0), 2**63 - 2),
        (A / B, ("int8", 1), ("int8", 0), None),
        (A // B, ("int8", 1), ("int8", 0), None),
        (A % B, ("int8", 1), ("int8", 0), None),
        (A / B, ("float64", 0.0), ("float64", -0.0), None),
        (A / B, ("float64", float("inf")), ("float64", float("inf")), None),
        (A - B, ("float64", float("inf")), ("float64", float("inf")), None),
        (A * B, ("float64", 1e308), ("float64", 10.0), float("inf")),
        (A % B, ("float64", -5.5), ("float64", 2.0), 0.5),
        (
            A + B,
            ("decimal(18,4)", Decimal("99999999999999.9999")),
            ("decimal(18,4)", Decimal("0.0001")),
            Decimal("100000000000000.0000"),
        ),
        (
            A * B,
            ("decimal(18,4)", Decimal("99999999999999.9999")),
            ("decimal(18,4)", Decimal("2.5")),
            Decimal("249999999999999.99975000"),
        ),
        (A**B, ("int8", 2), ("int8", 10), 1024.0),
        (A**B, ("int8", 0), ("int8", -1), None),
        (A**B, ("int8", -8), ("float64", 0.5), None),
        (A**0.5, ("float64", 9.0), ("int8", 0), 3.0),
    ],
)
def test_values(expression: Expr, a: tuple[str, Any], b: tuple[str, Any], value: Any) -> None:
    assert computed(expression, a=a, b=b) == value
