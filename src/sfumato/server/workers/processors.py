"""Which processors serve requests, and which read data.

*Apart*     Who serves shares no processor with who reads: how quickly a plan comes does not tell
            how much a release that is under way has to do.
*Cores*     Processors of one core stay on one side, where there are two cores or more.
*Quota*     A container that has the time of so many processors has so many of them. With fewer than
            two there is nothing to divide.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
QUOTAS = (
    ("/sys/fs/cgroup/cpu.max",),
    ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
)
"""Files that say a quota and its period in microseconds: of the second and of the first version of
control groups.
"""

_reading: tuple[int, ...] = ()


def divide(listening: int) -> None:
    """Keep this process, and what it starts, to the processors that serve; `reading` are the
    others. So many processes listen.
    """
    global _reading
    serving, reading = shares(cores(available()), listening)
    if reading:
        keep_to(serving)
        _reading = reading


def reading() -> tuple[int, ...]:
    """The processors of workers; none, where they were not divided."""
    return _reading


def shares(
    cores: Sequence[Sequence[int]], listening: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Processors that serve and that read. A quarter of the cores serves, or as many as processes
    listen, but at most half of them. One core is not divided.
    """
    if len(cores) == 1 and len(cores[0]) > 1:
        cores = [(one,) for one in cores[0]]  # two processors of one core are better than one
    if len(cores) < 2:
        return tuple(cores[0]), ()
    count = min(len(cores) // 2, max(1, listening, len(cores) // 4))
    return tuple(one for core in cores[:count] for one in core), tuple(
        one for core in cores[count:] for one in core
    )


def cores(processors: Collection[int]) -> list[tuple[int, ...]]:
    """Processors by the core that they belong to."""
    found: dict[str, tuple[int, ...]] = {}
    for one in sorted(processors):
        siblings = str(one)
        with suppress(OSError):
            siblings = Path(SIBLINGS.format(one)).read_text(encoding="ascii")
        found[siblings] = (*found.get(siblings, ()), one)
    return list(found.values())


def available() -> list[int]:
    """The processors that this process may use, as many of them as its quota is worth."""
    found = sorted(os.sched_getaffinity(0))
    quota = _quota()
    return found if quota is None else found[: max(1, int(quota))]


def keep_to(processors: Collection[int]) -> None:
    """Keep all threads of this process to these, and those that they start."""
    for thread in os.listdir("/proc/self/task"):
        with suppress(ProcessLookupError):
            os.sched_setaffinity(int(thread), processors)


def _quota() -> float | None:
    """The time of how many processors the control group may use; None: of all."""
    for files in QUOTAS:
        with suppress(OSError, ValueError):
            quota, period = " ".join(
                Path(file).read_text(encoding="ascii").strip() for file in files
            ).split()
            return int(quota) / int(period) if quota not in ("max", "-1") else None
    return None
