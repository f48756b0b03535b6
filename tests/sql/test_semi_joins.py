"""IN and EXISTS in WHERE."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.session import Database
from sfumato.tables.query.stages import Query

from ..session.clinic import clinic, counted

N = {"n": sf.count()}
col = sf.col
COUNT = "SELECT COUNT(*) AS n FROM "


@pytest.fixture(scope="module")
def db() -> Iterator[Database]:
    with clinic() as built:
        yield built


SAME: dict[str, tuple[Callable[[Any, Any, Any], Query], float]] = {
    "visits WHERE city IN (SELECT city FROM cities)": (
        lambda v, p, c: v.semi_join(c, on="city").aggregate(**N),
        4,
    ),
    "visits WHERE city NOT IN (SELECT city FROM cities)": (
        lambda v, p, c: v.anti_join(c, on="city", nulls=True).aggregate(**N),
        0,
    ),
    "visits WHERE NOT (city IN (SELECT city FROM cities WHERE size > 1))": (
        lambda v, p, c: v.anti_join(c.where(col("size") > 1), on="city", nulls=True).aggregate(**N),
        3,
    ),
    "visits v WHERE EXISTS (SELECT * FROM cities c WHERE c.city = v.city AND size > 1)": (
        lambda v, p, c: v.semi_join(c.where(col("size") > 1), on="city").aggregate(**N),
        2,
    ),
    "visits v WHERE NOT EXISTS (SELECT 1 FROM cities WHERE city = v.city) AND spend > 1": (
        lambda v, p, c: v.where(col("spend") > 1).anti_join(c, on="city").aggregate(**N),
        1,
    ),
    "visits v WHERE EXISTS (SELECT 1 FROM cities c WHERE size < spend)": (
        lambda v, p, c: v.semi_join(c, on=(), where=col("size") < col("spend")).aggregate(**N),
        5,
    ),
    "visits WHERE EXISTS (SELECT 1 FROM cities WHERE size > 100)": (
        lambda v, p, c: v.semi_join(c.where(col("size") > 100), on=()).aggregate(**N),
        0,
    ),
    "patients WHERE id IN (SELECT patient_id FROM visits WHERE spend > 1)": (
        lambda v, p, c: p.semi_join(v.where(col("spend") > 1), on={"id": "patient_id"}).aggregate(
            **N
        ),
        3,
    ),
    "patients WHERE id NOT IN (SELECT patient_id FROM visits)": (
        lambda v, p, c: p.anti_join(v, on={"id": "patient_id"}).aggregate(**N),
        1,
    ),
    (
        "patients p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.id AND "
        "v.city = p.city)"
    ): (
        lambda v, p, c: p.anti_join(v, on={"id": "patient_id", "city": "city"}).aggregate(**N),
        1,
    ),
}


@pytest.mark.parametrize("clause", SAME)
def test_the_plan_of_the_fluent_form(clause: str, db: Database) -> None:
    make, expected = SAME[clause]
    assert (
        db.plan(COUNT + clause, epsilon=1).query.text
        == make(db["visits"], db["patients"], db.public["cities"]).text
    )
    assert counted(db, COUNT + clause) == [expected]


REFUSED = [
    ("visits WHERE spend > 1 OR city IN (SELECT city FROM cities)", "sql.subquery"),
    ("visits WHERE NOT (spend > 1 AND EXISTS (SELECT 1 FROM cities))", "sql.subquery"),
    (
        "visits WHERE CASE WHEN city IN (SELECT city FROM cities) THEN TRUE ELSE FALSE END",
        "sql.subquery",
    ),
    ("visits WHERE city IN (SELECT city FROM patients)", "join.ownership"),
    ("visits WHERE number NOT IN (SELECT visit FROM tests)", "sql.subquery"),
    ("patients WHERE id IN (SELECT patient_id + 1 FROM visits)", "sql.subquery"),
    ("patients WHERE id + 0 IN (SELECT patient_id FROM visits)", "join.ownership"),
    ("visits WHERE city IN (SELECT city, region FROM cities)", "sql.subquery"),
    ("visits WHERE number IN (SELECT city FROM cities)", "expression.type"),
    ("visits WHERE EXISTS (SELECT COUNT(*) FROM cities)", "sql.subquery"),
    ("visits WHERE EXISTS (SELECT 1 FROM cities LIMIT 1)", "sql.unsupported"),
    ("visits WHERE EXISTS (SELECT 1 FROM patients)", "join.ownership"),
    ("visits v WHERE EXISTS (SELECT 1 FROM patients p WHERE p.age = v.spend)", "join.ownership"),
    (
        "visits v WHERE EXISTS (SELECT 1 FROM patients p WHERE p.id = v.patient_id OR TRUE)",
        "join.ownership",
    ),
    ("visits WHERE spend > (SELECT MAX(age) FROM patients)", "sql.subquery"),
    ("visits WHERE spend > ANY (SELECT size FROM cities)", "sql.subquery"),
    ("visits WHERE city IN (SELECT region FROM cities GROUP BY region)", "sql.ownership"),
]


@pytest.mark.parametrize(("clause", "code"), REFUSED, ids=[clause for clause, _ in REFUSED])
def test_refused(clause: str, code: str, db: Database) -> None:
    with pytest.raises(Refused) as caught:
        db.plan(COUNT + clause, epsilon=1)
    assert caught.value.code == code


def test_parameters_are_taken_once(db: Database) -> None:
    plan = db.plan(
        COUNT
        + (
            "visits WHERE spend > ? AND city IN (SELECT city FROM cities WHERE size > ?) AND "
            "number < ?"
        ),
        parameters=[1, 2, 3],
        epsilon=1,
    )
    assert plan.query.text.splitlines()[1:3] == [
        "where (spend > 1) AND (number < 3)",
        "semi join (from cities; where size > 2) on city = city",
    ]
