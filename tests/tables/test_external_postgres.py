"""PostgreSQL as the engine: a role that may only read, settings that end with the question, a URL
that nobody sees.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import traceback
from collections.abc import Iterator
from typing import Any

import ibis
import psycopg
import pytest

import sfumato as sf
from sfumato.tables.engine.external_postgres import SETTINGS, OwnConnection, Postgres
from sfumato.testing.exact_checks import exact_answer

from ..ledger.servers import PostgresServer, running
from .texts_and_zones import NAMES, QUESTIONS, TIMES, frame, protected, tallied

WORD = "Xenophon-8f3a7c"


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running() as started:
        started.sql(started.url(), f"CREATE ROLE reader LOGIN PASSWORD '{WORD}'")
        started.sql(started.url(), "ALTER ROLE reader SET TimeZone = 'Asia/Kolkata'")
        started.sql(started.url(), "ALTER ROLE reader SET DateStyle = 'German'")
        yield started


@pytest.fixture(scope="module")
def url(server: PostgresServer) -> str:
    """A database of a clinic, as a role that may only read reaches it."""
    database_url = server.new()
    with psycopg.connect(database_url, autocommit=True) as connection:
        columns = (
            'id int, city text COLLATE "C.utf8", padded char(8), seen timestamptz, spend float8'
        )
        connection.execute(f"CREATE SCHEMA clinic; CREATE TABLE clinic.visits ({columns})")
        with connection.cursor() as cursor, cursor.copy("COPY clinic.visits FROM STDIN") as copy:
            for i in range(60):
                copy.write_row(
                    (i, NAMES[i % len(NAMES)], NAMES[i % 4], TIMES[i % len(TIMES)], i / 4)
                )
        connection.execute("CREATE VIEW clinic.seen AS SELECT * FROM clinic.visits")
        connection.execute(
            "REVOKE ALL ON SCHEMA public FROM PUBLIC; REVOKE ALL ON DATABASE "
            + database_url.split("/")[3].split("?")[0]
            + " FROM PUBLIC"
        )
        connection.execute(
            "GRANT CONNECT ON DATABASE "
            + database_url.split("/")[3].split("?")[0]
            + " TO reader; GRANT USAGE ON SCHEMA clinic TO reader"
        )
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA clinic TO reader")
    return database_url.replace("postgres@", f"reader:{WORD}@")


@pytest.mark.parametrize("text", QUESTIONS, ids=range(len(QUESTIONS)))
def test_texts_and_zones_are_those_of_duckdb(text: str, url: str) -> None:
    """In a column with a collation of its own, for a role in another zone."""
    assert tallied(url, text, table="clinic.visits") == tallied(frame(), text)


def test_a_question_is_answered(url: str) -> None:
    with protected(url, table="clinic.visits") as table:
        answer = table.sql(
            "SELECT COUNT(*) AS n, AVG(spend) AS m FROM visits", epsilon=1, timeout=60
        )
        assert answer.card()
        assert answer.facts["versions"]["engine"].startswith("PostgreSQL 16")
        assert table.sql(
            "SELECT COUNT(*) AS n, AVG(spend) AS m FROM visits", epsilon=1, timeout=60
        ).recalled


def test_many_public_keys_need_no_table(url: str) -> None:
    """A long list of keys is part of the statement: nothing is created."""
    keys = [*NAMES, *(f"town '{i}' \\ {{}}," for i in range(100))]
    counts = []
    for source, more in ((frame(), {}), (url, {"table": "clinic.visits"})):
        with protected(source, keys={"city": keys}, **more) as table:
            query = table.group_by("city").aggregate(n=sf.count())
            counts.append(
                exact_answer(table.plan(query, epsilon=1), table).pieces[0].values.tolist()
            )
    assert counts[0] == counts[1]


def test_the_role_may_only_read(url: str) -> None:
    with protected(url, table="clinic.visits") as table:
        connection = table._source.engine.backend.con
        for statement in (
            "CREATE TEMP TABLE t (a int)",
            "DELETE FROM clinic.visits",
            "CREATE TABLE clinic.t (a int)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
        assert table.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)


def test_a_question_could_not_write_if_it_wanted(server: PostgresServer) -> None:
    database_url = server.new()
    server.sql(database_url, "CREATE TABLE visits (id int); INSERT INTO visits VALUES (1)")
    with psycopg.connect(database_url, autocommit=True) as connection:
        engine: Any = Postgres(ibis.postgres.from_connection(connection))
        engine.sql = lambda expression: "DELETE FROM public.visits RETURNING id"
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            engine.run(engine.backend.table("visits"))
        assert server.sql(database_url, "SELECT count(*) FROM visits") == [(1,)]


def test_settings_end_with_the_question(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        lent = ibis.postgres.from_connection(connection)
        before = {name: connection.execute(f"SHOW {name}").fetchone() for name in SETTINGS}
        with protected(lent.table("visits", database="clinic")) as table:
            assert table.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1, timeout=9)
        assert {name: connection.execute(f"SHOW {name}").fetchone() for name in SETTINGS} == before
        assert not connection.closed


def test_the_url_is_nowhere(url: str, tmp_path: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Neither in answers, cards and ledgers, nor in what is raised, printed or logged."""
    output = io.StringIO()
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "visits.ledger"
    with (
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(output),
        protected(url, table="clinic.visits", ledger=path) as table,
    ):
        answer = table.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
        texts = [
            answer.to_json().decode(),
            str(answer.card()),
            repr(table),
            repr(table._source),
            table.declaration.to_toml(),
            str(table.ledger.history()),
        ]
        texts += table.plan("SELECT COUNT(*) AS n FROM visits", epsilon=1).sql
        table._source.engine.backend.con.close()
        for broken in (
            lambda: table.sql("SELECT COUNT(*) AS m FROM visits", epsilon=1),
            lambda: protected(url + "&port=1", table="clinic.visits"),
        ):
            with pytest.raises((sf.Refused, sf.Failed)) as caught:
                broken()
            texts.append("".join(traceback.format_exception(caught.value)))
    texts += [output.getvalue(), caplog.text, path.read_bytes().decode("latin-1")]
    for hidden in (WORD, url, url.rpartition("host=")[2]):
        assert not any(hidden in text for text in texts)


