"""Which quantiles are read from one tree, and that they are answered like others."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.tables import aggregates as ag
from sfumato.tables.aggregates.shared_trees import MOST_CELLS, read_from_trees
from sfumato.tables.declare.declaration import declare
from sfumato.tables.expr.expressions import col
from sfumato.tables.expr.types import Type
from sfumato.tables.plan.components import components_of
from sfumato.tables.query.aggregate import Aggregate
from sfumato.tables.query.stages import Query, Rows

from .worlds import Nobody

SCHEMA = {
    name: Type.of(kind)
    for name, kind in {
        "user": "int64",
        "age": "int32",
        "stars": "int32",
        "spend": "float64",
        "member": "bool",
        "city": "string",
    }.items()
}
BOUNDS = {"age": (0, 100), "stars": (1, 5), "spend": (0, 50)}


def query(
    relation: str = "add-remove", keys: Any = None, by: str | None = None, **aggregates: Aggregate
) -> Query:
    declared = declare(
        name="visits",
        unit="user",
        bounds=BOUNDS,
        schema=SCHEMA,
        max_rows=3,
        relation=relation,
        keys=keys or {},
    )
    rows: Any = Rows.of(declared, Nobody())
    return (rows.group_by(by) if by else rows).aggregate(**aggregates)


def many(of: str, *parts: str, **options: Any) -> dict[str, Aggregate]:
    return {f"p{i}": ag.quantile(of, q, **options) for i, q in enumerate(parts)}


def test_few_are_chosen_and_many_are_read() -> None:
    deciles = [f"{k}/10" for k in range(1, 10)]
    assert not read_from_trees(query(**many("spend", "1/2")))
    assert not read_from_trees(query(**many("spend", "1/10")))
    assert len(read_from_trees(query(**many("spend", "1/4", "3/4")))) == 2
    assert not read_from_trees(query(**many("spend", "1/4", "3/4", interval=False)))
    assert set(read_from_trees(query(**many("spend", *deciles)))) == {f"p{i}" for i in range(9)}
    # a column of few values has a small tree
    assert not read_from_trees(query(**many("age", "1/2")))
    assert len(read_from_trees(query(**many("age", "1/4", "3/4")))) == 2
    assert len(read_from_trees(query(**many("stars", "1/2")))) == 1
    # without intervals a choice is more exact
    assert not read_from_trees(query(**many("age", "1/4", "3/4", interval=False)))
    assert len(read_from_trees(query(**many("age", "1/4", "1/2", "3/4", interval=False)))) == 3


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_choice_has_the_smaller_error(relation: str) -> None:
    """The plan states the errors of both ways; the tree has the smaller one wherever it is taken,
    and by far where there are many.
    """
    parts = [f"{k}/10" for k in range(1, 10)]
    read = components_of(query(relation, **many("spend", *parts)))
    assert [component.form for component in read.components] == ["tree"]
    assert {column.kind for column in read.columns} == {"percentile"}
    assert next(column.text for column in read.columns) == ag.quantile("spend", "1/10").text


def test_conditions_bounds_and_extremes_stay_apart() -> None:
    deciles = [f"{k}/10" for k in range(1, 10)]
    apart = {f"a{i}": ag.quantile("spend", q, low=0, high=i + 9) for i, q in enumerate(deciles)}
    assert not read_from_trees(query(**apart))
    filtered = {
        f"b{i}": ag.quantile("spend", q).filter(col("age") > i) for i, q in enumerate(deciles)
    }
    assert not read_from_trees(query(**filtered))
    ends = read_from_trees(query(**many("spend", *deciles), least=ag.min("spend")))
    assert len(ends) == 9
    assert "least" not in ends


def test_a_tree_that_is_there_is_read() -> None:
    result = components_of(
        query(
            m=ag.median("spend"),
            **{f"p_{i}": p for i, p in enumerate(ag.quantiles("spend", [0.1, 0.9]))},
        )
    )
    assert [component.form for component in result.components] == ["tree"]


def test_private_groups_and_many_groups_are_chosen() -> None:
    deciles = many("spend", *[f"{k}/10" for k in range(1, 10)])
    assert not read_from_trees(query(by="city", **deciles))
    few = query(keys={"city": [f"c{i}" for i in range(20)]}, by="city", **deciles)
    assert len(read_from_trees(few)) == 9
    names = [f"c{i}" for i in range(MOST_CELLS // 1000)]
    assert not read_from_trees(query(keys={"city": names}, by="city", **deciles))


def test_a_level_that_was_asked_for_is_shown() -> None:
    result = components_of(query(**many("stars", "1/2", "1/4", confidence="0.9")))
    assert [column.numbers.get("confidence") for column in result.columns] == [Fraction(9, 10)] * 2
    usual = components_of(query(**many("stars", "1/2", "1/4")))
    assert all("confidence" not in column.numbers for column in usual.columns)


def test_in_sql_each_column_reads_its_own() -> None:
    import pandas as pd

    values = np.arange(1001) % 101
    table = sf.protect(
        pd.DataFrame({"id": range(1001), "x": values}),
        name="t",
        unit="id",
        max_rows=1,
        bounds={"x": (0, 100)},
        budget=100,
    )
    answer = table.sql(
        "SELECT QUANTILE(x, 0.25) AS a, MEDIAN(x) AS b, QUANTILE(x, 0.75) AS c, "
        "QUANTILE(x, 0.75) - QUANTILE(x, 0.25) AS d FROM t",
        epsilon=20,
    )
    for name, true in {"a": 25, "b": 50, "c": 75, "d": 50}.items():
        assert abs(answer[name][0] - true) <= 3
        low, high = answer.interval(name)
        assert low[0] <= answer[name][0] <= high[0]
        assert high[0] - low[0] <= 12
    assert len(answer.pieces) == 1
