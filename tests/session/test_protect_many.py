"""`protect` of several tables: what is declared, what is refused, and that nothing is left
behind.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import Refused

from .clinic import CITIES, DECLARED, TABLES, clinic, counted

TEXT = (
    "SELECT SUM(value) AS s FROM tests JOIN visits ON visit = number JOIN cities USING "
    "(city) WHERE size < 3"
)


def test_files_frames_and_lent_tables_give_the_same(tmp_path: Path) -> None:
    for name, table in TABLES.items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    files: dict[str, Any] = {name: tmp_path / f"{name}.parquet" for name in TABLES}
    connection = ibis.duckdb.connect()
    lent = {name: connection.create_table(name, table) for name, table in TABLES.items()}
    about: dict[str, Any] = {**DECLARED, "budget": 10}
    counts = []
    for tables, cities in (
        (TABLES, CITIES),
        (files, CITIES),
        (lent, connection.create_table("cities", CITIES)),
    ):
        with sf.protect(tables, public={"cities": cities}, **about) as db:
            counts.append(counted(db, TEXT))
    assert counts == [[14]] * 3


def test_the_least_owner_of_a_number_that_is_given_twice() -> None:
    """A test belongs to one person, also where a visit's number does not; and when that person
    goes, so does the test.
    """
    visits = {"number": [1, 1, 2], "patient_id": [7, 5, 7]}
    tests = {"visit": [1, 1, 2], "value": [3, 4, 5]}
    about: dict[str, Any] = {
        "unit": "patients.id",
        "links": DECLARED["links"],
        "budget": 1,
        "max_rows": 5,
    }
    with sf.protect(
        {
            "patients": pa.table({"id": [5, 7]}),
            "visits": pa.table(visits),
            "tests": pa.table(tests),
        },
        **about,
    ) as db:
        assert counted(db, "SELECT COUNT(*) AS n FROM tests WHERE patients_id = 5") == [2]
        assert counted(db, "SELECT COUNT(*) AS n FROM tests JOIN visits ON visit = number") == [
            3
        ]  # and never 5: owners have to agree
    rest = {
        "visits": pa.table({"number": [1, 2], "patient_id": [7, 7]}),
        "tests": pa.table({"visit": [2], "value": [5]}),
    }
    with sf.protect({"patients": pa.table({"id": [7]}), **rest}, **about) as db:
        assert counted(db, "SELECT COUNT(*) AS n FROM tests WHERE patients_id = 7") == [
            1
        ]  # what it was before


def test_columns_of_any_name() -> None:
    """The names that are used to find owners are not those of the table."""
    visits = {"named": [1, 2], "owner": [5, 6]}
    tests = {"named": [1, 2, 2], "owner": [9, 9, 9], "named_right": [1, 1, 1]}
    links = {"visits.owner": "patients.id", "tests.named": "visits.named"}
    tables = {
        "patients": pa.table({"id": [5]}),
        "visits": pa.table(visits),
        "tests": pa.table(tests),
    }
    with sf.protect(tables, unit="patients.id", links=links, budget=1, max_rows=5) as db:
        assert counted(
            db,
            (
                "SELECT COUNT(*) AS n FROM tests WHERE patients_id = 6 AND owner = 9 AND "
                "named_right = 1"
            ),
        ) == [2]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no unit": ({"unit": None}, "table.unit"),
    "a unit without its table": ({"unit": "id"}, "table.links"),
    "no link": ({"links": {}}, "table.links"),
    "links in a list": ({"links": ["visits.patient_id"]}, "table.links"),
    "a link to a public table": (
        {"links": {**DECLARED["links"], "visits.city": "cities.city"}},
        "table.links",
    ),
    "bounds without a table": ({"bounds": {"spend": (0, 1)}}, "table.links"),
    "bounds in a list": ({"bounds": [1]}, "table.bounds"),
    "types in a list": ({"types": ["int64"]}, "table.type"),
    "bounds of no column": ({"bounds": {"visits.nothing": (0, 1)}}, "table.column"),
    "rows of no table": ({"max_rows": {"cities": 3}}, "table.max-rows"),
    "the same name twice": ({"public": {"Visits": CITIES}}, "table.public"),
    "no name": ({"name": " "}, "table.name"),
    "another relation": ({"relation": "neither"}, "guarantee.relation"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_and_nothing_left(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes, code = REFUSED[name]
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(Refused) as caught:
        clinic(**changes)
    assert caught.value.code == code
    assert not list(tmp_path.iterdir())


def test_one_table_has_no_links() -> None:
    with pytest.raises(Refused, match=r"table\.links"):
        sf.protect(  # type: ignore[call-overload]  # one table takes no links
            CITIES, name="cities", budget=1, links={}
        )
    with pytest.raises(Refused, match=r"table\.public"):
        sf.protect({}, unit="a.b", budget=1)


def test_one_table_with_public_ones() -> None:
    with sf.protect(
        {"visits": TABLES["visits"]},
        unit="visits.patient_id",
        public={"cities": CITIES},
        budget=1,
        max_rows=2,
    ) as db:
        assert counted(
            db, "SELECT COUNT(*) AS n FROM visits WHERE city IN (SELECT city FROM cities)"
        ) == [4]
