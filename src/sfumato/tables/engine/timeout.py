"""Interrupt a query after a time-out, again and again until it ends: an engine forgets an interrupt
that comes before the query has begun.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from . import engine_refusals as refusals

_AGAIN = 0.01  # seconds from one interrupt to the next


def check_timeout(timeout: float | None) -> float | None:
    """Check that a time-out is a number of seconds that a clock can wait for."""
    if timeout is None:
        return None
    if (
        isinstance(timeout, bool)
        or not isinstance(timeout, int | float)
        or not 0 < timeout <= threading.TIMEOUT_MAX
    ):
        raise refusals.TIMEOUT_NOT_POSITIVE(timeout=timeout)
    return float(timeout)


@contextmanager
def deadline(seconds: float | None, interrupt: Callable[[], None]) -> Iterator[None]:
    """Interrupt the query inside after so many seconds, and raise TimeoutError without the engine's
    own message.
    """
    if seconds is None:
        yield
        return
    done, late = threading.Event(), threading.Event()

    def watch() -> None:
        if not done.wait(seconds):
            late.set()
            while not done.wait(_AGAIN):
                with suppress(Exception):
                    interrupt()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    except Exception:
        if late.is_set():
            raise TimeoutError("the engine was interrupted: the time was up") from None
        raise
    finally:
        done.set()
        watcher.join()
