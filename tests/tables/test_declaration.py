"""Declarations: everything is checked before any data is read, and what is wrong is said with what
would pass.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.tables.declare.declaration import MOST_ROWS, MOST_TABLE_ROWS, Declaration, declare
from sfumato.tables.expr.types import Type

from ..refusing import refusal

SCHEMA = {
    name: Type.of(kind)
    for name, kind in {
        "user_id": "int64",
        "city": "string",
        "age": "int64",
        "spend": "float",
        "fee": "decimal(10,2)",
        "ok": "bool",
    }.items()
}


def make(**arguments: Any) -> Declaration:
    return declare(**{"name": "visits", "schema": SCHEMA, **arguments})


def test_the_least_that_is_declared() -> None:
    declaration = make()
    assert declaration.unit == ()
    assert declaration.unit_name == "row"
    assert declaration.relation == "add-remove"
    assert declaration.max_rows == declaration.max_groups == 1
    assert declaration.table_rows == 2**40
    assert declaration.bounding == "weights"
    assert declaration.version == ""
    assert declaration.schema == SCHEMA
    assert declaration.ranges == declaration.domains == {}


def test_all_that_is_declared() -> None:
    declaration = make(
        unit="user_id",
        bounds={"spend": (0, 0.1), "age": ["0", np.int64(120)], "fee": (-1, "1/3")},
        keys={"city": ["Roma", "Bari"], "ok": [True, False]},
        types={"age": "int16"},
        max_rows=np.int64(5),
        max_groups=3,
        table_rows=10**9,
        relation="replace",
        bounding="truncation",
        version="2026-03",
    )
    assert declaration.unit == ("user_id",)
    assert declaration.unit_name == "user_id"
    assert declaration.bounds == (
        ("age", (0, 120)),
        ("spend", (0, Fraction(1, 10))),
        ("fee", (-1, Fraction(1, 3))),
    ), "in the order of the columns"
    assert declaration.keys == (("city", ("Bari", "Roma")), ("ok", (False, True)))
    assert declaration.schema["age"] == Type.of("int16")
    assert list(declaration.schema) == list(SCHEMA)
    assert (declaration.max_rows, declaration.max_groups, declaration.table_rows) == (5, 3, 10**9)
    assert type(declaration.max_rows) is int
    assert (declaration.relation, declaration.bounding, declaration.version) == (
        "replace",
        "truncation",
        "2026-03",
    )


def test_it_cannot_be_changed_and_is_compared_by_value() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        make().name = "other"  # type: ignore[misc]  # wrong on purpose
    assert make(bounds={"spend": (0, 100)}) == make(bounds={"spend": ("0", 100.0)})
    assert hash(make(unit="user_id")) == hash(make(unit=["user_id"]))
    assert make(version="1") != make(version="2")


def test_a_unit_of_several_columns() -> None:
    declaration = make(unit=("city", "user_id"))
    assert declaration.unit == ("city", "user_id")
    assert declaration.unit_name == "city, user_id"
    assert declaration.max_rows is None, "to be declared, or learned"
    assert declaration.max_groups is None


def test_without_a_source_the_types_are_the_schema() -> None:
    assert declare(name="t", types={"b": "float", "a": "int"}).types == (
        ("b", Type.of("float")),
        ("a", Type.of("int64")),
    )
    refusal(lambda: declare(name="t"), "table.type")
    refusal(lambda: declare(name="t", types={"a": "int", "A": "int"}), "table.columns")


INFINITE = [
    float("inf"),
    float("-inf"),
    float("nan"),
    "nan",
    "Infinity",
    np.float64("inf"),
    np.float32("nan"),
]


@pytest.mark.parametrize("end", INFINITE, ids=repr)
def test_attack_C4_infinite_and_nan_bounds(end: Any) -> None:
    """Bounds of (0, ∞) or NaN would make an infinite sensitivity, or a crash only where a NaN row
    exists (hardening 1.3, C4): refused, before data is read.
    """
    for ends in ((0, end), (end, 0), (end, end)):
        refusal(lambda ends=ends: make(bounds={"spend": ends}), "number.not-finite")


@pytest.mark.parametrize("end", [1e308, "1e400", 2**1024, -(2**1024), "1e399"])
def test_attack_C4_bounds_beyond_doubles(end: Any) -> None:
    refusal(
        lambda: make(bounds={"spend": (0, end) if Fraction(end) > 0 else (end, 0)}), "number.range"
    )


def test_attack_C4_the_largest_bounds_that_are_none() -> None:
    assert make(bounds={"spend": (-8e307, 8e307)}).ranges["spend"][1] == Fraction(8 * 10**307)


@pytest.mark.parametrize(
    ("bounds", "code"),
    [
        ({"spend": (1, 0)}, "table.bounds"),
        ({"spend": (1, 1)}, "table.bounds"),
        ({"spend": (1, True)}, "number.type"),
        ({"spend": ("a", "b")}, "number.text"),
        ({"spend": (None, 1)}, "number.type"),
        ({"spend": 5}, "table.bounds"),
        ({"spend": "01"}, "table.bounds"),
        ({"spend": (1, 2, 3)}, "table.bounds"),
        ({"spend": None}, "table.bounds"),
        ({"city": (0, 1)}, "table.bounds"),
        ({"ok": (0, 1)}, "table.bounds"),
        ({"spnd": (0, 1)}, "table.column"),
        ({5: (0, 1)}, "table.column"),
        ([("spend", (0, 1))], "table.bounds"),
        ((0, 1), "table.bounds"),
    ],
)
def test_bounds_that_are_none_are_refused(bounds: Any, code: str) -> None:
    refusal(lambda: make(bounds=bounds), code)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"unit": "spend"}, "table.unit"),
        ({"unit": ["user_id", "user_id"]}, "table.unit"),
        ({"unit": []}, "table.unit"),
        ({"unit": 5}, "table.unit"),
        ({"unit": {"user_id": 1}}, "table.unit"),
        ({"unit": "user"}, "table.column"),
        ({"unit": [5]}, "table.column"),
        ({"unit": [["user_id"]]}, "table.column"),
        ({"unit": ""}, "table.column"),
        ({"max_rows": 5}, "table.unit"),
        ({"max_groups": 2}, "table.unit"),
        *(
            ({"unit": "user_id", "max_rows": rows}, "table.max-rows")
            for rows in (0, -1, 1.0, "5", True, MOST_ROWS + 1, float("nan"), [5])
        ),
        *(
            ({"unit": "user_id", "max_groups": groups}, "table.max-rows")
            for groups in (0, 2.5, MOST_ROWS + 1)
        ),
        *(
            ({"table_rows": rows}, "table.rows")
            for rows in (0, -1, 1e9, "many", True, MOST_TABLE_ROWS + 1, None, 10**5000)
        ),
        ({"relation": "neighbours"}, "guarantee.relation"),
        ({"relation": 5}, "guarantee.relation"),
        ({"bounding": "sampling"}, "table.bounding"),
        ({"bounding": None}, "table.bounding"),
        *(
            ({"name": name}, "table.name")
            for name in (None, "", " ", 5, "a\nb", "x" * 201, "\ud800")
        ),
        *(({"version": version}, "table.version") for version in (None, " ", 5, "a\nb", "x" * 201)),
        ({"keys": {"city": []}}, "table.keys"),
        ({"keys": {"city": "Roma"}}, "table.keys"),
        ({"keys": {"city": [5]}}, "table.keys"),
        ({"keys": {"city": ["Roma", "Roma"]}}, "table.keys"),
        ({"keys": ["Roma"]}, "table.keys"),
        ({"keys": {"town": ["Roma"]}}, "table.column"),
        ({"types": {"spnd": "float"}}, "table.column"),
        ({"types": {"spend": "money"}}, "table.type"),
        ({"types": {"spend": None}}, "table.type"),
        ({"types": "float"}, "table.type"),
    ],
)
def test_what_is_wrong_is_refused(arguments: dict[str, Any], code: str) -> None:
    refusal(lambda: make(**arguments), code)


@pytest.mark.parametrize("rows", [1, MOST_ROWS])
def test_the_ends_of_what_is_right(rows: int) -> None:
    assert (
        make(unit="user_id", max_rows=rows, max_groups=rows, table_rows=MOST_TABLE_ROWS).max_rows
        == rows
    )


def test_without_a_unit_a_row_is_one_row() -> None:
    assert make(max_rows=1, max_groups=1) == make()


def test_near_names_are_offered() -> None:
    assert refusal(lambda: make(unit="userid"), "table.column").rewrite == "'user_id'"
    assert refusal(lambda: make(bounds={"Spend": (0, 1)}), "table.column").rewrite == "'spend'"


@pytest.mark.parametrize(
    "arguments",
    [
        {"unit": "tags"},
        {"bounds": {"tags": (0, 1)}},
        {"keys": {"tags": ["a"]}},
        {"types": {"tags": "string"}},
    ],
)
def test_a_column_that_is_left_out_says_why(arguments: dict[str, Any]) -> None:
    assert (
        refusal(
            lambda: make(left_out={"tags": "lists are not read"}, **arguments), "table.column"
        ).reason
        == "lists are not read"
    )
