"""A process that ends with its parent: the operating system kills it when the parent is gone,
whatever either of them was doing.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>


def end_with_parent(parent: int | None = None) -> None:
    """Let this process be killed when the thread that started it ends. `parent` is the process that
    it was started by, for callers that would not notice otherwise that it has ended already: they
    end at once.
    """
    if sys.platform != "linux":
        return
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) != 0:
        raise OSError(ctypes.get_errno(), "the process cannot be told to end with its parent")
    if parent is not None and os.getppid() != parent:
        os._exit(1)
