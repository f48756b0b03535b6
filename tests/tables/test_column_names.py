"""Names of columns."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato.tables.expr.column_names import LONGEST_NAME, check_names, unknown_column, unused_name

from ..refusing import refusal


@pytest.mark.parametrize(
    "names",
    [
        ["a"],
        ["a", "b"],
        ["weiß", "größe", "città"],
        ["user id", "1", "a-b", '"quoted"', "select"],
        ["x" * LONGEST_NAME],
        [],
    ],
)
def test_names(names: list[str]) -> None:
    check_names(names, "protect('visits')")


@pytest.mark.parametrize(
    "names",
    [
        [""],
        ["a\n"],
        ["a\0"],
        ["\ud800"],
        [1],
        [None],
        [("a", "b")],
        ["x" * (LONGEST_NAME + 1)],
        ["a", "a"],
        ["Age", "age"],
    ],
)
def test_what_is_no_name_is_refused(names: list[Any]) -> None:
    assert (
        "visits" in refusal(lambda: check_names(names, "protect('visits')"), "table.columns").place
    )


def test_a_free_name_is_like_the_one_that_is_taken() -> None:
    assert unused_name("n", ()) == "n"
    assert unused_name("N", {"n"}) == "N_2"
    assert unused_name("n", {"n", "n_2"}) == "n_3"


def refused(column: Any, columns: list[str], left_out: dict[str, str]) -> Any:
    def call() -> None:
        raise unknown_column(column, columns, left_out, "unit")

    return refusal(call, "table.column")


def test_near_names_are_offered() -> None:
    assert refused("user", ["user_id", "city"], {}).rewrite == "'user_id'"
    assert refused("City", ["user_id", "city"], {}).rewrite == "'city'"
    assert "user_id, city" in refused("zzz", ["user_id", "city"], {}).reason
    assert refused(("a", 1), ["user_id", "city"], {}).rewrite


def test_a_column_that_is_left_out_says_why() -> None:
    assert (
        refused("tags", ["user_id"], {"tags": "lists are not read"}).reason == "lists are not read"
    )
