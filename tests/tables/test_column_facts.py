"""What is known of columns follows them through steps, and no further."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

from sfumato.tables.declare.declaration import declare
from sfumato.tables.expr.expressions import Expr, col
from sfumato.tables.expr.types import Type
from sfumato.tables.plan.missing_limits import with_placeholders
from sfumato.tables.query.per_unit import Total
from sfumato.tables.query.stages import Rows

from .worlds import Nobody

TYPES = {
    "user": Type.of("int64"),
    "city": Type.of("string"),
    "age": Type.of("int32"),
    "x": Type.of("float64"),
    "day": Type.of("date"),
}


def rows(**about: Any) -> Rows:
    options = {"unit": "user", "max_rows": 3, "bounds": {"age": (0, 29)}} | about
    return Rows.of(declare(name="t", schema=TYPES, **options), Nobody())


def keys(of: Rows, expression: Expr | str) -> tuple[Any, ...]:
    if isinstance(expression, str):
        return of.group_by(expression).domains[0]
    return of.group_by(k=expression).domains[0]


IN = col("city").is_in(["a", "b"])


def test_a_condition_counts_before_and_after_a_new_column() -> None:
    first = rows().where(IN).mutate(c=col("city").upper())
    second = rows().mutate(c=col("city").upper()).where(IN)
    assert keys(first, "c") == keys(second, "c") == ("A", "B")
    assert keys(rows().mutate(c=col("city")).where(col("c").is_in(["a"])), "city") == ("a",)


def test_a_column_written_anew_is_another() -> None:
    assert keys(rows().where(IN).mutate(city=col("city").trim()), "city") == ()
    again = rows().mutate(city=col("city").trim()).where(IN)
    assert keys(again, "city") == ("a", "b")
    swapped = rows().where(IN).mutate(old=col("city"), city=col("day").cast("string"))
    assert keys(swapped, "old") == ("a", "b")
    assert keys(swapped, "city") == ()


def test_bounds_make_bins_but_no_keys_of_a_column() -> None:
    assert keys(rows(), col("age") // 10) == (0, 1, 2, None)
    assert keys(rows(), "age") == ()
    assert keys(rows().where(col("age") < 20), "age") == ()
    assert keys(rows().where(col("age").between(3, 4)), "age") == (3, 4)
    assert rows().facts.values(col("age") // 10).stated == {"age"}
    assert not rows().where(col("age").between(3, 40)).facts.values(col("age") // 10).stated


def test_placeholders_and_learned_bounds_make_no_bins() -> None:
    """They are guesses: rows beyond them would be lost."""
    guessed = with_placeholders(rows(bounds={}).declaration, ["age"], size=5)
    assert keys(Rows.of(guessed, Nobody()), col("age") // 10) == ()
    learned = rows().declaration
    marked = replace(learned, learned=learned.learned.with_bounds("age", None))
    assert keys(Rows.of(marked, Nobody()), col("age") // 10) == ()


def test_listed_keys_of_a_question_are_not_those_of_the_owner() -> None:
    declared = rows(keys={"city": ["a", "c"]})
    assert keys(declared, "city") == ("a", "c")
    assert keys(declared, col("city").fill_null("none")) == ("a", "c", "none")
    assert keys(declared.where(IN), "city") == ("a", "b")
    assert keys(declared.where(col("city") != "a"), "city") == ("c",)
    assert keys(declared, col("city") == "a") == (False, True, None)


def test_sub_queries_for_each_unit_keep_keys() -> None:
    inner = (
        rows().where(IN).per_unit({"c": col("city"), "u": col("user") % 3}, {"n": Total("count")})
    )
    assert keys(inner, "c") == ("a", "b")
    assert keys(inner, "u") == (0, 1, 2)
    assert keys(inner, "n") == ()
    assert inner.facts.fixed == {"user", "u"}
    single = rows().per_unit({"u": col("user") % 3}, {"n": Total("count")})
    assert single.facts.is_fixed(col("n") + col("u"))


def test_one_value_for_each_unit() -> None:
    one_row = rows(max_rows=1)
    assert one_row.facts.is_fixed(col("age") // 10)
    assert not rows().facts.is_fixed(col("age") + col("user"))
    assert rows().facts.is_fixed(col("user") % 10)
    assert keys(rows(), col("user") % 3)[-1] == 2  # rows without a user are left out
    moved = rows().mutate(part=col("user") % 10)
    assert moved.facts.is_fixed(col("part"))
    assert not moved.mutate(part=col("age")).facts.is_fixed(col("part"))


def test_what_is_too_large_is_not_known() -> None:
    grown = rows().where(col("x").between(0, 1))
    for _ in range(14):
        grown = grown.mutate(x=col("x") + col("x"))
    assert grown.facts.definitions["x"] is None
    assert keys(grown, "x") == ()
    assert grown.where(col("x") == 1).facts is grown.facts


def test_dates_between_two_ends() -> None:
    spring = rows().where(col("day").between("2026-03-01", "2026-05-31"))
    assert keys(spring, col("day").date_trunc("month")) == tuple(
        date(2026, month, 1) for month in (3, 4, 5)
    )
    assert len(keys(spring, "day")) == 92
    assert spring.facts.values(col("day").date_trunc("month")).stated == frozenset()
    assert rows().facts.values(col("age")).span == (Fraction(0), Fraction(29))
