"""Joins: what is allowed, what is known of the columns that come out, and what is refused, before
any engine is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.session import Database
from sfumato.tables.plan.bounding import Bounding
from sfumato.tables.query.joins import MOST_TABLES
from sfumato.tables.query.per_unit import Total

from ..session.clinic import TABLES, clinic
from ..sql.people import unasked


@pytest.fixture(scope="module")
def db() -> Iterator[Database]:
    with clinic(
        max_rows={"patients": 1, "visits": 4, "tests": 6},
        keys={"cities.region": ["L", "P"], "cities.city": ["Roma", "Bari"]},
    ) as built:
        unasked(built["visits"], "cities")
        yield built


def test_equal_columns_are_there_once(db: Database) -> None:
    built = db["visits"].join(db["patients"], on={"patient_id": "id"})
    assert list(built.schema) == ["number", "patient_id", "spend", "city", "age", "city_right"]
    assert (
        "id" in db["visits"].join(db["patients"], on={"patient_id": "id"}, how="left").schema
    )  # null where nothing matched
    assert "patient_id" not in db["patients"].join(db["visits"], on={"id": "patient_id"}).schema


def test_what_is_known_of_columns_follows_them(db: Database) -> None:
    built = (
        db["visits"]
        .join(db["patients"], on={"patient_id": "id"})
        .join(db.public["cities"], on="city")
    )
    assert built.ranges == {"spend": (0, 10), "age": (0, 100)}
    assert built.public_keys("region") == ("L", "P")
    assert built.public_keys("city") == ("Bari", "Roma")
    left = db["visits"].join(db.public["cities"], on="city", how="left")
    assert left.public_keys("region") == ("L", "P", None)
    assert left.public_keys("city_right") == ("Bari", "Roma", None)


def test_what_is_written_anew_is_not_known(db: Database) -> None:
    """D8: a fact about a column is void once the column is another."""
    written = db["tests"].mutate(visit=sf.col("visit") + 1)
    with pytest.raises(Refused, match=r"join\.ownership"):
        written.join(db["visits"], on={"visit": "number"})
    copied = db["tests"].mutate(other=sf.col("visit"))
    assert not copied.join(db["visits"], on={"other": "number"}).public_keys("other")
    joined = (
        db["visits"].join(db.public["cities"], on="city").mutate(region=sf.col("region").trim())
    )
    assert not joined.public_keys("region")


def test_a_unit_counts_for_as_many_rows_as_where_it_counts_for_more(db: Database) -> None:
    joined = db["patients"].join(db["visits"], on={"id": "patient_id"})
    assert joined.declaration.max_rows == 4
    assert db["visits"].semi_join(db["tests"], on={"number": "visit"}).declaration.max_rows == 4
    bounding = Bounding.of(joined.aggregate(n=sf.count()), "L1")
    assert (bounding.rows, bounding.table_rows) == (4, 4 * 2**40)


def test_one_row_of_each_unit_stays_one(db: Database) -> None:
    first, second = (
        db[name].rows.per_unit({}, {f"n_{name}": Total("count")}) for name in ("visits", "tests")
    )
    assert first.join(second, on={"patient_id": "patients_id"}).once
    assert not first.join(db["patients"], on={"patient_id": "id"}).once
    assert not first.join(db.public["cities"], how="cross").once


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "not the unit": (lambda db: db["visits"].join(db["patients"], on="city"), "join.ownership"),
    "no condition": (lambda db: db["visits"].join(db["patients"], how="cross"), "join.ownership"),
    "the unit with something else": (
        lambda db: db["visits"].join(db["patients"], on={"patient_id": "age"}),
        "join.ownership",
    ),
    "semi": (lambda db: db["visits"].semi_join(db["patients"], on="city"), "join.ownership"),
    "anti": (lambda db: db["visits"].anti_join(db["patients"], on="city"), "join.ownership"),
    "right": (
        lambda db: db["visits"].join(db.public["cities"], on="city", how="right"),
        "join.kind",
    ),
    "full": (
        lambda db: db["visits"].join(db.public["cities"], on="city", how="outer"),
        "join.kind",
    ),
    "from public": (lambda db: db.public["cities"].join(db["visits"], on="city"), "join.kind"),
    "public, if there": (
        lambda db: db.public["cities"].semi_join(db["visits"], on="city"),
        "join.kind",
    ),
    "cross with a condition": (
        lambda db: db["visits"].join(db.public["cities"], on="city", how="cross"),
        "join.kind",
    ),
    "on nothing": (lambda db: db["visits"].join(db.public["cities"]), "join.columns"),
    "on no name": (lambda db: db["visits"].join(db.public["cities"], on=[3]), "join.columns"),
    "where of an inner join": (
        lambda db: db["visits"].join(db.public["cities"], on="city", where=sf.col("size") > 1),
        "join.columns",
    ),
    "where that is no condition": (
        lambda db: db["visits"].join(
            db.public["cities"], on="city", how="left", where=sf.col("size")
        ),
        "join.columns",
    ),
    "nulls of protected rows": (
        lambda db: db["patients"].anti_join(db["visits"], on={"id": "patient_id"}, nulls=True),
        "join.columns",
    ),
    "no such column": (
        lambda db: db["visits"].join(db.public["cities"], on="region"),
        "expression.column",
    ),
    "other types": (
        lambda db: db["visits"].join(db.public["cities"], on={"number": "city"}),
        "expression.type",
    ),
    "no table": (lambda db: db["visits"].join(TABLES["patients"], on="id"), "join.tables"),
    "public alone": (lambda db: db.public["cities"].aggregate(n=sf.count()), "join.public"),
    "public groups": (lambda db: db.public["cities"].group_by("region"), "join.public"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, db: Database) -> None:
    make, code = REFUSED[name]
    with pytest.raises(Refused) as caught:
        make(db)
    assert caught.value.code == code
    assert caught.value.rewrite


def test_tables_of_two_budgets_are_not_joined(db: Database) -> None:
    with clinic() as second, pytest.raises(Refused, match=r"join\.tables"):
        db["visits"].join(second["patients"], on={"patient_id": "id"})


def test_so_many_tables_and_no_more(db: Database) -> None:
    rows = db["visits"].rows
    for _ in range(MOST_TABLES - 1):
        rows = rows.semi_join(db.public["cities"], on="city")
    with pytest.raises(Refused, match=r"join\.tables"):
        rows.semi_join(db.public["cities"], on="city")


def test_without_a_unit_rows_are_not_repeated() -> None:
    with sf.protect(pa.table({"x": [1, 2]}), name="t", budget=1) as table:
        with pytest.raises(Refused, match=r"join\.unit"):
            table.join(table, on="x")
        with pytest.raises(Refused, match=r"join\.ownership"):
            table.semi_join(table, on="x")
