"""The seam to storage: one SQLite file, written through `apsw`, or the same in memory.

WAL with `synchronous=FULL`: a commit that returned has reached the disk. `BEGIN IMMEDIATE` takes the one write lock before anything is read, so that check and
charge are one step for all threads and processes. Connections belong to a process and a thread; none crosses a fork.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Refused

if TYPE_CHECKING:
    import apsw

APPLICATION = 0x73666D74  # "sfmt", in the header of the file
SCHEMA = 1
OLDEST_SQLITE = (3, 51, 3)  # the first with the fix of the WAL-reset bug
PATIENCE = 30_000  # milliseconds to wait for another writer

_TABLES = """
CREATE TABLE book (id TEXT NOT NULL, started TEXT NOT NULL);
CREATE TABLE entry (
    number INTEGER PRIMARY KEY, dataset TEXT NOT NULL, kind TEXT NOT NULL, key TEXT, body TEXT NOT NULL, digest TEXT NOT NULL);
CREATE UNIQUE INDEX entry_key ON entry (dataset, key) WHERE key IS NOT NULL;
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

_INHERITED: list[Any] = []  # connections made before a fork: closing one in the child would disturb the parent's


class Store:
    """One file, or memory."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._local = threading.local()
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._memory: apsw.Connection | None = None if path else self._connect(":memory:")

    @contextmanager
    def writing(self) -> Iterator[Any]:
        """A transaction that holds the write lock from its beginning and is durable at its end; anything raised inside undoes it."""
        with self._lock if self._memory is not None else _nothing(), _explained(self.path):
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                if not connection.get_autocommit():
                    connection.execute("ROLLBACK")
                raise
            try:
                connection.execute("COMMIT")
            except BaseException:
                if not connection.get_autocommit():
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """One unchanging view."""
        with self._lock if self._memory is not None else _nothing(), _explained(self.path):
            connection = self._connection()
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if not connection.get_autocommit():
                    connection.execute("COMMIT")

    def close(self) -> None:
        """Close this thread's connection."""
        for connection in (getattr(self._local, "connection", None), self._memory):
            if connection is not None:
                connection.close()
        self._local = threading.local()

    def _connection(self) -> apsw.Connection:
        if self._memory is not None:
            if os.getpid() != self._process:
                raise Refused("ledger.fork", "a ledger in memory", "another process holds the book: two copies could both be spent", "Ledger.open(path, …)")
            return self._memory
        local = self._local
        if getattr(local, "process", None) != os.getpid():
            _INHERITED.append(getattr(local, "connection", None))
            local.connection = self._connect(str(self.path))
            local.process = os.getpid()
        connection: apsw.Connection = local.connection
        return connection

    def _connect(self, name: str) -> apsw.Connection:
        import apsw

        if tuple(map(int, apsw.sqlite_lib_version().split("."))) < OLDEST_SQLITE:
            raise Refused("ledger.sqlite", f"SQLite {apsw.sqlite_lib_version()}", "older versions can lose a commit when the log is reset", "a newer apsw")
        if self.path is not None and self.path.exists() and _beginning(self.path) not in (b"", b"SQLite format 3\0"):
            raise Refused("ledger.format", self.path.name, "this file is something else than a ledger; it was not touched", "another path")
        connection = apsw.Connection(name)
        connection.set_busy_timeout(PATIENCE)
        prepare(connection)
        return connection


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(16)


def prepare(connection: apsw.Connection) -> None:
    """Make the tables in an empty file, or see that the file is a ledger of a known version."""
    if (_ask(connection, "PRAGMA application_id"), _ask(connection, "SELECT count(*) FROM sqlite_schema")) in ((0, 0), (APPLICATION, 0)):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _ask(connection, "SELECT count(*) FROM sqlite_schema") == 0:  # another process may have been quicker
                connection.execute(f"PRAGMA application_id={APPLICATION}")
                connection.execute(_TABLES)
                connection.execute(f"PRAGMA user_version={SCHEMA}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
    if _ask(connection, "PRAGMA application_id") != APPLICATION:
        raise Refused("ledger.format", "another database", "this file is something else than a ledger; it was not touched", "another path")
    version = _ask(connection, "PRAGMA user_version")
    if version != SCHEMA:
        reason = f"this sfumato knows schema {SCHEMA}; the file was not touched"
        raise Refused("ledger.version", f"schema {version}", reason, "the sfumato that wrote it, or a newer one")
    if connection.filename:
        connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("PRAGMA synchronous=FULL")


def _ask(connection: apsw.Connection, query: str) -> Any:
    ((value,),) = connection.execute(query).fetchall()
    return value


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextmanager
def _explained(path: Path | None) -> Iterator[None]:
    """Storage errors as refusals. None of their texts holds anything of the entries."""
    import apsw

    try:
        yield
    except apsw.Error as error:
        code, reason, rewrite = next((row for kind, *row in _WHY if isinstance(error, getattr(apsw, kind))), _OTHER)
        place = path.name if path else "memory"
        raise Refused(code, place, f"{reason}; nothing was accepted, no data was read", rewrite) from None


_WHY = (
    ("BusyError", "ledger.busy", "another writer held the book for too long", "try again"),
    ("FullError", "ledger.full", "the disk is full", "make room, then try again"),
    ("ReadOnlyError", "ledger.read-only", "the book cannot be written", "a path that can be written"),
    ("CantOpenError", "ledger.path", "there is no such place, or it cannot be opened", "a path in a folder that exists"),
    ("NotADBError", "ledger.format", "this file is something else than a ledger", "another path"),
    ("CorruptError", "ledger.corrupt", "the file is damaged", "the last backup, checked with verify(head=…)"),
    ("IOError", "ledger.io", "the disk did not take the write", "see to the disk, then try again"),
)
_OTHER = ("ledger.storage", "the storage refused", "see to the storage, then try again")
