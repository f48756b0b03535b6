"""A book in one PostgreSQL database, written by any number of hosts.

*Lock*      A writer locks the table `book` before its transaction reads. So it sees the last
            commit, and check and charge are one step for all hosts. Readers do not block it.
            Transactions are serializable, and the tables refuse a total beyond its budget: two
            further guards.
*Commit*    If the outcome of a commit is unknown, the ledger gives no receipt. The entry counts if
            it was committed.
"""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, ClassVar

from ...errors import Refused
from ...storage.database_url import Url
from ...storage.postgres_store import PatientConnection, PostgresStore, PostgresTransaction
from ...storage.sqlite_store import PATIENCE, READ, WRITE
from ...storage.storage_errors import Outcome, StorageError
from .. import ledger_refusals as refusals
from ..ledger_refusals import SAME_KEY
from ..reader import ReadOnlyStore
from .book_store import OUTCOMES, UNREADABLE, BookStore, BookTransaction, explain_reason
from .postgres_schema import SESSION, check, prepare, structure

if TYPE_CHECKING:
    from ..book_queries import EntryWrite

PUT = "SELECT enter(%s::bigint, %s, %s, %s, %s, %s, %s, %s, %s::bigint, %s, %s, %s::bytea)"


class PostgresBookTransaction(PostgresTransaction, BookTransaction):
    """A transaction on a book on a PostgreSQL server."""

    json: ClassVar[str] = (
        # PostgreSQL has no text for NUL; in a summary its symbol will do
        r"CAST(replace(body, '\u0000', '\u2400') AS json)"
    )

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


class PostgresBook(PostgresStore, BookStore):
    """A book in a PostgreSQL database."""

    # the lock that a writer takes here is a statement of its own
    allows_fast_charge: ClassVar[bool] = False
    begin: ClassVar[dict[str, str]] = {
        WRITE: "BEGIN ISOLATION LEVEL SERIALIZABLE; LOCK TABLE sfumato.book IN EXCLUSIVE MODE",
        READ: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    }

    def __init__(self, url: Url, *, begin: bool = False) -> None:
        self._may_begin = begin
        super().__init__(url)

    def writing(self) -> AbstractContextManager[PostgresBookTransaction]:
        return PostgresBookTransaction(self, WRITE)

    def reading(self) -> AbstractContextManager[BookTransaction]:
        return PostgresBookTransaction(self, READ)

    def reader(self) -> PostgresReader:
        """Return a read-only store of the same book."""
        return PostgresReader(self._url)

    @property
    def _name(self) -> str:
        return Url.name

    def _prepare(self, connection: PatientConnection) -> None:
        prepare(connection, begin=self._may_begin, lock=PATIENCE, statement=2 * PATIENCE)

    def _errors(self) -> tuple[type[Exception], ...]:
        return *super()._errors(), *UNREADABLE

    def _explain(self, error: Exception, outcome: Outcome) -> Refused:
        """Turn a storage error into a refusal, by its SQLSTATE. The text quotes nothing from the
        server, whose messages may contain rows and host names.
        """
        if isinstance(error, StorageError):
            return explain_reason(error.reason, self._name, outcome)
        state = "XX" if isinstance(error, UNREADABLE) else getattr(error, "sqlstate", None) or ""
        entry = next(
            (entry for start, entry in EXPLANATIONS if state.startswith(start)),
            refusals.STORAGE_FAILED if state else refusals.SERVER_GONE,
        )
        if entry is refusals.CONCURRENT_TRANSACTION:
            return entry(name=self._name)  # the server undid it, also if it says so at the commit
        refusal = entry(name=self._name, outcome=OUTCOMES[outcome])
        return refusal.replace(rewrite=SAME_KEY) if outcome is Outcome.UNSURE else refusal


class PostgresReader(ReadOnlyStore, PostgresBook):
    """A read-only book in a database. A role that may only SELECT suffices, and a standby, too."""

    def _prepare(self, connection: PatientConnection) -> None:
        connection.execute(SESSION.format(lock=PATIENCE, statement=0), prepare=False)
        check(connection)


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
