"""UNION ALL in a sub-query."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.session import Database

from ..session.clinic import clinic, counted

COUNT = "SELECT COUNT(*) AS n FROM "


@pytest.fixture(scope="module")
def db() -> Iterator[Database]:
    with clinic(max_rows=10) as built:
        yield built


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        (
            (
                "(SELECT city FROM visits UNION ALL SELECT city FROM patients) AS s WHERE "
                "city = 'Roma'"
            ),
            [4],
        ),
        (
            "(SELECT spend AS x FROM visits UNION ALL SELECT age FROM patients) AS s WHERE x > 4",
            [4],
        ),
        (
            (
                "(SELECT 1 AS x FROM visits UNION ALL SELECT 2 FROM patients UNION ALL "
                "SELECT NULL FROM tests) AS s WHERE x IS NULL"
            ),
            [4],
        ),
        (
            (
                "(SELECT patient_id, city FROM visits WHERE spend > 1 UNION ALL (SELECT id, "
                "city FROM patients)) AS s JOIN cities USING (city)"
            ),
            [9],
        ),
        (
            (
                "(WITH a AS (SELECT city FROM visits) SELECT city FROM a UNION ALL SELECT "
                "city FROM a) AS s"
            ),
            [10],
        ),
    ],
)
def test_rows_of_both(clause: str, expected: list[float], db: Database) -> None:
    assert counted(db, COUNT + clause) == expected


def test_the_plan_of_the_fluent_form(db: Database) -> None:
    query = (
        db["visits"].union(db["patients"]).where(sf.col("city") == "Roma").aggregate(n=sf.count())
    )
    text = (
        "(SELECT patient_id, city FROM visits UNION ALL SELECT id, city FROM patients) AS s "
        "WHERE city = 'Roma'"
    )
    assert db.plan(COUNT + text, epsilon=1).query.text == query.text


def test_the_unit_stays_the_unit(db: Database) -> None:
    text = (
        "SELECT COUNT(DISTINCT who) AS n FROM (SELECT patient_id AS who FROM visits UNION "
        "ALL SELECT id FROM patients) AS s"
    )
    assert counted(db, text) == [5]
    assert db.plan(text, epsilon=1).query.text.endswith("n = count_units()")


@pytest.mark.parametrize(
    ("clause", "code"),
    [
        ("(SELECT city FROM visits UNION SELECT city FROM patients) AS s", "sql.set"),
        ("(SELECT city FROM visits INTERSECT SELECT city FROM patients) AS s", "sql.set"),
        ("(SELECT city FROM visits EXCEPT ALL SELECT city FROM patients) AS s", "sql.set"),
        ("(SELECT city FROM visits UNION ALL BY NAME SELECT city FROM patients) AS s", "sql.set"),
        ("(SELECT city, spend FROM visits UNION ALL SELECT city FROM patients) AS s", "sql.set"),
        ("(SELECT city FROM visits UNION ALL SELECT city FROM patients LIMIT 3) AS s", "sql.set"),
        ("(SELECT city FROM visits UNION ALL SELECT city FROM cities) AS s", "join.ownership"),
        ("(SELECT city FROM cities UNION ALL SELECT city FROM visits) AS s", "join.ownership"),
        ("(SELECT city FROM visits UNION ALL SELECT age FROM patients) AS s", "union.columns"),
        ("(SELECT city FROM visits UNION ALL SELECT COUNT(*) FROM patients) AS s", "sql.ownership"),
        ("visits UNION ALL SELECT COUNT(*) AS n FROM patients", "sql.set"),
    ],
)
def test_refused(clause: str, code: str, db: Database) -> None:
    with pytest.raises(Refused) as caught:
        db.plan(COUNT + clause, epsilon=1)
    assert caught.value.code == code
