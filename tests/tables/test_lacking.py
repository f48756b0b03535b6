"""What a query lacks: exactly the columns and limits without which it cannot be planned."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.tables.declaration import Declaration
from sfumato.tables.lacking import MISSING, ROWS, Lack, filled, lacking, redeclared, repeatable, unbounded
from sfumato.tables.per_unit import Total
from sfumato.tables.stages import Query, Rows

SOURCE = pa.table({"u": [1, 2], "a": [1, 2], "b": [1.0, 2.0], "c": [1.0, 2.0], "t": ["x", "y"]})


def of(*columns: str) -> tuple[Lack, ...]:
    return tuple(Lack("bounds", (column,)) for column in columns)


ASKED: dict[str, tuple[Any, tuple[Lack, ...]]] = {
    "count": (lambda r: r.aggregate(n=sf.count()), (ROWS,)),
    "count of a column": (lambda r: r.aggregate(n=sf.count("b")), (ROWS,)),
    "sum": (lambda r: r.aggregate(s=sf.sum("b")), (ROWS, *of("b"))),
    "ends given": (lambda r: r.aggregate(s=sf.sum("b", low=0, high=1)), (ROWS,)),
    "two columns": (lambda r: r.aggregate(s=sf.sum(sf.col("a") + sf.col("b"))), (ROWS, *of("a", "b"))),
    "a condition": (lambda r: r.where(sf.col("c") > 0).aggregate(s=sf.sum("b")), (ROWS, *of("b"))),
    "made": (lambda r: r.mutate(d=sf.col("a") * 2).aggregate(s=sf.mean("d")), (ROWS, *of("a"))),
    "made and clipped": (lambda r: r.mutate(d=sf.col("a").clip(0, 5)).aggregate(s=sf.mean("d")), (ROWS,)),
    "histogram": (lambda r: r.aggregate(h=sf.histogram("b", edges=[0, 1])), (ROWS,)),
    "a row for each unit": (lambda r: r.per_unit({}, {"m": Total("count")}).aggregate(n=sf.count()), ()),
    "totals": (lambda r: r.per_unit({}, {"m": Total("mean", sf.col("b"))}).aggregate(s=sf.sum("m")), of("b")),
    "totals by a key": (lambda r: r.per_unit({"t": sf.col("t")}, {"m": Total("min", sf.col("c"))}).aggregate(s=sf.sum("m")), (ROWS, *of("c"))),
}


def table(**about: Any) -> Any:
    return sf.protect(SOURCE, **{"name": "t", "unit": "u", "budget": 1, **about})


@pytest.mark.parametrize("name", ASKED)
def test_lacking(name: str) -> None:
    ask, wanted = ASKED[name]
    with table() as made:

        def again(declaration: Declaration) -> Query:
            found: Query = ask(made.rows_of(declaration))
            return found

        assert lacking(again, made.declaration) == wanted
        full = filled(made.declaration, unbounded(made.declaration))
        assert lacking(again, full) == ()


def test_the_same_query_of_a_table_that_is_declared_otherwise() -> None:
    with table() as made:
        rows: Rows = made.rows_of(filled(made.declaration, ["a", "b", "c"], size=3))
        query = rows.where(sf.col("b") > 0).mutate(d=sf.col("a") + 1).group_by("t").aggregate(s=sf.sum("d"))
        wide = redeclared(query, made.rows_of(filled(made.declaration, ["a", "b", "c"], rows=7, size=10)))
        assert wide.text == query.text
        assert (query.rows.ranges["d"], wide.rows.ranges["d"]) == ((-2, 4), (-9, 11))
        assert wide.rows.declaration.max_rows == 7
        assert redeclared(wide, made.rows_of(query.rows.declaration)).rows.ranges == query.rows.ranges


def test_the_unit_is_never_learned_and_known_limits_stay() -> None:
    with table(bounds={"a": (0, 9)}, max_rows=5) as made:
        assert unbounded(made.declaration) == ("b", "c")
        full = filled(made.declaration, ["b"], rows=1)
        assert full.max_rows == 5
        assert full.ranges == {"a": (0, 9), "b": (-1, 1)}


def test_what_learning_does_not_help_is_refused() -> None:
    with table() as made:
        with pytest.raises(sf.Refused) as refused:
            lacking(lambda d: made.rows_of(d).aggregate(s=sf.sum(sf.col("a") / sf.col("b"))), made.declaration)
        assert refused.value.code in MISSING
        with pytest.raises(sf.Refused) as refused:
            lacking(lambda d: made.rows_of(d).aggregate(s=sf.sum("t")), made.declaration)
        assert refused.value.code == "aggregate.type"


def test_steps_of_several_tables_are_not_taken_again() -> None:
    with table() as made:
        query = made.aggregate(n=sf.count())
        assert repeatable(query)
        object.__setattr__(query.rows, "steps", (object(),))
        assert not repeatable(query)
        with pytest.raises(sf.Refused) as refused:
            redeclared(query, made.rows)
        assert refused.value.code == "learn.tables"


def test_words() -> None:
    assert [lack.words for lack in (ROWS, Lack("max_groups", ("city", "day")), Lack("bounds", ("spend",)))] == [
        "how many rows a unit has",
        "in how many groups by city and day it is",
        "between which ends spend lies",
    ]
