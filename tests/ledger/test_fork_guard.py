"""Books and processes: what a fork may do, and what closing means."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.ledger import book_queries, reading
from sfumato.ledger.fast_charge import CONDITIONAL_INSERT
from sfumato.storage import fork_guard

from ..refusing import refusing
from .books import open_book


def test_a_book_in_memory_does_not_cross_a_fork() -> None:
    ledger = open_book(None, 1)
    assert _in_child(lambda: ledger.charge(sf.Pure("0.1"))) == "ledger.fork"
    assert _in_child(lambda: ledger.spent) == "ledger.fork"
    assert ledger.charge(sf.Pure("0.1")).number == 2


def test_a_book_in_a_file_does(tmp_path: Path) -> None:
    ledger = open_book(tmp_path / "a.ledger", 1)
    ledger.charge(sf.Pure("0.1"))
    assert _in_child(lambda: (ledger.charge(sf.Pure("0.2")), ledger.close())) == "done"
    assert _in_child(ledger.close) == "done"
    assert ledger.charge(sf.Pure("0.1")).number == 4
    assert ledger.verify(ledger.head).ok


def test_what_a_child_charges_stands_when_the_parent_closes(tmp_path: Path) -> None:
    """SQLite's record of its locks is copied by a fork. A child that believed in it would go on
    writing to a log that its parent has deleted.
    """
    path = tmp_path / "a.ledger"
    ledger = open_book(path, 100)
    ledger.charge(sf.Pure(1))
    ready, go = os.pipe(), os.pipe()

    def child() -> None:
        ledger.charge(sf.Pure(1))
        os.write(ready[1], b".")
        os.read(go[0], 1)
        for _ in range(5):
            ledger.charge(sf.Pure(1))

    with _forked(child) as tell:
        os.read(ready[0], 1)
        ledger.close()
        os.write(go[1], b".")
        assert tell() == "done"
    again = sf.Ledger.open(path)
    assert again.head.number == 8
    assert again.verify(again.head).ok
    again.close()


def test_a_fork_waits_for_the_transactions_of_other_threads(tmp_path: Path) -> None:
    ledger = open_book(tmp_path / "a.ledger", 100)
    inside, done = threading.Event(), threading.Event()

    def slow() -> None:
        with ledger._store.writing():
            inside.set()
            done.wait(0.2)

    thread = threading.Thread(target=slow)
    thread.start()
    inside.wait(10)
    assert _in_child(lambda: ledger.charge(sf.Pure(1))) == "done"
    thread.join()
    assert ledger.charge(sf.Pure(1)).number == 3
    ledger.close()


def test_a_fork_in_the_middle_of_a_transaction(tmp_path: Path) -> None:
    """The child may neither end it nor use the file; the parent's charge is whole."""
    path = tmp_path / "a.ledger"
    ledger = open_book(path, 100)
    with ledger._store.writing() as tx:
        assert book_queries.head(tx).number == 1
        asks = (
            lambda: ledger.charge(sf.Pure(1)),
            lambda: sf.Ledger.open(path),
            lambda: tx.__exit__(None, None, None),
        )
        assert [_in_child(ask) for ask in asks] == ["ledger.fork"] * 3
    assert ledger.charge(sf.Pure(1)).number == 2
    assert _in_child(lambda: ledger.charge(sf.Pure(1))) == "done"
    assert ledger.verify(ledger.head).ok
    ledger.close()


def test_a_thread_that_never_ends_its_transaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork_guard, "PATIENCE", 0.05)
    ledger = open_book(tmp_path / "a.ledger", 100)
    inside, done = threading.Event(), threading.Event()

    def hold() -> None:
        with ledger._store.writing():
            inside.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(10)
    assert _in_child(lambda: ledger.charge(sf.Pure(1))) == "ledger.fork"
    done.set()
    thread.join()
    ledger.close()


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux lists its locks")
def test_a_second_look_drops_no_lock(tmp_path: Path) -> None:
    """POSIX: to close any descriptor of a file drops all locks of the process on it."""
    path = tmp_path / "a.ledger"

    def locks() -> list[str]:
        lines = Path("/proc/locks").read_text(encoding="utf-8").splitlines()
        return [
            line
            for line in lines
            if f" {os.getpid()} " in line and f":{path.stat().st_ino} " in line
        ]

    first = open_book(path, 100)
    assert len(locks()) == 1
    second = sf.Ledger.open(path)
    with reading(path) as book:
        assert book["visits"].head.number == 1
    second.close()
    assert len(locks()) == 1
    first.close()
    assert locks() == []


