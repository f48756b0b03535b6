"""Create the tables of a SQLite file, or upgrade them, and turn on the log.

*Version*   The header of the file states the application and the version of the tables. One
            transaction brings an empty or an older file to this version, and states it. Another
            process may have been quicker: the transaction reads the version again.
*Foreign*   A file of another application, or of a version that nobody here knows, is not touched:
            `read_version` raises an error before anything is written.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .storage_errors import Reason, StorageError

if TYPE_CHECKING:
    import apsw

MAGIC = b"SQLite format 3\0"  # the first bytes of every SQLite file


@dataclass(frozen=True, slots=True)
class FileFormat:
    """The tables of one kind of file."""

    application: int  # four letters, in the header of the file
    version: int
    read_version: Callable[[apsw.Connection], int | None]  # None: the file is empty
    upgrade: Callable[[apsw.Connection, int | None], None]  # from a version, or from an empty file


def prepare_file(connection: apsw.Connection, form: FileFormat) -> None:
    """Bring the tables of a file to this version, and turn on the log."""
    connection.execute(
        "PRAGMA synchronous=EXTRA"
        # until WAL is on: the rollback journal of a new file must not reappear after a power loss
    )
    connection.execute("BEGIN")  # one view: another process may be creating the tables
    try:
        version = form.read_version(connection)
    finally:
        undo(connection)
    if version != form.version:
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = form.read_version(connection)
            if version != form.version:
                form.upgrade(connection, version)
                connection.execute(f"PRAGMA application_id={form.application}")
                connection.execute(f"PRAGMA user_version={form.version}")
            connection.execute("COMMIT")
        except BaseException:
            undo(connection)
            raise
    if connection.filename and ask(connection, "PRAGMA journal_mode=WAL") != "wal":
        raise StorageError(Reason.WAL_NOT_SUPPORTED)
    connection.execute("PRAGMA synchronous=FULL")


def ask(connection: apsw.Connection, query: str) -> object:
    """Return the one value that a query gives."""
    ((value,),) = connection.execute(query).fetchall()
    return value


def undo(connection: apsw.Connection) -> None:
    """Roll back an open transaction. Errors are ignored: the error before matters more."""
    import apsw

    with suppress(apsw.Error):
        if not connection.get_autocommit():
            connection.execute("ROLLBACK")
