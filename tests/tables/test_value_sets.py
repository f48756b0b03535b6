"""Sets of values: what every function makes of them holds all that DuckDB computes, on the special
values of every type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pytest

from sfumato.tables.expr.expressions import Expr, FunctionCall, call, col
from sfumato.tables.expr.functions import FUNCTIONS
from sfumato.tables.expr.types import FLOAT, INT8, INT64, Type
from sfumato.tables.expr.value_sets import (
    MOST_VALUES,
    NOT_NULL,
    ValueSet,
    by_span,
    converted,
    listing,
)
from sfumato.tables.query.column_facts import ColumnFacts

from .asking import answers, calls
from .containing import holds
from .special_values import VALUES, engine, python, schema, table
from .test_functions import COARSE

MANY = 12
"""Special values of a column in a test; each seed takes others."""


@pytest.fixture(scope="module")
def connection() -> Any:
    return engine()


def some_values(name: str, seed: int) -> list[Any]:
    values = [value for value in VALUES[name] if value is None or python(name, value) is not None]
    near = [
        value
        for value in values
        if isinstance(value, int | float | Decimal) and not abs(value) > 200
    ]
    drawn = Random(seed).sample(values, min(MANY, len(values)))
    return list(dict.fromkeys([*drawn, *near[: 2 * MANY]] if seed % 2 else drawn))


def sets_of(name: str, values: Sequence[Any]) -> list[ValueSet]:
    """All sets that hold these values: listed, between two ends, and any."""
    kind = Type.of(name)
    exact = frozenset(
        converted(python(name, value), kind) for value in values if python(name, value) is not None
    )
    null = any(python(name, value) is None for value in values)
    listed = ValueSet(exact, null=null)
    ends = listed.span or listed.moments
    between = [] if ends is None else [ValueSet(low=ends[0], high=ends[1], null=null)]
    if kind.kind == "date":
        days: Any = exact
        between = [replace(each, low=min(days), high=max(days)) for each in between]
    return [listed, *between, replace(NOT_NULL, null=True)]


def check(connection: Any, names: Sequence[str], expressions: list[Expr], seed: int) -> None:
    """Compute the expressions on some rows, and look for each result in its set."""
    columns = [some_values(name, seed + place) for place, name in enumerate(names)]
    rows = list(product(*columns))
    row_table = {f"c{i}": (name, [row[i] for row in rows]) for i, name in enumerate(names)}
    types = schema(*names)
    computed = answers(connection, table(connection, "given_sets", row_table), expressions, types)
    result_found = [set(column.to_pylist()) for column in computed.columns]
    for sets in product(*(sets_of(n, c) for n, c in zip(names, columns, strict=True))):
        facts = ColumnFacts(types).about(dict(zip(types, sets, strict=True)))
        for expression, results in zip(expressions, result_found, strict=True):
            values, kind = expression.values(facts), expression.type(types)
            missing = [result for result in results if not holds(values, result, kind)]
            assert not missing, (expression.text, names, sets, missing[:3])


def countable(name: str) -> list[Expr]:
    """Calls on a column, without those of uncertain doubles."""
    return [
        each
        for each in calls([name])
        if not (name in COARSE and each.type(schema(name)).kind == "float")
    ]


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("seed", range(2))
def test_no_result_of_a_column_is_outside_its_set(connection: Any, name: str, seed: int) -> None:
    check(connection, [name], countable(name), seed)


@pytest.mark.parametrize("name", [name for name in VALUES if name not in COARSE])
def test_no_result_of_two_columns_is_outside_its_set(connection: Any, name: str) -> None:
    check(connection, [name, name], list(calls([name, name])), 1)


@pytest.mark.parametrize("second", ["int8", "int64", "decimal(4,2)", "float64"])
def test_no_result_of_two_types_is_outside_its_set(connection: Any, second: str) -> None:
    for name in ("int8", "int64", "float64"):
        check(connection, [name, second], list(calls([name, second])), 1)


@pytest.mark.parametrize("name", ["int8", "int64", "float64", "decimal(4,2)", "date", "timestamp"])
def test_no_result_of_a_call_of_calls_is_outside_its_set(connection: Any, name: str) -> None:
    """Three hundred calls in calls, of those that make finite sets of finite sets."""
    random, types = Random(name), schema(name)
    x = col("c0")
    if types["c0"].numeric:
        inner = [x / 10, x % 10, x * 3, x - 7, x.floor(), x.clip(0, 99), x // 4, -x, abs(x)]
        inner += [x.round(0), call("div", x, 3), call("mod", x, 7), call("coalesce", x, 5)]
        outer = [*inner, x.round(-1), call("nullif", x, 3), x.sign(), x.cast("int8"), x > 3]
    else:
        units = ["year", "quarter", "month", "week", "day"]
        inner = [x, *(x.date_trunc(unit) for unit in units), x.cast("date"), x.cast("timestamp")]
        parts = ["year", "quarter", "month", "week", "day", "day_of_week", "day_of_year"]
        outer = [*inner, *(call(part, x) for part in [*parts, "day_name", "month_name"])]
    nested = [substitute(random.choice(outer), random.choice(inner)) for _ in range(300)]
    nested += (
        [substitute(col("c0") * 10, substitute(x.floor(), inner[0]))] if inner[0] is not x else []
    )
    check(connection, [name], list({each.text: each for each in nested}.values()), 1)


def substitute(outer: Expr, inner: Expr) -> Expr:
    """Put an expression in the place of the column."""
    if not isinstance(outer, FunctionCall):
        return inner if outer.columns else outer
    return call(outer.function.name, *(substitute(each, inner) for each in outer.arguments))


def test_a_set_that_is_too_small_is_noticed(connection: Any) -> None:
    """The twin: a function whose rule forgets a value."""
    month = FUNCTIONS["month"]
    forgetful = replace(month, values=lambda s, a, r, null: listing(*range(2, 13), null=null))
    month_call: Any = call("month", col("c0"))
    expression = replace(month_call, function=forgetful)
    with pytest.raises(AssertionError):
        check(connection, ["date"], [expression], 0)


X = {
    "x": INT64,
    "f": FLOAT,
    "d": Type.of("date"),
    "t": Type.of("timestamp"),
    "s": Type.of("string"),
}


def keys(expression: Expr, **sets: ValueSet) -> tuple[Any, ...]:
    facts = ColumnFacts(X).about(sets)
    return expression.values(facts).keys(expression.type(X))


def test_bins_between_two_ends() -> None:
    below = ValueSet(low=Fraction(0), high=Fraction(199.99), null=False)
    bins = (col("f") / 10).floor() * 10
    assert keys(bins, f=below) == tuple(float(10 * bin_) for bin_ in range(20))
    assert keys((col("f") / 0.1).floor(), f=replace(below, high=Fraction(0.3)))[-1] in (2.0, 3.0)
    thirty = ValueSet(low=Fraction(0), high=Fraction(29), null=True)
    assert keys(col("x") // 10, x=thirty) == (0, 1, 2, None)
    assert keys(col("x").round(-1), x=thirty) == (0.0, 10.0, 20.0, 30.0, None)
    assert keys((col("f") / col("x")).floor(), f=below, x=thirty) == ()  # the divisor may be 0


def test_fields_of_moments() -> None:
    assert keys(call("month", col("d"))) == (*range(1, 13), None)
    assert keys(call("hour", col("t")), t=NOT_NULL) == tuple(range(24))
    spring = ValueSet(low=date(2026, 3, 1), high=date(2026, 5, 31), null=False)
    assert keys(call("month", col("d")), d=spring) == (3, 4, 5)
    assert keys(call("year", col("d")), d=spring) == (2026,)
    assert keys(call("year", col("d"))) == ()
    assert keys(call("day_of_week", col("d")), d=NOT_NULL) == tuple(range(1, 8))
    assert len(keys(call("day_name", col("d")), d=NOT_NULL)) == 7
    turn = ValueSet(low=datetime(2025, 12, 31, 23), high=datetime(2026, 1, 1, 1), null=False)
    assert keys(call("month", col("t")), t=turn) == tuple(range(1, 13))
    assert keys(call("hour", col("t")), t=turn) == tuple(range(24))
    assert keys(col("t").cast("date"), t=turn) == (date(2025, 12, 31), date(2026, 1, 1))
    assert keys(col("t").date_trunc("hour"), t=turn) == (
        datetime(2025, 12, 31, 23),
        datetime(2026, 1, 1),
        datetime(2026, 1, 1, 1),
    )
    assert keys(col("t").date_trunc("week"), t=turn) == (datetime(2025, 12, 29),)


def test_remainders_have_the_sign_of_the_engine() -> None:
    assert keys(call("mod", col("x"), 3)) == (-2, -1, 0, 1, 2, None)
    assert keys(col("x") % 3) == (0, 1, 2, None)
    assert keys(col("x") % -3) == (-2, -1, 0, None)
    assert keys(call("mod", col("x"), 3), x=ValueSet(low=Fraction(0), null=False)) == (0, 1, 2)
    assert keys(call("mod", col("x"), 0)) == ()


def test_choices() -> None:
    low = call("case", col("x") > 3, "high", "low")
    assert keys(low) == ("high", "low")
    assert keys(call("case", col("x") > 3, "high", None)) == ("high", None)
    assert keys(call("case", col("x") > 3, 1, 2.5)) == (1.0, 2.5)
    assert keys(call("case", col("x") > 3, col("s"), "low")) == ()
    named = listing("a", "b", null=True)
    assert keys(call("coalesce", col("s"), "none"), s=named) == ("a", "b", "none")
    assert keys(call("nullif", col("s"), "a"), s=named) == ("b", None)
    assert keys((col("x") > 3).cast("int64")) == (0, 1, None)


def test_texts_beyond_ascii_are_left_to_the_engine() -> None:
    assert keys(col("s").upper(), s=listing("a", "b")) == ("A", "B")
    assert keys(col("s").upper(), s=listing("ß", "b")) == ()
    assert keys(col("s").left(1), s=listing("Roma", "Bari", "Rho")) == ("B", "R")
    assert keys(
        call("||", col("s"), "-") if "||" in FUNCTIONS else call("concat", col("s"), "-"),
        s=listing("a"),
    ) == ("a-",)


def test_a_large_set_is_not_spelled_out() -> None:
    ends = ValueSet(low=Fraction(1), high=Fraction(MOST_VALUES), null=False)
    assert len(keys(col("x"), x=ends)) == MOST_VALUES
    assert keys(col("x"), x=replace(ends, low=Fraction(0))) == ()
    days = ValueSet(low=date(2000, 1, 1), high=date(2026, 1, 1), null=False)
    assert keys(col("d"), d=days) == keys(col("d").date_trunc("day"), d=days) == ()


def test_both_and_either() -> None:
    three, ends = listing(1, 2, 9), ValueSet(low=Fraction(2), high=Fraction(5))
    assert (three & ends).keys(INT8) == (2,)
    assert (ends & listing(null=True)).keys(INT8) == (None,)
    assert (three | listing(4, null=True)).keys(INT8) == (1, 2, 4, 9, None)
    assert (three | ends).keys(INT8) == (*range(1, 10), None)
    assert (three | NOT_NULL).keys(INT8) == ()
    lacks_two = replace(NOT_NULL, without=frozenset([2, 3]))
    assert (three & lacks_two).keys(INT8) == (1, 9)
    assert ((lacks_two | listing(3)) & three).keys(INT8) == (1, 9)
    assert ((lacks_two | replace(lacks_two, without=frozenset([3]))) & three).values == {1, 2, 9}


def test_doubles_at_the_ends_are_rounded() -> None:
    third = by_span(lambda spans, constants: (Fraction(1, 3), Fraction(2, 3)))([], [], FLOAT, False)
    assert third is not None
    assert third.low == Fraction(1 / 3)
    assert third.high == Fraction(2 / 3)
