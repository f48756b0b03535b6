"""The other end of worker processes: each answers one question at a time; one whose question was
not answered in time is ended, and followed by another.

A slot is held from the beginning of a question to its padded reply, so that how long others wait
follows from when questions came and from their classes, and not from how long data took to read.
After an overrun it is held for a rest that is always as long, whatever it was that broke; then
comes a new process. What was made in time and is only stored late may be stored in this rest; what
was not made in time is ended before it, so that nothing works on.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import suppress
from typing import Any, NamedTuple

from ...tables.engine.spills import sweep
from ..config import Config
from .deadlines import until
from .fair_turns import Turns
from .processors import reading

START = 120.0  # seconds that a worker may take to open the data
STORING = 3.0  # seconds that an answer which was made in time may take to be stored and written out
REST = 2.0  # seconds that a late worker is given to come to its end


class Said(NamedTuple):
    """What a worker said: answer, refused, failed or lost; or late, of one that said nothing in
    time. Of an answer: the entry that paid for it.
    """

    kind: str
    parts: dict[str, bytes]
    entry: int | None = None


class Heard(NamedTuple):
    """What was said, and when the question was charged; None where it was not."""

    said: Said
    charged: float | None


LATE = Said("late", {})
NEWS = ("charged", "made")


def command() -> tuple[str, ...]:
    """What starts a worker, on its own processors from the first. It imports nothing from the
    working directory.
    """
    keep = f"import os; os.sched_setaffinity(0, {reading()}); " if reading() else ""
    return (
        sys.executable,
        "-P",
        "-c",
        f"{keep}from sfumato.server.workers.worker import main; main()",
    )


class Worker:
    """One process."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[Said] | None = None  # of what it says next
        self._late = False  # it owes a reply that nobody waits for

    async def ready(self) -> None:
        """Start it, if it does not run."""
        if self._process is not None and self._process.returncode is None:
            return
        pipe = asyncio.subprocess.PIPE
        errors = None if os.environ.get("SFUMATO_DEBUG") == "1" else asyncio.subprocess.DEVNULL
        self._process = await asyncio.create_subprocess_exec(
            *command(), stdin=pipe, stdout=pipe, stderr=errors, start_new_session=True
        )
        try:
            await self._tell(
                {
                    "text": self._config.text,
                    "folder": str(self._config.folder),
                    "processors": reading(),
                }
            )
            async with asyncio.timeout(START):
                if (await self._next()).kind != "ready":
                    raise RuntimeError("the worker did not start")
        except BaseException:
            await self.end()
            raise

    async def ask(self, message: dict[str, Any], preparing: float, seconds: float) -> Heard:
        """What it says to a message, and when it had charged. One that takes longer to prepare, or
        whose answer takes longer, from the charge on, to be made, is ended. What was made in time
        may come a little later: a slow disk says nothing about data.
        """
        charged: float | None = None
        made = False
        try:
            async with asyncio.timeout(preparing) as limit:
                await self._tell(message)
                while (said := await self._next()).kind in NEWS:
                    now = asyncio.get_running_loop().time()
                    if said.kind == "made":
                        made = True
                        limit.reschedule(max(limit.when() or now, now + STORING))
                    elif charged is None:
                        charged = now
                        limit.reschedule(charged + seconds)
                return Heard(said, charged)
        except TimeoutError:
            self._late = made
            if not self._late:
                await self.end()
            return Heard(LATE, charged)
        except (OSError, EOFError, ValueError):
            await self.end()
            return Heard(LATE, charged)
        except BaseException:  # cancelled: what it would say belongs to nobody
            await self.end()
            raise

    async def rest(self) -> None:
        """After an overrun: a while to come to its end, the same whether it was late, broke or
        ended by itself. What it says is for nobody. Then its end.
        """
        due = asyncio.get_running_loop().time() + REST
        if self._late:
            with suppress(TimeoutError, OSError, EOFError, ValueError):
                async with asyncio.timeout_at(due):
                    while (await self._next()).kind in NEWS:
                        pass
        await until(due)
        await self.end()

    async def end(self) -> None:
        """End it, and wait until it is gone."""
        process, self._process = self._process, None
        reading, self._reading = self._reading, None
        self._late = False
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        if reading is not None:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _tell(self, message: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        await self._process.stdin.drain()

    async def _next(self) -> Said:
        """What it says next. Whoever stops waiting leaves the reading under way, so that no message
        is cut in two.
        """
        if self._reading is None:
            self._reading = asyncio.create_task(self._heard())
        said = await asyncio.shield(self._reading)
        self._reading = None
        return said

    async def _heard(self) -> Said:
        assert self._process is not None
        assert self._process.stdout is not None
        head = json.loads(await self._process.stdout.readuntil())
        parts = [await self._process.stdout.readexactly(length) for length in head["lengths"]]
        return Said(
            head["kind"], dict(zip(head.get("names", ()), parts, strict=True)), head.get("entry")
        )


class Pool:
    """The workers of a process of the service."""

    def __init__(self, config: Config) -> None:
        self._workers = [Worker(config) for _ in range(config.children)]
        self._turns = Turns(self._workers, waiting=config.waiting_per_analyst)
        self._reviving: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Every worker, before the first question comes."""
        await asyncio.gather(*(worker.ready() for worker in self._workers))

    async def take(self, seconds: float, who: str) -> Worker:
        """A worker that is ready, when it is the turn of this name; TimeoutError where that is not
        in time, `Full` where too many requests of the name wait.
        """
        worker = await self._turns.take(who, seconds)
        try:
            await worker.ready()
        except BaseException:
            self._turns.give(who, worker)
            raise
        return worker

    def give(self, worker: Worker, who: str, *, overran: bool = False) -> None:
        """Back into its slot, as soon as it is ready again."""
        self._turns.left(who)
        task = asyncio.get_running_loop().create_task(self._revive(worker, overran=overran))
        self._reviving.add(task)
        task.add_done_callback(self._reviving.discard)

    async def stop(self) -> None:
        reviving = list(self._reviving)
        for task in reviving:
            task.cancel()
        await asyncio.gather(*reviving, return_exceptions=True)
        await asyncio.gather(*(worker.end() for worker in self._workers))
        await asyncio.to_thread(sweep)  # what they have left on disk

    async def _revive(self, worker: Worker, *, overran: bool) -> None:
        with suppress(Exception):  # it is tried again when it is needed
            if overran:
                await worker.rest()
            await worker.ready()
        self._turns.add(worker)
