"""Delete requests and replies older than `keep_days`, in small batches, at start and every hour.

None of it depends on data: the amount of work follows from when requests came. Several processes
may do it at once.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from ..errors import Refused
from .config import Config
from .request_store import RequestStore
from .tokens import DAY

EVERY = 3600.0  # seconds
BATCH = 100  # requests per transaction, so that others do not wait long
PAUSE = 0.05  # seconds between two transactions, for other writers


async def drop_old_hourly(config: Config) -> None:
    """Delete old requests now and every hour, until cancelled."""
    while True:
        with suppress(Refused):  # the records cannot be written now; there is a next time
            await drop_old(config)
        await asyncio.sleep(EVERY)


async def drop_old(config: Config) -> int:
    """Delete all requests older than `keep_days`. Returns their number."""
    state, total = RequestStore(config.tokens), 0
    try:
        while dropped := await asyncio.to_thread(
            state.drop_old, time.time() - config.keep_days * DAY, BATCH
        ):
            total += dropped
            await asyncio.sleep(PAUSE)
        return total
    finally:
        state.close()
