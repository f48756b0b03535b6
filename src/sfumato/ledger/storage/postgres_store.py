"""The seam to storage, on a server: one PostgreSQL database, written through psycopg by any number
of hosts.

*Lock*      A writer locks the table `book` before its transaction sees anything: so its view is
            that of the last commit, and check and charge are one step for all hosts. Nothing that
            reads is in its way. Transactions are serializable, and the tables refuse a total beyond
            its budget: two stops more.
*Commit*    Has reached the server's disk, and its synchronous standbys if it has any, when it
            returns. Where the answer to a commit does not come, or comes with a warning, nobody
            knows whether it stands: there is no receipt, the entry counts if it stands, and nothing
            is tried again by itself.
*Lost*      A connection that broke while nothing was under way is made anew. A server that says
            nothing is given up.
*Fork*      A connection is closed before a fork. A child opens its own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus

from ...errors import Refused
from ..reader import Looking
from .location import Url
from .postgres_schema import SESSION, check, prepare, structure
from .sqlite_store import NOTHING, OTHER, PATIENCE, READ, UNREADABLE, UNSURE, WRITE, Conflict, Store
from .sqlite_store import Transaction as AnyTransaction

if TYPE_CHECKING:
    from ..book_queries import Written

SILENCE = 75.0  # seconds that a server may say nothing; it has given up by itself before
PORTION = 1000  # rows of a long result to have at a time
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
"""Of a URL that says nothing else."""


class Connection(psycopg.Connection[Any]):
    """One that does not wait for ever, and keeps what the server warns of."""

    def __init__(self, *more: Any, **named: Any) -> None:
        super().__init__(*more, **named)
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

    def wait(self, gen: Generator[Any, Any, Any], *more: Any, **named: Any) -> Any:
        """As its parent; broken off, with the connection, where the server says nothing."""
        return super().wait(_within(gen, self), *more, **named)

    def __del__(self, *_: Any) -> None:
        """Without a complaint: a book that is forgotten is closed by libpq, and only in the process
        that opened it.
        """


class Transaction(AnyTransaction):
    """The same on a server."""

    __slots__ = ("_cursor", "_long")
    json: ClassVar[str] = (
        # PostgreSQL has no text for NUL; in a summary its symbol will do
        r"CAST(replace(body, '\u0000', '\u2400') AS json)"
    )

    def execute(self, statement: str, bindings: tuple[Any, ...] = ()) -> Any:
        return self._connection.execute(_here(statement), bindings, prepare=True)

    def run(self, statement: str, bindings: tuple[Any, ...] = ()) -> Any:
        return self._cursor.execute(_here(statement), bindings, prepare=True)

    def executemany(self, statement: str, rows: Any) -> None:
        self._cursor.executemany(_here(statement), rows)

    def rows(self, statement: str, bindings: tuple[Any, ...] = ()) -> Iterator[Any]:
        """In portions: a book may be longer than memory."""
        self._long += 1
        name = f"long{self._long}"
        self._connection.execute(
            f"DECLARE {name} NO SCROLL CURSOR FOR {_here(statement)}", bindings, prepare=False
        )
        while portion := self._connection.execute(
            f"FETCH {PORTION} FROM {name}", prepare=False
        ).fetchall():
            yield from portion

    def put(self, written: Written) -> None:
        """By the one function that writes: it has the owner's rights, whoever calls it, and checks
        what it is told.
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
            raise Refused(
                "ledger.storage",
                Url.name,
                f"a transaction is open already; {NOTHING[self._begin]}",
                "one after the other",
            )
        try:
            self._open()
        except psycopg.OperationalError:
            if not self._connection.closed:
                raise
            self._connection = (
                self._store._reached()
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
        """Roll back, if there is something to roll back; a connection that cannot is given up."""
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


class Server(Store):
    """One database."""

    follows: ClassVar[bool] = False  # the lock that a writer takes here is a statement of its own

    def __init__(self, url: Url, *, begin: bool = False) -> None:
        self._url, self._begin = url, begin
        super().__init__(None)

    def writing(self) -> Transaction:
        return Transaction(self, WRITE)

    def reading(self) -> Any:
        return Transaction(self, READ)

    def reader(self) -> Reader:
        """The same, to be looked at."""
        return Reader(self._url)

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _reached(self) -> Connection:
        if self._connection is None or self._connection.closed:
            self._connection = None
            self._connection = self._called()
            if self._ended is not None:
                self._limited(self._connection)
        found: Connection = self._connection
        return found

    def _limited(self, connection: Any) -> None:
        connection.over = self._over

    def _part(self) -> None:
        if (
            self._connection is not None
            and self._connection.info.transaction_status == TransactionStatus.IDLE
        ):
            self._connection.close()
            self._connection = None

    def _called(self) -> Connection:
        """A new connection, to a server that can keep a book."""
        try:
            said = conninfo_to_dict(self._url.reveal())
        except psycopg.Error:  # whose text has parts of the URL
            raise Refused(
                "ledger.path",
                Url.name,
                "this is no address that PostgreSQL understands",
                "postgresql://role@host/database",
            ) from None
        connection = Connection.connect(
            make_conninfo("", **{**DEFAULTS, **said, "client_encoding": "utf8"}), autocommit=True
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: Connection) -> None:
        prepare(connection, begin=self._begin, lock=PATIENCE, statement=2 * PATIENCE)

    @property
    def _name(self) -> str:
        return Url.name

    def _errors(self) -> tuple[type[Exception], ...]:
        return psycopg.Error, OSError, *UNREADABLE

    def _explained(self, error: Exception, happened: str) -> Refused:
        """A storage error as a refusal, by its SQLSTATE. The text holds nothing of the server's,
        which may quote rows and names the host.
        """
        state = "XX" if isinstance(error, UNREADABLE) else getattr(error, "sqlstate", None) or ""
        code, reason, rewrite = (
            next((row for start, *row in WHY if state.startswith(start)), OTHER) if state else GONE
        )
        undone = (
            state[:2] == "40" and state != "40003"
        )  # whenever it comes, a commit that says so has not been
        if undone:
            return Conflict(code, self._name, f"{reason}; {NOTHING[WRITE]}", rewrite)
        return Refused(
            code, self._name, f"{reason}; {happened}", SAME_KEY if happened is UNSURE else rewrite
        )


class Reader(Looking, Server):
    """One database, read only; a role that may only SELECT will do, and so will a standby."""

    def _prepare(self, connection: Connection) -> None:
        connection.execute(SESSION.format(lock=PATIENCE, statement=0), prepare=False)
        check(connection)


def _within(steps: Generator[Any, Any, Any], connection: Connection) -> Generator[Any, Any, Any]:
    """The same steps, until the server has said nothing for too long, or a look is to end: then the
    connection is given up.
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
        return done.value


@cache
def _here(statement: str) -> str:
    """A statement as psycopg writes it."""
    return statement.replace("?", "%s")


SAME_KEY = (
    "history() says whether it stands; a charge that had a key may be asked again under the "
    "same key"
)
GONE = (
    "ledger.server",
    "there is no server, or it went away, or does not let this role in",
    "see to the server, then try again",
)
"""Also for errors without a state: no connection, a broken one, one that is silent."""

WHY: tuple[tuple[str, str, str, str], ...] = (
    ("55P03", "ledger.busy", "another writer held the book for too long", "try again"),
    ("57014", "ledger.busy", "the server took too long", "try again"),
    (
        "40003",
        "ledger.server",
        "the server cannot say whether it is safe",
        "see to the server and its standbys, then try again",
    ),
    ("40", "ledger.busy", "another transaction came between", "try again"),
    ("53100", "ledger.full", "the disk is full", "make room, then try again"),
    (
        "42501",
        "ledger.read-only",
        "the role may not do this",
        "a role with the rights that the page on the ledger lists",
    ),
    (
        "25006",
        "ledger.read-only",
        "the server, or the role, only reads",
        "the primary server, a role that may write",
    ),
    (
        "0A000",
        "ledger.read-only",
        "the server only reads, as one does that stands by for another",
        "the primary server",
    ),
    (
        "58030",
        "ledger.io",
        "the disk did not take or give the bytes",
        "see to the disk, then try again",
    ),
    ("XX", "ledger.corrupt", "the book is damaged", "the last backup, checked with verify(head=…)"),
    (
        "42",
        "ledger.corrupt",
        "the tables are not those of a book",
        "the last backup, checked with verify(head=…)",
    ),
    (
        "23",
        "ledger.storage",
        "the tables do not take it",
        "verify(head=…) says whether the book is whole",
    ),
    *((start, *GONE) for start in ("08", "53", "57")),
)
"""By how the SQLSTATE of an error begins."""
