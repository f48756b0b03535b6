"""The seam to storage: one SQLite file, written through `apsw`, or the same in memory.

WAL with `synchronous=FULL`: a commit that returned has reached the disk. `BEGIN IMMEDIATE` takes the one write lock before anything is read, so that check and
charge are one step for all threads and processes. A process has one connection, which its threads use in turn; none crosses a fork.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from json import JSONDecodeError
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Refused

if TYPE_CHECKING:
    import apsw

APPLICATION = 0x73666D74  # "sfmt", in the header of the file
SCHEMA = 1
OLDEST_SQLITE = (3, 51, 3)  # the first with the fix of the WAL-reset bug
PATIENCE = 30_000  # milliseconds to wait for another writer
VFS: str | None = None  # SQLite's name of the file system to use; tests put one here that loses writes

TABLES = """
CREATE TABLE book (id TEXT NOT NULL);
CREATE TABLE entry (
    number INTEGER PRIMARY KEY, dataset TEXT NOT NULL, kind TEXT NOT NULL, key TEXT, body TEXT NOT NULL, digest TEXT NOT NULL);
CREATE UNIQUE INDEX entry_key ON entry (dataset, key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX entry_open ON entry (dataset) WHERE kind = 'open';
CREATE TABLE account (
    dataset TEXT NOT NULL, share TEXT NOT NULL, budget TEXT NOT NULL, spent TEXT NOT NULL,
    parts INTEGER NOT NULL CHECK (parts BETWEEN 0 AND 1152921504606846976), PRIMARY KEY (dataset, share)) WITHOUT ROWID;
CREATE TABLE reservation (number INTEGER PRIMARY KEY, state TEXT NOT NULL);
CREATE TABLE answer (
    dataset TEXT NOT NULL, question TEXT NOT NULL, number INTEGER NOT NULL, answer BLOB NOT NULL, PRIMARY KEY (dataset, question)) WITHOUT ROWID;
CREATE TABLE shown (dataset TEXT NOT NULL, question TEXT NOT NULL, share TEXT NOT NULL, PRIMARY KEY (dataset, question, share)) WITHOUT ROWID;
CREATE TRIGGER entry_stays BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;
CREATE TRIGGER entry_kept BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'entries are never deleted'); END;
"""

_STORES: weakref.WeakSet[Store] = weakref.WeakSet()
_INHERITED: list[Any] = []  # connections made before a fork: closing one in the child would disturb the parent's


class Transaction:
    """What may be done while a transaction is open."""

    __slots__ = ("execute", "executemany", "head")

    def __init__(self, connection: apsw.Connection) -> None:
        self.execute, self.executemany = connection.execute, connection.executemany
        self.head: Any = None  # the end of the chain, once it was read or written


class Store:
    """One file, or memory."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._connection: apsw.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._inherited = False
        _STORES.add(self)

    @contextmanager
    def writing(self) -> Iterator[Any]:
        """A transaction that holds the write lock from its beginning and is durable at its end; anything raised inside undoes it."""
        happened = "nothing was accepted, no data was read"
        try:
            with self._alone() as connection:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield Transaction(connection)
                    happened = "no receipt was given, no data was read; should the entry stand when the book is opened again, it counts"
                    connection.execute("COMMIT")
                except BaseException:
                    _undo(connection)
                    raise
        except _storage_errors() as error:
            raise self._explained(error, happened) from None

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """One unchanging view."""
        try:
            with self._alone() as connection:
                connection.execute("BEGIN")
                try:
                    yield Transaction(connection)
                finally:
                    _undo(connection)
        except _storage_errors() as error:
            raise self._explained(error, "nothing was changed") from None

    def close(self) -> None:
        """Close the file; a book in memory ends here."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            if self.path is not None:
                self._connection = None

    @contextmanager
    def _alone(self) -> Iterator[apsw.Connection]:
        """This process's connection, for one thread at a time."""
        if not self._lock.acquire(timeout=PATIENCE / 1000):
            raise Refused("ledger.busy", self._name, "other threads held the book for too long; nothing was accepted, no data was read", "try again")
        try:
            if self._inherited and self.path is None:
                raise Refused("ledger.fork", "a ledger in memory", "another process holds the book: two copies could both be spent", "Ledger.open(path, …)")
            if self._connection is None:
                self._connection = self._connect(":memory:" if self.path is None else str(self.path))
                self._file = None if self.path is None else _identity(self.path)
            if self.path is not None and self._file != _identity(self.path):
                raise Refused("ledger.moved", self._name, "the file was moved or replaced while the book was open; nothing was accepted", "open it again")
            yield self._connection
        finally:
            self._lock.release()

    def _connect(self, name: str) -> apsw.Connection:
        import apsw

        if tuple(map(int, apsw.sqlite_lib_version().split("."))) < OLDEST_SQLITE:
            raise Refused("ledger.sqlite", f"SQLite {apsw.sqlite_lib_version()}", "older versions can lose a commit when the log is reset", "a newer apsw")
        if self.path is not None and not _may_be_a_ledger(self.path):
            raise Refused("ledger.format", self._name, "this file is something else than a ledger; it was not touched", "another path")
        connection = apsw.Connection(name, vfs=VFS)
        try:
            connection.set_busy_timeout(PATIENCE)
            if connection.readonly("main"):
                raise Refused("ledger.read-only", self._name, "the book cannot be written; nothing was accepted", "a path that can be written")
            _patiently(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    @property
    def _name(self) -> str:
        return self.path.name if self.path else "memory"

    def _explained(self, error: Exception, happened: str) -> Refused:
        """A storage error as a refusal. The text holds nothing of the entries."""
        import apsw

        unreadable = isinstance(error, UnicodeDecodeError | JSONDecodeError | KeyError)
        code, reason, rewrite = next((row for kind, *row in WHY if isinstance(error, getattr(apsw, kind)) or (unreadable and kind == "CorruptError")), OTHER)
        return Refused(code, self._name, f"{reason}; {happened}", rewrite)


def _patiently(connection: apsw.Connection) -> None:
    """Prepare; while others prepare the same file SQLite may say busy without waiting, as the change to WAL is outside its busy timeout."""
    import apsw

    end = time.monotonic() + PATIENCE / 1000
    while True:
        try:
            return prepare(connection)
        except apsw.BusyError:
            if time.monotonic() > end:
                raise
            _undo(connection)
            time.sleep(0.005)


def prepare(connection: apsw.Connection) -> None:
    """Make the tables in an empty file, or see that the file is a ledger of a known version."""
    connection.execute("PRAGMA synchronous=EXTRA")  # until the log is on: the rollback journal of a beginning must not come back after a power loss
    if (_ask(connection, "PRAGMA application_id"), _ask(connection, "SELECT count(*) FROM sqlite_schema")) in ((0, 0), (APPLICATION, 0)):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _ask(connection, "SELECT count(*) FROM sqlite_schema") == 0:  # another process may have been quicker
                connection.execute(f"PRAGMA application_id={APPLICATION}")
                connection.execute(TABLES)
                connection.execute(f"PRAGMA user_version={SCHEMA}")
            connection.execute("COMMIT")
        except BaseException:
            _undo(connection)
            raise
    if _ask(connection, "PRAGMA application_id") != APPLICATION:
        raise Refused("ledger.format", "another database", "this file is something else than a ledger; it was not touched", "another path")
    version = _ask(connection, "PRAGMA user_version")
    if version != SCHEMA:
        reason = f"this sfumato knows schema {SCHEMA}; the file was not touched"
        raise Refused("ledger.version", f"schema {version}", reason, "the sfumato that wrote it, or a newer one")
    if connection.filename and _ask(connection, "PRAGMA journal_mode=WAL") != "wal":
        raise Refused("ledger.storage", "PRAGMA journal_mode=WAL", "this file system cannot hold a book that several processes write", "a local disk")
    connection.execute("PRAGMA synchronous=FULL")


def _ask(connection: apsw.Connection, query: str) -> Any:
    ((value,),) = connection.execute(query).fetchall()
    return value


def _undo(connection: apsw.Connection) -> None:
    """Roll back, if there is something to roll back: what was raised before matters more than what is raised here."""
    import apsw

    with suppress(apsw.Error):
        if not connection.get_autocommit():
            connection.execute("ROLLBACK")


def _may_be_a_ledger(path: Path) -> bool:
    """By the first bytes, before SQLite sees the file: opening another program's database could already change it."""
    if not path.exists():
        return True
    with path.open("rb") as file:
        first = file.read(100)
    if not first.strip(b"\0"):  # empty, or cut off while it was made
        return not first or Path(f"{path}-journal").exists()
    return first[:16] == b"SQLite format 3\0" and first[68:72] == APPLICATION.to_bytes(4, "big")


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file it is; None where there is none any more."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _storage_errors() -> tuple[type[Exception], ...]:
    import apsw

    return apsw.Error, OSError, UnicodeDecodeError, JSONDecodeError, KeyError  # the last three: rows that the book has not written


def _forget_connections() -> None:
    """In the child of a fork: keep what was inherited, untouched, and start anew."""
    for store in _STORES:
        if store._connection is not None:
            _INHERITED.append(store._connection)
        store._lock, store._connection, store._inherited = threading.RLock(), None, True


os.register_at_fork(after_in_child=_forget_connections)

WHY = (
    ("BusyError", "ledger.busy", "another writer held the book for too long", "try again"),
    ("FullError", "ledger.full", "the disk is full", "make room, then try again"),
    ("ReadOnlyError", "ledger.read-only", "the book cannot be written", "a path that can be written"),
    ("CantOpenError", "ledger.path", "there is no such place, or it cannot be opened", "a path in a folder that exists"),
    ("NotADBError", "ledger.format", "this file is something else than a ledger", "another path"),
    ("CorruptError", "ledger.corrupt", "the file is damaged", "the last backup, checked with verify(head=…)"),
    ("IOError", "ledger.io", "the disk did not take or give the bytes", "see to the disk, then try again"),
)
OTHER = ("ledger.storage", "the storage refused", "see to the storage, then try again")
