"""Storage in one PostgreSQL database, written through psycopg by any number of hosts.

*Commit*    has reached the server's disk, and its synchronous standbys if any, when it returns. If
            the reply to a commit is missing or has a warning, the outcome is unknown, and nothing
            is retried automatically.
*Lost*      The store reconnects if the connection broke between transactions. It gives up a server
            that stays silent.
*Fork*      A connection is closed before a fork. A child opens its own.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow

from .database_url import Url
from .sqlite_store import READ, WRITE, Bindings, Row, StatementResult, Store, Transaction
from .storage_errors import Reason, StorageError

if TYPE_CHECKING:
    from psycopg.abc import PQGen
    from psycopg.pq.abc import PGconn
    from psycopg.rows import RowFactory

T = TypeVar("T")

SILENCE = 75.0  # seconds that a server may stay silent; its own timeouts are shorter
PORTION = 1000  # rows of a long result to fetch at a time
DEFAULTS = {
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "4",
    "application_name": "sfumato",
}
"""Connection parameters unless the URL sets them."""


class PatientConnection(psycopg.Connection[TupleRow]):
    """A connection with a time limit for silence, which records warnings of the server."""

    def __init__(self, pgconn: PGconn, *row_factory: RowFactory[TupleRow]) -> None:
        super().__init__(pgconn, *row_factory)
        self.over: Callable[[], bool] = lambda: False
        self.warnings = warnings = list[
            str
        ]()  # the handler must not hold the connection: it would not be closed when it is forgotten
        self.add_notice_handler(
            lambda notice: (
                warnings.append(notice.sqlstate or "")
                if notice.severity_nonlocalized == "WARNING"
                else None
            )
        )

    def wait(self, gen: PQGen[T], *seconds: Any, **named: Any) -> T:
        """Wait as psycopg does, but give up the connection if the server stays silent."""
        return super().wait(_with_timeout(gen, self), *seconds, **named)

    def __del__(self, *_: object) -> None:
        """No warning: libpq closes a forgotten connection, in the process that opened it."""


class PostgresTransaction(Transaction):
    """A transaction on a PostgreSQL server."""

    _store: PostgresStore
    _connection: PatientConnection
    _cursor: psycopg.Cursor[TupleRow]

    def execute(self, statement: str, bindings: Bindings = (), /) -> StatementResult:
        return self._connection.execute(_psycopg_text(statement), bindings, prepare=True)

    def run(self, statement: str, bindings: Bindings = (), /) -> StatementResult:
        return self._cursor.execute(_psycopg_text(statement), bindings, prepare=True)

    def executemany(self, statement: str, rows: Iterable[Bindings], /) -> None:
        self._cursor.executemany(_psycopg_text(statement), rows)

    def rows(self, statement: str, bindings: Bindings = ()) -> Iterator[Row]:
        """Yield rows in portions: a book may be larger than memory."""
        self._long += 1
        name = f"long{self._long}"
        self._connection.execute(
            f"DECLARE {name} NO SCROLL CURSOR FOR {_psycopg_text(statement)}",
            bindings,
            prepare=False,
        )
        while portion := self._connection.execute(
            f"FETCH {PORTION} FROM {name}", prepare=False
        ).fetchall():
            yield from portion

    def fetch(self, statement: str, bindings: Bindings = ()) -> list[Row]:
        cursor = self._connection.execute(_psycopg_text(statement), bindings)
        return cursor.fetchall() if cursor.description else []

    def _start(self) -> None:
        if self._connection.info.transaction_status not in (
            TransactionStatus.IDLE,
            TransactionStatus.UNKNOWN,
        ):
            raise StorageError(Reason.TRANSACTION_OPEN)
        try:
            self._open()
        except psycopg.OperationalError:
            if not self._connection.closed:
                raise
            # it was lost since it was last used: nothing was under way
            self._connection = self._store._open_connection()
            self._open()

    def _open(self) -> None:
        self._long, self._cursor = 0, self._connection.cursor()
        try:
            self._cursor.execute(self._store.begin[self._begin], prepare=False)
        except BaseException:
            self._undo()
            raise

    def _commit(self) -> None:
        self._connection.warnings.clear()
        if self._cursor.execute("COMMIT", prepare=False).statusmessage != "COMMIT":
            # a statement had failed, and the server ends such a transaction with nothing done
            raise psycopg.errors.TransactionRollback
        if self._connection.warnings:
            raise psycopg.errors.StatementCompletionUnknown  # it waited for a standby in vain

    def _undo(self) -> None:
        """Roll back an open transaction; close the connection if that fails."""
        connection = self._connection
        try:
            if connection.info.transaction_status in (
                TransactionStatus.INTRANS,
                TransactionStatus.INERROR,
            ):
                connection.execute("ROLLBACK", prepare=False)
            if connection.info.transaction_status != TransactionStatus.IDLE:
                connection.close()
        except (psycopg.Error, OSError):
            connection.close()


class PostgresStore(Store):
    """A PostgreSQL database."""

    begin: ClassVar[dict[str, str]] = {WRITE: "BEGIN", READ: "BEGIN READ ONLY"}

    def __init__(self, url: Url) -> None:
        self._url = url
        super().__init__(None)

    def writing(self) -> AbstractContextManager[Transaction]:
        return PostgresTransaction(self, WRITE)

    def reading(self) -> AbstractContextManager[Transaction]:
        return PostgresTransaction(self, READ)

    def close(self) -> None:
        """Close the connection; the next use opens a new one."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open_connection(self) -> PatientConnection:
        if self._connection is None or self._connection.closed:
            self._connection = None
            self._connection = self._connect_server()
            if self._ended is not None:
                self._install_limit(self._connection)
        connection: PatientConnection = self._connection
        return connection

    def _install_limit(self, connection: PatientConnection) -> None:
        connection.over = self._is_over

    def _close_before_fork(self) -> None:
        if (
            self._connection is not None
            and self._connection.info.transaction_status == TransactionStatus.IDLE
        ):
            self._connection.close()
            self._connection = None

    def _connect_server(self) -> PatientConnection:
        """Connect, and check what the database holds."""
        try:
            options = conninfo_to_dict(self._url.reveal())
        except psycopg.Error:  # whose text has parts of the URL
            raise StorageError(Reason.URL_NOT_PARSED) from None
        connection = PatientConnection.connect(
            make_conninfo("", **{**DEFAULTS, **options, "client_encoding": "utf8"}), autocommit=True
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _execute(
        self, connection: PatientConnection, statement: str, bindings: Bindings
    ) -> StatementResult:
        return connection.execute(_psycopg_text(statement), bindings)

    def _errors(self) -> tuple[type[Exception], ...]:
        return psycopg.Error, OSError, StorageError

    @abstractmethod
    def _prepare(self, connection: PatientConnection) -> None:
        """Set up the session; check what the database holds; create or upgrade the tables."""


def _with_timeout(steps: PQGen[T], connection: PatientConnection) -> PQGen[T]:
    """Run the steps of a wait; close the connection if the server is silent for too long, or if the
    time limit of a read is over.
    """
    end = time.monotonic() + SILENCE
    try:
        if connection.over():
            raise TimeoutError
        state = next(steps)
        while True:
            ready = yield state
            if ready:
                end = time.monotonic() + SILENCE
            elif time.monotonic() > end or connection.over():
                connection.pgconn.finish()
                raise TimeoutError
            state = steps.send(ready)
    except StopIteration as done:
        value: T = done.value
        return value


@cache
def _psycopg_text(statement: str) -> str:
    """Return a statement with psycopg's placeholders."""
    return statement.replace("?", "%s")
