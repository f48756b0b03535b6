"""The steps that bring in other rows, on an engine: what comes out, and to whom it belongs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import sfumato as sf
from sfumato.session import Database
from sfumato.tables.expr.types import Type
from sfumato.tables.query.join_steps import Join, Match, Union
from sfumato.tables.query.owned_rows import apply_steps
from sfumato.tables.query.stages import Rows

from ..session.clinic import clinic


@pytest.fixture(scope="module")
def db() -> Iterator[Database]:
    with clinic() as built:
        yield built


def rows(db: Database, joined_rows: Rows, *names: str) -> list[tuple[Any, ...]]:
    assert joined_rows.origin is not None
    table, schema, _ = apply_steps(
        joined_rows.origin.source.table, joined_rows.declaration.schema, joined_rows.steps
    )
    assert schema == dict(joined_rows.schema)
    assert set(table.columns) == set(joined_rows.schema)
    result = db["visits"]._source.engine.run(table).to_pylist()
    return sorted((tuple(row[name] for name in names) for row in result), key=repr)


def test_inner(db: Database) -> None:
    built = db["visits"].join(db.public["cities"], on="city")
    assert rows(db, built, "number", "region") == [
        (10, "L"),
        (11, "P"),
        (11, "Q"),
        (12, "P"),
        (12, "Q"),
        (13, "L"),
        (15, "L"),
    ]
    assert isinstance(built.steps[-1], Join)


def test_left_keeps_rows_and_has_nulls(db: Database) -> None:
    built = db["visits"].join(db.public["cities"], on="city", how="left", where=sf.col("size") > 1)
    assert rows(db, built, "number", "region") == [
        (10, "L"),
        (11, None),
        (12, None),
        (13, "L"),
        (14, None),
        (15, "L"),
    ]
    assert built.schema["region"].nullable


def test_cross(db: Database) -> None:
    assert len(rows(db, db["visits"].join(db.public["cities"], how="cross"), "number")) == 24


def test_protected_rows_meet_those_of_the_same_unit(db: Database) -> None:
    built = db["tests"].join(db["visits"], on={"visit": "number"})
    assert rows(db, built, "visit", "value", "patients_id", "spend") == [
        (10, 5, 1, 1.0),
        (10, 6, 1, 1.0),
        (12, 7, 2, 3.0),
        (14, 9, 9, 5.0),
    ]
    assert built.steps[-1].rules


def test_semi_and_anti(db: Database) -> None:
    cities = db.public["cities"]
    assert rows(db, db["visits"].semi_join(cities, on="city"), "number") == [
        (10,),
        (11,),
        (12,),
        (13,),
        (15,),
    ]
    assert rows(db, db["visits"].anti_join(cities, on="city"), "number") == [(14,)]
    assert (
        rows(db, db["visits"].anti_join(cities, on="city", nulls=True), "number") == []
    )  # beside a null nothing is known not to be there
    assert rows(
        db,
        db["visits"].anti_join(cities.where(sf.col("size") > 1), on="city", nulls=True),
        "number",
    ) == [(11,), (12,), (14,)]
    built = db["patients"].semi_join(
        db["visits"], on={"id": "patient_id"}, where=sf.col("spend") > sf.col("age") / 20
    )
    assert rows(db, built, "id") == [(1,), (2,), (3,)]
    assert isinstance(built.steps[-1], Match)


def test_union(db: Database) -> None:
    built = db["visits"].union(db["patients"])
    assert rows(db, built, "patient_id", "city")[:3] == [(1, "Bari"), (1, "Roma"), (1, "Roma")]
    assert (
        len(rows(db, built, "city")) == 10
    )  # with a visit of nobody's, which is left out before rows are counted
    assert isinstance(built.steps[-1], Union)


def test_a_union_has_a_type_for_both() -> None:
    tables = {"a": {"id": [1, 2], "x": [1, 2]}, "b": {"id": [2, 3], "x": [0.5, None]}}
    import pyarrow as pa

    arrow = {name: pa.table(columns) for name, columns in tables.items()}
    arrow["a"] = arrow["a"].set_column(0, "id", pa.array([1, 2], pa.int8()))
    with sf.protect(
        arrow, unit="a.id", links={"b.id": "a.id"}, budget=1, max_rows=1
    ) as protected_table:
        both = protected_table["a"].union(protected_table["b"])
        assert both.schema == {"id": Type("integer", bits=64), "x": Type("float")}
        engine = protected_table["a"]._source.engine
        table, _, _ = apply_steps(both.origin.source.table, both.declaration.schema, both.steps)
        assert sorted(map(repr, engine.run(table).to_pylist())) == sorted(
            map(
                repr,
                [
                    {"id": 1, "x": 1.0},
                    {"id": 2, "x": 2.0},
                    {"id": 2, "x": 0.5},
                    {"id": 3, "x": None},
                ],
            )
        )


def test_texts_tell_steps_apart(db: Database) -> None:
    v, c = db["visits"], db.public["cities"]
    built = [
        v.join(c, on="city"),
        v.join(c, on="city", how="left"),
        v.join(c, on="city", how="left", where=sf.col("size") > 1),
        v.join(c.where(sf.col("size") > 1), on="city", how="left"),
        v.join(c, how="cross"),
        v.semi_join(c, on="city"),
        v.anti_join(c, on="city"),
        v.anti_join(c, on="city", nulls=True),
        v.union(db["patients"]),
    ]
    assert len({rows.steps[-1].text for rows in built}) == len(built)
