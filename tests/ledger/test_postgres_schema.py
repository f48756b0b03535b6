"""The tables on a server: what is made, what is refused untouched, and that every change of them is
seen.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

import sfumato as sf
from sfumato.ledger import reading
from sfumato.ledger.entries import genesis, seal_entry
from sfumato.ledger.storage import postgres_book, postgres_schema
from sfumato.ledger.verify import BLIND, verify
from sfumato.storage import postgres_store
from sfumato.storage.sqlite_store import READ

from ..refusing import refusing
from .books import open_book
from .servers import PostgresServer
from .tampering import TABLES, other_value, rich_life


def name_of(url: str) -> str:
    return url.split("/")[3].split("?")[0]


@contextmanager
def changed(url: str) -> Iterator[postgres_book.PostgresBookTransaction]:
    """A transaction of somebody who may do everything, in which the book can be looked at;
    afterwards nothing was done.
    """
    with postgres_store.PatientConnection.connect(url, autocommit=True) as connection:
        connection.execute("SET search_path TO sfumato, pg_temp")
        connection.execute("BEGIN")
        tx = postgres_book.PostgresBookTransaction(
            postgres_book.PostgresBook(postgres_book.Url(url)), READ
        )
        tx._connection, tx._long, tx._cursor = connection, 0, connection.cursor()
        connection.execute("ALTER TABLE entry DISABLE TRIGGER ALL")
        connection.execute("ALTER TABLE book DISABLE TRIGGER ALL")
        try:
            yield tx
        finally:
            connection.execute("ROLLBACK")


def enable(tx: postgres_book.PostgresBookTransaction) -> None:
    """What somebody who hides his traces does afterwards."""
    for table in ("entry", "book"):
        tx._connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER ALL")


def detects_tampering(tx: postgres_book.PostgresBookTransaction, head: str | None) -> bool:
    tx.head = tx.standing = None
    checked = verify(tx, None if head is None else sf.ledger.Head.read(head))
    assert not checked.ok or checked.blind == (() if head else (BLIND,))
    return not checked.ok


def edit(tx: postgres_book.PostgresBookTransaction, chance: random.Random, head: str) -> bool:
    """One column of one row."""
    table, row, columns = some_row(tx, chance)
    column = chance.randrange(len(columns))
    value = other_value(row[column], chance)
    return value != row[column] and change(
        tx, f"UPDATE {table} SET {columns[column]} = %s WHERE {same(columns)}", (value, *row)
    )


def delete(tx: postgres_book.PostgresBookTransaction, chance: random.Random, head: str) -> bool:
    table, row, columns = some_row(tx, chance)
    return change(tx, f"DELETE FROM {table} WHERE {same(columns)}", row)


def insert(tx: postgres_book.PostgresBookTransaction, chance: random.Random, head: str) -> bool:
    """A row like another one."""
    table, row, columns = some_row(tx, chance)
    column = chance.randrange(len(columns))
    new = tuple(other_value(value, chance) if n == column else value for n, value in enumerate(row))
    return change(tx, f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(columns))})", new)


def swap(tx: postgres_book.PostgresBookTransaction, chance: random.Random, head: str) -> bool:
    """Two neighbouring entries change places."""
    number = chance.randrange(1, int(head.split(":")[1]))
    steps = ((number, -1), (number + 1, number), (-1, number + 1))
    return all(
        change(tx, "UPDATE entry SET number = %s WHERE number = %s", (after, before))
        for before, after in steps
    )


STRUCTURE = (
    "DROP TRIGGER entry_stays ON entry",
    "ALTER TABLE entry DISABLE TRIGGER entry_stays",
    (
        "CREATE OR REPLACE FUNCTION stays() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN "
        "RETURN NULL; END'"
    ),
    "DROP INDEX entry_key",
    "DROP INDEX entry_open",
    "ALTER TABLE entry DROP CONSTRAINT entry_pkey",
    "ALTER TABLE entry DROP CONSTRAINT entry_parts_check",
    (
        "ALTER TABLE balance DROP CONSTRAINT balance_parts_check, ADD CONSTRAINT "
        "balance_parts_check CHECK (parts >= 0)"
    ),
    "ALTER TABLE balance ADD COLUMN note TEXT",
    "ALTER TABLE entry ALTER COLUMN spent SET DEFAULT '[]'",
    "ALTER TABLE entry ENABLE ROW LEVEL SECURITY",
    "CREATE RULE quiet AS ON DELETE TO shown DO INSTEAD NOTHING",
    "CREATE TABLE more (LIKE entry) INHERITS (entry)",
    "CREATE TABLE more (a INTEGER)",
    "CREATE VIEW account AS SELECT * FROM balance",
    "ALTER TABLE reservation SET UNLOGGED",
    "ALTER FUNCTION enter SECURITY INVOKER",
    "ALTER FUNCTION enter SET search_path TO public",
    (
        "CREATE OR REPLACE FUNCTION reaches(after TEXT, before TEXT, cost TEXT, sign "
        "INTEGER) RETURNS boolean LANGUAGE sql AS 'SELECT true'"
    ),
    "GRANT UPDATE ON balance TO PUBLIC",
    "CREATE TRIGGER more BEFORE INSERT ON entry FOR EACH ROW EXECUTE FUNCTION stays()",
)


@pytest.fixture(scope="module")
def rich(server: PostgresServer) -> tuple[str, str]:
    """A book with every kind of entry, and its head."""
    url = server.new()
    with pytest.MonkeyPatch.context() as patched:
        return url, rich_life(url, lambda: None, patched)


@pytest.mark.parametrize("trials", [60, pytest.param(3000, marks=pytest.mark.slow)])
def test_every_change_is_seen(trials: int, rich: tuple[str, str]) -> None:
    """Random edits of rows, by somebody who may do everything and hides his traces. The head is not
    even needed.
    """
    url, head = rich
    chance, counted = random.Random(trials), Counter[str]()
    while counted.total() < trials:
        way = chance.choice((edit, edit, edit, delete, insert, swap))
        with changed(url) as tx:
            if not way(tx, chance, head):
                continue  # the table's own constraints stopped it
            enable(tx)
            assert detects_tampering(tx, chance.choice([head, None])), way.__name__
            counted[way.__name__] += 1
    assert len(counted) == 4


@pytest.mark.parametrize("statement", STRUCTURE)
def test_every_change_of_the_tables_is_seen(statement: str, rich: tuple[str, str]) -> None:
    url, head = rich
    with changed(url) as tx:
        enable(tx)
        assert postgres_schema.structure(tx) == []
        tx._connection.execute(statement)
        assert postgres_schema.structure(tx) != []
    with changed(url) as tx:
        enable(tx)
        assert not detects_tampering(tx, head)


def test_attack_f4_a_rewritten_book_needs_the_head(rich: tuple[str, str]) -> None:
    url, head = rich
    for turn in range(5):
        with changed(url) as tx:
            ((book,),) = tx.execute("SELECT id FROM book").fetchall()
            previous = genesis(book)
            for number, body, *carried in tx.execute(
                "SELECT number, body, dataset, spent, state FROM entry ORDER BY number"
            ).fetchall():
                text = body.replace('"when":"20', '"when":"19') if number == 1 + 3 * turn else body
                previous = seal_entry(previous, text, *carried)
                tx.execute(
                    "UPDATE entry SET body = ?, digest = ? WHERE number = ?",
                    (text, previous, number),
                )
            enable(tx)
            assert not detects_tampering(tx, None)
            assert detects_tampering(tx, head)


def test_the_tables_guard_themselves(server: PostgresServer) -> None:
    """A second stop, against SQL that goes past the ledger: the tables refuse a changed entry and a
    total above its budget.
    """
    url = server.new()
    open_book(url, 1).charge(sf.Pure("0.5"), key="k")
    ((number, dataset, share, kind, key, body, *after, parts, state),) = server.sql(
        url, "SELECT * FROM sfumato.entry WHERE number = 2"
    )
    rows = [
        (number, dataset, share, kind, None, body, *after, parts, state),
        (3, dataset, share, kind, key, body, *after, parts, state),
        (3, dataset, share, "open", None, body, *after, parts, state),
        (3, dataset, share, kind, None, body, *after, 1152921504606846977, state),
    ]
    for statement in (
        "UPDATE sfumato.entry SET body = ''",
        "DELETE FROM sfumato.entry",
        "TRUNCATE sfumato.entry",
        "DELETE FROM sfumato.book",
    ):
        with pytest.raises(psycopg.errors.RestrictViolation):
            server.sql(url, statement)
    with pytest.raises(psycopg.errors.CheckViolation):
        server.sql(url, "UPDATE sfumato.balance SET parts = 1152921504606846977")
    for row in rows:
        with pytest.raises(psycopg.errors.IntegrityError):
            server.sql(
                url,
                "INSERT INTO sfumato.entry VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
                row,
            )


def test_an_empty_schema_is_a_place_for_a_book(server: PostgresServer) -> None:
    """Which an administrator makes for a role that may make none."""
    url = server.new()
    server.sql(url, "CREATE SCHEMA sfumato")
    assert open_book(url).head.number == 1


def test_another_schema_is_not_touched(server: PostgresServer) -> None:
    url = server.new()
    server.sql(url, "CREATE SCHEMA sfumato; CREATE TABLE sfumato.person (name TEXT)")
    for ask in (
        lambda: open_book(url),
        lambda: sf.Ledger.open(url),
        lambda: reading(url).__enter__(),
    ):
        with refusing("ledger.format"):
            ask()
    assert server.sql(
        url, "SELECT relname FROM pg_class WHERE relnamespace = 'sfumato'::regnamespace"
    ) == [("person",)]


def test_other_versions_are_not_touched(server: PostgresServer) -> None:
    url = server.new()
    open_book(url).close()
    server.sql(url, "UPDATE sfumato.format SET version = 99")
    for ask in (lambda: open_book(url), lambda: reading(url).__enter__()):
        with refusing("ledger.version") as caught:
            ask()
        assert "99" in caught.value.place
    server.sql(url, "UPDATE sfumato.format SET application = 'x'")
    with refusing("ledger.format"):
        open_book(url)


def test_nothing_is_made_without_a_budget(server: PostgresServer) -> None:
    url = server.new()
    with refusing("ledger.budget"):
        sf.Ledger.open(url)
    with refusing("ledger.path"):
        reading(url).__enter__()
    assert server.sql(url, "SELECT count(*) FROM pg_namespace WHERE nspname = 'sfumato'") == [(0,)]


def test_a_database_that_cannot_hold_every_text_is_refused(server: PostgresServer) -> None:
    server.sql(server.url(), "CREATE DATABASE narrow ENCODING 'SQL_ASCII' TEMPLATE template0")
    with refusing("ledger.storage"):
        open_book(server.url("narrow"))


def test_an_old_server_is_refused(server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_schema, "OLDEST_SERVER", 99_00_00)
    with refusing("ledger.server"):
        open_book(server.new())


def test_no_search_path_moves_the_book(server: PostgresServer) -> None:
    """A table of the same name elsewhere, even a temporary one, is not the book's."""
    url = server.new()
    ledger = open_book(url, 1)
    ledger.charge(sf.Pure(1))
    server.sql(
        url,
        (
            "CREATE SCHEMA trap; CREATE TABLE trap.entry (LIKE sfumato.entry); CREATE TABLE "
            "trap.balance (LIKE sfumato.balance)"
        ),
    )
    server.sql(url, f"ALTER DATABASE {name_of(url)} SET search_path TO trap")
    ledger.close()
    with ledger._store.reading() as tx:
        tx.execute("SHOW search_path")
    with refusing("budget.exceeded"):
        ledger.charge(sf.Pure(1))


