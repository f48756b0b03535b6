"""WIDTH_BUCKET: exact edges, both ends, and the values between."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from sfumato.errors import Refused
from sfumato.tables.expr.expressions import call, col
from sfumato.tables.expr.functions_rounding import MOST_BUCKETS, edges_of
from sfumato.tables.expr.types import Type

from ..refusing import refusal
from .computing import computed

X = col("x")


@pytest.mark.parametrize(
    ("x", "ends", "bucket"),
    [
        (("int64", -1), (0, 100, 10), 0),
        (("int64", 0), (0, 100, 10), 1),
        (("int64", 99), (0, 100, 10), 10),
        (("int64", 100), (0, 100, 10), 11),
        (("int64", 33), (0, 100, 3), 1),
        (("int64", 34), (0, 100, 3), 2),
        (("int64", 2**63 - 1), (0, 10**15, 4), 5),
        (("float64", 0.29), (0, 1, 100), 30),
        (("float64", 0.7), (0, 1, 10), 8),
        (("float64", 0.1 + 0.2), (0, 1, 10), 4),
        (("float64", float("inf")), (0, 1, 10), 11),
        (("float64", float("nan")), (0, 1, 10), None),
        (("float64", None), (0, 1, 10), None),
        (("decimal(18,4)", Decimal("0.2900")), (0, 1, 100), 30),
        (("decimal(18,4)", Decimal("0.3333")), (0, 1, 3), 1),
        (("decimal(18,4)", Decimal("0.3334")), (0, 1, 3), 2),
    ],
)
def test_values(x: tuple[str, Any], ends: tuple[Any, ...], bucket: int | None) -> None:
    assert computed(call("width_bucket", X, *ends), x=x) == bucket


def test_edges_are_exact() -> None:
    assert [str(edge) for edge in edges_of(0, 0.3, 3)] == ["0", "1/10", "1/5", "3/10"]


def test_the_range_is_public() -> None:
    bucket = call("width_bucket", X, 0, 100, 10)
    assert bucket.range({}) == (0, 11)
    assert bucket.type({"x": Type.of("float64")}) == Type.of("int32")


@pytest.mark.parametrize("ends", [(0, 0, 3), (5, 1, 3)])
def test_ends_in_the_wrong_order(ends: tuple[int, ...]) -> None:
    expression = call("width_bucket", X, *ends)
    refused = refusal(lambda: expression.type({"x": Type.of("float64")}), "expression.constant")
    assert refused.rewrite == "width_bucket(x, 0, 100, 3)"


@pytest.mark.parametrize("ends", [(0, 1, 0), (0, 1, MOST_BUCKETS + 1), (0, 10**16, 3), ("a", 1, 2)])
def test_other_constants_are_refused(ends: tuple[Any, ...]) -> None:
    with pytest.raises(Refused, match="as a constant"):
        call("width_bucket", X, *ends).type({"x": Type.of("float64")})
