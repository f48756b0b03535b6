"""JOIN, read: the plan of the fluent form, names, sides, and refusals before any engine is
asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.session import Database
from sfumato.tables.query.stages import Query

from ..session.clinic import clinic
from .people import protected, unasked


@pytest.fixture(scope="module")
def db() -> Iterator[Database]:
    with clinic() as built:
        unasked(built["visits"], "cities")
        yield built


def text(db: Database, query: str) -> str:
    result: str = db.plan(query, promise=sf.Approx(1, "1e-6")).query.text
    return result


N = {"n": sf.count()}
col = sf.col
SAME: dict[str, Callable[[Any, Any, Any, Any], Query]] = {
    "SELECT COUNT(*) AS n FROM visits JOIN cities USING (city)": lambda v, p, t, c: v.join(
        c, on="city"
    ).aggregate(**N),
    "SELECT COUNT(*) AS n FROM visits v JOIN cities AS c ON v.city = c.city": lambda v, p, t, c: (
        v.join(c, on="city").aggregate(**N)
    ),
    "SELECT COUNT(*) n FROM cities c INNER JOIN visits v ON (c.city = v.city)": lambda v, p, t, c: (
        v.join(c, on="city").aggregate(**N)
    ),
    "SELECT COUNT(*) AS n FROM visits LEFT OUTER JOIN cities USING (city)": lambda v, p, t, c: (
        v.join(c, on="city", how="left").aggregate(**N)
    ),
    "SELECT COUNT(*) AS n FROM cities RIGHT JOIN visits USING (city)": lambda v, p, t, c: v.join(
        c, on="city", how="left"
    ).aggregate(**N),
    "SELECT COUNT(*) AS n FROM patients RIGHT JOIN visits ON patient_id = id": lambda v, p, t, c: (
        v.join(p, {"patient_id": "id"}, how="left").aggregate(**N)
    ),
    "SELECT COUNT(*) AS n FROM visits, cities": lambda v, p, t, c: v.join(c, how="cross").aggregate(
        **N
    ),
    (
        "SELECT COUNT(*) AS n FROM visits v CROSS JOIN cities c WHERE v.city <> c.city"
    ): lambda v, p, t, c: (
        v.join(c, how="cross").where(col("city") != col("city_right")).aggregate(**N)
    ),
    "SELECT COUNT(*) AS n FROM visits v JOIN cities c ON spend < size": lambda v, p, t, c: (
        v.join(c, how="cross").where(col("spend") < col("size")).aggregate(**N)
    ),
    (
        "SELECT COUNT(*) AS n FROM visits v JOIN cities c ON v.city = c.city AND size > 1 "
        "AND spend > size"
    ): lambda v, p, t, c: (
        v.join(c.where(col("size") > 1), on="city").where(col("spend") > col("size")).aggregate(**N)
    ),
    (
        "SELECT COUNT(*) AS n FROM visits v LEFT JOIN cities c ON v.city = c.city AND size > "
        "1 AND spend > size"
    ): lambda v, p, t, c: v.join(
        c.where(col("size") > 1), on="city", how="left", where=col("spend") > col("size")
    ).aggregate(**N),
    (
        "SELECT COUNT(*) AS n, COUNT(DISTINCT p.id) AS u FROM visits v JOIN patients p ON id "
        "= patient_id WHERE p.city < v.city"
    ): lambda v, p, t, c: (
        v.join(p, on={"patient_id": "id"})
        .where(col("city_right") < col("city"))
        .aggregate(**N, u=sf.count_units())
    ),
    "SELECT AVG(t.value) m FROM tests t JOIN visits v ON t.visit = v.number": lambda v, p, t, c: (
        t.join(v, on={"visit": "number"}).aggregate(m=sf.mean("value"))
    ),
    (
        "SELECT COUNT(*) AS n FROM patients p SEMI JOIN visits v ON p.id = v.patient_id AND "
        "p.city = v.city"
    ): lambda v, p, t, c: p.semi_join(v, on={"id": "patient_id", "city": "city"}).aggregate(**N),
    "SELECT COUNT(*) AS n FROM visits ANTI JOIN cities USING (city)": lambda v, p, t, c: (
        v.anti_join(c, on="city").aggregate(**N)
    ),
    (
        "WITH big AS (SELECT city AS town FROM cities WHERE size > 1) SELECT COUNT(*) AS n "
        "FROM visits JOIN big ON city = town"
    ): lambda v, p, t, c: v.join(c.where(col("size") > 1), on="city").aggregate(**N),
    (
        "SELECT COUNT(*) AS n FROM visits a JOIN visits b USING (patient_id) WHERE a.spend < "
        "b.spend"
    ): lambda v, p, t, c: (
        v.join(v, on="patient_id").where(col("spend") < col("spend_right")).aggregate(**N)
    ),
}


@pytest.mark.parametrize("query", SAME)
def test_the_plan_of_the_fluent_form(query: str, db: Database) -> None:
    assert (
        text(db, query)
        == SAME[query](db["visits"], db["patients"], db["tests"], db.public["cities"]).text
    )


def test_what_a_sub_query_computes_is_null_where_nothing_matches(db: Database) -> None:
    result = text(
        db,
        (
            "SELECT COUNT_IF(there) AS n FROM visits LEFT JOIN (SELECT city, TRUE AS there "
            "FROM cities) AS c USING (city)"
        ),
    )
    assert "mutate there = true" in result.lower()


REFUSED = [
    ("SELECT COUNT(*) FROM visits v JOIN patients p ON v.city = p.city", "join.ownership"),
    ("SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.id + 0", "join.ownership"),
    (
        "SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.id OR TRUE",
        "join.ownership",
    ),
    (
        (
            "SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id <= p.id AND "
            "v.patient_id >= p.id"
        ),
        "join.ownership",
    ),
    (
        (
            "SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = v.patient_id "
            "AND p.id = p.id"
        ),
        "join.ownership",
    ),
    ("SELECT COUNT(*) FROM tests t JOIN visits v ON t.visit = v.patient_id", "join.ownership"),
    (
        (
            "SELECT COUNT(*) FROM tests t JOIN (SELECT number + 0 AS number FROM visits) v "
            "ON t.visit = v.number"
        ),
        "join.ownership",
    ),
    ("SELECT COUNT(*) FROM visits, patients WHERE patient_id = id", "join.ownership"),
    ("SELECT COUNT(*) FROM visits v LEFT JOIN patients p ON TRUE", "join.ownership"),
    ("SELECT COUNT(*) FROM cities LEFT JOIN visits USING (city)", "sql.join"),
    ("SELECT COUNT(*) FROM visits RIGHT JOIN cities USING (city)", "sql.join"),
    ("SELECT COUNT(*) FROM visits FULL JOIN cities USING (city)", "sql.join"),
    ("SELECT COUNT(*) FROM patients FULL OUTER JOIN visits ON id = patient_id", "sql.join"),
    ("SELECT COUNT(*) FROM visits NATURAL JOIN cities", "sql.join"),
    ("SELECT COUNT(*) FROM visits ASOF JOIN cities USING (city)", "sql.join"),
    ("SELECT COUNT(*) FROM visits POSITIONAL JOIN cities", "sql.join"),
    ("SELECT COUNT(*) FROM visits LEFT JOIN cities", "sql.join"),
    ("SELECT COUNT(*) FROM cities SEMI JOIN visits USING (city)", "sql.join"),
    ("SELECT COUNT(*) FROM visits, LATERAL (SELECT 1) AS s", None),
    ("SELECT COUNT(*) FROM visits JOIN visits USING (patient_id)", "sql.names"),
    ("SELECT COUNT(*) FROM visits JOIN cities USING (region)", "sql.column"),
    (
        "SELECT COUNT(*) FROM visits v JOIN patients p ON patient_id = id WHERE city = 'Roma'",
        "sql.column",
    ),
    (
        "SELECT COUNT(*) FROM visits v JOIN cities c USING (city) WHERE p.city = 'Roma'",
        "sql.column",
    ),
    ("SELECT COUNT(*) FROM visits v JOIN cities c ON v.number = c.city", "expression.type"),
    ("SELECT COUNT(*) FROM visits v JOIN cities c ON v.city = c.nothing", "sql.column"),
    (
        "SELECT p.id, COUNT(*) FROM visits v JOIN patients p ON patient_id = id GROUP BY p.id",
        "sql.unit",
    ),
    ("SELECT region FROM visits JOIN cities USING (city)", "sql.raw-rows"),
    ("SELECT COUNT(*) FROM cities", "sql.table"),
    ("SELECT COUNT(*) FROM cities JOIN cities AS c USING (city)", "sql.table"),
    ("SELECT COUNT(*) FROM visits JOIN elsewhere USING (city)", "sql.table"),
    ("SELECT COUNT(*) FROM visits JOIN read_csv('x.csv') USING (city)", "sql.table"),
    (
        (
            "SELECT COUNT(*) FROM visits JOIN (SELECT region, COUNT(*) AS m FROM cities "
            "GROUP BY region) AS s ON TRUE"
        ),
        "sql.ownership",
    ),
    (
        "SELECT COUNT(*) FROM visits JOIN (SELECT AVG(age) AS mean FROM patients) AS s ON TRUE",
        "sql.ownership",
    ),
]


@pytest.mark.parametrize(("query", "code"), REFUSED, ids=[query for query, _ in REFUSED])
def test_refused(query: str, code: str | None, db: Database) -> None:
    """D7: hostile joins, refused without a call of the engine, which would raise something else."""
    with pytest.raises(Refused) as caught:
        db.sql(query, epsilon=1)
    assert code is None or caught.value.code == code
    assert caught.value.rewrite
    assert db.spent.parameters["epsilon"] == 0


def test_a_rewrite_says_on_what(db: Database) -> None:
    with pytest.raises(Refused) as caught:
        db.sql("SELECT COUNT(*) FROM visits v JOIN patients p ON v.city = p.city", epsilon=1)
    assert caught.value.rewrite == (
        "SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.id AND (v.city = p.city)"
    )
    db.plan(caught.value.rewrite, epsilon=1)


def test_one_table_with_itself() -> None:
    with unasked(protected()) as table:
        joined = table.plan(
            (
                "SELECT COUNT(*) AS n FROM visits a JOIN (SELECT user_id, MAX(age) AS top "
                "FROM visits GROUP BY user_id) b USING (user_id)"
            ),
            epsilon=1,
        )
        assert (
            joined.query.text.splitlines()[1]
            == "inner join (from visits; per user_id: top = max(age)) on user_id = user_id with top"
        )


def test_a_number_that_equals_the_unit_still_names_its_visit(db: Database) -> None:
    """Of two equal columns one stays, and with it what either of them names."""
    tests = (
        "FROM patients AS p JOIN tests AS t ON p.id = t.visit AND p.id = t.patients_id JOIN "
        "tests AS s ON"
    )
    assert "tests" in text(db, f"SELECT COUNT(*) AS n {tests} t.visit = s.visit")
    with pytest.raises(Refused, match=r"join\.ownership"):
        text(db, f"SELECT COUNT(*) AS n {tests} t.value = s.value")
