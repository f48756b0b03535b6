"""The file: what is made, what is refused untouched, what its errors say."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import apsw
import pytest

import sfumato as sf
from sfumato.ledger.storage import book_store
from sfumato.storage import file_versions, sqlite_store
from sfumato.storage.file_versions import FileFormat
from sfumato.storage.storage_errors import Outcome, Reason

from ..refusing import refusing
from .books import open_book, sql

SECRET = "Anna Karenina"


def test_a_new_file(tmp_path: Path) -> None:
    ledger = open_book(tmp_path / "a.ledger")
    connection = ledger._store._connection
    assert connection is not None
    assert connection.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
    assert connection.execute("PRAGMA synchronous").fetchall() == [(2,)]  # FULL
    assert (tmp_path / "a.ledger").read_bytes()[68:72] == b"sfmt"
    ledger.close()
    assert [path.name for path in tmp_path.iterdir()] == ["a.ledger"]  # a closed book is one file


def test_an_empty_file_is_a_place_for_a_book(tmp_path: Path) -> None:
    (tmp_path / "a.ledger").touch()
    assert open_book(tmp_path / "a.ledger").head.number == 1


def test_special_names_are_names_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (":memory:", "file:a?mode=memory", "ü ü.ledger"):
        ledger = open_book(Path(name))
        ledger.charge(sf.Pure(1))
        ledger.close()
        assert (tmp_path / name).is_file()
        monkeypatch.chdir("/")
        assert ledger.spent.parameters["epsilon"] == 1  # wherever the process has gone meanwhile
        monkeypatch.chdir(tmp_path)
        ledger.close()


def test_places_where_no_book_can_be(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (
        tmp_path,
        tmp_path / "nowhere" / "a.ledger",
        Path("/dev/null"),
        tmp_path / "pipe",
    ):
        with refusing("ledger.path") as caught:
            open_book(place)
        assert str(tmp_path) not in str(caught.value)


def foreign(path: Path, kind: str) -> None:
    match kind:
        case "text":
            path.write_text("name,age\nAnna Karenina,28\n")
        case "zeros":
            path.write_bytes(bytes(4096))
        case "short":
            path.write_bytes(b"SQLite format 3\0")
        case _:
            connection = sqlite3.connect(path, isolation_level=None)
            if kind == "marked":
                connection.execute("PRAGMA application_id=77")
            if kind == "log":
                connection.execute("PRAGMA journal_mode=WAL")
            if kind != "bare":
                connection.execute("CREATE TABLE person (name)")
            if kind == "bare":
                connection.execute("PRAGMA user_version=3")
            connection.execute("PRAGMA wal_autocheckpoint=0")
            if kind != "bare":
                connection.execute("INSERT INTO person VALUES (?)", (SECRET,))
            if kind == "log":  # as if its program had been killed: the row is in the log only
                contents = {ending: Path(f"{path}{ending}").read_bytes() for ending in ("", "-wal")}
                connection.close()
                for ending, content in contents.items():
                    Path(f"{path}{ending}").write_bytes(content)
                return
            connection.close()


@pytest.mark.parametrize("kind", ["text", "zeros", "short", "database", "marked", "bare", "log"])
def test_other_files_are_not_touched(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    foreign(path, kind)
    before = {
        file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in tmp_path.iterdir()
    }
    for ask in (lambda: open_book(path), lambda: sf.Ledger.open(path)):
        with refusing("ledger.format") as caught:
            ask()
        assert SECRET not in str(caught.value)
    assert {
        file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in tmp_path.iterdir()
    } == before


def test_a_read_only_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As SQLite sees one: opened to be read, whatever was asked."""
    path = tmp_path / "a.ledger"
    open_book(path).close()
    before = path.read_bytes()
    real = apsw.Connection
    monkeypatch.setattr(
        apsw,
        "Connection",
        lambda name, vfs=None: real(
            f"file:{name}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        ),
    )
    with refusing("ledger.read-only"):
        open_book(path)
    assert path.read_bytes() == before


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ledger"
    open_book(path).close()

    def forbidden(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, SECRET)

    monkeypatch.setattr(Path, "open", forbidden)
    with refusing("ledger.storage") as caught:
        sf.Ledger.open(path)
    assert SECRET not in str(caught.value)


def test_an_old_sqlite_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")
    with refusing("ledger.sqlite"):
        open_book(None)


def test_a_file_system_without_shared_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = file_versions.ask
    monkeypatch.setattr(
        file_versions,
        "ask",
        lambda connection, query: "delete" if "journal_mode" in query else real(connection, query),
    )
    with refusing("ledger.storage"):
        open_book(tmp_path / "a.ledger")


def test_a_file_that_disappears_under_a_running_process(tmp_path: Path) -> None:
    """Charges to a file that nobody can find would be lost."""
    ledger = open_book(tmp_path / "a.ledger")
    (tmp_path / "a.ledger").rename(tmp_path / "b.ledger")
    for _ in range(2):
        with refusing("ledger.moved"):
            ledger.charge(sf.Pure(1))
    (tmp_path / "b.ledger").rename(tmp_path / "a.ledger")
    assert ledger.charge(sf.Pure(1)).number == 2
    ledger.close()


def interrupted(ledger: sf.Ledger, error: BaseException) -> None:
    with ledger._store.writing() as tx:
        tx.execute(
            "INSERT INTO entry VALUES (2, 'visits', NULL, 'charge', NULL, '', '', '[]', 0, '')"
        )
        raise error


def test_what_is_raised_inside_undoes_everything(tmp_path: Path) -> None:
    ledger = open_book(tmp_path / "a.ledger")
    for error in (KeyboardInterrupt, sf.Refused, ValueError):
        with pytest.raises(error):
            interrupted(ledger, error("a", "b", "c"))
        assert ledger.head.number == 1
    assert ledger.charge(sf.Pure(1)).number == 2


def test_a_transaction_inside_another_is_refused(tmp_path: Path) -> None:
    ledger = open_book(tmp_path / "a.ledger")
    with refusing("ledger.storage"), ledger._store.writing():
        ledger.charge(sf.Pure(1))
    assert ledger.head.number == 1


def test_the_tables_guard_themselves(tmp_path: Path) -> None:
    """A second stop, against SQL that goes past the ledger: the tables refuse a changed entry and a
    total above its budget.
    """
    path = tmp_path / "a.ledger"
    open_book(path, 1).charge(sf.Pure("0.5"), key="k")
    ((number, dataset, share, kind, key, body, *after, parts, state),) = sql(
        path, "SELECT * FROM entry WHERE number = 2"
    )
    for statement in (
        "UPDATE entry SET body = ''",
        "DELETE FROM entry",
        "UPDATE balance SET parts = 1152921504606846977",
    ):
        with pytest.raises(apsw.ConstraintError):
            sql(path, statement)
    rows = [
        (number, dataset, share, kind, None, body, *after, parts, state),
        (3, dataset, share, kind, key, body, *after, parts, state),
        (3, dataset, share, "open", None, body, *after, parts, state),
        (3, dataset, share, kind, None, body, *after, 1152921504606846977, state),
        (3, dataset, share, kind, None, body, *after, None, state),
    ]
    for row in rows:
        with pytest.raises(apsw.ConstraintError):
            sql(path, "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    sql(
        path,
        "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (3, dataset, share, kind, None, body, *after, parts, state),
    )
    assert json.loads(body)["cost"] == ["1/2"]


def test_every_error_of_sqlite_has_a_code() -> None:
    kinds = {kind for kind, *_ in book_store.EXPLANATIONS}
    for kind in kinds:
        assert issubclass(getattr(apsw, kind), apsw.Error)
    explained = book_store.BookStore(None)._explain(apsw.Error(SECRET), Outcome.NOT_WRITTEN)
    assert explained.code == "ledger.storage"
    assert SECRET not in str(explained)
    assert set(book_store.REASONS) == set(Reason)
    assert set(book_store.OUTCOMES) == set(Outcome)


@pytest.mark.parametrize("again", [False, True], ids=["open", "opened again"])
def test_a_long_read_ends_when_it_is_told_to_and_after_its_time(
    again: bool, tmp_path: Path
) -> None:
    ledger = open_book(tmp_path / "a.ledger")
    store = ledger._store
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000000) "
        "SELECT count(*) FROM n"
    )
    for ended, seconds in ((lambda: True, 600.0), (lambda: False, 0.01)):
        if again:
            store.close()
        store.limit(ended, seconds)
        with refusing("ledger.busy"), store.reading() as tx:
            tx.execute(endless).fetchall()
    store.limit(lambda: False, 600.0)
    assert ledger.head.number == 1
    ledger.close()


