"""What the operating system says of processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()


def state(pid: int) -> str:
    """R, S, D, Z …; nothing, if there is no such process."""
    try:
        return _stat(pid)[0]
    except OSError:
        return ""


def alive(pid: int) -> bool:
    return state(pid) not in ("", "Z", "X")


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                parents.setdefault(int(_stat(int(path.name))[1]), []).append(int(path.name))
            except OSError:
                continue
    pids, waiting = [], [pid]
    while waiting:
        more = parents.get(waiting.pop(), [])
        pids += more
        waiting += more
    return pids


def read_processor_demand(pid: int) -> float:
    """For how many seconds the first thread of a process has used a processor or waited for one
    that others used: the same on a quiet and on a busy machine.
    """
    run, waited, _ = Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()
    return (int(run) + int(waited)) / 1e9


def wait_for(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Whether something comes true in time."""
    end = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < end:
        time.sleep(0.01)
    return holds
