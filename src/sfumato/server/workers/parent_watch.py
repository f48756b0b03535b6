"""End a process with its parent: the operating system kills it when the parent is gone."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>


def end_with_parent(parent: int | None = None) -> None:
    """Ask the system to kill this process when the thread that started it ends. With `parent`, its
    process id, exit at once if the parent has ended already.
    """
    if sys.platform != "linux":
        return
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) != 0:
        raise OSError(ctypes.get_errno(), "the process cannot be told to end with its parent")
    if parent is not None and os.getppid() != parent:
        os._exit(1)
