"""Storage in one PostgreSQL database, written through psycopg by any number of hosts.

*Lock*      A writer locks the table `book` before its transaction reads. So it sees the last
            commit, and check and charge are one step for all hosts. Readers do not block it.
            Transactions are serializable, and the tables refuse a total beyond its budget: two
            further guards.
*Commit*    has reached the server's disk, and its synchronous standbys if any, when it returns. If
            the reply to a commit is missing or has a warning, the outcome is unknown: the ledger
            gives no receipt, the entry counts if it was committed, and nothing is retried
            automatically.
*Lost*      The store reconnects if the connection broke between transactions. It gives up a server
            that stays silent.
*Fork*      A connection is closed before a fork. A child opens its own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow

from ...errors import Refused
from .. import ledger_refusals as refusals
from ..ledger_refusals import SAME_KEY, UNSURE
from ..reader import ReadOnlyStore
from .location import Url
from .postgres_schema import SESSION, check, prepare, structure
from .sqlite_store import (
    OUTCOMES,
    PATIENCE,
    READ,
    UNREADABLE,
    WRITE,
    Bindings,
    Row,
    StatementResult,
    Store,
)
from .sqlite_store import Transaction as AnyTransaction

if TYPE_CHECKING:
    from psycopg.abc import PQGen
    from psycopg.pq.abc import PGconn
    from psycopg.rows import RowFactory

    from ..book_queries import EntryWrite

T = TypeVar("T")

SILENCE = 75.0  # seconds that a server may stay silent; its own timeouts are shorter
PORTION = 1000  # rows of a long result to fetch at a time
BEGIN = {
    WRITE: "BEGIN ISOLATION LEVEL SERIALIZABLE; LOCK TABLE sfumato.book IN EXCLUSIVE MODE",
    READ: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
}
PUT = "SELECT enter(%s::bigint, %s, %s, %s, %s, %s, %s, %s, %s::bigint, %s, %s, %s::bytea)"
DEFAULTS = {
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "4",
    "application_name": "sfumato",
}
"""Connection parameters unless the URL sets them."""


class LedgerConnection(psycopg.Connection[TupleRow]):
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


class PostgresTransaction(AnyTransaction):
    """A transaction on a PostgreSQL server."""

    __slots__ = ("_cursor", "_long")
    _connection: LedgerConnection
    _cursor: psycopg.Cursor[TupleRow]
    json: ClassVar[str] = (
        # PostgreSQL has no text for NUL; in a summary its symbol will do
        r"CAST(replace(body, '\u0000', '\u2400') AS json)"
    )

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

    def put(self, written: EntryWrite) -> None:
        """Write an entry by the SQL function `enter`, which has the owner's rights and checks its
        arguments.
        """
        answer = None if written.answer is None else written.answer[-1]
        self._cursor.execute(
            PUT, (*written[:10], json.dumps(written.rows, ensure_ascii=False), answer), prepare=True
        )

    def structure(self) -> list[str]:
        return structure(self)

    def _start(self) -> None:
        if self._connection.info.transaction_status not in (
            TransactionStatus.IDLE,
            TransactionStatus.UNKNOWN,
        ):
            raise refusals.TRANSACTION_OPEN(name=Url.name, outcome=OUTCOMES[self._begin])
        try:
            self._open()
        except psycopg.OperationalError:
            if not self._connection.closed:
                raise
            self._connection = (
                self._store._open_connection()
            )  # it was lost since it was last used: nothing was under way
            self._open()

    def _open(self) -> None:
        self._long, self._cursor = 0, self._connection.cursor()
        try:
            self._cursor.execute(BEGIN[self._begin], prepare=False)
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
    """A book in a PostgreSQL database."""

    allows_fast_charge: ClassVar[bool] = (
        False  # the lock that a writer takes here is a statement of its own
    )

    def __init__(self, url: Url, *, begin: bool = False) -> None:
        self._url, self._begin = url, begin
        super().__init__(None)

    def writing(self) -> PostgresTransaction:
        return PostgresTransaction(self, WRITE)

    def reading(self) -> AbstractContextManager[AnyTransaction]:
        return PostgresTransaction(self, READ)

    def reader(self) -> PostgresReader:
        """Return a read-only store of the same book."""
        return PostgresReader(self._url)

    def close(self) -> None:
        """Close the connection; the next use opens a new one."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open_connection(self) -> LedgerConnection:
        if self._connection is None or self._connection.closed:
            self._connection = None
            self._connection = self._connect_server()
            if self._ended is not None:
                self._install_limit(self._connection)
        connection: LedgerConnection = self._connection
        return connection

    def _install_limit(self, connection: LedgerConnection) -> None:
        connection.over = self._is_over

    def _close_before_fork(self) -> None:
        if (
            self._connection is not None
            and self._connection.info.transaction_status == TransactionStatus.IDLE
        ):
            self._connection.close()
            self._connection = None

    def _connect_server(self) -> LedgerConnection:
        """Connect, and check that the server can keep a book."""
        try:
            options = conninfo_to_dict(self._url.reveal())
        except psycopg.Error:  # whose text has parts of the URL
            raise refusals.URL_NOT_PARSED(name=Url.name) from None
        connection = LedgerConnection.connect(
            make_conninfo("", **{**DEFAULTS, **options, "client_encoding": "utf8"}), autocommit=True
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: LedgerConnection) -> None:
        prepare(connection, begin=self._begin, lock=PATIENCE, statement=2 * PATIENCE)

    @property
    def _name(self) -> str:
        return Url.name

    def _errors(self) -> tuple[type[Exception], ...]:
        return psycopg.Error, OSError, *UNREADABLE

    def _explain(self, error: Exception, outcome: str) -> Refused:
        """Turn a storage error into a refusal, by its SQLSTATE. The text quotes nothing from the
        server, whose messages may contain rows and host names.
        """
        state = "XX" if isinstance(error, UNREADABLE) else getattr(error, "sqlstate", None) or ""
        entry = next(
            (entry for start, entry in EXPLANATIONS if state.startswith(start)),
            refusals.STORAGE_FAILED if state else refusals.SERVER_GONE,
        )
        if entry is refusals.CONCURRENT_TRANSACTION:
            return entry(name=self._name)  # the server undid it, also if it says so at the commit
        refusal = entry(name=self._name, outcome=outcome)
        return refusal.replace(rewrite=SAME_KEY) if outcome is UNSURE else refusal


