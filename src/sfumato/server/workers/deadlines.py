"""Deadline classes, chosen from public facts. Replies leave at the end of their class.

*Class*     The smallest class that fits the declaration: the owner's deadline for a dataset, or the
            declared rows of the table times the work of the question. Nothing in it depends on
            data.
*Stored*    An answer also enters the ledger at a fixed time of its class, however soon it was made:
            entries have times, numbers and digests.
*Busy*      From the charge on a worker keeps its processors busy until its time is over: see
            `busy_work`.
*Timer*     A reply waits in the event loop. Answers, refusals by the ledger and failures of one
            class leave alike.
*Not*       constant time. The claim is what is measured: replies of a class cannot be told apart by
            their arrival, at a stated number of pairs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from .. import server_refusals as refusals

ROWS_A_SECOND = 2_000_000
ROOM = 4
"""The margin that owners leave in a class: a question with so many times the ordinary work still
fits the longest class, even if an ordinary question has that class.
"""
ORDINARY_WORK = 1024
"""The most operations per row of an ordinary question. An operation on text counts 64, a step or an
aggregate 8 in addition to its expressions.
"""
STORING = 0.4, 0.5
"""Fraction of a class, and at most so many seconds: the time left when the ledger stores an answer.
An answer not made by then is not stored. Two commits follow, which take milliseconds on a busy
disk.
"""
RESERVE = 0.05, 0.2
"""Fraction of a time, and at most so many seconds: the margin for stopping before its end."""


def deadline_class(
    classes: Sequence[float],
    *,
    declared: float | None,
    table_rows: int,
    parts: int,
    row_work: int = 0,
) -> float:
    """Return the deadline class of a question with so many parts. A table without a declared number
    of rows has the longest class.

    A question with more work per row than an ordinary one gets as much more time, and is refused if
    no class has it. Otherwise an analyst could ask a question that is ready in time only if certain
    rows are absent.
    """
    ordinary = min(
        declared if declared is not None else table_rows / ROWS_A_SECOND * max(1, parts) / 4,
        classes[-1],
    )
    least = min(ordinary, classes[-1] / ROOM)
    needed = max(ordinary, least * row_work / ORDINARY_WORK)
    if needed > classes[-1]:
        raise refusals.WORK_TOO_LARGE(
            operations=row_work, most=int(ORDINARY_WORK * classes[-1] / least)
        )
    return next(seconds for seconds in classes if seconds >= needed)


def reply_time(of_class: float) -> float:
    """Return the seconds after the charge at which a reply leaves, and is visible under its key."""
    return of_class


def storing_time(of_class: float) -> float | None:
    """Return the seconds after the charge at which an answer is stored; None: at once."""
    part, most = STORING
    return of_class - min(part * of_class, most)


def worker_time(of_class: float) -> float:
    """Return the seconds that a worker has, of a class."""
    part, most = RESERVE
    return of_class - max(0.002, min(part * of_class, most))


async def wait_until(moment: float) -> None:
    """Wait until a time of the event loop's clock."""
    loop = asyncio.get_running_loop()
    while (left := moment - loop.time()) > 0:
        await asyncio.sleep(left)
