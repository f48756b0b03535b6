"""Disks that record what SQLite does to them, that fail when told to, and that forget what was not
synced when the power goes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import pytest

from sfumato.storage import sqlite_store

Step = tuple[Any, ...]
"""("write", file, offset, data), ("truncate", file, size), ("sync", file), ("delete", file, folder
synced), or ("said", what a user was told).
"""


class Disk(apsw.VFS):
    """The ordinary file system, with a look at every change before it happens; `before` may
    raise.
    """

    def __init__(self, name: str, before: Callable[[Step], None]) -> None:
        self.before = before
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: list[int]) -> _File:
        return _File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.before(("delete", Path(filename).name, bool(syncdir)))
        super().xDelete(filename, syncdir)


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        self.disk = disk
        self.file = Path(
            name.filename() if isinstance(name, apsw.URIFilename) else name or "temporary"
        ).name
        super().__init__("", name, flags)

    def xWrite(self, data: Any, offset: int) -> None:
        self.disk.before(("write", self.file, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        self.disk.before(("truncate", self.file, newsize))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        self.disk.before(("sync", self.file))
        super().xSync(flags)


@contextmanager
def disk(monkeypatch: pytest.MonkeyPatch, before: Callable[[Step], None]) -> Iterator[Disk]:
    """Ledgers opened inside use this disk."""
    recorder = Disk("recording", before)
    with monkeypatch.context() as patched:
        patched.setattr(sqlite_store, "VFS", "recording")
        try:
            yield recorder
        finally:
            recorder.before = lambda _: None
            recorder.unregister()


def _applied(content: bytes, changes: list[Step]) -> bytes:
    after = bytearray(content)
    for change in changes:
        if change[0] == "truncate":
            del after[change[2] :]
            continue
        _, _, offset, data = change
        after.extend(bytes(max(0, offset - len(after))))
        after[offset : offset + len(data)] = data
    return bytes(after)


@dataclass
class PowerLoss:
    """What a disk holds for certain, and what it may or may not hold yet."""

    sure: dict[str, bytes] = field(default_factory=dict)
    waiting: dict[str, list[Step]] = field(default_factory=dict)
    ghosts: dict[str, bytes] = field(
        default_factory=dict
    )  # deleted, in a folder that was not synced: may be there again
    named: set[str] = field(
        default_factory=set
    )  # files whose folder was synced after they were made

    def step(self, step: Step) -> None:
        kind, file = step[:2]
        if kind in ("write", "truncate"):
            self.waiting.setdefault(file, []).append(step)
        elif kind == "sync":
            self.sure[file] = _applied(self.sure.get(file, b""), self.waiting.pop(file, []))
            if file not in self.named and file.endswith(
                ("-journal", "-wal")
            ):  # SQLite syncs the folder with the first sync of a new log
                self.named.add(file)
                self.ghosts.clear()
        elif kind == "delete":
            gone = self.sure.pop(file, b"")
            self.waiting.pop(file, None)
            self.named.discard(file)
            self.ghosts = {} if step[2] else {**self.ghosts, file: gone}

    def states(self, chance: random.Random, count: int) -> Iterator[dict[str, bytes]]:
        """Disks that a power loss at this moment may leave: all that waits, none of it, or some of
        it, the last of that torn.
        """
        pending = [(file, n) for file, changes in self.waiting.items() for n in range(len(changes))]
        for turn in range(count if pending or self.ghosts else 1):
            surviving = set(
                pending
                if turn == 0
                else []
                if turn == 1
                else [change for change in pending if chance.random() < 0.5]
            )
            torn = chance.choice(sorted(surviving)) if turn > 2 and surviving else None
            files = dict(self.sure)
            for file, changes in self.waiting.items():
                here = [
                    _torn(c, chance) if (file, n) == torn else c
                    for n, c in enumerate(changes)
                    if (file, n) in surviving
                ]
                files[file] = _applied(files.get(file, b""), here)
            returned = {
                file: content
                for file, content in self.ghosts.items()
                if file not in files and chance.random() < 0.5
            }
            yield {**files, **returned}


def _torn(change: Step, chance: random.Random) -> Step:
    """A write of which only some sectors arrived."""
    if change[0] != "write":
        return change
    kind, file, offset, data = change
    return kind, file, offset, data[: 512 * chance.randrange(1 + len(data) // 512)]