def test_the_time_of_a_read_begins_with_the_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_book(tmp_path / "a.ledger")
    store, now = ledger._store, [100.0]
    monkeypatch.setattr(sqlite_store.time, "monotonic", lambda: now[0])
    store.limit(lambda: False, 5.0)
    now[0] = 1000.0
    with store.reading():
        now[0] = 1004.0
        assert not store._is_over()
        now[0] = 1006.0
        assert store._is_over()
    ledger.close()


def test_a_file_that_others_prepare_at_the_same_time_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what the first attempt had begun is undone before the next."""
    attempts: list[bool] = []
    real = book_store.prepare_file

    def prepare(connection: apsw.Connection, form: FileFormat) -> None:
        attempts.append(connection.get_autocommit())
        if len(attempts) < 3:
            connection.execute("BEGIN")
            raise apsw.BusyError
        real(connection, form)

    monkeypatch.setattr(book_store, "prepare_file", prepare)
    ledger = open_book(tmp_path / "a.ledger")
    assert ledger.charge(sf.Pure(1)).number == 2
    assert attempts == [True] * 3
    ledger.close()


def test_a_file_that_others_keep_busy_is_refused_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts: list[int] = []

    def prepare(*_: object) -> None:
        attempts.append(1)
        raise apsw.BusyError

    monkeypatch.setattr(book_store, "prepare_file", prepare)
    monkeypatch.setattr(sqlite_store, "PATIENCE", 50)
    with refusing("ledger.busy"):
        open_book(tmp_path / "a.ledger")
    assert len(attempts) > 1
