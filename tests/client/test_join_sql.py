"""Joined rows as SQL: the same steps, the same plan, the same integers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.client.join_sql import count_join_steps
from sfumato.client.to_sql import query_to_sql
from sfumato.errors import Refused
from sfumato.session import Database
from sfumato.testing.exact_checks import through_the_door

from ..session.clinic import clinic
from ..sql.people import protected

PROMISE = sf.Approx(1, "1e-6")


@pytest.fixture(scope="module")
def db() -> Iterator[Database]:
    with clinic() as database:
        yield database


JOINED: dict[str, Callable[[Any], Any]] = {
    "a link": lambda db: db["visits"].join(db["patients"], on={"patient_id": "id"}),
    "then a condition": lambda db: (
        db["visits"]
        .join(db["patients"], on={"patient_id": "id"})
        .where("age > 20")
        .where(sf.col("spend") < 9)
    ),
    "a condition before": lambda db: (
        db["visits"]
        .where("spend > 1")
        .where("city <> 'Oslo'")
        .join(db["patients"].where("age > 20"), on={"patient_id": "id"})
    ),
    "a public table": lambda db: db["visits"].join(db.public["cities"], on="city"),
    "left": lambda db: (
        db["visits"]
        .join(db.public["cities"], on="city", how="left")
        .where("size IS NULL OR size > 1")
    ),
    "cross": lambda db: (
        db["patients"]
        .join(db.public["cities"], how="cross")
        .where(sf.col("city") == sf.col("city_right"))
    ),
    "three": lambda db: (
        db["tests"].join(db["visits"], on={"visit": "number"}).join(db.public["cities"], on="city")
    ),
    "of joined rows": lambda db: db["visits"].join(
        db["patients"].join(db.public["cities"], on="city"), on={"patient_id": "id"}
    ),
    "semi": lambda db: db["patients"].semi_join(
        db["visits"].where("spend > 2"), on={"id": "patient_id"}
    ),
    "anti": lambda db: db["patients"].where("age > 1").anti_join(db.public["cities"], on="city"),
    "made after": lambda db: (
        db["visits"]
        .join(db["patients"], on={"patient_id": "id"})
        .mutate(x=sf.col("age") // 2)
        .where(sf.col("x") > 3)
    ),
}


@pytest.mark.parametrize("kind", JOINED)
def test_the_text_has_the_plan_of_the_query(db: Database, kind: str) -> None:
    rows = JOINED[kind](db)
    number = next(name for name in ("spend", "age", "value") if name in rows.ranges)
    keys = ["region"] if "region" in rows.schema else []
    query = rows.group_by(*keys).aggregate(n=sf.count(), people=sf.count_units(), s=sf.sum(number))
    assert count_join_steps(query.rows)
    text = query_to_sql(query)
    mine, its = db.plan(query, promise=PROMISE), db.plan(text, promise=PROMISE)
    assert repr(mine.mechanism) == repr(its.mechanism), text
    assert mine.cost == its.cost
    assert mine.error() == its.error()
    first, second = through_the_door(mine), through_the_door(its)
    assert list(first.groups.rows) == list(second.groups.rows)
    for my_piece, its_piece in zip(first.pieces, second.pieces, strict=True):
        assert np.array_equal(my_piece.values, its_piece.values), text


def test_a_table_with_itself() -> None:
    with protected() as table:
        query = (
            table.join(table.where("vip"), on="user_id")
            .where(sf.col("age") < sf.col("age_right"))
            .aggregate(n=sf.count())
        )
        text = query_to_sql(query)
        assert repr(table.plan(query, epsilon=1).mechanism) == repr(
            table.plan(text, epsilon=1).mechanism
        )


def test_the_text(db: Database) -> None:
    text = query_to_sql(
        db["patients"]
        .semi_join(db["visits"].where("spend > 2"), on={"id": "patient_id"})
        .aggregate(n=sf.count())
    )
    inside = (
        "(SELECT * FROM patients AS l SEMI JOIN (SELECT * FROM visits AS s WHERE spend > 2) "
        "AS r ON l.id = r.patient_id)"
    )
    assert text == f"SELECT COUNT(*) AS n FROM {inside} AS t"


UNSAID: dict[str, Callable[[Any], Any]] = {
    "union": lambda db: db["visits"].union(db["visits"]),
    "made before": lambda db: (
        db["visits"].mutate(x=sf.col("spend") * 2).join(db["patients"], on={"patient_id": "id"})
    ),
    "a further condition": lambda db: db["visits"].join(
        db.public["cities"], on="city", how="left", where=sf.col("size") > 1
    ),
    "not in": lambda db: db["visits"].anti_join(db.public["cities"], on="city", nulls=True),
}


@pytest.mark.parametrize("kind", UNSAID)
def test_what_is_not_written_here_is_refused(db: Database, kind: str) -> None:
    with pytest.raises(Refused) as caught:
        query_to_sql(UNSAID[kind](db).aggregate(n=sf.count()))
    assert caught.value.code == "client.spelling"
    assert "table.sql" in caught.value.rewrite


def test_another_join_would_be_seen(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: a join of another kind is read back as another step."""
    from sfumato.client import join_sql

    monkeypatch.setattr(join_sql, "KINDS", {**join_sql.KINDS, "left": "JOIN"})
    with pytest.raises(Refused) as caught:
        query_to_sql(JOINED["left"](db).aggregate(n=sf.count()))
    assert caught.value.code == "client.spelling"
