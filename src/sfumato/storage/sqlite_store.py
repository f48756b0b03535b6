"""Storage in one SQLite file, written through `apsw`, or in memory. `postgres_store` overrides what
differs on a server.

WAL with `synchronous=FULL`: a commit that returned has reached the disk. `BEGIN IMMEDIATE` takes
the write lock before it reads, so that a check and the write that follows are one step for all
threads and processes. A store has one connection, which the threads of a process use in turn; no
connection crosses a fork. A subclass knows the tables, and explains errors to its users.
"""

from __future__ import annotations

import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from .file_checks import FileStamps, check_file, explain_change, stamp_files
from .file_versions import undo
from .fork_guard import check_not_inherited, create_private, identity, is_open_here, register
from .storage_errors import Outcome, Reason, StorageError

if TYPE_CHECKING:
    import apsw

Connection = Any  # of `apsw` here, of `psycopg` in `postgres_store`
Row = tuple[Any, ...]  # the types of its columns follow from the query
Value = str | int | float | bytes | None
Bindings = Sequence[Value]
OLDEST_SQLITE = (3, 51, 3)  # the first with the fix of the WAL-reset bug
STEPS = 20_000  # of SQLite's virtual machine between two checks of the time limit
PATIENCE = 30_000  # milliseconds to wait for another writer
VFS: str | None = None  # SQLite's name of a file system; tests use one that loses writes

WRITE, READ = "BEGIN IMMEDIATE", "BEGIN"
OUTCOMES = {WRITE: Outcome.NOT_WRITTEN, READ: Outcome.NOT_CHANGED}
"""The outcome of a transaction that did not commit."""


class StatementResult(Protocol):
    """The result of a statement: iterate over its rows, or fetch them."""

    def __iter__(self) -> Iterator[Row]: ...

    def fetchall(self) -> list[Row]: ...


class Execute(Protocol):
    """Executes a statement with `?` for each value."""

    def __call__(self, statement: str, bindings: Bindings = ..., /) -> StatementResult: ...


class Transaction:
    """A transaction as a context manager: it ends with a durable commit, or rolls back if anything
    was raised inside.
    """

    __slots__ = ("_begin", "_connection", "_store", "execute", "executemany", "rows", "run")
    _connection: Connection
    execute: Execute  # one statement; iterate over its result, or fetch it
    run: Execute  # like execute, if each result is read to its end before the next statement
    executemany: Callable[[str, Iterable[Bindings]], object]
    rows: Callable[..., Iterable[Row]]  # like execute, for results that may be long

    def __init__(self, store: Store, begin: str) -> None:
        self._store, self._begin = store, begin

    def __enter__(self) -> Self:
        store = self._store
        try:
            self._connection = store._acquire()
            try:
                if store._ended is not None:
                    store._until = time.monotonic() + store._seconds
                self._start()
            except BaseException:
                store._lock.release()
                raise
        except store._errors() as error:
            raise store._explain(error, OUTCOMES[self._begin]) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        store, outcome = self._store, OUTCOMES[self._begin]
        # in the child of a fork from here: it is the parent's to end
        if store._connection is not self._connection:
            raise store._explain(StorageError(Reason.FORKED_IN_TRANSACTION), outcome)
        try:
            if kind is None and self._begin is WRITE:
                outcome = Outcome.UNSURE
                self._commit()
            else:
                self._undo()
        except BaseException as late:
            self._undo()
            error = late
            if not isinstance(late, store._errors()):
                raise
        finally:
            store._lock.release()
        if error is not None and isinstance(error, store._errors()):
            raise store._explain(error, outcome) from None

    def fetch(self, statement: str, bindings: Bindings = ()) -> list[Row]:
        """Run a statement and return its rows; none for a statement without a result."""
        return self.execute(statement, bindings).fetchall()

    def _start(self) -> None:
        connection = self._connection
        # else a transaction is open already, which is its owner's to end
        mine = connection.get_autocommit()
        try:
            self.execute = self.rows = connection.execute
            self.executemany, self.run = connection.executemany, self._store._run
            self.run(self._begin)
        except BaseException:
            if mine:
                undo(connection)
            raise

    def _commit(self) -> None:
        self.run("COMMIT")

    def _undo(self) -> None:
        undo(self._connection)


