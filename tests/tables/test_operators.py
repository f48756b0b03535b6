"""Python's operators stand for the functions of the table, from both sides."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest

from sfumato.tables.expr.expressions import FunctionCall, col

X = col("x")


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        (operator.add, "+"),
        (operator.sub, "-"),
        (operator.mul, "*"),
        (operator.truediv, "/"),
        (operator.floordiv, "//"),
        (operator.mod, "%"),
        (operator.pow, "power"),
        (operator.and_, "and"),
        (operator.or_, "or"),
        (operator.xor, "<>"),
    ],
)
def test_both_sides(operation: Callable[[Any, Any], Any], name: str) -> None:
    for expression, texts in (
        (operation(X, 3), ["x", "3"]),
        (operation(3, X), ["3", "x"]),
        (operation(X, X), ["x", "x"]),
    ):
        assert isinstance(expression, FunctionCall)
        assert expression.function.name == name
        assert [argument.text for argument in expression.arguments] == texts


@pytest.mark.parametrize(
    ("operation", "name", "turned"),
    [
        (operator.eq, "=", "="),
        (operator.ne, "<>", "<>"),
        (operator.lt, "<", ">"),
        (operator.le, "<=", ">="),
        (operator.gt, ">", "<"),
        (operator.ge, ">=", "<="),
    ],
)
def test_comparisons(operation: Callable[[Any, Any], Any], name: str, turned: str) -> None:
    assert operation(X, 3).function.name == name
    assert operation(3, X).function.name == turned


def test_of_one() -> None:
    assert [expression.function.name for expression in (-X, ~X, abs(X), round(X), round(X, 2))] == [
        "negate",
        "not",
        "abs",
        "round",
        "round",
    ]
    assert round(X, 2).text == "round(x, 2)"
