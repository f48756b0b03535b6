"""A process ends with its parent, in the middle of whatever it does."""

from __future__ import annotations

import os
import subprocess
import sys

from .processes import alive, wait_for

CHILD = (
    "from sfumato.server.workers.parent_watch import end_with_parent\nend_with_parent({parent})\n"
    "print('ready', flush=True)\nwhile True: pass"
)
PARENT = (
    "import os, subprocess, sys, time\nchild = subprocess.Popen([sys.executable, '-c', "
    "{child!r}])\nprint(child.pid, flush=True)\ntime.sleep(600)"
)


def test_a_busy_process_ends_when_its_parent_is_killed() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(child=CHILD.format(parent=""))],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    child, ready = int(parent.stdout.readline()), parent.stdout.readline()
    assert ready == "ready\n"
    assert alive(child)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert wait_for(lambda: not alive(child), 5)


def test_a_process_whose_parent_has_ended_already_ends_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD.format(parent=os.getpid() + 1)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (1, "")
