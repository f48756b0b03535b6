"""A limit on the processor time of planning, for services that plan on behalf of analysts.

*Set*       A service plans each question inside `limited(seconds)`. A notebook sets no limit, and
            `check` then does nothing.
*Checked*   Every step of planning whose number grows with the question calls `check`: each parsed
            node, each resolved expression, each column, each candidate of a search. A step between
            two checks takes well under 0.1 seconds, so planning ends at most so much after its
            limit.
*Kept*      Planning may catch a refusal and try something else. So `limited` checks again when the
            block ends: no result of a block that took too long is used.
*Processor* The clock counts the processor time of the thread, which other requests do not change.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from . import number_refusals as refusals


class _Limit(threading.local):
    end: float | None = None
    seconds: float = 0.0


_LIMIT = _Limit()


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Refuse to plan for more than so many seconds of this thread's processor time in the block."""
    before = _LIMIT.end, _LIMIT.seconds
    _LIMIT.end, _LIMIT.seconds = time.thread_time() + seconds, seconds
    try:
        try:
            yield
        except Exception:
            check()
            raise
        check()
    finally:
        _LIMIT.end, _LIMIT.seconds = before


def check() -> None:
    """Refuse to go on if the thread has used up its limit."""
    if _LIMIT.end is not None and time.thread_time() > _LIMIT.end:
        raise refusals.PLANNING_TOO_LONG(seconds=_LIMIT.seconds)
