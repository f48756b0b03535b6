"""Expressions on other names, and names that can stand beside others."""

from __future__ import annotations

from sfumato.tables.expr.expressions import col, when
from sfumato.tables.query.renaming import rename_columns, right_names


def test_every_column_is_renamed() -> None:
    expression = when(col("a") > col("b") + 1, col("c")).otherwise(0)
    assert (
        rename_columns(expression, {"a": "x", "b": "a"}).text
        == when(col("x") > col("a") + 1, col("c")).otherwise(0).text
    )
    assert rename_columns(expression, {}).text == expression.text


def test_names_are_kept_where_they_are_free() -> None:
    assert right_names({"id": 1, "City": 2}, {"city": 1, "age": 2, "id": 3}) == {
        "city": "city_right",
        "age": "age",
        "id": "id_right",
    }


def test_no_two_columns_get_one_name() -> None:
    left, right = {"a": 1, "a_right": 2}, {"a": 1, "A_right_2": 2, "a_right": 3}
    new_names = right_names(left, right)
    assert len({name.lower() for name in (*left, *new_names.values())}) == len(left) + len(right)
    assert new_names["A_right_2"] == "A_right_2"