def some_row(
    tx: postgres_book.PostgresBookTransaction, chance: random.Random
) -> tuple[str, tuple[Any, ...], list[str]]:
    table = chance.choice(TABLES)
    cursor = tx._connection.execute(f"SELECT * FROM {table}")
    return (
        table,
        chance.choice(sorted(cursor.fetchall(), key=repr)),
        [column.name for column in cursor.description],
    )


def change(
    tx: postgres_book.PostgresBookTransaction, statement: str, bindings: tuple[Any, ...]
) -> bool:
    """Whether it was done."""
    try:
        with tx._connection.transaction():
            return bool(tx._connection.execute(statement, bindings).rowcount)
    except (
        psycopg.errors.IntegrityError,
        psycopg.errors.DataError,
        psycopg.errors.UndefinedFunction,
        psycopg.errors.DatatypeMismatch,
    ):
        return False


def same(columns: list[str]) -> str:
    return " AND ".join(f"{column} IS NOT DISTINCT FROM %s" for column in columns)


def test_tables_that_another_process_made_meanwhile_are_left_alone(server: PostgresServer) -> None:
    url = server.new()
    ledger = open_book(url)
    before = ledger.head
    with psycopg.connect(url, autocommit=True) as connection:
        postgres_schema._create_tables(connection)
    assert ledger.head == before
    assert ledger.verify(before).ok
    assert server.sql(url, "SELECT count(*) FROM sfumato.format") == [(1,)]
    ledger.close()
