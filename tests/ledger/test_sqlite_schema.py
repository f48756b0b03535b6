"""The version of the format: what is read, and what is refused untouched."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

import sfumato as sf
from sfumato.ledger import reading
from sfumato.ledger.storage.sqlite_schema import APPLICATION, OLDER, SCHEMA, TABLES
from sfumato.storage import file_versions

from ..refusing import refusing
from .books import open_book, sql

STORED = Path(__file__).parent.parent / "vectors" / "stored"
"""Books written by every version; test_verify reads them to their end."""


@pytest.mark.parametrize("version", [*OLDER, SCHEMA])
def test_the_stored_books_have_the_versions_that_are_known(version: int) -> None:
    first = (STORED / f"ledger-v{version}.sqlite").read_bytes()[:100]
    assert int.from_bytes(first[60:64], "big") == version
    assert int.from_bytes(first[68:72], "big") == APPLICATION
    assert (*OLDER, SCHEMA) == (1, 2, 3)


@pytest.mark.parametrize("version", [0, 4, 99])
def test_another_schema_is_refused(version: int, tmp_path: Path) -> None:
    """With the command that helps; also when the book is opened for reading only."""
    path = tmp_path / "a.ledger"
    path.write_bytes((STORED / f"ledger-v{SCHEMA}.sqlite").read_bytes())
    sql(path, f"PRAGMA user_version={version}")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with refusing("ledger.version") as caught:
        sf.Ledger.open(path, dataset="visits")
    assert f"schema {version}" in str(caught.value)
    assert caught.value.rewrite == "pip install --upgrade sfumato"
    with refusing("ledger.version"), reading(path):
        raise AssertionError
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_names_are_what_they_were_to_the_letter(tmp_path: Path) -> None:
    """SQLite finds a table under any spelling; what is spelled otherwise was altered."""
    path = tmp_path / "a.ledger"
    sf.Ledger.open(
        path, budget=sf.Pure(1), dataset="visits", unit="patient", relation="add-remove"
    ).close()
    sql(path, "PRAGMA journal_mode = DELETE")
    content = path.read_bytes()
    assert content.count(b"entry_keyentry") == 1
    path.write_bytes(content.replace(b"entry_keyentry", b"entry_keyEntry"))
    ledger = sf.Ledger.open(path)
    assert not ledger.verify().ok
    ledger.close()


def test_a_file_that_another_process_began_meanwhile_is_taken_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It began the file after this process had found it empty, and before it had the lock."""
    path, real = tmp_path / "a.ledger", file_versions.undo

    def undo(connection: apsw.Connection) -> None:
        real(connection)  # the end of the first look
        monkeypatch.setattr(file_versions, "undo", real)
        sql(path, f"{TABLES}PRAGMA user_version={SCHEMA}; PRAGMA application_id={APPLICATION}")
        sql(path, "INSERT INTO book VALUES ('theirs')")

    monkeypatch.setattr(file_versions, "undo", undo)
    ledger = open_book(path)
    assert ledger.head.book == "theirs"
    assert ledger.verify(ledger.head).ok
    ledger.close()
