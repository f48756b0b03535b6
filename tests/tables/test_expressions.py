"""Expressions as they are written."""

from __future__ import annotations

from typing import Any

import pytest

import sfumato as sf
from sfumato.tables.expr.expressions import (
    ColumnRef,
    Expr,
    When,
    as_expr,
    col,
    literal,
    python_text,
    same,
    when,
)

from ..refusing import refusal


def test_the_interface_as_written() -> None:
    assert sf.col("age") is not sf.col("age")
    assert same(sf.col("age") >= 18, col("age") >= 18)
    assert (sf.col("age") >= 18).text == "age >= 18"
    assert same(
        sf.when(sf.col("a") > 1, "x").otherwise(None), when(col("a") > 1, "x").otherwise(None)
    )
    assert not same(col("a") + 1, 1 + col("a"))
    assert not same(col("a") + 1, col("a") + 1.0)


def test_a_column_where_one_is_meant() -> None:
    assert isinstance(as_expr("age"), ColumnRef)
    expression = col("age") + 1
    assert as_expr(expression) is expression
    assert literal(expression) is expression


@pytest.mark.parametrize("name", ["", None, 3, b"age", ["age"]])
def test_what_names_no_column_is_refused(name: Any) -> None:
    refusal(lambda: col(name), "expression.column")


@pytest.mark.parametrize(
    "expression",
    [
        col("a b"),
        -(col("a") + 1) * col("b") / 2.5,
        ~((col("a") > 1) & (col("b") != "it's") | col("c").is_null()),
        (-col("a")).abs().clip(0, 5),
        when(col("a") > 0, 1).when(col("b") > 0, 2).otherwise(None),
        col("city").is_in(["Roma", "Bari"]),
        col("day").date_trunc("month").date_add(-1, "day"),
        2 ** col("a") % 3,
        col("a").coalesce(col("b"), 0).cast("float"),
    ],
)
def test_python_text_builds_the_same_expression(expression: Expr) -> None:
    assert same(eval(python_text(expression), {"sf": sf}), expression)


def test_when_waits_for_otherwise() -> None:
    assert isinstance(when(col("a") > 1, 1), When)
    assert isinstance(when(col("a") > 1, 1).otherwise(2), Expr)
    assert not isinstance(when(True, 1), Expr)
