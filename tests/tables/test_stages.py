"""Stages: each verb gives the next stage; facts belong to a column as it stands; what is wrong is
refused before anything is read.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from sfumato.tables import aggregates as ag
from sfumato.tables.declare.declaration import Declaration, declare
from sfumato.tables.expr.expressions import col, literal
from sfumato.tables.expr.types import Type
from sfumato.tables.query.per_unit import Total
from sfumato.tables.query.stages import Groups, Query, Rows

from ..refusing import refusal
from .worlds import Nobody

SCHEMA = {
    "user": Type.of("int64"),
    "age": Type.of("int32"),
    "spend": Type.of("float64"),
    "city": Type.of("string"),
    "member": Type.of("bool"),
    "sure": Type.of("bool not null"),
    "at": Type.of("timestamp with time zone"),
}
DECLARED: Declaration = declare(
    name="visits",
    unit="user",
    schema=SCHEMA,
    bounds={"age": (0, 120), "spend": (0, 50)},
    keys={"city": ["Roma", "Bari"], "age": [20, 30]},
    max_rows=3,
)
ROWS = Rows.of(DECLARED, Nobody())


def test_verbs_lead_from_rows_to_groups_to_a_query() -> None:
    groups = ROWS.where(col("age") >= 18).mutate(decade=col("age") // 10).group_by("decade")
    query = groups.aggregate(n=ag.count())
    assert (type(groups), type(query)) == (Groups, Query)
    assert not hasattr(groups, "where")
    assert not hasattr(query, "group_by")
    assert (
        query.text
        == "from visits\nwhere age >= 18\nmutate decade = age // 10\ngroup by decade in [2, 3]\n"
        "n = count()"
    )


def test_rows_are_never_changed() -> None:
    ROWS.where(col("age") > 1)
    ROWS.mutate(new=col("age"))
    assert ROWS.steps == ()
    assert "new" not in ROWS.schema


# Facts after rewriting: stale ones would let a column be trusted for what it no longer is


def test_a_column_written_anew_loses_its_bounds_and_keys() -> None:
    written = ROWS.mutate(age=col("spend").sqrt() * col("user"), city=col("city").trim())
    assert "age" not in written.ranges
    assert written.public_keys("age") == written.public_keys("city") == ()
    assert written.schema["age"] == Type.of("float64")
    assert not written.group_by("city").aggregate(n=ag.count()).public


def test_a_column_written_anew_gets_what_follows() -> None:
    assert ROWS.mutate(age=col("age") * 2 + 1).ranges["age"] == (Fraction(1), Fraction(241))
    twice = ROWS.mutate(age=col("age") * 2).mutate(age=col("age") * 2)
    assert twice.ranges["age"] == (Fraction(0), Fraction(480))
    assert ROWS.mutate(town=col("city")).public_keys("town") == ("Bari", "Roma")
    lower = ROWS.mutate(city=col("city").lower()).mutate(town=col("city"))
    assert lower.public_keys("town") == ("bari", "roma")
    trimmed = ROWS.mutate(city=col("city").trim()).mutate(town=col("city"))
    assert trimmed.public_keys("town") == ()


def test_columns_of_one_mutate_are_made_one_after_the_other() -> None:
    built = ROWS.mutate(a=col("age") + 1, b=col("a") + 1)
    assert built.ranges["b"] == (Fraction(2), Fraction(122))


def test_a_promise_of_no_nulls_does_not_outlive_an_operator_that_makes_them() -> None:
    assert not ROWS.schema["sure"].nullable
    assert ROWS.mutate(x=literal(1) / col("age")).schema["x"].nullable
    assert ROWS.mutate(sure=col("member")).schema["sure"].nullable


# Keys


def test_public_keys_come_from_the_declaration_the_type_or_the_call() -> None:
    assert ROWS.group_by("city").domains == (("Bari", "Roma"),)
    assert ROWS.group_by("member").domains == ((False, True, None),)
    assert ROWS.group_by("sure").domains == ((False, True),)
    assert ROWS.group_by(city=["Pisa"]).domains == (("Pisa",),)
    mixed = (
        ROWS.group_by("user_city", city=["Pisa"])
        if "user_city" in ROWS.schema
        else ROWS.mutate(x=col("user") // 2).group_by("x", city=["Pisa"])
    )
    assert mixed.domains == ((), ("Pisa",))
    assert not mixed.aggregate(n=ag.count()).public


def test_a_key_named_twice_is_one_key() -> None:
    assert ROWS.group_by("city", "city").keys == ("city",)
    assert ROWS.group_by("city", city=["Pisa"]).domains == (("Pisa",),)


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        (["Roma", "Roma"], "table.keys"),
        ([1], "table.keys"),
        ("Roma", "table.keys"),
        ([], "table.keys"),
        ([float("nan")], "table.keys"),
    ],
)
def test_public_keys_have_to_fit(keys: Any, code: str) -> None:
    refusal(lambda: ROWS.group_by(city=keys), code)


def test_equal_questions_have_equal_texts_and_others_not() -> None:
    odd = {"a, b": col("city"), "a": col("city"), "b": col("city")}
    rows = ROWS.mutate(**odd)
    first = rows.group_by("a, b").aggregate(n=ag.count()).text
    second = rows.group_by("a", "b").aggregate(n=ag.count()).text
    assert first != second
    assert '"a, b"' in first
    assert ROWS.aggregate(n=ag.count()).text == ROWS.aggregate(n=ag.count()).text
    assert (
        ROWS.group_by(city=["1"]).aggregate(n=ag.count()).text
        != ROWS.group_by(city=["1", "2"]).aggregate(n=ag.count()).text
    )


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: ROWS.where(5), "stage.where"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: ROWS.where(True), "stage.where"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: ROWS.where(col("age")), "stage.where"),
        (lambda: ROWS.where(col("nothing") > 1), "expression.column"),
        (lambda: ROWS.mutate(x=1), "stage.mutate"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: ROWS.mutate(user=col("age")), "stage.unit"),
        (lambda: ROWS.mutate(USER=col("age")), "table.columns"),
        (lambda: ROWS.mutate(Age=col("age")), "table.columns"),
        (lambda: ROWS.mutate(**{"": col("age")}), "table.columns"),
        (lambda: ROWS.mutate(**{"a\nn = count()": col("age")}), "table.columns"),
        (lambda: ROWS.group_by("user"), "stage.unit"),
        (lambda: ROWS.group_by("nothing"), "expression.column"),
        (lambda: ROWS.group_by(["city"]), "stage.keys"),  # type: ignore[arg-type]  # wrong
        (lambda: ROWS.group_by(col("city")), "stage.keys"),  # type: ignore[arg-type]  # wrong
        (lambda: ROWS["nothing"], "expression.column"),
        (lambda: ROWS.aggregate(), "stage.aggregate"),
        (lambda: ROWS.aggregate(n=1), "stage.aggregate"),  # type: ignore[arg-type]  # wrong
        (lambda: ROWS.group_by("city").aggregate(city=ag.count()), "stage.aggregate"),
        (lambda: ROWS.aggregate(**{f"n{i}": ag.count() for i in range(257)}), "stage.aggregate"),
        (lambda: ROWS.aggregate(**{"": ag.count()}), "table.columns"),
        (lambda: ROWS.per_unit({}, {"user": Total("count")}), "stage.unit"),
        (lambda: ROWS.per_unit({}, {"x": Total("count"), "X": Total("count")}), "stage.unit"),
        (
            lambda: Rows.of(declare(name="v", schema=SCHEMA), Nobody()).per_unit(
                {}, {"x": Total("count")}
            ),
            "stage.unit",
        ),
    ],
)
def test_what_cannot_be_is_refused(call: Any, code: str) -> None:
    refusal(call, code)


def test_a_column_may_be_called_self() -> None:
    assert "self" in ROWS.mutate(self=col("age")).schema
    assert ROWS.mutate(self=col("city")).group_by("self").aggregate(keys=ag.count()).keys == (
        "self",
    )


def test_one_row_for_each_unit_stays_one() -> None:
    rows = ROWS.per_unit({}, {"n": Total("count"), "last": Total("max", col("age"))})
    assert rows.once
    assert set(rows.schema) == {"user", "n", "last"}
    assert rows.ranges == {"last": (Fraction(0), Fraction(120))}
    assert rows.where(col("n") > 1).mutate(m=col("n") * 2).once
    by_city = ROWS.per_unit({"town": col("city")}, {"n": Total("count")})
    assert not by_city.once
    assert by_city.public_keys("town") == ("Bari", "Roma")
