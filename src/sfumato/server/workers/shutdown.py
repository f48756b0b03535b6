"""Shutdown: long reads learn of a signal as soon as it comes, not after the grace period.

A process that shuts down waits for running requests, and then for its threads. Reading a long book
would delay it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def set_on_signal(ending: threading.Event) -> Iterator[None]:
    """While open, the signals that end a process also set an event, before their earlier handlers
    run.
    """
    # no handler can be set there: the caller ends the service itself
    if threading.current_thread() is not threading.main_thread():
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
