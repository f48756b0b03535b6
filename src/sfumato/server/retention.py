"""Requests and their replies are kept for a number of days and then let go: a few at a time, when a
process starts and every hour.

Nothing of it depends on data: how much there is to do follows from when somebody asked. Several
processes may do so at once.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from ..errors import Refused
from .config import Config
from .request_store import State
from .tokens import DAY

EVERY = 3600.0  # seconds
BATCH = 100  # requests in one transaction, so that nobody waits long for it
PAUSE = 0.05  # seconds between two of them, for others


async def tidied(config: Config) -> None:
    """Now, and from time to time, until it is cancelled."""
    while True:
        with suppress(Refused):  # the records cannot be written now; there is a next time
            await let_go(config)
        await asyncio.sleep(EVERY)


async def let_go(config: Config) -> int:
    """Let go of all that is older than the configuration says; how many requests that were."""
    state, total = State(config.tokens), 0
    try:
        while found := await asyncio.to_thread(
            state.let_go, time.time() - config.keep_days * DAY, BATCH
        ):
            total += found
            await asyncio.sleep(PAUSE)
        return total
    finally:
        state.close()