class Store(ABC):
    """One SQLite file, or a database in memory."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._place = None if path is None else str(path)
        self._lock = threading.RLock()
        self._connection: Connection = None
        self._run: Execute  # executes a statement of it, and reads that to its end before the next
        self._file: tuple[int, int] | None = None
        self._log_names: tuple[str, ...] = ()  # of the files beside it
        self._stamps: FileStamps = ()  # which files they are
        self._inherited = False
        self._ended: Callable[[], bool] | None = None
        self._seconds = self._until = 0.0
        register(self)

    def writing(self) -> AbstractContextManager[Transaction]:
        """Open a transaction that holds the write lock from its start and is durable at its end.
        Anything raised inside rolls it back.
        """
        return Transaction(self, WRITE)

    def reading(self) -> AbstractContextManager[Transaction]:
        """Open a snapshot."""
        return Transaction(self, READ)

    def try_write(self, statement: str, bindings: Bindings) -> bool:
        """Run one statement as a durable transaction; return whether it wrote a row. Returns False
        at once if another thread uses the store.
        """
        lock, outcome = self._lock, OUTCOMES[WRITE]
        if not lock.acquire(False):
            return False
        try:
            connection = self._open_connection()
            if not connection.get_autocommit():
                return False
            outcome = Outcome.UNSURE
            self._run(statement, bindings)
            return bool(connection.changes())
        except self._errors() as error:
            raise self._explain(error, OUTCOMES[WRITE] if _was_busy(error) else outcome) from None
        finally:
            lock.release()

    def read(self, statement: str, bindings: Bindings = ()) -> list[Row]:
        """Run one query, which is a snapshot by itself."""
        try:
            connection = self._acquire()
            try:
                return self._execute(connection, statement, bindings).fetchall()
            finally:
                self._lock.release()
        except self._errors() as error:
            raise self._explain(error, Outcome.NOT_CHANGED) from None

    def limit(self, ended: Callable[[], bool], seconds: float) -> None:
        """From now on interrupt a statement when `ended` returns True, or after so many seconds.
        For stores that are only read.
        """
        with self._lock:
            self._ended, self._seconds = ended, seconds
            if self._connection is not None:
                self._install_limit(self._connection)

    def _is_over(self) -> bool:
        return self._ended is not None and (self._ended() or time.monotonic() > self._until)

    def _install_limit(self, connection: Connection) -> None:
        connection.set_progress_handler(self._is_over, STEPS)

    def close(self) -> None:
        """Close the file. A database in memory is gone then."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            if self.path is not None:
                self._connection = None

    def _acquire(self) -> Connection:
        """Lock the connection for this thread and return it."""
        if not self._lock.acquire(timeout=PATIENCE / 1000):
            raise StorageError(Reason.HELD_BY_THREADS)
        try:
            return self._open_connection()
        except BaseException:
            self._lock.release()
            raise

    def _open_connection(self) -> Connection:
        if self._place is None:
            if self._inherited:
                raise StorageError(Reason.MEMORY_OF_OTHER_PROCESS)
            if self._connection is None:
                self._open(":memory:")
            return self._connection
        if self._connection is None:
            check_not_inherited(self._place)
            self._open(self._place)
            self._file = identity(self._place)
            self._stamps = stamp_files(self._place, *self._log_files())
        if self._stamps != (now := stamp_files(self._place, *self._log_names)):
            raise explain_change(self._stamps, now)
        return self._connection

    def _log_files(self) -> tuple[str, ...]:
        """Return the names of the log and its index, which exist once the file was read."""
        self._run("SELECT 1 FROM sqlite_schema").fetchall()
        real = os.path.realpath(self._place or "")
        self._log_names = f"{real}-wal", f"{real}-shm"
        return self._log_names

    def _close_before_fork(self) -> None:
        """Close the file, unless a transaction is open. A database in memory stays open."""
        if (
            self._place is not None
            and self._connection is not None
            and self._connection.get_autocommit()
        ):
            self._connection.close()
            self._connection = None

    def _open(self, name: str) -> None:
        connection = self._connect(name)
        if self._ended is not None:
            self._install_limit(connection)
        self._connection, self._run = connection, connection.cursor().execute

    def _connect(self, name: str) -> apsw.Connection:
        import apsw

        if tuple(map(int, apsw.sqlite_lib_version().split("."))) < OLDEST_SQLITE:
            raise StorageError(Reason.SQLITE_TOO_OLD)
        if (
            self._place is not None
            and not is_open_here(self._place)
            and not self._may_open(self._place)
        ):
            raise StorageError(Reason.FOREIGN_FILE)
        if self._place is not None:
            create_private(self._place)
            check_file(self._place)
        connection = apsw.Connection(name, vfs=VFS)
        try:
            connection.set_busy_timeout(PATIENCE)
            if connection.readonly("main"):
                raise StorageError(Reason.FILE_NOT_WRITABLE)
            self._prepare_patiently(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare_patiently(self, connection: apsw.Connection) -> None:
        """Prepare the file, with retries: SQLite's busy timeout does not cover the change to WAL
        while other processes prepare the same file.
        """
        import apsw

        end = time.monotonic() + PATIENCE / 1000
        while True:
            try:
                return self._prepare(connection)
            except apsw.BusyError:
                if time.monotonic() > end:
                    raise
                undo(connection)
                time.sleep(0.005)

    def _execute(
        self, connection: Connection, statement: str, bindings: Bindings
    ) -> StatementResult:
        return self._run(statement, bindings)

    def _errors(self) -> tuple[type[Exception], ...]:
        import apsw

        return apsw.Error, OSError, UnicodeDecodeError, StorageError

    def _may_open(self, place: str) -> bool:
        """Whether SQLite may open the file: opening could already change another program's
        database.
        """
        return True

    @abstractmethod
    def _prepare(self, connection: Connection) -> None:
        """Check what the database holds; create or upgrade the tables."""

    @abstractmethod
    def _explain(self, error: Exception, outcome: Outcome) -> Exception:
        """Turn an error of the storage into what the user is told."""


def _was_busy(error: Exception) -> bool:
    """Whether a statement did not get the write lock, and so did not start."""
    import apsw

    return isinstance(error, apsw.BusyError)
