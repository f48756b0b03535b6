"""A book in one SQLite file, or in memory: what the ledger adds to a storage. `postgres_book` is
the same on a server.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from json import JSONDecodeError
from typing import TYPE_CHECKING, ClassVar

from ...errors import Refused
from ...storage.file_versions import prepare_file
from ...storage.sqlite_store import OLDEST_SQLITE, READ, WRITE, Connection, Store, Transaction
from ...storage.storage_errors import Outcome, Reason, StorageError
from .. import ledger_refusals as refusals
from ..receipts import Head
from .sqlite_schema import FILE_FORMAT, may_be_a_ledger, structure

if TYPE_CHECKING:
    from ..book_queries import EntryWrite
    from ..entries import Standing

ENTER = "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
BALANCE = """
INSERT INTO balance VALUES (?, ?, ?, ?, ?)
ON CONFLICT (dataset, share) DO UPDATE SET budget = excluded.budget, spent = excluded.spent,
    parts = excluded.parts"""
RESERVE = (
    "INSERT INTO reservation VALUES (?, ?) ON CONFLICT (number) DO UPDATE SET state = "
    "excluded.state"
)
ANSWER = (
    "INSERT INTO answer VALUES (?, ?, ?, ?) ON CONFLICT (dataset, question) DO UPDATE SET "
    "number = excluded.number, answer = excluded.answer"
)

OUTCOMES = {
    Outcome.NOT_WRITTEN: refusals.NOTHING_ACCEPTED,
    Outcome.NOT_CHANGED: refusals.NOTHING_CHANGED,
    Outcome.UNSURE: refusals.UNSURE,
}
UNREADABLE = (UnicodeDecodeError, JSONDecodeError, KeyError)
"""Errors raised by rows that the ledger did not write."""


class BookTransaction(Transaction):
    """A transaction on a book."""

    json: ClassVar[str] = "body"  # SQL for the body of an entry as JSON

    def __init__(self, store: BookStore, begin: str) -> None:
        super().__init__(store, begin)
        self.head: Head | None = None  # the end of the chain, once it was read or written
        self.standing: Standing | None = None  # the accounts, once they were read

    def put(self, written: EntryWrite) -> None:
        """Write an entry and its changes to the other tables."""
        run, dataset, share = self.run, written.dataset, written.share or ""
        run(ENTER, written[:10])
        for row in written.rows:
            run(BALANCE, row)
        if written.reserved is not None:
            run(RESERVE, written.reserved)
        if written.answer is not None:
            question, number, answer = written.answer
            run("DELETE FROM shown WHERE dataset = ? AND question = ?", (dataset, question))
            run(ANSWER, (dataset, question, number, answer))
        if written.shown is not None:
            run("INSERT INTO shown VALUES (?, ?, ?)", (dataset, written.shown, share))

    def structure(self) -> list[str]:
        """Return the problems of the storage and of the table definitions."""
        return structure(self)


class BookStore(Store):
    """A book in a file or in memory."""

    allows_fast_charge: ClassVar[bool] = True  # whether a single statement locks, looks and writes

    def writing(self) -> AbstractContextManager[BookTransaction]:
        return BookTransaction(self, WRITE)

    def reading(self) -> AbstractContextManager[BookTransaction]:
        return BookTransaction(self, READ)

    @property
    def _name(self) -> str:
        return self.path.name if self.path else "memory"

    def _may_open(self, place: str) -> bool:
        return may_be_a_ledger(place)

    def _prepare(self, connection: Connection) -> None:
        prepare_file(connection, FILE_FORMAT)

    def _errors(self) -> tuple[type[Exception], ...]:
        return *super()._errors(), *UNREADABLE

    def _explain(self, error: Exception, outcome: Outcome) -> Refused:
        """Turn a storage error into a refusal. The text quotes nothing from entries."""
        import apsw

        if isinstance(error, StorageError):
            return explain_reason(error.reason, self._name, outcome)
        unreadable = isinstance(error, UNREADABLE)
        entry = next(
            (
                entry
                for kind, entry in EXPLANATIONS
                if isinstance(error, getattr(apsw, kind)) or (unreadable and kind == "CorruptError")
            ),
            refusals.STORAGE_FAILED,
        )
        return entry(name=self._name, outcome=OUTCOMES[outcome])


def explain_reason(reason: Reason, name: str, outcome: Outcome) -> Refused:
    """Return the refusal for a storage that cannot be used."""
    import apsw

    entry, text = REASONS[reason], OUTCOMES[outcome]
    if reason is Reason.FILE_NOT_WRITABLE:
        text = refusals.NOTHING_ACCEPTED
    if reason is Reason.FOREIGN_FILE:
        text = refusals.NOT_TOUCHED
    oldest = ".".join(map(str, OLDEST_SQLITE))
    return entry(name=name, outcome=text, version=apsw.sqlite_lib_version(), oldest=oldest)


REASONS = {
    Reason.FILE_MOVED: refusals.FILE_MOVED,
    Reason.SECOND_NAME: refusals.SECOND_NAME,
    Reason.LOG_REPLACED: refusals.LOG_REPLACED,
    Reason.FILE_SYSTEM_SHARED: refusals.FILE_SYSTEM_SHARED,
    Reason.LOCKS_WITHOUT_EFFECT: refusals.LOCKS_WITHOUT_EFFECT,
    Reason.FORKED_IN_TRANSACTION: refusals.FORKED_IN_TRANSACTION,
    Reason.MEMORY_OF_OTHER_PROCESS: refusals.MEMORY_OF_OTHER_PROCESS,
    Reason.HELD_BY_THREADS: refusals.HELD_BY_THREADS,
    Reason.SQLITE_TOO_OLD: refusals.SQLITE_TOO_OLD,
    Reason.FOREIGN_FILE: refusals.NOT_A_LEDGER,
    Reason.FILE_NOT_WRITABLE: refusals.FILE_NOT_WRITABLE,
    Reason.WAL_NOT_SUPPORTED: refusals.WAL_NOT_SUPPORTED,
    Reason.TRANSACTION_OPEN: refusals.TRANSACTION_OPEN,
    Reason.URL_NOT_PARSED: refusals.URL_NOT_PARSED,
}
"""The refusal for each reason why a storage cannot be used."""

EXPLANATIONS = (
    ("BusyError", refusals.HELD_BY_WRITER),
    ("InterruptError", refusals.READ_INTERRUPTED),
    ("FullError", refusals.DISK_FULL),
    ("ReadOnlyError", refusals.FILE_NOT_WRITABLE),
    ("CantOpenError", refusals.FILE_NOT_OPENED),
    ("NotADBError", refusals.NOT_A_LEDGER),
    ("CorruptError", refusals.BOOK_DAMAGED),
    ("IOError", refusals.DISK_FAILED),
)
"""The refusal for each kind of error of `apsw`."""
