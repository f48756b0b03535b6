"""Divide the processors between serving requests and reading data.

*Apart*     Serving and reading share no processor: the speed of a plan does not reveal how much
            work a running release has.
*Cores*     Processors of one core stay on one side if there are two cores or more.
*Quota*     A container with a quota of n processors counts as n. With fewer than two there is
            nothing to divide.
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
"""Files with a quota and its period in microseconds, for versions 2 and 1 of control groups."""

_reading: tuple[int, ...] = ()


def divide(listening: int) -> None:
    """Restrict this process and its children to the serving processors; `reading_processors`
    returns the others. `listening` processes serve.
    """
    global _reading
    serving, reading = split_cores(group_by_core(available()), listening)
    if reading:
        keep_to(serving)
        _reading = reading


def reading_processors() -> tuple[int, ...]:
    """Return the processors of workers; empty if the processors are not divided."""
    return _reading


def split_cores(
    cores: Sequence[Sequence[int]], listening: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Split the cores into serving and reading processors. A quarter of the cores serves, or one
    per listening process, but at most half. A single core is not divided.
    """
    if len(cores) == 1 and len(cores[0]) > 1:
        # two processors of one core are better than one
        cores = [(processor,) for processor in cores[0]]
    if len(cores) < 2:
        return tuple(cores[0]), ()
    count = min(len(cores) // 2, max(1, listening, len(cores) // 4))
    return tuple(processor for core in cores[:count] for processor in core), tuple(
        processor for core in cores[count:] for processor in core
    )


def group_by_core(processors: Collection[int]) -> list[tuple[int, ...]]:
    """Group processors by core."""
    groups: dict[str, tuple[int, ...]] = {}
    for processor in sorted(processors):
        siblings = str(processor)
        with suppress(OSError):
            siblings = Path(SIBLINGS.format(processor)).read_text(encoding="ascii")
        groups[siblings] = (*groups.get(siblings, ()), processor)
    return list(groups.values())


def available() -> list[int]:
    """Return the processors that this process may use, limited by its quota."""
    processors = sorted(os.sched_getaffinity(0))
    quota = _quota()
    return processors if quota is None else processors[: max(1, int(quota))]


def keep_to(processors: Collection[int]) -> None:
    """Restrict all threads of this process, and their children, to these processors."""
    for thread in os.listdir("/proc/self/task"):
        with suppress(ProcessLookupError):
            os.sched_setaffinity(int(thread), processors)


def _quota() -> float | None:
    """Return the processor quota of the control group; None: no quota."""
    for files in QUOTAS:
        with suppress(OSError, ValueError):
            quota, period = " ".join(
                Path(file).read_text(encoding="ascii").strip() for file in files
            ).split()
            return int(quota) / int(period) if quota not in ("max", "-1") else None
    return None
