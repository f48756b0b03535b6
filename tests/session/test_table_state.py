"""What is known of several tables: lessons of each, of joins, unions and unit by unit; kept, paid
for, and enforced.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.release import question_key
from sfumato.session import Database
from sfumato.session.choose_limits import value_edges
from sfumato.session.learning import plan_lesson, storage_name
from sfumato.session.pending_plan import PendingPlan
from sfumato.session.table_state import TableState
from sfumato.tables.declare.declared_database import DatabaseDeclaration
from sfumato.tables.plan.missing_limits import MissingLimit
from sfumato.testing.exact_checks import through_the_door

from .clinic import DECLARED, clinic, hospital

pytestmark = pytest.mark.usefixtures("certain")

JOIN = (
    "SELECT SUM(spend) AS s, AVG(patients.age) AS a FROM visits JOIN patients ON patient_id "
    "= patients.id"
)
OF = {
    "visits": MissingLimit("max_rows", (), "visits"),
    "spend": MissingLimit("bounds", ("spend",), "visits"),
    "value": MissingLimit("bounds", ("value",), "tests"),
}


def joined(db: Database) -> Any:
    return (
        db["visits"]
        .join(db["patients"], on={"patient_id": "id"})
        .aggregate(s=sf.sum("spend"), a=sf.mean("age_right"))
    )


def spent(db: Database, share: str | None = None) -> Fraction:
    return db.ledger.account(share).spent[0]


WAYS: dict[str, Callable[[Database], Any]] = {
    "sql": lambda db: db.sql(JOIN, epsilon=60),
    "of a table": lambda db: db["tests"].sql(JOIN, epsilon=60),
    "release": lambda db: joined(db).release(epsilon=60),
    "release_all": lambda db: db.release_all([joined(db)], epsilon=60)[0],
}


@pytest.mark.parametrize("way", WAYS)
def test_a_join_learns_what_it_lacks_of_each_table(way: str) -> None:
    """Rows of both, spend of the one and age of the other, a quarter of ε = 10 each; of columns
    that have the same name the one that is meant.
    """
    with hospital() as db:
        declared = db.declaration
        answer = WAYS[way](db)
        assert spent(db) == 70
        assert [db[name].declaration.max_rows for name in db] == [1, 4, None]
        assert [db[name].declaration.ranges for name in db] == [
            {"age": (0, 64)},
            {"spend": (0, 64)},
            {},
        ]
        assert "rows of patients per unit" in answer.rules[-1]
        assert "bounds of visits.spend" in answer.rules[-1]
        assert "ε = 10 more was spent to find limits:" in answer.rules[-1]
        rule = "a patients.id with more than 4 rows counts as 4 rows (learned)"
        assert rule in answer.rules
        assert answer.facts["declaration"] == db.declaration.to_toml()
        assert (
            DatabaseDeclaration.from_toml(db.declaration.to_toml())
            == db.declaration
            != declared
            == db.original
        )
        WAYS[way](db)
        assert spent(db) == 70


def test_questions_made_before_are_asked_of_what_is_known_since() -> None:
    with hospital() as db:
        query = joined(db)
        plan = query.plan(epsilon=60)
        assert isinstance(plan, PendingPlan)
        assert plan.error() == {"s": "after learning", "a": "after learning"}
        assert (plan.cost.parameters["epsilon"], spent(db)) == (70, 0)
        query.release(epsilon=60)
        assert query.plan(epsilon=1).text == db.plan(JOIN, epsilon=1).text == joined(db).text
        assert query.plan(epsilon=1).query.rows.ranges["age_right"] == (0, 64)
        assert query.release(epsilon=60).recalled


ASKED: dict[str, tuple[str, dict[str, int | None], set[str]]] = {
    "one table": ("SELECT COUNT(*) AS n FROM tests", {"tests": 8}, set()),
    "two of them": (
        "SELECT SUM(value) AS s FROM tests JOIN visits ON visit = number",
        {"visits": 4, "tests": 8},
        {"tests.value"},
    ),
    "a public table": (
        "SELECT SUM(spend) AS s FROM visits JOIN days ON day = age",
        {"visits": 4},
        {"visits.spend"},
    ),
    "one that only has to fit": (
        (
            "SELECT COUNT(*) AS n FROM patients WHERE id IN (SELECT patient_id FROM visits "
            "WHERE spend > 5)"
        ),
        {"patients": 1},
        set(),
    ),
    "a union": (
        (
            "SELECT SUM(x) AS s FROM (SELECT patient_id, spend AS x FROM visits UNION ALL "
            "SELECT id, age AS x FROM patients)"
        ),
        {"patients": 1, "visits": 4},
        {"visits.spend", "patients.age"},
    ),
    "a row for each unit": (
        (
            "SELECT AVG(CLAMP(m, 0, 99)) AS s FROM (SELECT patient_id, SUM(spend) AS m FROM "
            "visits GROUP BY patient_id)"
        ),
        {},
        {"visits.spend"},
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_only_what_is_needed_is_learned(name: str) -> None:
    text, limits, bounds = ASKED[name]
    with hospital() as db:
        db.sql(text, epsilon=60)
        assert {
            table.name: table.max_rows for table in db.declaration.tables if table.max_rows
        } == limits
        assert {
            f"{table.name}.{column}" for table in db.declaration.tables for column in table.ranges
        } == bounds
        assert spent(db) == 70


def test_each_table_learns_by_itself_and_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "hospital.ledger"
    with hospital(ledger=path, name="hospital") as db:
        for table in db.tables.values():
            learned = table.learn(epsilon=60)
            assert learned.declaration == table.declaration
        assert spent(db) == 180
        first = db.declaration
        assert not db.sql(JOIN, epsilon=1).rules[-1].startswith("ε = ")
    with hospital(ledger=path, name="hospital") as db:
        db.sql(JOIN, epsilon=1)
        assert spent(db) == 182  # for the answer alone: what it lacks was found in the ledger
        for table in db.tables.values():
            assert table.learn(epsilon=5).cost is None
        assert db.declaration == first
        assert db.sql(JOIN, epsilon=1).recalled
        assert spent(db) == 182


def test_what_was_learned_can_be_declared_again_with_its_marks() -> None:
    with hospital() as db:
        db.sql(JOIN, epsilon=60)
        again = db.declaration.arguments
        assert set(again["learned"]) == {"patients", "visits"}
        arguments = {name: value for name, value in again.items() if name != "types"}
        with hospital(**arguments) as redeclared:
            assert redeclared.original == db.declaration
            assert redeclared.state.lessons == {}
        with pytest.raises(sf.Refused) as refused:
            hospital(learned=again["learned"]["visits"])
        assert refused.value.code == "table.learned"


def test_a_share_pays_for_what_was_learned_of_any_table(tmp_path: Path) -> None:
    """The answer shows the declaration of all of them."""
    with hospital(ledger=tmp_path / "hospital.ledger") as db:
        for name in ("ann", "bob"):
            db.ledger.allow(name, sf.Approx(100, "1e-6"))
        db["tests"].learn(epsilon=7, share="ann")
        db["patients"].learn(epsilon=3, share="ann")
        answer = db.sql("SELECT COUNT(*) AS n FROM patients", epsilon=1, share="bob")
        assert "max_rows = 8" in answer.facts["declaration"]
        assert spent(db, "bob") == 11
        db.release_all(["SELECT COUNT(*) AS n FROM tests"], epsilon=1, share="bob")
        assert (spent(db, "bob"), spent(db, "ann"), spent(db)) == (12, 10, 12)


def test_nothing_of_what_others_learned_is_heard_for_nothing() -> None:
    """Whether people have four rows or forty, an analyst who cannot pay reads the same texts."""
    outcomes = set()
    for many in (1, 10):
        tables = {
            "patients": pa.table({"id": range(500)}),
            "visits": pa.table({"patient_id": [*range(500)] * 4 * many}),
        }
        about: dict[str, Any] = {
            "unit": "patients.id",
            "links": {"visits.patient_id": "patients.id"},
            "budget": 1000,
        }
        with sf.protect(tables, **about) as db:
            db.ledger.allow("bob", sf.Approx(1, "1e-6"))
            db["visits"].learn(epsilon=60)
            assert db["visits"].declaration.max_rows in (4, 64)
            for ask in (
                lambda db=db: db.sql(
                    "EXPLAIN PRIVACY SELECT COUNT(*) AS n FROM visits", epsilon=1, share="bob"
                ),
                lambda db=db: db.sql("SELECT COUNT(*) AS n FROM visits", within=100, share="bob"),
                lambda db=db: db.release_all(
                    ["SELECT COUNT(*) AS n FROM visits"], epsilon=1, share="bob"
                ),
            ):
                try:
                    outcomes.add(str(ask()))
                except sf.Refused as refused:
                    outcomes.add(str(refused))
            assert spent(db, "bob") == 0
    assert len(outcomes) == 3


@pytest.mark.parametrize("what", OF)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_a_person_moves_a_lesson_by_no_more_than_its_noise_is_made_for(
    what: str, relation: str
) -> None:
    """Neighbours in all tables at once, of someone who has up to a thousand rows in each, with
    visits that others name, too.
    """
    rng = np.random.default_rng(5)
    largest, declared = Fraction(0), 0
    for turn, m in enumerate((1, 3, 40, 1000)):
        base = {
            "patients": {"id": np.arange(12)},
            "visits": {
                "number": rng.integers(0, 20, 30),
                "patient_id": rng.integers(0, 12, 30),
                "spend": rng.choice([0.0, 1e300, np.nan, 3.5], 30),
            },
            "tests": {"visit": rng.integers(0, 20, 40), "value": rng.integers(-9, 9, 40)},
        }
        more = {
            "patients": {"id": np.array([99])},
            "visits": {
                "number": 100 + np.arange(m),
                "patient_id": np.full(m, 99),
                "spend": rng.choice([-(2.0**50), 5.0], m),
            },
            "tests": {"visit": 100 + np.arange(m), "value": rng.integers(-(2**40), 2**40, m)},
        }
        less = {
            table: {column: values[:1] for column, values in columns.items()}
            for table, columns in more.items()
        }
        less["visits"]["spend"], less["tests"]["value"] = np.array([0.3]), np.array([0])
        tallies = []
        for extra in (more, less if relation == "replace" else None):
            tables = {
                name: pa.table(
                    {
                        c: v
                        if extra is None
                        else np.concatenate([v, extra[name][c].astype(v.dtype)])
                        for c, v in columns.items()
                    }
                )
                for name, columns in base.items()
            }
            with sf.protect(
                tables, unit="patients.id", links=DECLARED["links"], budget=1, relation=relation
            ) as db:
                plan = plan_lesson(db.state, OF[what], sf.Pure(1))
                tallies.append(through_the_door(plan).pieces[0].values.astype(object))
                declared = plan.calibration.bounding.l1(plan.components[0])
        moved = Fraction(int(abs(tallies[0] - tallies[1]).sum()))
        assert moved <= declared, turn
        largest = max(largest, moved / declared)
    assert largest > Fraction(9, 10)


def test_a_lesson_is_not_the_question_that_is_written_like_it() -> None:
    """A histogram in which a unit weighs one row is another than that in which it counts for the
    declared ones.
    """
    with hospital(max_rows=4) as db:
        plan = plan_lesson(db.state, OF["spend"], sf.Pure(1))
        question = (
            db["visits"]
            .aggregate(
                h=sf.histogram("spend", edges=value_edges(db["visits"].declaration.schema["spend"]))
            )
            .plan(promise=sf.Pure(1))
        )
        assert plan.text == question.text
        assert question_key(plan) != question_key(question)


def test_names_in_the_ledger_tell_tables_apart_and_stay_what_they_were() -> None:
    with hospital() as db:
        names = {storage_name(MissingLimit("max_rows", (), name), db[name].original) for name in db}
        assert len(names) == 3
        assert (
            storage_name(MissingLimit("max_rows"), db["visits"].original)
            == '{"learned": 1, "what": "max_rows", "of": {}, "unit": ["patient_id"]}'
        )


REFUSED = {
    "bounds of a public column": (
        "SELECT SUM(length) AS s FROM visits JOIN days ON day = age",
        "sql.bounds",
    ),
    "a quotient": (
        (
            "SELECT SUM(spend / patients.age) AS s FROM visits JOIN patients ON patient_id = "
            "patients.id"
        ),
        "sql.bounds",
    ),
    "two owners": (
        "SELECT SUM(spend) AS s FROM visits JOIN patients ON visits.age = patients.age",
        "join.ownership",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_learning_would_not_help_is_refused_before(name: str) -> None:
    text, code = REFUSED[name]
    with hospital() as db:
        for ask in (db.plan, db.sql):
            with pytest.raises(sf.Refused) as refused:
                ask(text, epsilon=1)
            assert refused.value.code == code
        assert spent(db) == 0


def test_without_learning_it_is_refused_as_ever() -> None:
    with hospital() as db:
        for ask in (db.plan, db.sql):
            with pytest.raises(sf.Refused) as refused:
                ask(JOIN, epsilon=1, learn=False)
            assert refused.value.code in ("sql.bounds", "table.max-rows")
        assert spent(db) == 0


def test_rows_are_those_of_what_is_known_now() -> None:
    with clinic(max_rows=None) as db:
        before = db["visits"].rows
        assert db["visits"].others["visits"] is db.state.rows["visits"] is before
        assert set(db.state.rows) == {"patients", "visits", "tests", "cities"}
        db["visits"].learn(epsilon="0.0000001")
        assert db["visits"].rows.declaration.max_rows == 1
        assert before.declaration.max_rows is None
        assert set(db["visits"].lessons) == {
            ("visits", "max_rows")
        }  # and no bounds of the numbers that visits are told apart by
        assert db["tests"].lessons == {}
        assert TableState({}, db.ledger).database_with({}) is None