class PostgresReader(ReadOnlyStore, PostgresStore):
    """A read-only book in a database. A role that may only SELECT suffices, and a standby, too."""

    def _prepare(self, connection: LedgerConnection) -> None:
        connection.execute(SESSION.format(lock=PATIENCE, statement=0), prepare=False)
        check(connection)


def _with_timeout(steps: PQGen[T], connection: LedgerConnection) -> PQGen[T]:
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


EXPLANATIONS = (
    ("55P03", refusals.HELD_BY_WRITER),
    ("57014", refusals.SERVER_TOO_SLOW),
    ("40003", refusals.COMMIT_UNCONFIRMED),
    ("40", refusals.CONCURRENT_TRANSACTION),
    ("53100", refusals.DISK_FULL),
    ("42501", refusals.ROLE_WITHOUT_RIGHT),
    ("25006", refusals.ROLE_READS_ONLY),
    ("0A000", refusals.STANDBY_READS_ONLY),
    ("58030", refusals.DISK_FAILED),
    ("XX", refusals.BOOK_DAMAGED),
    ("42", refusals.OTHER_TABLES),
    ("23", refusals.ENTRY_NOT_TAKEN),
    ("08", refusals.SERVER_GONE),
    ("53", refusals.SERVER_GONE),
    ("57", refusals.SERVER_GONE),
)
"""The refusal for the first characters of an SQLSTATE. An error without one is a server that does
not answer: no connection, a broken or silent one.
"""
