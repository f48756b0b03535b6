"""The tables of the service's records: made, upgraded whole, or refused and left as they are."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import pytest

from sfumato.errors import Refused
from sfumato.server import store_schema
from sfumato.server.request_store import RequestKey, RequestStore, TokenRow
from sfumato.server.store_schema import (
    APPLICATION,
    FILE,
    SCHEMA,
    SERVER,
    TABLES,
    UPGRADE,
    VERSION,
    open_records,
)
from sfumato.storage.sqlite_store import Store

from ..ledger.books import open_book
from ..ledger.servers import PostgresServer

STORED = Path(__file__).parents[1] / "vectors" / "stored" / "records-v1.sqlite"
ROWS = ("token", "request", "reply", "body", "overrun")
ENTRIES = "CREATE INDEX request_entry ON request (dataset, who, entry)"
"""Versions 1 to 3 had this index; from version 4 on the questions answer what it was for."""
pytestmark = pytest.mark.xdist_group("server-state")


def open_store(place: Path | str) -> Store:
    """Open the records, which creates or upgrades them."""
    store = open_records(str(place))
    store.read("SELECT 1")
    return store


@pytest.fixture
def first(tmp_path: Path) -> Path:
    path = tmp_path / "tokens.db"
    path.write_bytes(STORED.read_bytes())
    return path


@pytest.fixture
def first_on_server(server: PostgresServer) -> str:
    """The same records in a database, as the first version had them there."""
    url, connection = server.new(), sqlite3.connect(f"file:{STORED}?immutable=1", uri=True)
    server.sql(url, f"CREATE SCHEMA {SCHEMA}")
    old = [*(statement for statement in TABLES if statement not in UPGRADE), ENTRIES]
    for statement in old:
        server.sql(url, f"SET search_path = {SCHEMA}; {statement.format(**SERVER)}")
    for table in ROWS:
        for row in connection.execute(f"SELECT * FROM {table}"):
            server.sql(
                url, f"INSERT INTO {SCHEMA}.{table} VALUES ({', '.join(['%s'] * len(row))})", row
            )
    connection.close()
    return url


@pytest.mark.parametrize(
    ("version", "missing"), [(2, ("head", "asked", "scram")), (3, ("asked", "scram"))]
)
def test_records_of_later_versions_get_what_they_lack(
    tmp_path: Path, server: PostgresServer, version: int, missing: tuple[str, ...]
) -> None:
    """Those of the second version lack heads, those of the third questions. All they hold stays,
    and who received an answer may still see its card.
    """
    path, url = tmp_path / "tokens.db", server.new()
    open_store(path).close()
    open_store(url).close()
    statements = [
        *(f"DROP TABLE {table}" for table in missing),
        ENTRIES,
        "INSERT INTO overrun VALUES ('visits', 'ada', 3)",
        *(
            f"INSERT INTO request VALUES ('visits', 'ada', '{key}', '', '{state}', 0, 0, 9, {n})"
            for key, state, n in (("a", "done", 5), ("b", "done", 5), ("c", "lost", 6))
        ),
    ]
    connection = apsw.Connection(str(path))
    connection.execute("; ".join([*statements, f"PRAGMA user_version = {version}"]))
    connection.close()
    where = f"SET search_path = {SCHEMA}"
    server.sql(url, "; ".join([where, *statements, f"UPDATE format SET version = {version}"]))
    for place in (str(path), url):
        state = RequestStore(place)
        assert state.overruns("visits") == {"ada": 3}
        assert state.head("visits") is None
        assert state.has_received("visits", "ada", 5)
        assert not state.has_received("visits", "ada", 6)
        assert state.questions("visits", range(9)) == {("ada", 5): ""}
        state.close()
    assert server.sql(url, f"SELECT version FROM {SCHEMA}.format") == [(VERSION,)]


def rows(state: RequestStore) -> dict[str, list[Any]]:
    """Read all rows of the store, by table."""
    return {
        table: sorted(tuple(row) for row in state._read(f"SELECT * FROM {table}")) for table in ROWS
    }


def stored() -> dict[str, list[Any]]:
    connection = sqlite3.connect(f"file:{STORED}?immutable=1", uri=True)
    contents = {
        table: sorted(connection.execute(f"SELECT * FROM {table}").fetchall()) for table in ROWS
    }
    connection.close()
    return contents


def refused(place: str) -> str:
    state = RequestStore(place)
    with pytest.raises(Refused) as caught:
        state.open()
    state.close()
    assert caught.value.code == "server.records"
    assert "not touched" in caught.value.reason
    return f"{caught.value.place}: {caught.value.rewrite}"


def schema(path: Path) -> list[Any]:
    connection = apsw.Connection(str(path))
    definitions = sorted(
        connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    )
    numbers = [
        connection.execute(f"PRAGMA {name}").fetchall()
        for name in ("application_id", "user_version")
    ]
    connection.close()
    return [definitions, numbers]


def test_a_new_file_says_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "tokens.db"
    open_store(path).close()
    assert path.read_bytes()[68:72] == b"sfms"
    store = open_store(path)
    assert store.read("PRAGMA user_version") == [(VERSION,)]
    assert store.read("PRAGMA journal_mode") == [("wal",)]
    assert store.read("PRAGMA synchronous") == [(2,)]  # FULL
    store.close()


def test_many_may_begin_at_once(tmp_path: Path) -> None:
    """As the processes of a service do: nobody takes what another is just making for something
    else.
    """

    def begin(path: Path) -> None:
        open_store(path).close()

    with ThreadPoolExecutor(4) as pool:
        for turn in range(40):
            for done in [pool.submit(begin, tmp_path / f"{turn}.db") for _ in range(4)]:
                done.result()


def test_records_of_the_first_version_are_brought_to_this_one(first: Path) -> None:
    state = RequestStore(str(first))
    assert rows(state) == stored()
    assert state.overruns("clinic") == {"bob": 4}
    record = state.find(RequestKey("visits", "ada", "done"), "text/csv")
    assert record is not None
    assert (record.state, record.reply) == ("done", b"n\n1\n")
    assert state.drop_old(1.8e9, 100) == 4
    state.close()
    open_store(first.with_name("new.db")).close()
    assert schema(first) == schema(first.with_name("new.db"))


def test_so_are_those_on_a_server(first_on_server: str, server: PostgresServer) -> None:
    state = RequestStore(first_on_server)
    assert rows(state) == stored()
    assert state.drop_old(1.8e9, 100) == 4
    assert server.sql(first_on_server, f"SELECT * FROM {SCHEMA}.format") == [
        ("sfumato server", VERSION)
    ]
    state.close()


@pytest.mark.parametrize("broken", range(len(UPGRADE)))
def test_an_upgrade_is_whole_or_nothing(
    first: Path, monkeypatch: pytest.MonkeyPatch, broken: int
) -> None:
    before = schema(first)
    steps = [*UPGRADE[: broken + 1], "NO STATEMENT"]
    with monkeypatch.context() as patch:
        patch.setitem(store_schema.STEPS, store_schema.FIRST, tuple(steps))
        state = RequestStore(str(first))
        with pytest.raises(Refused, match=r"server\.storage"):
            state.open()
        state.close()
    assert schema(first) == before
    state = RequestStore(str(first))
    assert rows(state) == stored()
    state.close()


def test_an_upgrade_on_a_server_is_whole_or_nothing(
    first_on_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(store_schema.STEPS, store_schema.FIRST, (*UPGRADE, "NO STATEMENT"))
        with pytest.raises(Refused, match=r"server\.storage"):
            RequestStore(first_on_server).open()
    state = RequestStore(first_on_server)
    assert rows(state) == stored()
    state.close()


def test_several_upgrade_at_once(first: Path) -> None:
    states = [RequestStore(str(first)) for _ in range(4)]
    threads = [threading.Thread(target=state.open) for state in states]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [rows(state) == stored() for state in states] == [True] * 4
    for state in states:
        state.close()


@pytest.mark.parametrize(
    ("version", "rewrite"),
    [(VERSION + 1, "pip install --upgrade sfumato"), (0, "put the file back from a backup")],
)
def test_another_version_is_refused(tmp_path: Path, version: int, rewrite: str) -> None:
    path = tmp_path / "tokens.db"
    store = open_store(path)
    store.read(f"PRAGMA user_version = {version}")
    store.close()
    before = path.read_bytes()
    assert refused(str(path)) == f"version {version}: {rewrite}"
    assert path.read_bytes() == before


def test_another_version_on_a_server_is_refused(server: PostgresServer) -> None:
    url = server.new()
    open_store(url).close()
    server.sql(url, f"UPDATE {SCHEMA}.format SET version = {VERSION + 1}")
    assert refused(url) == f"version {VERSION + 1}: pip install --upgrade sfumato"


def _database(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


FOREIGN = {
    "a text": lambda path: path.write_text("tokens, one a line\n" * 100, encoding="utf-8"),
    "another database": lambda path: _database(path, "CREATE TABLE token (id TEXT)"),
    "our tables of another program": lambda path: _database(
        path,
        f"PRAGMA application_id = {APPLICATION + 5}",
        *(statement.format(**FILE) for statement in TABLES),
    ),
    "an empty one of another program": lambda path: _database(path, "PRAGMA application_id = 5"),
    "a ledger": lambda path: open_book(path).close(),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_what_is_something_else_is_refused_and_left(tmp_path: Path, what: str) -> None:
    path = tmp_path / "tokens.db"
    FOREIGN[what](path)
    before = path.read_bytes()
    assert refused(str(path)) == '[server] tokens: tokens = "tokens.db"'
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["tokens.db"]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE {0}.token (id TEXT)",
        "CREATE VIEW {0}.token AS SELECT 1 AS id",
        (
            "CREATE TABLE {0}.format (application TEXT, version INTEGER); INSERT INTO "
            "{0}.format VALUES ('other', 2)"
        ),
    ],
    ids=["a table", "a view", "another program"],
)
def test_so_is_a_schema_of_something_else(server: PostgresServer, statement: str) -> None:
    url = server.new()
    server.sql(url, f"CREATE SCHEMA {SCHEMA}; {statement.format(SCHEMA)}")
    assert refused(url).startswith("[server] tokens")


def test_a_schema_that_was_prepared_may_be_used(server: PostgresServer) -> None:
    """By a role that may make none."""
    url = server.new()
    server.sql(url, f"CREATE ROLE clerk LOGIN; CREATE SCHEMA {SCHEMA} AUTHORIZATION clerk")
    store = open_store(url.replace("postgres@", "clerk@"))
    assert store.read("SELECT count(*) FROM token") == [(0,)]
    store.close()


def test_what_returned_has_reached_the_disk(server: PostgresServer) -> None:
    url = server.new()
    server.sql(url, "ALTER ROLE postgres SET synchronous_commit = off")
    try:
        store = open_store(url)
        assert store.read("SHOW synchronous_commit") == [("on",)]
        store.close()
    finally:
        server.sql(url, "ALTER ROLE postgres RESET synchronous_commit")


def test_a_file_with_two_names_is_refused(tmp_path: Path) -> None:
    """Each name would have a log of its own, and the records would part."""
    path = tmp_path / "tokens.db"
    open_store(path).close()
    path.with_name("second.db").hardlink_to(path)
    with pytest.raises(Refused, match=r"server\.storage"):
        RequestStore(str(path)).open()


def test_records_of_the_fourth_version_get_verifiers(
    tmp_path: Path, server: PostgresServer
) -> None:
    """Tokens stay, without a verifier; new ones have one."""
    path, url = tmp_path / "tokens.db", server.new()
    row = TokenRow("abc", "hash", "ada", "analyst", "null", 1, 2, 0)
    for place in (str(path), url):
        state = RequestStore(place)
        state.add_token(row, "verifier")
        state.close()
    connection = apsw.Connection(str(path))
    connection.execute("DROP TABLE scram; PRAGMA user_version = 4")
    connection.close()
    where = f"SET search_path = {SCHEMA}"
    server.sql(url, f"{where}; DROP TABLE scram; UPDATE format SET version = 4")
    for place in (str(path), url):
        state = RequestStore(place)
        assert state.token("abc") == row
        assert state.verifiers("ada", 1) == []
        state.add_token(row._replace(id="abd"), "verifier")
        assert [token.id for token, _ in state.verifiers("ada", 1)] == ["abd"]
        state.close()
