"""Check that a file can hold a storage: it has one name, is not a mount of its own, and locks on
its file system work.

*One name*  SQLite names the log after the path of the file. A file with two names (a hard link, or
            a single file mounted into a container) would have two logs, and each name could spend
            the whole budget of a ledger. A symbolic link counts as one name: SQLite follows it
            first.
*Beside*    While a storage is open, its log and the index of the log must stay the same files.
            SQLite keeps writing to a deleted log, which is lost with the process; with another
            index two processes do not see each other's locks.
*Locks*     The check locks a new file through two open descriptions. If both succeed, locks exclude
            nobody. File systems shared between machines are refused by their kind, because one
            machine cannot test the locks of another.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import tempfile
from contextlib import suppress

from .storage_errors import Reason, StorageError

FileStamps = tuple[tuple[int, ...] | None, ...]
SHARED = frozenset(
    {
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "ncpfs",
        "afs",
        "coda",
        "ceph",
        "lustre",
        "fuse.sshfs",
        "fuse.glusterfs",
        "fuse.s3fs",
        "fuse.rclone",
    }
)
"""File systems that several machines write to."""
_probed: set[int] = set()  # devices whose locks work
_TRY = (
    "import fcntl, os, sys\ntry:\n fcntl.lockf(os.open(sys.argv[1], os.O_RDWR), "
    "fcntl.LOCK_EX | fcntl.LOCK_NB)\nexcept OSError:\n sys.exit(3)"
)


def stamp_files(path: str, *log_files: str) -> FileStamps:
    """Return inode, device and number of names of a file and its log files; None for a missing
    file. Called before every charge.
    """
    try:
        return (os.stat(path)[1:4], *[os.stat(name)[1:4] for name in log_files])
    except OSError:
        return tuple([_stamp_file(name) for name in (path, *log_files)])


def _stamp_file(name: str) -> tuple[int, ...] | None:
    """Return inode, device and number of names of a file; None if it is missing."""
    try:
        return os.stat(name)[1:4]
    except OSError:
        return None


def explain_change(before: FileStamps, now: FileStamps) -> StorageError:
    """Return the error for an open storage whose files changed."""
    if now[0] is None or before[0] is None or now[0][:2] != before[0][:2]:
        return StorageError(Reason.FILE_MOVED)
    if now[0] != before[0]:
        return StorageError(Reason.SECOND_NAME)
    return StorageError(Reason.LOG_REPLACED)


def check_file(path: str) -> None:
    """Raise an error for a file that cannot hold a storage. For a new file, check its folder."""
    real = os.path.realpath(path)
    folder = os.path.dirname(real)
    here = stamp_files(real)[0]
    mount, parent = _mount(real), _mount(folder)
    if here is not None and (
        here[2] > 1
        or (mount != parent if None not in (mount, parent) else here[1] != os.stat(folder).st_dev)
    ):
        raise StorageError(Reason.SECOND_NAME)
    device = os.stat(folder).st_dev
    if device in _probed:
        return
    if parent is not None and _file_system(parent) in SHARED:
        raise StorageError(Reason.FILE_SYSTEM_SHARED)
    if not locks_hold(folder):
        raise StorageError(Reason.LOCKS_WITHOUT_EFFECT)
    _probed.add(device)


def locks_hold(folder: str) -> bool:
    """Whether a lock on a file excludes a second open description, as it must exclude a second
    process. True if no test file can be created: then there can be no log and no storage.
    """
    try:
        import fcntl
    except ImportError:  # Windows: its locks are part of opening a file
        return True
    try:
        first, path = tempfile.mkstemp(prefix=".sfumato-", dir=folder)
    except OSError:
        return True
    try:
        second = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.lockf(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = _is_locked_out(second)
            return (
                subprocess.run([sys.executable, "-I", "-c", _TRY, path], check=False).returncode
                == 3
                if held is None
                else held
            )
        except OSError:  # no locks at all
            return False
        finally:
            os.close(second)
    finally:
        os.close(first)
        with suppress(OSError):
            os.unlink(path)


def _is_locked_out(descriptor: int) -> bool | None:
    """Whether the system refuses a lock to this open description; None if it has no such locks, and
    another process has to try.
    """
    import fcntl

    if not hasattr(fcntl, "F_OFD_SETLK"):
        return None
    try:
        fcntl.fcntl(
            descriptor,
            fcntl.F_OFD_SETLK,
            struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0),
        )
    except BlockingIOError:
        return True
    except OSError:
        return None
    return False


def _mount(path: str) -> int | None:
    """Return the mount id of a path; None if the system does not tell. The descriptor cannot read,
    so closing it drops no lock.
    """
    if not hasattr(os, "O_PATH"):
        return None
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            with open(f"/proc/self/fdinfo/{descriptor}", encoding="ascii") as about:
                return next(
                    (int(line.split()[1]) for line in about if line.startswith("mnt_id:")), None
                )
        finally:
            os.close(descriptor)
    except OSError:
        return None


def _file_system(mount: int) -> str:
    """Return the kind of file system of a mount; empty if the system does not tell."""
    with (
        suppress(OSError),
        open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts,
    ):
        for line in mounts:
            before, _, after = line.partition(" - ")
            if before.split(" ", 1)[0] == str(mount):
                return after.split(" ", 1)[0]
    return ""