def test_a_closed_book(tmp_path: Path) -> None:
    ledger = open_book(tmp_path / "a.ledger", 1)
    ledger.close()
    ledger.close()
    assert ledger.charge(sf.Pure("0.1")).number == 2  # a file is opened again
    memory = open_book(None, 1)
    memory.close()
    with refusing("ledger.storage"):
        memory.charge(sf.Pure("0.1"))


@contextmanager
def _forked(action: Any) -> Iterator[Callable[[], str]]:
    """Run an action in the child of a fork; yield a function that waits and reads its outcome."""
    result, tell = os.pipe()
    child = os.fork()
    if child == 0:
        outcome = "died"
        try:
            action()
            outcome = "done"
        except sf.Refused as refused:
            outcome = refused.code
        finally:
            os.write(tell, outcome.encode())
            os._exit(0)
    os.close(tell)
    with os.fdopen(result) as pipe:
        yield pipe.read
    os.waitpid(child, 0)


def _in_child(action: Any) -> str:
    """How an action ends in the child of a fork."""
    with _forked(action) as tell:
        return tell()


def test_a_closed_book_leaves_no_lock_behind() -> None:
    """A thread that is refused releases the lock: the ledger refuses other threads at once, and not
    after half a minute.
    """
    memory = open_book(None, 1)
    memory.close()
    codes: list[str] = []

    def ask() -> None:
        with pytest.raises(sf.Refused) as caught:
            memory.charge(sf.Pure("0.1"))
        codes.append(caught.value.code)

    ask()
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join(10)
    assert codes == ["ledger.storage"] * 2


@pytest.mark.parametrize(
    "where", ["BEGIN IMMEDIATE", "COMMIT", CONDITIONAL_INSERT], ids=["begin", "commit", "follow"]
)
def test_an_interruption_leaves_no_lock_and_no_transaction_behind(
    where: str, tmp_path: Path
) -> None:
    ledger = open_book(tmp_path / "a.ledger", 1)
    if where == CONDITIONAL_INSERT:
        ledger.charge(sf.Pure("0.1"))
    before, real = ledger.head.number, ledger._store._run

    def interrupted(statement: str, *more: Any) -> Any:
        """A user presses Ctrl-C as soon as the statement has been run."""
        done = real(statement, *more)
        if statement == where:
            raise KeyboardInterrupt
        return done

    ledger._store._run = interrupted
    with pytest.raises(KeyboardInterrupt):
        ledger.charge(sf.Pure("0.1"))
    ledger._store._run = real
    stands = int(
        where != "BEGIN IMMEDIATE"
    )  # charged, and no receipt: budget may be lost so, never a charge
    assert ledger._store._connection.get_autocommit()
    numbers: list[int] = []
    thread = threading.Thread(target=lambda: numbers.append(ledger.charge(sf.Pure("0.1")).number))
    thread.start()
    thread.join(10)
    assert numbers == [before + stands + 1]
    assert ledger.verify(ledger.head).ok
    ledger.close()


@pytest.mark.parametrize("umask", [0, 0o022, 0o077, 0o277, 0o777], ids=oct)
def test_a_new_book_is_for_its_owner_alone_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        ledger = open_book(tmp_path / "a.ledger")
        ledger.charge(sf.Pure(1))
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
        ledger.close()
    finally:
        os.umask(before)
    assert modes == {"a.ledger": 0o600, "a.ledger-wal": 0o600, "a.ledger-shm": 0o600}


def test_a_file_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    path.touch()
    path.chmod(0o640)
    ledger = open_book(path)
    ledger.charge(sf.Pure(1))
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o640}
    ledger.close()


def test_a_link_to_where_a_book_is_to_be(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "a.ledger")
    open_book(tmp_path / "link").close()
    assert (tmp_path / "a.ledger").stat().st_mode & 0o777 == 0o600


def test_making_a_file_touches_none_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To open and close one would drop the locks of a book that is open here."""
    path = tmp_path / "a.ledger"
    path.write_bytes(b"kept")
    closed: list[int] = []
    monkeypatch.setattr(fork_guard.os, "close", closed.append)
    fork_guard.create_private(str(path))
    fork_guard.create_private(
        str(tmp_path / "no-folder" / "a.ledger")
    )  # for who opens it to refuse
    assert closed == []
    assert path.read_bytes() == b"kept"
