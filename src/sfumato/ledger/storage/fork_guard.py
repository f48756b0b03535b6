"""The books that this process has open, and what becomes of them when it forks.

*Fork*      SQLite's locks belong to a process, and its record of them is copied by a fork: a child
            would believe in locks that it does not hold, and once its parent has closed the book it
            would write to a log that nobody reads any more. So no connection crosses a fork: before
            one, this process waits for the transactions of its threads and closes its books, which
            both sides open again when they next need them. Where that cannot be, because the fork
            is in the middle of a transaction, the child is refused the book.
            A connection to a server is closed in the same way; there a child may always open one of
            its own.
*Looking*   POSIX drops all locks of a process on a file as soon as the process closes any
            descriptor of it. So a file that is open as a book here is not opened otherwise.
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ...errors import Refused

if TYPE_CHECKING:
    from .sqlite_store import Store

Identity = tuple[int, int]
PATIENCE = 30.0  # seconds to wait for a thread's transaction before a fork
STORES: weakref.WeakSet[Store] = weakref.WeakSet()
CROSSED: set[Identity | None] = set()  # files of which this process inherited a connection
_INHERITED: list[Any] = []  # such connections: to close one would disturb the parent's
_held: list[Store] = []
_forking = (
    threading.RLock()
)  # held from before a fork until after it, so that no book is added meanwhile
_making = threading.Lock()  # held while a new file has a descriptor that is not SQLite's


def register(store: Store) -> None:
    with _forking:
        STORES.add(store)


def identity(path: str) -> Identity | None:
    """Which file it is; None where there is none any more."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def make(path: str) -> None:
    """Make a file that is not there yet: empty, and for its owner alone, whatever the umask says;
    SQLite gives what it puts beside a file the same permissions. One that is there stays as it is.
    Whoever opens it next says what is wrong, if something is.
    """
    with (
        _making,
        suppress(OSError),
        # one after the other: the descriptor is closed before any thread can have the file open as
        # a
        # book
    ):
        file = os.open(
            os.path.realpath(path), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600
        )
        try:
            os.fchmod(file, 0o600)
        finally:
            os.close(file)


def open_here(path: str) -> bool:
    """Whether this process has the file open as a book."""
    file = identity(path)
    return file is not None and any(
        store._connection is not None and store._file == file for store in list(STORES)
    )


def not_inherited(path: str, name: str) -> None:
    """Refuse a file that was in use here when this process was made."""
    if CROSSED and identity(path) in CROSSED:
        reason = (
            "the process was forked in the middle of a transaction on this book; nothing was "
            "accepted, no data was read"
        )
        raise Refused(
            "ledger.fork",
            name,
            reason,
            "a process started anew: multiprocessing.get_context('spawn')",
        )


def _before() -> None:
    _forking.acquire()
    _held[:] = [store for store in list(STORES) if store._lock.acquire(timeout=PATIENCE)]
    for store in _held:
        with suppress(Exception):  # what cannot be closed counts as in use
            store._part()


def _in_parent() -> None:
    for store in _held:
        store._lock.release()
    _held.clear()
    _forking.release()


def _in_child() -> None:
    """Keep what was inherited after all, untouched, and start anew."""
    global _forking, _making
    waited, _forking, _making = set(_held), threading.RLock(), threading.Lock()
    _held.clear()
    for store in list(STORES):
        if store.path is not None and (store._connection is not None or store not in waited):
            CROSSED.add(store._file or identity(str(store.path)))
        if store._connection is not None:
            _INHERITED.append(store._connection)
        store._lock, store._connection, store._inherited = threading.RLock(), None, True


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
