"""What a query lacks: exactly the columns and limits without which it cannot be planned."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.tables.plan.missing_limits import (
    LEARNABLE,
    ROWS,
    Declared,
    MissingLimit,
    all_with_placeholders,
    find_missing_limits,
    redeclare_query,
    unbounded_columns,
    undeclared_limits,
    with_placeholders,
)
from sfumato.tables.query.per_unit import Total
from sfumato.tables.query.stages import Query, Rows

SOURCE = pa.table({"u": [1, 2], "a": [1, 2], "b": [1.0, 2.0], "c": [1.0, 2.0], "t": ["x", "y"]})


def of(*columns: str) -> tuple[MissingLimit, ...]:
    return tuple(MissingLimit("bounds", (column,)) for column in columns)


ASKED: dict[str, tuple[Any, tuple[MissingLimit, ...]]] = {
    "count": (lambda r: r.aggregate(n=sf.count()), (ROWS,)),
    "count of a column": (lambda r: r.aggregate(n=sf.count("b")), (ROWS,)),
    "sum": (lambda r: r.aggregate(s=sf.sum("b")), (ROWS, *of("b"))),
    "ends given": (lambda r: r.aggregate(s=sf.sum("b", low=0, high=1)), (ROWS,)),
    "two columns": (
        lambda r: r.aggregate(s=sf.sum(sf.col("a") + sf.col("b"))),
        (ROWS, *of("a", "b")),
    ),
    "a condition": (lambda r: r.where(sf.col("c") > 0).aggregate(s=sf.sum("b")), (ROWS, *of("b"))),
    "made": (lambda r: r.mutate(d=sf.col("a") * 2).aggregate(s=sf.mean("d")), (ROWS, *of("a"))),
    "made and clipped": (
        lambda r: r.mutate(d=sf.col("a").clip(0, 5)).aggregate(s=sf.mean("d")),
        (ROWS,),
    ),
    "histogram": (lambda r: r.aggregate(h=sf.histogram("b", edges=[0, 1])), (ROWS,)),
    "a row for each unit": (
        lambda r: r.per_unit({}, {"m": Total("count")}).aggregate(n=sf.count()),
        (),
    ),
    "totals": (
        lambda r: r.per_unit({}, {"m": Total("mean", sf.col("b"))}).aggregate(s=sf.sum("m")),
        of("b"),
    ),
    "totals by a key": (
        lambda r: r.per_unit({"t": sf.col("t")}, {"m": Total("min", sf.col("c"))}).aggregate(
            s=sf.sum("m")
        ),
        (ROWS, *of("c")),
    ),
}


def table(**about: Any) -> Any:
    return sf.protect(SOURCE, **{"name": "t", "unit": "u", "budget": 1, **about})


@pytest.mark.parametrize("name", ASKED)
def test_lacking(name: str) -> None:
    ask, expected = ASKED[name]
    with table() as built:

        def again(declared: Declared) -> Query:
            result: Query = ask(built.rows_of(declared["t"]))
            return result

        assert find_missing_limits(again, {"t": built.declaration}) == expected
        assert find_missing_limits(again, all_with_placeholders({"t": built.declaration})) == ()
        assert (
            find_missing_limits(again, all_with_placeholders({"t": built.declaration}, expected))
            == ()
        )


def test_the_same_query_of_a_table_that_is_declared_otherwise() -> None:
    with table() as built:
        rows: Rows = built.rows_of(with_placeholders(built.declaration, ["a", "b", "c"], size=3))
        query = (
            rows.where(sf.col("b") > 0)
            .mutate(d=sf.col("a") + 1)
            .group_by("t")
            .aggregate(s=sf.sum("d"))
        )
        wide = redeclare_query(
            query,
            {
                "t": built.rows_of(
                    with_placeholders(built.declaration, ["a", "b", "c"], rows=7, size=10)
                )
            },
        )
        assert wide.text == query.text
        assert (query.rows.ranges["d"], wide.rows.ranges["d"]) == ((-2, 4), (-9, 11))
        assert wide.rows.declaration.max_rows == 7
        assert (
            redeclare_query(wide, {"t": built.rows_of(query.rows.declaration)}).rows.ranges
            == query.rows.ranges
        )


def test_the_unit_is_never_learned_and_known_limits_stay() -> None:
    with table(bounds={"a": (0, 9)}, max_rows=5) as built:
        assert unbounded_columns(built.declaration) == ("b", "c")
        full = with_placeholders(built.declaration, ["b"], rows=1)
        assert full.max_rows == 5
        assert full.ranges == {"a": (0, 9), "b": (-1, 1)}


def test_what_learning_does_not_help_is_refused() -> None:
    with table() as built:
        with pytest.raises(sf.Refused) as refused:
            find_missing_limits(
                lambda d: built.rows_of(d["t"]).aggregate(s=sf.sum(sf.col("a") / sf.col("b"))),
                {"t": built.declaration},
            )
        assert refused.value.code in LEARNABLE
        with pytest.raises(sf.Refused) as refused:
            find_missing_limits(
                lambda d: built.rows_of(d["t"]).aggregate(s=sf.sum("t")), {"t": built.declaration}
            )
        assert refused.value.code == "aggregate.type"


TABLES = {
    "people": pa.table({"id": [1, 2], "x": [1, 2], "w": [1, 2]}),
    "visits": pa.table({"who": [1, 2], "x": [1, 2], "y": [1.0, 2.0], "t": ["a", "b"]}),
}


def several(**about: Any) -> Any:
    days = {"days": pa.table({"x": [1], "hours": [2]})}
    return sf.protect(
        TABLES, unit="people.id", links={"visits.who": "people.id"}, public=days, budget=1, **about
    )


def bounds(table: str, *columns: str) -> tuple[MissingLimit, ...]:
    return tuple(MissingLimit("bounds", (column,), table) for column in columns)


PEOPLE, VISITS = MissingLimit("max_rows", (), "people"), MissingLimit("max_rows", (), "visits")
ON = {"who": "id"}
JOINED: dict[str, tuple[Any, tuple[MissingLimit, ...]]] = {
    "one alone": (lambda v, p, d: v.aggregate(s=sf.sum("y")), (VISITS, *bounds("visits", "y"))),
    "what is brought in": (
        lambda v, p, d: v.join(p, on=ON).aggregate(s=sf.sum("w")),
        (PEOPLE, VISITS, *bounds("people", "w")),
    ),
    "under another name": (
        lambda v, p, d: v.join(p, on=ON).aggregate(s=sf.sum("x_right")),
        (PEOPLE, VISITS, *bounds("people", "x")),
    ),
    "equal columns": (
        lambda v, p, d: v.join(p, on={**ON, "x": "x"}).aggregate(s=sf.sum("x")),
        (PEOPLE, VISITS, *bounds("people", "x")),
    ),
    "made of it": (
        lambda v, p, d: p.join(v.mutate(z=sf.col("y") * 2), on={"id": "who"}).aggregate(
            s=sf.sum("z")
        ),
        (PEOPLE, VISITS, *bounds("visits", "y")),
    ),
    "twice": (
        lambda v, p, d: v.join(p, on=ON).join(p, on=ON).aggregate(s=sf.sum("x_right_2")),
        (PEOPLE, VISITS, *bounds("people", "x")),
    ),
    "a public table": (
        lambda v, p, d: v.join(d, on="x").aggregate(s=sf.sum("y")),
        (VISITS, *bounds("visits", "y")),
    ),
    "one that has to fit": (
        lambda v, p, d: p.semi_join(v.where(sf.col("y") > 1), on={"id": "who"}).aggregate(
            s=sf.sum("w")
        ),
        (PEOPLE, *bounds("people", "w")),
    ),
    "both, one after the other": (
        lambda v, p, d: v.union(p, columns=["x"]).aggregate(s=sf.sum("x")),
        (PEOPLE, VISITS, *bounds("people", "x"), *bounds("visits", "x")),
    ),
    "rows of each unit": (
        lambda v, p, d: (
            v.join(p, on=ON).per_unit({}, {"m": Total("min", sf.col("y"))}).aggregate(s=sf.sum("m"))
        ),
        bounds("visits", "y"),
    ),
}


@pytest.mark.parametrize("name", JOINED)
def test_lacking_of_several_tables(name: str) -> None:
    ask, expected = JOINED[name]
    with several() as db:
        query = ask(db["visits"].rows, db["people"].rows, db.public["days"])
        declared = db.state.declared

        def again(new_declared: Declared) -> Query:
            return redeclare_query(query, db.state.rows_of(new_declared))

        assert again(declared).text == query.text
        assert find_missing_limits(again, declared) == expected
        assert find_missing_limits(again, all_with_placeholders(declared, expected)) == ()
        for lack in expected:  # with less it cannot be planned
            assert lack in find_missing_limits(
                again,
                all_with_placeholders(declared, [limit for limit in expected if limit != lack]),
            )


def test_the_bounds_of_a_public_table_are_not_learned() -> None:
    with several() as db:
        query = db["visits"].join(db.public["days"], on="x").aggregate(s=sf.sum("hours"))
        with pytest.raises(sf.Refused) as refused:
            find_missing_limits(
                lambda new_declared: redeclare_query(query, db.state.rows_of(new_declared)),
                db.state.declared,
            )
        assert refused.value.code == "aggregate.bounds"


def test_stand_ins_are_for_what_is_named() -> None:
    with several(max_rows={"people": 3}, bounds={"visits.x": (0, 9)}) as db:
        declared = db.state.declared
        assert undeclared_limits(declared["people"]) == bounds("people", "x", "w")
        assert undeclared_limits(declared["visits"]) == (VISITS, *bounds("visits", "y"))
        some = all_with_placeholders(declared, [VISITS, *bounds("people", "x")], rows=2, size=5)
        assert [(item.max_rows, item.ranges) for item in some.values()] == [
            (3, {"x": (-5, 5)}),
            (2, {"x": (0, 9)}),
        ]
        assert [undeclared_limits(item) for item in all_with_placeholders(declared).values()] == [
            (),
            (),
        ]


def test_words() -> None:
    assert [
        lack.words
        for lack in (
            ROWS,
            MissingLimit("max_groups", ("city", "day")),
            MissingLimit("bounds", ("spend",)),
        )
    ] == [
        "rows per unit",
        "groups by city and day per unit",
        "bounds of spend",
    ]
    assert [
        lack.words
        for lack in (
            VISITS,
            MissingLimit("max_groups", ("city",), "visits"),
            *bounds("visits", "spend"),
        )
    ] == [
        "rows of visits per unit",
        "groups by visits.city per unit",
        "bounds of visits.spend",
    ]
