"""A lent DuckDB as the engine: one state of every table, names that stay what they were, and
nothing left behind in the connection.
"""

from __future__ import annotations

import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pytest

import sfumato as sf
from sfumato.errors import Failed
from sfumato.tables.engine.duckdb_engine import Engine
from sfumato.tables.engine.external_duckdb import ExternalDuckDB
from sfumato.testing.exact_checks import through_the_door

from ..refusing import refusal


@pytest.fixture
def backend() -> Any:
    connection = ibis.duckdb.connect()
    connection.con.execute("CREATE TABLE visits AS SELECT 1 AS u, 'a' AS k")
    connection.con.execute("CREATE TABLE tomorrow AS SELECT 1 AS u, 'a' AS k FROM range(1000)")
    return connection


def protected(backend: Any, name: str = "visits", **more: Any) -> Any:
    return sf.protect(
        backend.table(name),
        **{"unit": "u", "max_rows": 1, "keys": {"k": ["a"]}, "budget": 10} | more,
    )


def meanwhile(table: Any, statement: str) -> Any:
    """A release during which the owner says something to the connection: after the engine has given
    its sums, and before they are used.
    """
    engine, true = table._source.engine, table._source.engine.run

    def run(expression: Any, *, timeout: float | None = None) -> Any:
        result = true(expression, timeout=timeout)
        engine.backend.con.execute(statement)
        return result

    engine.run = run
    try:
        return table.group_by("k").aggregate(n=sf.count()).release(epsilon=1, fresh=True)
    finally:
        del engine.run


def test_what_is_shown_is_what_is_asked(backend: Any) -> None:
    engine, table = ExternalDuckDB(backend), backend.table("visits")
    query = table.group_by("u").agg(n=table.count())
    assert engine.run(query).to_pydict() == {"u": [1], "n": [1]}
    assert backend.con.execute(engine.sql(query)).fetchall() == [(1, 1)]
    assert engine.version == f"DuckDB {duckdb.__version__}"


def test_a_question_leaves_nothing_behind(backend: Any, tmp_path: Path) -> None:
    """Nor does one with a long list of keys, or one that fails; and none is left in a database that
    may only be read.
    """

    def state(connection: Any) -> list[Any]:
        queries = (
            "name, value FROM duckdb_settings()",
            "table_name, sql FROM duckdb_tables()",
            "view_name, sql FROM duckdb_views() WHERE NOT internal",
        )
        return [connection.execute(f"SELECT {text} ORDER BY ALL").fetchall() for text in queries]

    path = str(tmp_path / "clinic.duckdb")
    with duckdb.connect(path) as database:
        database.execute("CREATE TABLE visits AS SELECT 1 AS u, 'a' AS k")
    for lent in (backend, ibis.duckdb.connect(path, read_only=True)):
        before = state(lent.con)
        table = protected(lent, keys={"k": ["a", *(f"town {i}" for i in range(5000))]})
        plan = table.group_by("k").aggregate(n=sf.count()).plan(epsilon=1)
        assert int(through_the_door(plan).integers("count").sum()) == 1 << 20
        if lent is backend:
            lent.con.execute("ALTER TABLE visits RENAME TO elsewhere")
            with pytest.raises(duckdb.CatalogException):
                table._source.engine.run(plan.statements[0].expression)
            lent.con.execute("ALTER TABLE elsewhere RENAME TO visits")
        table.close()
        assert state(lent.con) == before
        assert lent.con.execute("SELECT count(*) FROM visits").fetchone() == (1,)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE OR REPLACE TABLE visits AS FROM tomorrow",
        "CREATE OR REPLACE VIEW seen AS FROM tomorrow",
        "ALTER TABLE visits ADD COLUMN x INTEGER",
    ],
    ids=["table", "view", "column"],
)
def test_a_name_that_means_something_else_during_a_question_fails_the_release(
    statement: str, backend: Any
) -> None:
    backend.con.execute("CREATE VIEW seen AS SELECT * FROM visits")
    table = protected(backend, "seen")
    with pytest.raises(Failed):
        meanwhile(table, statement)
    assert [entry.kind for entry in table.ledger.history()].count("charge") == 1


def test_rows_that_are_committed_during_a_question_do_not_fail_it(backend: Any) -> None:
    """A statement sees one state, whatever is committed meanwhile."""
    assert len(meanwhile(protected(backend), "INSERT INTO visits FROM tomorrow")) == 1


