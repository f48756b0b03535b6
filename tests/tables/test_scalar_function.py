"""One function: its places, its text, what it makes of nulls, and its refusals."""

from __future__ import annotations

from functools import partial

import pytest

from sfumato.tables.expr.expressions import Expr, call, col, literal, when
from sfumato.tables.expr.functions import FUNCTIONS
from sfumato.tables.expr.types import Type

from ..refusing import refusal

SCHEMA = {
    "n": Type.of("int64"),
    "m": Type.of("int32 not null"),
    "x": Type.of("float64"),
    "t": Type.of("string"),
    "b": Type.of("bool"),
    "d": Type.of("date"),
    "s": Type.of("timestamp"),
}
N, M, X, T, B, D, S = (col(name) for name in SCHEMA)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (N + M * 2, "n + (m * 2)"),
        ((N + M) * 2, "(n + m) * 2"),
        (-N - -5, "-(n) - -5"),
        (-(N + 1), "-(n + 1)"),
        (~(B & (N > 1)), "NOT (b AND (n > 1))"),
        (B & B & (N > 1) | B, "(b AND b AND (n > 1)) OR b"),
        (N.is_null() & T.not_null(), "(n IS NULL) AND (t IS NOT NULL)"),
        (N.between(1, M + 1), "n BETWEEN 1 AND (m + 1)"),
        (T.is_in(["a", "it's"]), "t IN ('a', 'it''s')"),
        (T.is_in([]), "t <> t"),
        (N.cast("int8"), "TRY_CAST(n AS int8)"),
        ((N + 1).cast("decimal( 5,2)"), "TRY_CAST(n + 1 AS decimal(5,2))"),
        (
            when(B, N + 1).when(N > 2, M).otherwise(None),
            "CASE WHEN b THEN n + 1 WHEN n > 2 THEN m ELSE NULL END",
        ),
        (when(B, N).otherwise(M) + 1, "(CASE WHEN b THEN n ELSE m END) + 1"),
        (T.concat("x", T).lower(), "lower(t || 'x' || t)"),
        (T.ilike("a%"), "t ILIKE 'a%'"),
        (N.identical(M), "n IS NOT DISTINCT FROM m"),
        (D.date_trunc("month"), "date_trunc('month', d)"),
        (N // 2 % 3, "(n // 2) % 3"),
        (N**2, "power(n, 2)"),
        (col("a b").is_null(), '"a b" IS NULL'),
        (col('a"b') > 1, '"a""b" > 1'),
        (col("and") > col("NULL"), '"and" > "NULL"'),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_texts(expression: Expr, text: str) -> None:
    assert expression.text == str(expression) == text


@pytest.mark.parametrize(
    ("expression", "nullable"),
    [
        (N + 1, True),
        (M + 1, False),
        (M / 2, True),
        (N.is_null(), False),
        (N.coalesce(M), False),
        (N.coalesce(N), True),
        (M.cast("int8"), True),
        (M > 3, False),
        (M > N, True),
        (literal(None).coalesce(M), False),
        (when(M > 1, M).otherwise(None), True),
        (when(M > 1, M).otherwise(0), False),
        (M.nullif(3), True),
        (N.identical(M), False),
    ],
    ids=lambda value: value.text if isinstance(value, Expr) else "",
)
def test_nulls(expression: Expr, nullable: bool) -> None:
    assert expression.type(SCHEMA).nullable is nullable


@pytest.mark.parametrize(
    ("expression", "rewrite"),
    [
        (T + 1, "TRY_CAST(t AS float64) + 1"),
        (N.lower(), "lower(TRY_CAST(n AS string))"),
        (N & B, "TRY_CAST(n AS bool) AND b"),
        (T.year(), "year(TRY_CAST(t AS timestamp))"),
        (D.hour(), "hour(TRY_CAST(d AS timestamp))"),
        (B + 1, "TRY_CAST(b AS float64) + 1"),
        (X.cast("string"), "TRY_CAST(TRY_CAST(x AS decimal(18,6)) AS string)"),
        (D.cast("int64"), "epoch(d)"),
        (D.date_trunc("hour"), "TRY_CAST(d AS timestamp)"),
        (N == T, "TRY_CAST(n AS string)"),
        (N.is_null() == None, None),  # noqa: E711  # the operator builds an expression
        (D + 1, None),
        (S - S, None),
        (literal(None).is_null(), None),
        (X.lower(), None),
    ],
    ids=lambda value: value.text if isinstance(value, Expr) else "",
)
def test_what_does_not_fit_is_refused(expression: Expr, rewrite: str | None) -> None:
    refused = refusal(lambda: expression.type(SCHEMA), "expression.type")
    assert rewrite is None or refused.rewrite == rewrite


@pytest.mark.parametrize(
    "expression",
    [
        N.round(16), N.round(-16), call("round", N, M), call("round", N, 2.0),
        call("round", N, True), call("cast", N, T), call("cast", N, "number"),
        T.left(-1), T.substr(0, 3), T.substr(1, 10**7), call("left", T, N), T.replace("", "x"),
        T.contains(""), T.contains("x" * 257), call("contains", T, T),
        call("like", T, T), T.like("%a_%b_%"), T.like("x" * 257), T.split_part(",", 0),
        D.date_trunc("fortnight"), D.date_add(1, "decade"),
        call("date_add", D, N, "day"), call("is_in", N, M), call("is_in", N, None),
        X.clip(float("inf"), 1), X.clip(5, 1), call("clip", N, M, 1),
    ],
    ids=lambda e: f"{e.text:.40}",
)  # fmt: skip
def test_what_has_to_be_a_constant_is_refused_otherwise(expression: Expr) -> None:
    refusal(lambda: expression.type(SCHEMA), "expression.constant")


@pytest.mark.parametrize("pattern", ["%a_b%", "_%", "%a%b%c%d%", "___", "%%%_%%"])
def test_quick_patterns_are_taken(pattern: str) -> None:
    assert T.like(pattern).type(SCHEMA).kind == "bool"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_says_what_it_does(name: str) -> None:
    function = FUNCTIONS[name]
    assert function.rule
    assert not function.rule.endswith(".")
    assert function.slots(len(function.takes))
    assert not (function.never_null and (function.makes_null or function.skips_null))


def test_so_many_arguments_and_no_others() -> None:
    for name in FUNCTIONS:
        refusal(partial(call, name), "expression.function")
    assert refusal(lambda: call("lower", T, T), "expression.function").rewrite == "lower(a)"
    assert refusal(lambda: call("round", N), "expression.function").rewrite == "round(a, 2)"
    refusal(lambda: call("case", B, N), "expression.function")
    refusal(lambda: call("case", B, N, B, N), "expression.function")
