"""Forms: arguments in their places, in parentheses where they need them, and written once where
they are long.
"""

from __future__ import annotations

from typing import Any

import pytest
import sqlglot as sg

from sfumato.tables.engine.dialects.templates import fill, fill_once, fill_once_by_list


def written(tree: Any, dialect: str = "postgres") -> str:
    return str(tree.sql(dialect=dialect))


COLUMN, SUM = (
    sg.parse_one('"t"."x"', dialect="postgres"),
    sg.parse_one('"t"."x" + 1', dialect="postgres"),
)


def test_an_argument_stands_where_it_is_named() -> None:
    assert (
        written(fill("abs(a_) + b_", "postgres", a_=COLUMN, b_=SUM))
        == '(ABS("t"."x") + ("t"."x" + 1))'
    )


def test_a_column_is_written_as_often_as_it_is_named() -> None:
    assert written(fill_once("a_ * a_", "postgres", a_=COLUMN)) == '("t"."x" * "t"."x")'


def test_what_is_longer_is_written_once() -> None:
    assert (
        written(fill_once("a_ * a_", "postgres", a_=SUM))
        == '(SELECT a_ * a_ FROM (SELECT "t"."x" + 1 AS a_ OFFSET 0) AS given)'
    )


@pytest.mark.parametrize("depth", [1, 5, 30])
def test_forms_in_forms_grow_no_faster_than_they_are_deep(depth: int) -> None:
    value: Any = COLUMN
    for _ in range(depth):
        value = fill_once("CASE WHEN a_ > 1 THEN a_ * a_ * a_ END", "postgres", a_=value)
    assert len(written(value)) < 200 * depth + 100


def test_lists_of_one_item() -> None:
    assert (
        written(fill_once_by_list("a_ * a_", "spark", a_=SUM), "spark")
        == "ELEMENT_AT(TRANSFORM(ARRAY(`t`.`x` + 1), a_ -> a_ * a_), 1)"
    )
    assert (
        written(fill_once_by_list("a_ * b_", "spark", a_=SUM, b_=COLUMN), "spark")
        == "ELEMENT_AT(ZIP_WITH(ARRAY(`t`.`x` + 1), ARRAY(`t`.`x`), (a_, b_) -> a_ * b_), 1)"
    )


def test_a_form_is_not_changed_by_its_use() -> None:
    before = written(fill("a_ + 1", "postgres", a_=COLUMN))
    fill("a_ + 1", "postgres", a_=SUM)
    assert written(fill("a_ + 1", "postgres", a_=COLUMN)) == before