def test_a_table_that_is_replaced_between_questions(backend: Any) -> None:
    """With the same columns it is read; with others, or as a view that draws, it is refused before
    the charge.
    """
    table = protected(backend)
    plan = table.group_by("k").aggregate(n=sf.count()).plan(epsilon=1)
    backend.con.execute("CREATE OR REPLACE TABLE visits AS SELECT 1 AS u, 'b' AS k")
    assert through_the_door(plan).integers("count").tolist() == [[0]]

    def question() -> Any:
        return table.group_by("k").aggregate(n=sf.count()).release(epsilon=1)

    for statement, code in (
        ("CREATE OR REPLACE TABLE visits AS SELECT 'x' AS u, 'b' AS k", "table.changed"),
        ("CREATE OR REPLACE TABLE visits(u INTEGER, k VARCHAR, g AS (random()))", "table.changed"),
        (
            (
                "DROP TABLE visits; CREATE VIEW visits AS SELECT 1 AS u, 'b' AS k FROM "
                "tomorrow LIMIT 1"
            ),
            "table.source",
        ),
        ("DROP VIEW visits", "table.source"),
    ):
        backend.con.execute(statement)
        refusal(question, code)
    assert {entry.kind for entry in table.ledger.history()} == {"open"}


def test_rows_that_another_connection_exchanges_give_no_unit_more_weight_than_it_may_have(
    backend: Any,
) -> None:
    """A thread commits a thousand rows of one unit, then one, and so on. Both looks of a statement
    see the same commit.
    """
    table = protected(backend)
    plan = table.group_by("k").aggregate(n=sf.count()).plan(epsilon=1)
    stop, there = threading.Event(), backend.con.cursor()

    def alternate() -> None:
        while not stop.is_set():
            there.execute("BEGIN; DELETE FROM visits; INSERT INTO visits FROM tomorrow; COMMIT")
            there.execute(
                "BEGIN; DELETE FROM visits; INSERT INTO visits FROM tomorrow LIMIT 1; COMMIT"
            )

    thread = threading.Thread(target=alternate)
    thread.start()
    try:
        weights = {int(through_the_door(plan).integers("count")[0][0]) for _ in range(40)}
    finally:
        stop.set()
        thread.join()
    assert weights <= {1 << 20, 1000 * ((1 << 20) // 1000)}


ORDERED = """
CREATE TABLE flags AS
    SELECT 1 AS u, 'a' AS k, i, (hash(i) % 2 = 0) AS flag FROM range(3_000_000) t(i);
CREATE VIEW seen AS
    SELECT flags.u, flags.k FROM flags
    JOIN (SELECT u, first(flag) AS f FROM flags GROUP BY u) s ON flags.u = s.u
    WHERE (s.f AND flags.i % 3000 = 0) OR flags.i = 0
"""


def test_a_view_that_depends_on_the_order_is_refused_and_does_differ(backend: Any) -> None:
    """Whichever flag comes first decides whether the unit has a thousand rows or one: two looks see
    the one and the other.
    """
    backend.con.execute(ORDERED)
    backend.con.execute("SET threads = 4")
    assert "groups rows" in refusal(lambda: protected(backend, "seen"), "table.source").reason
    looks = set[Any]()
    for _ in range(500):
        looks.add(backend.con.execute("SELECT count(*) FROM seen").fetchone()[0])
        if len(looks) > 1:
            break
    assert looks == {1, 1000}


def test_a_long_question_is_interrupted(backend: Any) -> None:
    pairs = table = backend.table("tomorrow").select("u")
    for i in range(4):
        pairs = pairs.cross_join(table.rename(**{f"u{i}": "u"}))
    engine = ExternalDuckDB(backend)
    with pytest.raises(TimeoutError):
        engine.run(pairs.agg(s=(pairs.u * pairs.u0 + pairs.u3).sum()), timeout=0.2)
    assert engine.run(table).num_rows == 1000


def test_a_twin_without_the_comparison_answers(
    backend: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Engine, "unchanged", lambda _: nullcontext())
    assert (
        len(meanwhile(protected(backend), "CREATE OR REPLACE TABLE visits AS FROM tomorrow")) == 1
    )


def test_uuids_come_as_text_whatever_the_owner_has_set(backend: Any) -> None:
    text = "12345678-1234-5678-1234-567812345678"
    backend.con.execute(
        f"CREATE TABLE people AS SELECT UUID '{text}' AS id; SET arrow_lossless_conversion = true"
    )
    assert ExternalDuckDB(backend).run(backend.table("people")).to_pydict() == {"id": [text]}


def test_temporary_tables_and_views_are_read(backend: Any) -> None:
    backend.con.execute("CREATE TEMP TABLE mine AS FROM visits; CREATE TEMP VIEW seen AS FROM mine")
    for name in ("mine", "seen"):
        assert (
            len(protected(backend, name).group_by("k").aggregate(n=sf.count()).release(epsilon=1))
            == 1
        )
