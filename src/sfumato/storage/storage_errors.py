"""Why a storage cannot be used. The owner of the storage turns the reason into a refusal."""

from __future__ import annotations

from enum import Enum, auto


class Reason(Enum):
    """Why the storage itself, before any error of the database, cannot be used."""

    FILE_MOVED = auto()
    SECOND_NAME = auto()
    LOG_REPLACED = auto()
    FILE_SYSTEM_SHARED = auto()
    LOCKS_WITHOUT_EFFECT = auto()
    FORKED_IN_TRANSACTION = auto()
    MEMORY_OF_OTHER_PROCESS = auto()
    HELD_BY_THREADS = auto()
    SQLITE_TOO_OLD = auto()
    FOREIGN_FILE = auto()
    FILE_NOT_WRITABLE = auto()
    WAL_NOT_SUPPORTED = auto()
    TRANSACTION_OPEN = auto()
    URL_NOT_PARSED = auto()


class Outcome(Enum):
    """What is certain about a transaction that raised an error."""

    NOT_WRITTEN = auto()
    NOT_CHANGED = auto()
    UNSURE = auto()  # the commit may have reached the disk


class StorageError(Exception):
    """The storage cannot be used. The text quotes no path and no address."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.name)
        self.reason = reason
