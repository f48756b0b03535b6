"""Expressions as SQL: every call of every function is read back as itself."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any
from uuid import UUID

import pytest

import sfumato as sf
from sfumato.client.sql_forms import (
    constant_sql,
    decimal_sql,
    expression_sql,
    quote_name,
)
from sfumato.errors import Refused
from sfumato.sql import condition
from sfumato.tables.declare.declaration import declare
from sfumato.tables.expr.expressions import Expr, call, col, when
from sfumato.tables.query.stages import Rows

from ..tables.asking import calls
from ..tables.special_values import VALUES

TYPES = list(VALUES)
ONE_COLUMN, TWO_COLUMNS = (
    [(column_type,) for column_type in TYPES],
    list(product(("int64", "float64", "string", "date", "timestamp", "bool"), repeat=2)),
)


def rows(types: dict[str, str]) -> Rows:
    return Rows.of(declare(name="t", types=types), None)  # type: ignore[arg-type]  # a stand-in


def back(expression: Expr, types: dict[str, str]) -> Expr:
    """Read back from its text, as one side of a condition."""
    parsed: Any = condition(f"COALESCE(({expression_sql(expression)}) IS NULL, TRUE)", rows(types))
    inner: Expr = parsed.arguments[0].arguments[0]
    return inner


def round_trip(types: tuple[str, ...]) -> tuple[int, list[str]]:
    """How many calls were said, and those that were not."""
    declared = {f"c{i}": kind for i, kind in enumerate(types)}
    count, unsaid = 0, []
    for expression in calls(types):
        try:
            text = back(expression, declared).text
        except Refused as refusal:
            if refusal.code not in ("client.spelling", "sql.text"):
                raise
            unsaid.append(expression.text)
            continue
        assert text == expression.text
        count += 1
    return count, unsaid


def test_every_call_of_one_column() -> None:
    round_trips = [round_trip(types) for types in ONE_COLUMN]
    assert sum(count for count, _ in round_trips) > 1000
    for _, unsaid in round_trips:
        assert all(
            any(word in text for word in ("DECIMAL '", "inf", "IN ('', ' ', 'a',"))
            for text in unsaid
        ), unsaid  # the last has characters that are not printed


def test_every_call_of_two_columns() -> None:
    round_trips = [round_trip(types) for types in TWO_COLUMNS]
    assert sum(count for count, _ in round_trips) > 150
    assert [unsaid for _, unsaid in round_trips if unsaid] == []


NESTED = [
    (col("a") + col("b")) * col("a"),
    col("a") - (col("b") - col("a")),
    col("a") - col("b") - col("a") + col("b"),
    call("negate", -col("a")),
    -(col("a") + 1) - -3,
    col("a") * -2.5 + 1e-7,
    call("negate", -3) + col("a"),
    (col("a") // 3) % 4,
    col("a").div(3).mod(4),
    col("a") ** 2 / (col("b") + 1),
    when(col("a") > 1, col("b")).when(col("a").is_null(), None).otherwise(3) + 1,
    col("a").clip(0, 5).round(1).cast("int32") + col("b").cast("decimal(9,2)"),
    col("s").lower().concat("x", col("s").trim()).length() + col("s").position("a"),
    col("day").date_add(-3, "month").date_trunc("week").days_between(col("day")),
    col("at").date_add(5, "hour").epoch(),
    col("day").day_of_week() + col("day").day_of_year() * col("at").second(),
    col("a").coalesce(col("b"), 0).greatest(1, 2).least(3),
]
TRUTHS = [
    ~((col("a") > 1) & (col("b") < 2) | (col("s") == "it's")),
    (col("a") > 1) == (col("b") > 2),
    ~(col("vip").is_null()) & col("vip").not_null(),
    (~col("vip")).is_null(),
    call("identical", col("vip"), True) | col("a").between(col("b") - 1, col("b") + 1),
    col("s").like("%_x%") & ~col("s").ilike("A%") | col("s").is_in(["", "'", '"', "\\", "a\nb"]),
    col("a").is_in([-1, 2, -3.5]) & (col("day") >= datetime.date(2026, 1, 31)),
    (col("at") < datetime.datetime(2026, 1, 1, 12, 30, 1, 7))
    & (col("zoned") > datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)),
    col("id") == UUID(int=7),
    (col("a") + col("b")).between(0, 1).is_null(),
    col("s").contains("%")
    & col("s").starts_with("a")
    & col("s").ends_with("b")
    & col("s").substr(1, 2).replace("a", "b").split_part(",", 1).not_null(),
]
DECLARED = {
    "a": "int64",
    "b": "float64",
    "s": "string",
    "day": "date",
    "at": "timestamp",
    "vip": "bool",
    "zoned": "timestamp with time zone",
    "id": "uuid",
}


@pytest.mark.parametrize("expression", NESTED, ids=lambda expression: expression.text[:40])
def test_nested(expression: Expr) -> None:
    assert back(expression, DECLARED).text == expression.text


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.text[:40])
def test_conditions(truth: Expr) -> None:
    assert condition(expression_sql(truth), rows(DECLARED)).text == truth.text


def test_long_chains_need_no_brackets() -> None:
    chain: Any = col("a")
    for i in range(40):
        chain = chain + i if i % 2 else chain - i
    assert back(chain, DECLARED).text == chain.text


@pytest.mark.parametrize(
    "name",
    [
        "order",
        "Select",
        "date",
        "year",
        "a b",
        'q"',
        "été",
        "1a",
        "current_date",
        "user_id",
        "all",
        "from",
        "n",
        "true",
        "case",
    ],
)
def test_names_of_any_kind(name: str) -> None:
    assert condition(f"{quote_name(name)} > 1", rows({name: "int64"})).text == (col(name) > 1).text


def test_plain_names_stay_plain() -> None:
    assert [quote_name(name) for name in ("user_id", "Age", "order")] == [
        "user_id",
        "Age",
        '"order"',
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1/4", "0.25"),
        (-3, "-3"),
        ("-0.05", "-0.05"),
        ("1/1024", "0.0009765625"),
        (10**20, "1" + "0" * 20),
        (0, "0"),
    ],
)
def test_public_numbers(value: Any, text: str) -> None:
    assert decimal_sql(Fraction(value)) == text
    assert Fraction(text) == Fraction(value)


@pytest.mark.parametrize("value", [Decimal("1.5"), float("inf"), -float("inf")])
def test_constants_without_text(value: Any) -> None:
    with pytest.raises(Refused) as caught:
        constant_sql(value)
    assert caught.value.code == "client.spelling"
    assert caught.value.rewrite


@pytest.mark.parametrize("value", [Fraction(1, 3), Fraction(1, 2**400)])
def test_numbers_without_end(value: Fraction) -> None:
    with pytest.raises(Refused) as caught:
        decimal_sql(value)
    assert caught.value.code == "client.spelling"


@pytest.mark.parametrize(
    "expression",
    [
        sf.col("a").cast("float32"),
        sf.col("a").cast("timestamp with time zone"),
        sf.col("s").cast("uuid"),
    ],
)
def test_types_have_names(expression: Expr) -> None:
    assert back(expression, {**DECLARED, "a": "string"}).text == expression.text
