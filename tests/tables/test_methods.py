"""Each function of the table has a spelling in Python."""

from __future__ import annotations

import inspect

from sfumato.tables.expr.expressions import Expr, FunctionCall, call, col, same
from sfumato.tables.expr.functions import FUNCTIONS
from sfumato.tables.expr.methods import Methods
from sfumato.tables.expr.types import Type

OPERATORS = {
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "and",
    "or",
    "not",
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "case",
}
"""`case` is `when(…).otherwise(…)`; `cast` and `is_in` are methods of `Expr`, like `fill_null`."""
X, T, D = col("x"), col("t"), col("d")


def test_every_function_is_a_method_or_an_operator() -> None:
    methods = {
        name
        for name, _ in inspect.getmembers(Methods, inspect.isfunction)
        if not name.startswith("_")
    }
    assert set(FUNCTIONS) - OPERATORS - {"cast", "is_in"} == methods
    assert {"cast", "is_in", "fill_null"} <= set(vars(Expr))


def test_a_method_calls_its_function() -> None:
    for name, member in inspect.getmembers(Methods, inspect.isfunction):
        plain = [
            p
            for p in list(inspect.signature(member).parameters.values())[1:]
            if p.kind is not p.VAR_POSITIONAL
        ]
        if (
            name.startswith("_")
            or name == "date_trunc"
            or plain != list(inspect.signature(member).parameters.values())[1:]
        ):
            continue
        expression: Expr = getattr(X, name)(*range(1, len(plain) + 1))
        assert isinstance(expression, FunctionCall)
        assert same(expression, call(name, X, *range(1, len(plain) + 1)))


def test_those_that_differ() -> None:
    assert same(X.fill_null(0), call("coalesce", X, 0))
    assert same(X.coalesce(1, 2), call("coalesce", X, 1, 2))
    assert same(X.least(1, 2), call("least", X, 1, 2))
    assert same(X.greatest(1), call("greatest", X, 1))
    assert same(T.concat("a", T), call("concat", T, "a", T))
    assert same(X.is_in([1, 2]), call("is_in", X, 1, 2))
    assert same(X.is_in(n for n in ()), X != X)
    assert same(X.cast("bigint"), call("cast", X, "int64"))
    assert same(X.cast(Type.of("int64 not null")), call("cast", X, "int64"))
    assert same(D.date_trunc("day"), call("date_trunc", "day", D))
    assert same(X.round(), call("round", X, 0))
