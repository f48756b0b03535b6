"""Create and remove the directories that an engine spills to: only this user can enter them, and
none outlives its process for long.

*Locked*    Each directory has a file that its process holds locked. The operating system releases
            the lock when the process ends, in any way.
*Swept*     A directory whose lock nobody holds was left by a killed process: it is removed when the
            next process of this user creates one, and when a service starts or ends a worker.
*Clear*     Spilled data are not encrypted: DuckDB encrypts files only with an extension that it
            would have to load.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import weakref
from contextlib import suppress
from functools import cache
from pathlib import Path

PREFIX = "sfumato-"
LOCK = "lock"


class Spills:
    """A directory of mode 0700. `remove`, the garbage collector or the end of the interpreter
    removes it.
    """

    def __init__(self) -> None:
        _sweep_once()
        self.path = tempfile.mkdtemp(prefix=PREFIX)
        new = os.path.join(self.path, f"{LOCK}.new")
        lock = os.open(new, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rename(new, os.path.join(self.path, LOCK))  # locked before anybody looks for it
        self.remove = weakref.finalize(self, _remove, self.path, lock, os.getpid())


def sweep() -> None:
    """Remove the directories of processes that have ended."""
    with suppress(OSError):
        for directory in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            with suppress(OSError):
                about = directory.lstat()
                if stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid():
                    _sweep(directory)


@cache
def _sweep_once() -> None:
    """Remove, once per process, the directories of processes that have ended."""
    sweep()


def _sweep(directory: Path) -> None:
    lock = os.open(directory / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(directory, ignore_errors=True)
    finally:
        os.close(lock)


def _remove(directory: str, lock: int, pid: int) -> None:
    if os.getpid() == pid:  # a forked child leaves its parent's directory alone
        shutil.rmtree(directory, ignore_errors=True)
        os.close(lock)
