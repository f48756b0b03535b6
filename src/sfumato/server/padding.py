"""Deadlines in classes, chosen from public facts, and replies that leave when their class says so.

*Class*     The least class that has room for what is declared: the owner's deadline for a dataset, or the rows that the table may have, times what the
            question asks to be computed. Nothing in it comes from data.
*Timer*     A reply waits in the event loop, which costs latency and no work. Answers, refusals by the ledger and failures of one class leave alike.
*Not*       constant time. What is claimed is what is measured: replies of a class cannot be told apart by when they come, at a stated number of pairs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

USUAL = 2**40
"""The rows of a table of which nothing is declared."""
ROWS_A_SECOND = 2_000_000
RESERVE = 0.05
"""Of a class: for storing the reply, after the worker has to be done."""


def deadline_class(classes: Sequence[float], *, declared: float | None, table_rows: int, parts: int) -> float:
    """The class of a question that asks for so many parts."""
    each = declared if declared is not None else classes[0] if table_rows >= USUAL else table_rows / ROWS_A_SECOND
    wanted = each if declared is not None else max(classes[0], each * max(1, parts) / 4)
    return next((one for one in classes if one >= wanted), classes[-1])


def worker_time(of_class: float) -> float:
    """How long a worker has, of a class."""
    return of_class - max(0.002, RESERVE * of_class)


async def until(moment: float) -> None:
    """Wait for a moment of the event loop's clock."""
    loop = asyncio.get_running_loop()
    while (left := moment - loop.time()) > 0:
        await asyncio.sleep(left)
