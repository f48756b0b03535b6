"""The tree: sizes are bounded, texts are injective, building is shared, and nothing of it needs an
engine.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from contextlib import suppress
from typing import Any

import ibis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import Refused
from sfumato.tables.expr.expressions import (
    ColumnRef,
    Expr,
    FunctionCall,
    Literal,
    call,
    col,
    literal,
    same,
    when,
)
from sfumato.tables.expr.nodes import DEPTH
from sfumato.tables.expr.types import Type

from ..refusing import refusal
from .oracle import evaluate
from .special_values import engine, table

SCHEMA = {
    "n": Type.of("int32"),
    "x": Type.of("float64"),
    "t": Type.of("string"),
    "b": Type.of("bool"),
    "d": Type.of("date"),
}

NUMBERS = st.recursive(
    st.one_of(
        st.sampled_from([col("n"), col("x")]),
        st.integers(-9, 9).map(literal),
        st.sampled_from([0.5, -2.0, 100.0]).map(literal),
    ),
    lambda inner: st.one_of(
        st.tuples(
            st.sampled_from(
                [
                    "+",
                    "-",
                    "*",
                    "/",
                    "//",
                    "%",
                    "mod",
                    "div",
                    "least",
                    "greatest",
                    "coalesce",
                    "nullif",
                    "power",
                ]
            ),
            inner,
            inner,
        ).map(lambda c: call(*c)),
        st.tuples(
            st.sampled_from(
                ["negate", "abs", "sign", "floor", "ceil", "trunc", "sqrt", "ln", "exp", "atan"]
            ),
            inner,
        ).map(lambda c: call(*c)),
        st.tuples(inner, inner, inner, inner).map(
            lambda c: when(c[0] < c[1], c[2]).otherwise(c[3])
        ),
        st.tuples(inner, st.integers(-3, 3)).map(lambda c: c[0].round(c[1])),
        st.tuples(inner, st.sampled_from(["int8", "int64", "float64"])).map(
            lambda c: c[0].cast(c[1])
        ),
    ),
    max_leaves=6,
)


@given(left=NUMBERS, right=NUMBERS)
def test_equal_texts_are_equal_trees(left: Expr, right: Expr) -> None:
    assert same(left, right) == (shape(left) == shape(right))
    assert same(left, pickle.loads(pickle.dumps(left)))


def shape(expression: Expr) -> Any:
    match expression:
        case ColumnRef(name=name):
            return name
        case Literal(value=value):
            return type(value).__name__, value
        case FunctionCall(function=function, arguments=arguments):
            return function.name, tuple(map(shape, arguments))
    raise AssertionError(expression)


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any, list[dict[str, Any]]]:
    values = {
        "n": ("int32", [None, 0, 1, -3, 7, 2**31 - 1, -(2**31)]),
        "x": ("float64", [1.5, None, -2.0, 0.0, 1e300, float("inf"), 0.1]),
    }
    connection = engine()
    return (
        connection,
        table(connection, "rows", values),
        [
            dict(zip(values, row, strict=True))
            for row in zip(*(column for _, column in values.values()), strict=True)
        ],
    )


@given(expression=NUMBERS)
def test_whole_trees_are_what_the_oracle_says(
    rows: tuple[Any, Any, list[dict[str, Any]]], expression: Expr
) -> None:
    connection, given_rows, dicts = rows
    results = (
        connection.to_pyarrow(given_rows.select(r=expression.build(given_rows, SCHEMA)))
        .column("r")
        .to_pylist()
    )
    for row, got in zip(dicts, results, strict=True):
        expected = evaluate(expression, row, SCHEMA)
        assert (got is None) == (expected is None), (expression.text, row, got, expected)
        if got is not None:
            assert got == pytest.approx(expected, rel=1e-9, abs=1e-300), (expression.text, row)


@pytest.mark.parametrize(
    "step",
    [
        lambda e: e + 1,
        lambda e: e.round(2),
        lambda e: -e,
        lambda e: when(col("b"), e).otherwise(0),
        lambda e: e.coalesce(1),
        lambda e: e.floor(),
        lambda e: e.sin(),
        lambda e: 1 // e,
        lambda e: e.cast("int8"),
    ],
)
def test_as_deep_as_is_allowed_the_engine_plans_it(step: Any) -> None:
    expressions = [col("x")]
    with suppress(Refused):
        while len(expressions) <= DEPTH:
            expressions.append(step(expressions[-1]))
    expression = expressions[-1]
    assert expression.depth == DEPTH or expression.weight > 500
    refusal(lambda: step(expression), "expression.size")
    connection = engine()
    given_rows = table(connection, "rows", {"x": ("float64", [1.5]), "b": ("bool", [True])})
    assert (
        connection.to_pyarrow(given_rows.select(r=expression.build(given_rows, SCHEMA))).num_rows
        == 1
    )


def test_what_would_grow_without_end_is_refused() -> None:
    def doubled() -> None:
        expression = col("n")
        for _ in range(60):
            expression = expression + expression

    def guarded() -> None:
        expression = col("x")
        for _ in range(40):
            expression = expression.sin()

    refusal(doubled, "expression.size")
    refusal(guarded, "expression.size")
    refusal(lambda: col("n").is_in(range(10_001)), "expression.size")


def test_long_chains_are_low() -> None:
    condition = col("n") == 0
    for value in range(1, 300):
        condition = condition | (col("n") == value)
    assert isinstance(condition, FunctionCall)
    assert len(condition.arguments) == 300
    connection = engine()
    given_rows = table(connection, "rows", {"n": ("int32", [5, 300, None])})
    assert connection.to_pyarrow(given_rows.select(r=condition.build(given_rows, SCHEMA))).column(
        "r"
    ).to_pylist() == [True, False, None]


def test_columns() -> None:
    assert (col("a") + col("b") * 2).columns == {"a", "b"}
    assert literal(3).columns == frozenset()


@pytest.mark.parametrize(
    "use",
    [
        bool,
        lambda e: e and 1,
        lambda e: not e,
        lambda e: 0 < e < 2,
        lambda e: e in [1, 2],
        lambda e: 1 if e else 2,
    ],
)
def test_the_truth_of_an_expression_is_refused(use: Any) -> None:
    assert "&" in refusal(lambda: use(col("n") > 1), "expression.bool").rewrite


def test_an_expression_is_no_key() -> None:
    with pytest.raises(TypeError):
        hash(col("n"))


@pytest.mark.parametrize("scalar", [np.int64(3), np.float64(0.5), np.int8(1)])
def test_numpy_leaves_the_operators_to_us(scalar: Any) -> None:
    for expression in (scalar + col("n"), scalar * col("n"), scalar > col("n"), scalar == col("n")):
        assert isinstance(expression, FunctionCall)


def test_near_names_are_offered() -> None:
    assert (
        "spend"
        in refusal(
            lambda: col("spent").type({"spend": Type.of("int8")}), "expression.column"
        ).rewrite
    )
    schema = {"spend": Type.of("int8"), "first name": Type.of("string")}
    assert refusal(lambda: col("zzz").type(schema), "expression.column").reason.endswith(
        'the table\'s columns are spend, "first name"'
    )
    refusal(lambda: col("x" * 1000).type(schema), "expression.column")
    assert "lower" in refusal(lambda: call("lowr", col("x")), "expression.function").rewrite
    refusal(lambda: call("regexp_matches", col("x"), ".*"), "expression.function")
    refusal(lambda: call("repeat", col("x"), 10**9), "expression.function")


def test_types_need_no_engine() -> None:
    lines = [
        "import sys, sfumato as sf",
        "from sfumato.tables.expr.types import Type",
        "(sf.col('n') > 2).type({'n': Type.of('int8')})",
        "assert 'ibis' not in sys.modules",
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)


def test_constants_reach_the_engine_as_they_are() -> None:
    texts = [
        "it's",
        "a\\b",
        "'; DROP TABLE rows; --",
        "\n\t",
        "%s {} $1 ?",
        "é😀",
        '"',
        "/* */",
        "x" * 4096,
    ]
    connection = engine()
    given_rows = table(connection, "rows", {"n": ("int32", [1])})
    result = connection.to_pyarrow(
        given_rows.select(
            **{f"r{i}": literal(text).build(given_rows, SCHEMA) for i, text in enumerate(texts)}
        )
    )
    assert list(result.to_pylist()[0].values()) == texts
    numbers = [0.30000000000000004, 5e-324, 1.7976931348623157e308, 2**63 - 1, -(2**63), 0.1]
    result = connection.to_pyarrow(
        given_rows.select(
            **{f"r{i}": literal(n).build(given_rows, SCHEMA) for i, n in enumerate(numbers)}
        )
    )
    assert list(result.to_pylist()[0].values()) == numbers


def test_a_shared_part_is_built_once() -> None:
    given_rows = ibis.table({"x": "float64"}, name="rows")
    part = col("x").sqrt()
    memo: dict[int, Any] = {}
    (part + part)._build(given_rows, SCHEMA, memo)
    assert len(memo) == 2


@pytest.mark.parametrize(("name", "method"), [("dt", "month"), ("str", "lower")])
def test_accessors_of_other_libraries_name_the_methods(name: str, method: str) -> None:
    refused = refusal(lambda: getattr(col("day"), name), "table.attribute")
    assert isinstance(refused, AttributeError)
    assert f".{method}, " in refused.reason
    assert same(eval(refused.rewrite, {"sf": sf}), getattr(col("day"), method)())
    assert not hasattr(col("day"), name)
    assert not hasattr(col("day"), "no_such_name")
