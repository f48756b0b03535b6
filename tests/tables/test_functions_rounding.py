"""Rounding: halves away from zero, floats that stay floats, integers that stay integers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from sfumato.tables.expr.expressions import Expr, col
from sfumato.tables.expr.types import Type

from .computing import computed

X = col("x")


@pytest.mark.parametrize(
    ("expression", "kind", "result"),
    [
        (X.floor(), "float64", "float64"),
        (X.floor(), "int16", "int16"),
        (X.floor(), "decimal(4,2)", "decimal(3,0)"),
        (X.ceil(), "decimal(38,38)", "decimal(1,0)"),
        (X.round(1), "decimal(18,4)", "decimal(16,1)"),
        (X.round(9), "decimal(18,4)", "decimal(18,4)"),
        (X.round(-1), "int16", "int32"),
        (X.round(-1), "int64", "float64"),
        (X.round(2), "int64", "int64"),
        (X.round(-1), "decimal(4,2)", "float64"),
        (abs(X), "int64", "float64"),
        (abs(X), "int8", "int16"),
        (X.sign(), "float64", "int8"),
        (X.clip(0, 100), "int64", "int64"),
        (X.clip(0, 100), "float32", "float64"),
        (X.clip(Decimal("0.5"), 10), "int8", "decimal(4,1)"),
    ],
)
def test_types(expression: Expr, kind: str, result: str) -> None:
    assert str(expression.type({"x": Type.of(kind)}).bare) == result


@pytest.mark.parametrize(
    ("expression", "x", "value"),
    [
        (X.floor(), ("float64", 1e300), 1e300),
        (X.floor(), ("float64", float("-inf")), float("-inf")),
        (X.floor(), ("decimal(4,2)", Decimal("-99.99")), Decimal(-100)),
        (X.ceil(), ("decimal(4,2)", Decimal("99.01")), Decimal(100)),
        (X.trunc(), ("float64", -2.9), -2.0),
        (X.round(), ("float64", 2.5), 3.0),
        (X.round(), ("float64", -2.5), -3.0),
        (X.round(), ("float64", 0.49999999999999994), 0.0),
        (X.round(1), ("decimal(4,2)", Decimal("0.25")), Decimal("0.3")),
        (X.round(), ("decimal(4,2)", Decimal("99.50")), Decimal(100)),
        (X.round(-2), ("float64", float("inf")), float("inf")),
        (X.round(-2), ("int16", -150), -200),
        (X.round(-2), ("int32", 2**31 - 1), 2147483600),
        (abs(X), ("int64", -(2**63)), 2.0**63),
        (X.sign(), ("float64", float("nan")), None),
        (X.sign(), ("float64", -0.0), 0),
        (X.clip(0, 64), ("float64", float("nan")), None),
        (X.clip(0, 64), ("float64", float("inf")), 64.0),
        (X.clip(0, 64), ("int8", -3), 0),
    ],
)
def test_values(expression: Expr, x: tuple[str, Any], value: Any) -> None:
    assert computed(expression, x=x) == value
