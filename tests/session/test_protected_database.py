"""Several protected tables under one budget."""

from __future__ import annotations

from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import Refused

from .clinic import clinic, counted

TEXT = "SELECT region, COUNT(*) AS n FROM visits JOIN cities USING (city) GROUP BY region"


def test_one_budget_for_all(tmp_path: Path) -> None:
    with clinic(ledger=tmp_path / "clinic.ledger", budget=10, name="clinic") as db:
        first = db.sql(TEXT, epsilon=1)
        db["patients"].aggregate(n=sf.count()).release(epsilon=2)
        assert db.spent.parameters["epsilon"] == db["tests"].spent.parameters["epsilon"] == 3
        assert db.remaining.parameters["epsilon"] == 7
        assert db.budget == db["visits"].budget
        assert db.spent.unit == "patients.id"
    with clinic(ledger=tmp_path / "clinic.ledger", budget=10, name="clinic") as db:
        again = (
            db["visits"]
            .join(db.public["cities"], on="city")
            .group_by("region")
            .aggregate(n=sf.count())
        )
        assert (
            db.release(again, epsilon=1).pieces[0].values.tolist()
            == first.pieces[0].values.tolist()
        )  # the stored answer: SQL or not
        assert db.spent.parameters["epsilon"] == 3
    with pytest.raises(Refused, match=r"ledger\.schema"):
        clinic(
            ledger=tmp_path / "clinic.ledger",
            budget=10,
            name="clinic",
            types={"visits.spend": "decimal(10,2)"},
        )


def test_any_table_may_be_asked_about_any_other() -> None:
    with clinic() as db:
        for table in (db, db["tests"], db["visits"]):
            assert (
                table.plan(
                    "SELECT COUNT(*) AS n FROM patients", epsilon=1
                ).query.rows.declaration.name
                == "patients"
            )
        query = db["patients"].aggregate(n=sf.count())
        assert db["visits"].plan(query, epsilon=1).query is query
        with clinic() as second, pytest.raises(Refused, match=r"plan\.query"):
            second.plan(query, epsilon=1)


def test_the_answer_says_what_was_asked() -> None:
    with clinic() as db:
        card = db.sql(
            "SELECT COUNT(*) AS n FROM tests JOIN visits ON visit = number", epsilon=1
        ).card()
        assert "patients.id" in str(card)
        assert "belong to the same unit" in str(card)
        assert 'sfumato = \\"database\\"' in str(card) or 'sfumato = "database"' in str(card)


def test_the_declaration_is_the_owners_and_what_was_learned_since() -> None:
    with clinic(max_rows=None) as db:
        assert db.declaration == db.original
        db.sql("SELECT COUNT(*) AS n FROM visits JOIN cities USING (city)", epsilon=1)
        assert [table.max_rows for table in db.original.tables] == [None] * 3
        assert [table.max_rows is None for table in db.declaration.tables] == [True, False, True]
        assert db.declaration.unit_name == db.original.unit_name


def test_several_tables_take_no_name_of_one() -> None:
    with pytest.raises(Refused) as caught:
        sf.protect({"visits": {"u": [1]}}, unit="visits.u", budget=1, table="visits")
    assert (caught.value.code, caught.value.place) == ("table.source", "table='visits'")


def test_tables_by_name() -> None:
    with clinic() as db:
        assert list(db) == list(db.tables) == ["patients", "visits", "tests"]
        assert (len(db), list(db.public)) == (3, ["cities"])
        assert "unit patients.id" in repr(db)
        assert "public: cities" in repr(db)
        for name, rewrite in (
            ("cities", "db.public['cities']"),
            ("nothing", "db['patients']"),
        ):
            with pytest.raises(Refused) as caught:
                db[name]
            assert caught.value.rewrite == rewrite


def test_orphans_belong_to_whom_they_name_and_dangling_rows_to_nobody() -> None:
    with clinic() as db:
        assert counted(db, "SELECT COUNT(*) AS n FROM visits") == [5]  # one names nobody
        assert counted(db, "SELECT COUNT(*) AS n FROM tests") == [
            4
        ]  # one names no visit, one a visit of nobody
        assert counted(db, "SELECT COUNT(DISTINCT patients_id) AS n FROM tests") == [3]
