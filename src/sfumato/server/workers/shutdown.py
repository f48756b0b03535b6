"""The end of the service: what runs long is told as soon as a signal comes, not when the time to
finish has passed.

A process that is told to end waits for the requests under way, and at last for its threads. A look
at a long book would keep it for as long as it takes.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def told(ending: threading.Event) -> Iterator[None]:
    """Meanwhile the signals that end a process also set an event; what they did before they still
    do.
    """
    if (
        threading.current_thread() is not threading.main_thread()
    ):  # where no handler can be set: whoever runs the service there ends it by itself
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def tell(number: int, frame: FrameType | None) -> None:
        ending.set()
        previous = before[signal.Signals(number)]
        if callable(previous):
            previous(number, frame)

    for number, previous in before.items():
        if callable(previous):
            signal.signal(number, tell)
    try:
        yield
    finally:
        for number, previous in before.items():
            if signal.getsignal(number) is tell:
                signal.signal(number, previous)
