"""Directories for what an engine spills to disk: only this user can enter them, and none outlives
its process for long.

*Locked*    Each has a file that its process holds locked. The operating system ends a lock with its
            process, however that ended.
*Swept*     A directory whose lock nobody holds was left by a process that was killed: it is removed
            when the next process of this user makes one, and when a service starts or ends a
            worker.
*Clear*     What is spilled is not encrypted: DuckDB writes encrypted files only with an extension
            that it would have to load.
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
    """A directory of mode 0700. It is removed by `remove`, when this is no longer used, and when
    the interpreter ends.
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
        for found in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            with suppress(OSError):
                about = found.lstat()
                if stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid():
                    _sweep(found)


@cache
def _sweep_once() -> None:
    """Of what processes left that ended before this one began."""
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
