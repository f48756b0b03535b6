"""Roots, logarithms and angles: null where there is no value, to the last bits where there is
one.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from sfumato.tables.expr.expressions import Expr, col

from .computing import computed

X = col("x")
INF = float("inf")


@pytest.mark.parametrize(
    ("expression", "x", "value"),
    [
        (X.sqrt(), 2.0, math.sqrt(2)),
        (X.sqrt(), -1e-300, None),
        (X.sqrt(), INF, INF),
        (X.ln(), 0.0, None),
        (X.ln(), -1.0, None),
        (X.ln(), 5e-324, math.log(5e-324)),
        (X.log10(), 1000.0, 3.0),
        (X.log2(), 8.0, 3.0),
        (X.exp(), 1000.0, INF),
        (X.exp(), -INF, 0.0),
        (X.sin(), INF, None),
        (X.cos(), 0.0, 1.0),
        (X.tan(), -INF, None),
        (X.asin(), 1.0000000000000002, None),
        (X.acos(), -1.0, math.pi),
        (X.atan(), INF, math.pi / 2),
        (X.atan2(-1), 0.0, math.pi),
        (X.atan2(-1), -0.0, math.pi),
        (X.atan2(-0.0), -0.0, 0.0),
        (X.degrees(), math.pi, 180.0),
        (X.radians(), 180.0, math.pi),
        (X.is_finite(), INF, False),
        (X.is_finite(), 1e308, True),
        (X.is_finite(), math.nan, None),
        (X.sqrt(), math.nan, None),
        (X.exp(), None, None),
    ],
)
def test_values(expression: Expr, x: float | None, value: Any) -> None:
    result = computed(expression, x=("float64", x))
    assert result == (pytest.approx(value, rel=1e-15) if isinstance(value, float) else value)
    assert result is None or isinstance(result, float | bool)


def test_of_integers_and_decimals() -> None:
    assert computed(X.sqrt(), x=("int64", 2**62)) == 2.0**31
    assert computed(X.ln(), x=("int8", 0)) is None