def test_a_question_that_takes_too_long_is_ended(server: PostgresServer) -> None:
    database_url = server.new()
    server.sql(
        database_url,
        "CREATE TABLE visits (id int); INSERT INTO visits SELECT generate_series(1, 10)",
    )
    with psycopg.connect(database_url, autocommit=True) as connection:
        engine: Any = Postgres(ibis.postgres.from_connection(connection))
        engine.sql = lambda expression: "SELECT 1 AS id FROM pg_sleep(60)"
        with pytest.raises((TimeoutError, psycopg.errors.QueryCanceled)):
            engine.run(engine.backend.table("visits"), timeout=0.3)
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize(
    ("table", "code"),
    [
        ("clinic.seen", "table.table"),
        ("clinic.nothing", "table.table"),
        ("visits; DROP TABLE visits", "table.table"),
        (None, "table.table"),
    ],
)
def test_what_is_no_table_is_refused(table: str | None, code: str, url: str) -> None:
    with pytest.raises(sf.Refused) as caught:
        protected(url, table=table)
    assert caught.value.code == code


def test_only_a_server_has_tables_to_choose_from() -> None:
    with pytest.raises(sf.Refused) as caught:
        protected(frame(), table="visits")
    assert caught.value.code == "table.table"


def test_a_server_that_is_not_there(tmp_path: Any) -> None:
    with pytest.raises(sf.Refused) as caught:
        protected(f"postgresql://reader:{WORD}@/clinic?host={tmp_path}", table="visits")
    assert caught.value.code == "engine.connection"
    assert WORD not in str(caught.value)


def test_a_connection_in_another_encoding_is_refused_with_the_statement_that_helps(
    url: str,
) -> None:
    with psycopg.connect(url, autocommit=True, client_encoding="LATIN1") as connection:
        lent = ibis.postgres.from_connection(connection).table("visits", database="clinic")
        with pytest.raises(sf.Refused) as caught:
            protected(lent)
        assert (caught.value.code, caught.value.place) == (
            "engine.version",
            "the connection's encoding",
        )
        connection.execute(caught.value.rewrite)
        protected(lent).close()


def test_a_database_in_another_encoding_is_refused(server: PostgresServer) -> None:
    server.sql(
        server.url(),
        "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0",
    )
    server.sql(server.url("latin"), "CREATE TABLE visits (id int)")
    with pytest.raises(sf.Refused) as caught:
        protected(server.url("latin"), table="visits")
    assert (caught.value.code, caught.value.place) == ("engine.version", "the database's encoding")


def test_what_cannot_be_said_is_refused_before_it_is_charged(url: str) -> None:
    with protected(url, table="clinic.visits") as table:
        with pytest.raises(sf.Refused) as caught:
            table.sql("SELECT SUM(CLAMP(log2(spend), 0, 5)) AS s FROM visits", epsilon=1)
        assert caught.value.code == "engine.language"
        assert table.spent <= sf.Approx(0, 0)
        rewritten = caught.value.rewrite
        table.sql(f"SELECT SUM(CLAMP({rewritten}, 0, 5)) AS s FROM visits", epsilon=1)


def test_a_decimal_that_is_no_number_is_null(server: PostgresServer) -> None:
    database_url = server.new()
    server.sql(
        database_url,
        (
            "CREATE TABLE visits (id int, paid numeric(8, 2)); INSERT INTO visits VALUES (1, "
            "'NaN'), (2, 3.25), (3, NULL)"
        ),
    )
    with protected(database_url, table="visits", bounds={"paid": (0, 10)}) as table:
        answer = exact_answer(
            table.plan(table.aggregate(s=sf.sum("paid"), n=sf.count("paid")), epsilon=1), table
        )
        assert float(answer["s"][0]) == 3.25
        assert float(answer["n"][0]) == 1


def test_a_connection_inside_a_transaction_is_refused(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        lent = ibis.postgres.from_connection(connection)
        with protected(lent.table("visits", database="clinic")) as table:
            connection.execute("BEGIN")
            with pytest.raises(sf.Refused) as caught:
                table.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
            assert caught.value.code == "engine.busy"
            connection.execute("ROLLBACK")


def test_a_fork_and_an_end(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = protected(url, table="clinic.visits")
    engine = table._source.engine
    assert isinstance(engine.backend.con, OwnConnection)
    with monkeypatch.context() as patched:
        patched.setattr(os, "getpid", lambda: -1)
        with pytest.raises(sf.Refused) as caught:
            engine.check()
        assert caught.value.code == "engine.fork"
    table.close()
    assert engine.backend.con.closed
    with pytest.raises(sf.Refused) as caught:
        engine.check()
    assert caught.value.code == "engine.closed"
