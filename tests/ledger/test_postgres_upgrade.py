"""A book of the second version on a server becomes one of today, with its rights; or it stays as it
was.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

import psycopg
import pytest

import sfumato as sf
from sfumato.ledger import reading
from sfumato.ledger.storage import postgres_upgrade
from sfumato.ledger.storage.postgres_schema import SECOND, SESSION

from ..refusing import refusing
from .books import sql
from .servers import PostgresServer

STORED = Path(__file__).parent.parent / "vectors" / "stored" / "ledger-v2.sqlite"
"""The rows of the second version, which were the same in a file and on a server."""
TABLES = ("book", "entry", "balance", "reservation", "answer", "shown")
ENTRIES = "SELECT number, dataset, kind, key, body, digest FROM sfumato.entry ORDER BY number"
SECOND_TABLES = """
CREATE TABLE format (application TEXT NOT NULL, version INTEGER NOT NULL);
CREATE TABLE book (id TEXT NOT NULL);
CREATE TABLE entry (
    number BIGINT PRIMARY KEY, dataset TEXT COLLATE "C" NOT NULL, kind TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C", body TEXT COLLATE "C" NOT NULL,
    digest TEXT NOT NULL, spent TEXT, parts BIGINT CHECK (parts BETWEEN 0 AND 1152921504606846976));
