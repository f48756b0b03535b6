"""Being busy: from the charge of a question to a moment of its class a worker uses its processors
as if it had to do, whatever it has to do.

*Worker*    Who is done before its moment works on, at the same priority, until then: on a machine
            with one processor others get as much of it as before.
*Fillers*   One process for each of the worker's processors works when nothing else does there:
            while the worker waits for a disk or a database, or uses one thread where it has
            several. It runs at the priority of what is idle, and takes no time from the work.
*Not*       the same instructions, caches or memory: what is claimed is what is measured.
"""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
import sys
import time
from collections.abc import Collection

from .parent_watch import end_with_parent

BLOCK = bytes(1 << 16)
"""What is hashed again and again: a tenth of a millisecond or so, in which no other thread is kept
from anything.
"""
_MOMENT = struct.Struct("d")


def work_until(moment: float) -> None:
    """Use the processor until a moment of the monotonic clock."""
    while time.monotonic() < moment:
        hashlib.sha256(BLOCK)


class Fillers:
    """Processes that keep processors busy until a moment, when they are told to. They end with the
    process that started them.
    """

    def __init__(self, processors: Collection[int]) -> None:
        command = (sys.executable, "-P", "-m", "sfumato.server.workers.busy_work")
        quiet = subprocess.DEVNULL
        self.processes = [
            subprocess.Popen(
                [*command, str(one)], stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, bufsize=0
            )
            for one in processors
        ]

    def __call__(self, until: float) -> None:
        for process in self.processes:
            assert process.stdin is not None
            process.stdin.write(_MOMENT.pack(until))

    def close(self) -> None:
        for process in self.processes:
            assert process.stdin is not None
            process.stdin.close()
            process.kill()
            process.wait()


def main(processor: str) -> None:
    """Fill one processor."""
    end_with_parent()  # if it has ended already, there is nothing to read
    os.sched_setaffinity(0, {int(processor)})
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    while len(said := os.read(0, _MOMENT.size)) == _MOMENT.size:
        work_until(*_MOMENT.unpack(said))


if __name__ == "__main__":
    main(sys.argv[1])
