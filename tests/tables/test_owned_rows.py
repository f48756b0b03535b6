"""Whose rows they are, and how they are made for an engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import sfumato as sf
from sfumato.session import Database
from sfumato.tables.query.owned_rows import apply_steps, engine_rows, tables_in, text_of

from ..session.clinic import clinic


@pytest.fixture(scope="module")
def db() -> Iterator[Database]:
    with clinic() as built:
        yield built


def run(db: Database, table: object) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = db["visits"]._source.engine.run(table).to_pylist()
    return rows


def test_steps_are_taken_in_order(db: Database) -> None:
    rows = (
        db["visits"]
        .mutate(spend=sf.col("spend") * 2)
        .where(sf.col("spend") > 5)
        .mutate(spend=sf.col("spend") + 1)
    )
    assert rows.origin is not None
    table, schema, remaining = apply_steps(
        rows.origin.source.table, rows.declaration.schema, rows.steps
    )
    assert not remaining
    assert sorted(row["spend"] for row in run(db, table)) == [7, 9, 11, 13]
    assert schema == dict(rows.schema)


def test_rows_of_nobody_are_left_out(db: Database) -> None:
    result = run(db, engine_rows(db["visits"].rows)[0])
    assert len(result) == 5
    assert None not in {row["patient_id"] for row in result}
    assert (
        len(run(db, engine_rows(db.public["cities"])[0])) == 4
    )  # public rows are nobody's, all of them


def test_each_use_is_a_view_of_its_own(db: Database) -> None:
    first, second = (engine_rows(db.public["cities"])[0] for _ in range(2))
    assert not first.equals(second)


def test_rows_are_told_apart_by_their_texts(db: Database) -> None:
    visits, cities = db["visits"], db.public["cities"]
    texts = [
        text_of(rows)
        for rows in (
            visits.rows,
            cities,
            visits.where(sf.col("spend") > 1),
            visits.join(cities, on="city"),
        )
    ]
    assert len(set(texts)) == len(texts)
    assert texts[2] == "from visits; where spend > 1"


def test_tables_are_counted(db: Database) -> None:
    visits, cities = db["visits"], db.public["cities"]
    assert tables_in(visits.rows) == 1
    assert (
        tables_in(
            visits.join(cities.join(cities, on="city"), on="city").semi_join(cities, on="city")
        )
        == 4
    )