CREATE UNIQUE INDEX entry_key ON entry (dataset, key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX entry_open ON entry (dataset) WHERE kind = 'open';
CREATE TABLE balance (
    dataset TEXT COLLATE "C" NOT NULL, share TEXT COLLATE "C" NOT NULL,
    budget TEXT NOT NULL, spent TEXT NOT NULL,
    parts BIGINT NOT NULL CHECK (parts BETWEEN 0 AND 1152921504606846976),
    PRIMARY KEY (dataset, share));
CREATE TABLE reservation (number BIGINT PRIMARY KEY, state TEXT NOT NULL);
CREATE TABLE answer (
    dataset TEXT COLLATE "C" NOT NULL, question TEXT COLLATE "C" NOT NULL, number BIGINT NOT NULL,
    answer BYTEA NOT NULL, PRIMARY KEY (dataset, question));
CREATE TABLE shown (
    dataset TEXT COLLATE "C" NOT NULL, question TEXT COLLATE "C" NOT NULL,
    share TEXT COLLATE "C" NOT NULL, PRIMARY KEY (dataset, question, share));
CREATE FUNCTION stays() RETURNS trigger LANGUAGE plpgsql AS
    $$BEGIN RAISE EXCEPTION 'what the book has written is never changed'
    USING ERRCODE = 'restrict_violation'; END$$;
CREATE TRIGGER entry_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON entry
    FOR EACH STATEMENT EXECUTE FUNCTION stays();
CREATE TRIGGER book_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON book
    FOR EACH STATEMENT EXECUTE FUNCTION stays();
"""
"""As the second version made them."""


@pytest.fixture
def older(server: PostgresServer) -> str:
    url = server.new()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA sfumato; SET search_path TO sfumato")
        connection.execute(SECOND_TABLES)
        connection.execute("INSERT INTO format VALUES ('sfumato ledger', 2)")
        for table in TABLES:
            for row in sql(STORED, f"SELECT * FROM {table}"):
                connection.execute(
                    f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(row))})", row
                )
    return url


def test_everything_is_kept(
    server: PostgresServer, older: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_upgrade, "PORTION", 7)
    head = STORED.with_suffix(".head").read_text(encoding="utf-8").strip()
    entries = server.sql(older, ENTRIES)
    ledger = sf.Ledger.open(older, dataset="visits", head=head)
    assert ledger.verify(head).ok
    assert ledger.spent == sf.Pure("7/8", relation="add-remove", unit="patient")
    recalled = ledger.recall("how many?")
    assert recalled is not None
    assert recalled.answer == b"about 13"
    ledger.charge(sf.Pure(1), "goes on")
    assert ledger.verify(ledger.head).ok
    assert server.sql(older, ENTRIES)[:-2] == entries
    assert server.sql(older, "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'sfumato%'") == [
        (1,)
    ]
    ledger.close()


def test_whoever_could_write_to_the_tables_may_only_charge_afterwards(
    server: PostgresServer, older: str
) -> None:
    """The rights that were given for the second version let a role set totals to zero; they do not
    outlive it.
    """
    server.sql(older, 'CREATE ROLE "old charging" LOGIN; CREATE ROLE "old looking" LOGIN')
    server.sql(
        older,
        (
            'GRANT USAGE ON SCHEMA sfumato TO "old charging", "old looking"; GRANT SELECT ON '
            'ALL TABLES IN SCHEMA sfumato TO "old charging", "old looking"'
        ),
    )
    server.sql(
        older, 'GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA sfumato TO "old charging"'
    )
    charging, looking = (
        older.replace("postgres@", f"old%20{role}@") for role in ("charging", "looking")
    )
    with refusing("ledger.version"):
        sf.Ledger.open(charging, dataset="visits")
    with refusing("ledger.version"), reading(looking):
        raise AssertionError
    assert server.sql(older, "SELECT version FROM sfumato.format") == [(SECOND,)]
    sf.Ledger.open(older, dataset="visits").close()
    ledger = sf.Ledger.open(charging, dataset="visits")
    ledger.charge(sf.Pure("0.5"))
    assert ledger.verify(ledger.head).ok
    ledger.close()
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        server.sql(charging, "UPDATE sfumato.balance SET spent = '[\"0\"]'")
    with reading(looking) as book:
        assert book["visits"].spent == sf.Pure("11/8", relation="add-remove", unit="patient")
    server.sql(
        older,
        'DROP OWNED BY "old charging", "old looking"; DROP ROLE "old charging", "old looking"',
    )


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE balance SET spent = '[\"0\"]' WHERE share = 'alice'",
        "UPDATE reservation SET state = 'open'",
        "DELETE FROM entry WHERE number = 1",
    ],
    ids=["account", "reservation", "first"],
)
def test_a_book_that_does_not_add_up_is_not_touched(
    change: str, server: PostgresServer, older: str
) -> None:
    server.sql(
        older, f"SET search_path TO sfumato; ALTER TABLE entry DISABLE TRIGGER ALL; {change}"
    )
    before = server.sql(older, ENTRIES)
    with refusing("ledger.corrupt"):
        sf.Ledger.open(older, dataset="visits")
    assert server.sql(older, ENTRIES) == before
    assert server.sql(older, "SELECT version FROM sfumato.format") == [(SECOND,)]


def test_a_book_that_another_process_upgraded_meanwhile_is_upgraded_once(
    server: PostgresServer, older: str
) -> None:
    sf.Ledger.open(older, dataset="visits").close()
    before = server.sql(older, ENTRIES)
    with psycopg.connect(older, autocommit=True) as connection:
        postgres_upgrade.rewrite(connection, SECOND)
    assert server.sql(older, ENTRIES) == before


def wait_for_a_lock(server: PostgresServer, url: str) -> None:
    """Return as soon as another session waits for a lock; fail if none does."""
    end = time.monotonic() + 30
    while not server.sql(url, "SELECT 1 FROM pg_locks WHERE NOT granted"):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_book_that_another_process_upgrades_while_this_one_waits_is_upgraded_once(
    server: PostgresServer, older: str
) -> None:
    with (
        psycopg.connect(older, autocommit=True) as quicker,
        psycopg.connect(older, autocommit=True) as slower,
    ):
        for connection in (quicker, slower):
            connection.execute(SESSION.format(lock=30_000, statement=30_000), prepare=False)
        waiting = threading.Thread(target=postgres_upgrade.rewrite, args=(slower, SECOND))
        with quicker.transaction():
            quicker.execute("LOCK TABLE sfumato.book IN ACCESS EXCLUSIVE MODE")
            waiting.start()
            wait_for_a_lock(server, older)
            postgres_upgrade._move(quicker)
        waiting.join(30)
    ledger = sf.Ledger.open(older, dataset="visits")
    assert [line.kind for line in ledger.history()].count("upgrade") == 1
    assert ledger.verify(ledger.head).ok
    ledger.close()


def test_an_older_book_that_lacks_a_table_stays_as_it_is(
    server: PostgresServer, older: str
) -> None:
    server.sql(older, "DROP TABLE sfumato.shown")
    before = server.sql(older, ENTRIES)
    with refusing("ledger.corrupt"):
        sf.Ledger.open(older, dataset="visits")
    assert server.sql(older, ENTRIES) == before
    assert server.sql(older, "SELECT version FROM sfumato.format") == [(SECOND,)]
