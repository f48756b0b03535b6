"""Busy work: from the charge of a question to a fixed time of its class, a worker keeps its
processors busy, however little it has to do.

*Worker*    A worker that is done early keeps working at the same priority until the fixed time: on
            a machine with one processor others get no more of it than before.
*Fillers*   One process per processor of the worker runs when nothing else does: while the worker
            waits for a disk or a database, or uses one thread of several. It has idle priority, and
            takes no time from the worker.
*Not*       the same instructions, caches or memory: the claim is what is measured.
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
"""The block that is hashed repeatedly: about a tenth of a millisecond, which delays no thread."""
_MOMENT = struct.Struct("d")


def work_until(moment: float) -> None:
    """Use the processor until a time of the monotonic clock."""
    while time.monotonic() < moment:
        hashlib.sha256(BLOCK)


class Fillers:
    """Processes that keep processors busy until a given time. They end with the process that
    started them.
    """

    def __init__(self, processors: Collection[int]) -> None:
        command = (sys.executable, "-P", "-m", "sfumato.server.workers.busy_work")
        quiet = subprocess.DEVNULL
        self.processes = [
            subprocess.Popen(
                [*command, str(processor)],
                stdin=subprocess.PIPE,
                stdout=quiet,
                stderr=quiet,
                bufsize=0,
            )
            for processor in processors
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
    """Keep one processor busy on request."""
    end_with_parent()  # if it has ended already, there is nothing to read
    os.sched_setaffinity(0, {int(processor)})
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    while len(packet := os.read(0, _MOMENT.size)) == _MOMENT.size:
        work_until(*_MOMENT.unpack(packet))


if __name__ == "__main__":
    main(sys.argv[1])
