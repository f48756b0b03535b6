"""A book of an older version becomes one of today: the same entries, the same accounts, the kept
head in it; or it stays as it was.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import apsw
import pytest

import sfumato as sf
from sfumato.ledger import reading
from sfumato.ledger.storage import sqlite_upgrade
from sfumato.ledger.storage.sqlite_schema import FILE_FORMAT, OLDER, SCHEMA
from sfumato.storage.file_versions import prepare_file

from ..refusing import refusing
from .books import open_book, sql

STORED = Path(__file__).parent.parent / "vectors" / "stored"
ENTRIES = "SELECT number, dataset, kind, key, body, digest FROM entry ORDER BY number"


@pytest.fixture(params=OLDER)
def was(request: pytest.FixtureRequest) -> int:
    """The version that the book was written by."""
    number: int = request.param
    return number


@pytest.fixture
def older(was: int, tmp_path: Path) -> Path:
    path = tmp_path / "a.ledger"
    path.write_bytes((STORED / f"ledger-v{was}.sqlite").read_bytes())
    return path


def version(path: Path) -> int:
    ((number,),) = sql(path, "PRAGMA user_version")
    return int(number)


def test_everything_is_kept(was: int, older: Path) -> None:
    """And one entry is added, whose digest covers the accounts: from there on the chain vouches for
    them.
    """
    head = (STORED / f"ledger-v{was}.head").read_text(encoding="utf-8").strip()
    tables = ("book", "account", "reservation", "answer", "shown")
    before = {table: sorted(sql(older, f"SELECT * FROM {table}")) for table in tables}
    entries = sql(older, ENTRIES)
    ledger = sf.Ledger.open(older, dataset="visits", head=head)
    assert ledger.head.number == len(entries) + 1
    assert ledger.history()[-1].kind == "upgrade"
    assert ledger.verify(head).ok
    assert ledger.verify(ledger.head).blind == ()
    ledger.close()
    assert version(older) == SCHEMA
    assert {table: sorted(sql(older, f"SELECT * FROM {table}")) for table in tables} == before
    assert sql(older, ENTRIES)[:-1] == entries
    assert sql(older, "SELECT count(*) FROM entry WHERE state IS NOT NULL") == [(1,)]
    sf.Ledger.open(older, dataset="visits", head=head).close()
    assert sql(older, "SELECT count(*) FROM entry") == [(len(entries) + 1,)]


def test_whoever_only_looks_is_told_how(older: Path) -> None:
    before = older.read_bytes()
    with refusing("ledger.version") as caught, reading(older):
        raise AssertionError
    assert caught.value.rewrite.startswith("sf.Ledger.open(path)")
    assert older.read_bytes() == before


def test_a_fault_on_the_way_leaves_the_older_version(
    was: int, older: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(*_: object) -> object:
        yield (1, "visits", None, "open", None, "", "", "[]", 0, None)
        raise apsw.FullError("disk")

    before = sql(older, ENTRIES)
    with monkeypatch.context() as patched:
        patched.setattr(sqlite_upgrade, "upgraded_entries", faulty)
        with refusing("ledger.full"):
            sf.Ledger.open(older, dataset="visits")
    assert version(older) == was
    assert sql(older, ENTRIES) == before
    sf.Ledger.open(older, dataset="visits").close()
    assert version(older) == SCHEMA


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM entry WHERE number = 1",
        "UPDATE entry SET digest = replace(digest, substr(digest, 1, 4), 'zzzz') WHERE number = 3",
        "UPDATE {accounts} SET spent = '[\"0\"]' WHERE share = 'alice'",
        "UPDATE reservation SET state = 'open'",
        "INSERT INTO book VALUES ('another')",
    ],
    ids=["first", "digest", "account", "reservation", "book"],
)
def test_a_book_that_does_not_add_up_is_not_touched(change: str, was: int, older: Path) -> None:
    for trigger in ("entry_kept", "entry_stays"):
        sql(older, f"DROP TRIGGER {trigger}")
    sql(older, change.format(accounts="account" if was == 1 else "balance"))
    before = sql(older, ENTRIES)
    with refusing("ledger.corrupt"):
        sf.Ledger.open(older, dataset="visits")
    assert version(older) == was
    assert sql(older, ENTRIES) == before


def test_a_book_that_another_process_upgraded_meanwhile_is_upgraded_once(older: Path) -> None:
    sf.Ledger.open(older, dataset="visits").close()
    before = sql(older, ENTRIES)
    connection, first_look = apsw.Connection(str(older)), iter([OLDER[-1]])
    late = replace(
        FILE_FORMAT,
        read_version=lambda connection: next(first_look, FILE_FORMAT.read_version(connection)),
    )
    prepare_file(connection, late)
    assert next(first_look, None) is None
    assert connection.get_autocommit()
    connection.close()
    assert sql(older, ENTRIES) == before
    assert version(older) == SCHEMA


def test_an_older_book_without_entries_becomes_an_empty_book(was: int, older: Path) -> None:
    for trigger in ("entry_kept", "entry_stays"):
        sql(older, f"DROP TRIGGER {trigger}")
    for table in ("entry", "account" if was == 1 else "balance", "reservation", "answer", "shown"):
        sql(older, f"DELETE FROM {table}")
    ledger = open_book(older, 2)
    assert version(older) == SCHEMA
    assert [line.kind for line in ledger.history()] == ["open"]
    assert ledger.verify(ledger.head).ok
    ledger.close()
