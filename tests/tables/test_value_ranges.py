"""Interval arithmetic: it holds every value, and at the ends no more than them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.tables.expr import value_ranges
from sfumato.tables.expr.expressions import Expr, col, when
from sfumato.tables.expr.types import Span

from .oracle import evaluate

X, Y = col("x"), col("y")

EXPRESSIONS: list[Expr] = [
    X + Y, X - Y, X * Y, -X, abs(X), X / (Y * Y + 1), X // (abs(Y) + 1), X % 7, X.mod(Y),
    X.div(abs(Y) + 2),
    X.floor(), X.ceil(), X.trunc(), X.round(0), X.round(-1), X.sign(), X.clip(-2, 3),
    X.greatest(0), X.least(Y), X.greatest(Y, -5).least(5), X**2, X**3, abs(X).sqrt(),
    when(X > 0, X).otherwise(Y), when(X > 0, X).otherwise(None), X.coalesce(Y), X.nullif(Y),
    X.cast("int8"),
    X.cast("float64"), X.cast("decimal(6,1)"), X.sin(), (X * X - Y).clip(0, 9),
]  # fmt: skip


@given(
    x=st.integers(-50, 50),
    y=st.integers(-50, 50),
    a=st.integers(0, 40),
    b=st.integers(0, 40),
    c=st.integers(0, 40),
    d=st.integers(0, 40),
)
@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda e: e.text)
def test_the_value_lies_within(
    expression: Expr, x: int, y: int, a: int, b: int, c: int, d: int
) -> None:
    ends = expression.range(
        {"x": (Fraction(x - a), Fraction(x + b)), "y": (Fraction(y - c), Fraction(y + d))}
    )
    value = evaluate(expression, {"x": x, "y": y})
    if ends is not None and value is not None:
        slack = Fraction(1, 10**9) if isinstance(value, float) else 0
        assert ends[0] - slack <= Fraction(value) <= ends[1] + slack


KNOWN: list[tuple[Expr, tuple[object, object] | None]] = [
    (X + 1, (1, 11)),
    (X * -2, (-20, 0)),
    (X - X, (-10, 10)),
    (X * Y, (-10, 20)),
    (abs(Y), (0, 2)),
    (X / 4, (0, Fraction(5, 2))),
    (X / Y, None),
    (X // 3, (0, 3)),
    (X % 3, (-3, 3)),
    (X.clip(2, 20), (2, 10)),
    (col("z").clip(0, 5), (0, 5)),
    (col("z") + 1, None),
    (X.greatest(Decimal("2.5")), (Fraction(5, 2), 10)),
    (X.least(4), (0, 4)),
    (X.greatest(Y), (-1, 10)),
    (when(Y > 0, X).otherwise(None), (0, 10)),
    (when(Y > 0, X).otherwise(-3), (-3, 10)),
    (when(Y > 0, X).otherwise(col("z")), None),
    (X.fill_null(20), (0, 20)),
    (X**2, (0, 100)),
    (Y**2, (0, 4)),
    (Y**3, (-1, 8)),
    (X**Y, None),
    (X.round(-1), (0, 10)),
    (X.exp(), None),
    (col("z").month(), (1, 12)),
    (col("z").cast("int8"), None),
    ((X * 100).cast("int8"), (0, 127)),
    ((X + 1000).cast("int8"), (0, 0)),
    (col("z").length() % 7, (-7, 7)),
    (col("z").length().clip(0, 40), (0, 40)),
    (col("z").length().least(40).greatest(5), (5, 40)),
    (when(col("z").length() > 3, X).otherwise(0), (0, 10)),
    (X > 3, (0, 1)),
]


@pytest.mark.parametrize(
    ("expression", "ends"), KNOWN, ids=lambda value: value.text if isinstance(value, Expr) else ""
)
def test_known_ends(expression: Expr, ends: tuple[object, object] | None) -> None:
    assert (
        expression.range({"x": (Fraction(0), Fraction(10)), "y": (Fraction(-1), Fraction(2))})
        == ends
    )


@pytest.mark.parametrize(
    "expression",
    [
        col("d").year(), col("d").epoch(), col("d").days_between(col("e")), col("z").length(),
        abs(col("d").days_between(col("e"))) / 365, X + col("z").length(),
        col("z").length().least(X),
        when(X > 0, col("z").length()).otherwise(0), col("d").year() - 2000, col("z").cast("int16"),
    ],
    ids=lambda expression: expression.text,
)  # fmt: skip
def test_the_ends_of_a_type_are_no_bounds(expression: Expr) -> None:
    """Noise for all dates, or for texts of any length, would drown every sum. Ranks bear it."""
    ends = {"x": (Fraction(0), Fraction(10))}
    assert expression.range(ends) is None
    assert (expression.widest_range(ends) is None) == ("cast" in expression.text.lower())


@pytest.mark.parametrize("rounding", [math.floor, math.trunc])
def test_whole_divisors_stay_away_from_zero(rounding: Callable[[Fraction], int]) -> None:
    def exactly(a: Span, b: Span) -> Span:
        values = [
            Fraction(rounding(Fraction(x, y)))
            for x in range(int(a[0]), int(a[1]) + 1)
            for y in range(int(b[0]), int(b[1]) + 1)
            if y
        ]
        return min(values), max(values)

    for a in ((-7, 5), (0, 9), (-3, -2)):
        for b in ((-2, 3), (0, 4), (-5, 0), (2, 3), (-1, 1)):
            dividend, divisor = ((Fraction(low), Fraction(high)) for low, high in (a, b))
            assert value_ranges.whole_quotient(rounding)([dividend, divisor], []) == exactly(
                dividend, divisor
            )
    zero = (Fraction(0), Fraction(0))
    assert value_ranges.whole_quotient(rounding)([zero, zero], []) == zero


def test_a_rule_that_is_wrong_is_seen() -> None:
    """The twin: a product that looks at two of its four corners."""
    wrong = [operator.mul(a, b) for a, b in zip((-2, 3), (-5, 1), strict=True)]
    assert not min(wrong) <= 3 * -5 <= max(wrong)
    assert value_ranges.corners(operator.mul)(
        [(Fraction(-2), Fraction(3)), (Fraction(-5), Fraction(1))], []
    ) == (-15, 10)


@pytest.mark.parametrize(
    ("value", "digits", "near"),
    [
        ("2.5", 0, 3),
        ("-2.5", 0, -3),
        ("0.05", 1, "0.1"),
        ("-149", -2, -100),
        ("150", -2, 200),
        ("0.4999", 0, 0),
    ],
)
def test_halves_go_away_from_zero(value: str, digits: int, near: object) -> None:
    assert value_ranges.round_half_away(Fraction(value), digits) == Fraction(str(near))
