"""Protects open storages against forks and against closed file descriptors.

*Fork*      SQLite's locks belong to a process, but a fork copies SQLite's record of them. A child
            would rely on locks that it does not hold, and after its parent closed the file it would
            write to a log that nobody reads. So no connection crosses a fork: before a fork this
            process waits for the transactions of its threads and closes its files, and both sides
            reopen them on the next use. If the fork happens during a transaction, the child may not
            use the file. Connections to a server are closed, too; a child may always open its
            own.
*Looking*   POSIX drops all locks of a process on a file as soon as the process closes any
            descriptor of it. So this process opens the file of an open storage in no other way.
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING

from .storage_errors import Reason, StorageError

if TYPE_CHECKING:
    from .sqlite_store import Store

Identity = tuple[int, int]
PATIENCE = 30.0  # seconds that a fork waits for a transaction of another thread
STORES: weakref.WeakSet[Store] = weakref.WeakSet()
CROSSED: set[Identity | None] = set()  # files of which this process inherited a connection
_INHERITED: list[object] = []  # such connections, kept: closing one would disturb the parent
_held: list[Store] = []
# held from before a fork until after it, so that no storage is added meanwhile
_forking = threading.RLock()
_making = threading.Lock()  # held while a new file has a descriptor that is not SQLite's


def register(store: Store) -> None:
    with _forking:
        STORES.add(store)


def identity(path: str) -> Identity | None:
    """Return device and inode of a file; None if it does not exist."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def create_private(path: str) -> None:
    """Create an empty file that only its owner may read, whatever the umask; SQLite gives its log
    the same permissions. An existing file stays as it is. Errors are left to the next open.
    """
    with (
        _making,
        suppress(OSError),
        # in turn: the descriptor is closed before any thread can open the file as a storage
    ):
        file = os.open(
            os.path.realpath(path), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600
        )
        try:
            os.fchmod(file, 0o600)
        finally:
            os.close(file)


def is_open_here(path: str) -> bool:
    """Whether this process has the file open as a storage."""
    file = identity(path)
    return file is not None and any(
        store._connection is not None and store._file == file for store in list(STORES)
    )


def check_not_inherited(path: str) -> None:
    """Raise an error for a file whose connection this process inherited by a fork."""
    if CROSSED and identity(path) in CROSSED:
        raise StorageError(Reason.FORKED_IN_TRANSACTION)


def _before() -> None:
    _forking.acquire()
    _held[:] = [store for store in list(STORES) if store._lock.acquire(timeout=PATIENCE)]
    for store in _held:
        with suppress(Exception):  # counts as in use if it cannot be closed
            store._close_before_fork()


def _in_parent() -> None:
    for store in _held:
        store._lock.release()
    _held.clear()
    _forking.release()


def _in_child() -> None:
    """In the child: keep inherited connections untouched, and use new locks."""
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
