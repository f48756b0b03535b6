"""Deadlines in classes, chosen from public facts, and replies that leave when their class says so.

*Class*     The least class that has room for what is declared: the owner's deadline for a dataset,
            or the rows that the table may have, times what the question asks to be computed.
            Nothing in it comes from data.
*Stored*    An answer enters the ledger at a moment of its class, too, however soon it was made:
            entries have times, numbers and digests.
*Busy*      From the charge on a worker uses its processors until its time is over, whatever it
            found and whenever: see `busy`.
*Timer*     A reply waits in the event loop. Answers, refusals by the ledger and failures of one
            class leave alike.
*Not*       constant time. What is claimed is what is measured: replies of a class cannot be told
            apart by when they come, at a stated number of pairs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ...errors import Refused

ROWS_A_SECOND = 2_000_000
ROOM = 4
"""Owners leave so much room in a class: a question with so many times the ordinary work has the
longest class, where an ordinary one has it, too.
"""
ORDINARY_WORK = 1024
"""Operations on a row that an ordinary question has at most; one on a text counts 64, a step or an
aggregate 8 beside its expressions.
"""
STORING = 0.4, 0.5
"""Of a class, and at most so many seconds: what is left of it when an answer is stored in the
ledger. One that is not made by then is not stored. Then come commits, two of them, which on a busy
disk take milliseconds.
"""
RESERVE = 0.05, 0.2
"""Of a time, and at most so many seconds: to stop in, for who has to be done by then."""


def deadline_class(
    classes: Sequence[float],
    *,
    declared: float | None,
    table_rows: int,
    parts: int,
    row_work: int = 0,
) -> float:
    """The class of a question that asks for so many parts. A table of which no number of rows is
    declared may have very many: it has the longest class.

    A question with more work for each row than an ordinary one gets as much more time, and is
    refused where no class has it: else an analyst could ask a question that is ready in time only
    if somebody's rows are not there.
    """
    ordinary = min(
        declared if declared is not None else table_rows / ROWS_A_SECOND * max(1, parts) / 4,
        classes[-1],
    )
    least = min(ordinary, classes[-1] / ROOM)
    wanted = max(ordinary, least * row_work / ORDINARY_WORK)
    if wanted > classes[-1]:
        reason = (
            f"it takes {row_work:,} operations for each row, and the longest deadline here "
            f"has time for {int(ORDINARY_WORK * classes[-1] / least):,}"
        )
        raise Refused(
            "server.work",
            "this question",
            reason,
            "fewer text functions, or several questions; one operation on a text counts 64",
        )
    return next(one for one in classes if one >= wanted)


def padded(of_class: float) -> float:
    """How long after its charge a reply leaves, and can be had under its key."""
    return of_class


def held(of_class: float) -> float | None:
    """How long after its charge an answer is stored in the ledger; None: as soon as it is made."""
    part, most = STORING
    return of_class - min(part * of_class, most)


def worker_time(of_class: float) -> float:
    """How long a worker has, of a class."""
    part, most = RESERVE
    return of_class - max(0.002, min(part * of_class, most))


async def until(moment: float) -> None:
    """Wait for a moment of the event loop's clock."""
    loop = asyncio.get_running_loop()
    while (left := moment - loop.time()) > 0:
        await asyncio.sleep(left)
