"""The pool of worker processes. Each answers one question at a time; a worker that misses its
deadline is killed and replaced.

A question holds its slot until its padded reply, so that the waiting time of others follows from
when questions came and from their classes, not from how long reading took. After an overrun the
slot rests for a fixed time, whatever broke; then a new process starts. An answer made in time may
still be stored during the rest; a worker without one is killed before the rest.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple, TypedDict

from ...tables.engine.spills import sweep
from ..config import Config
from .deadlines import wait_until
from .fair_turns import Turns
from .processors import reading_processors

START = 120.0  # seconds that a worker may take to open the data
STORING = 3.0  # seconds to store and send an answer that was made in time
REST = 2.0  # seconds that a slot rests after an overrun


class WorkerRequest(TypedDict):
    """A question to a worker, with its plan in base64; None if the worker has to plan. The times
    are seconds from the charge, None if they do not matter.
    """

    dataset: str
    who: str
    question: dict[str, object]
    plan: str | None
    media: str
    timeout: float
    recall: bool
    held: float | None
    busy: float | None


class Message(NamedTuple):
    """A message of a worker: answer, refused, exceeded (the budget), failed or lost; or late, if it
    sent nothing in time.
    `entry` is the charge of an answer.
    """

    kind: str
    parts: dict[str, bytes]
    entry: int | None = None


class Reply(NamedTuple):
    """The message of a worker, and when it charged the question; None if it did not."""

    message: Message
    charged: float | None


LATE = Message("late", {})
NEWS = ("charged", "made")


def command() -> tuple[str, ...]:
    """Return the command that starts a worker on its processors. It imports nothing from the
    working directory.
    """
    keep = (
        f"import os; os.sched_setaffinity(0, {reading_processors()}); "
        if reading_processors()
        else ""
    )
    return (
        sys.executable,
        "-P",
        "-c",
        f"{keep}from sfumato.server.workers.worker import main; main()",
    )


class Worker:
    """One worker process, and the pipe to it."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[Message] | None = None  # of what it says next
        self._late = False  # its reply is still due, but no request waits for it

    async def ready(self) -> None:
        """Start the process if it does not run."""
        if self._process is not None and self._process.returncode is None:
            return
        pipe = asyncio.subprocess.PIPE
        errors = None if os.environ.get("SFUMATO_DEBUG") == "1" else asyncio.subprocess.DEVNULL
        self._process = await asyncio.create_subprocess_exec(
            *command(), stdin=pipe, stdout=pipe, stderr=errors, start_new_session=True
        )
        try:
            await self._send(
                {
                    "text": self._config.text,
                    "folder": str(self._config.folder),
                    "processors": reading_processors(),
                }
            )
            async with asyncio.timeout(START):
                if (await self._next()).kind != "ready":
                    raise RuntimeError("the worker did not start")
        except BaseException:
            await self.end()
            raise

    async def ask(self, message: WorkerRequest, preparing: float, seconds: float) -> Reply:
        """Send a message; return the reply and the time of the charge. A worker is killed if it
        needs more than `preparing` seconds before the charge, or more than `seconds` after it. An
        answer made in time may arrive a little later: a slow disk says nothing about data.
        """
        charged: float | None = None
        is_made = False
        try:
            async with asyncio.timeout(preparing) as limit:
                await self._send(message)
                while (reply := await self._next()).kind in NEWS:
                    now = asyncio.get_running_loop().time()
                    if reply.kind == "made":
                        is_made = True
                        limit.reschedule(max(limit.when() or now, now + STORING))
                    elif charged is None:
                        charged = now
                        limit.reschedule(charged + seconds)
                return Reply(reply, charged)
        except TimeoutError:
            self._late = is_made
            if not self._late:
                await self.end()
            return Reply(LATE, charged)
        except (OSError, EOFError, ValueError):
            await self.end()
            return Reply(LATE, charged)
        except BaseException:  # cancelled: its reply belongs to no request
            await self.end()
            raise

    async def rest(self) -> None:
        """Rest after an overrun for a fixed time, whether the worker was late, broke or ended. Drop
        its messages, then kill it.
        """
        due = asyncio.get_running_loop().time() + REST
        if self._late:
            with suppress(TimeoutError, OSError, EOFError, ValueError):
                async with asyncio.timeout_at(due):
                    while (await self._next()).kind in NEWS:
                        pass
        await wait_until(due)
        await self.end()

    async def end(self) -> None:
        """Kill the process and wait until it is gone."""
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

    async def _send(self, message: Mapping[str, object]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        await self._process.stdin.drain()

    async def _next(self) -> Message:
        """Return the next message. A cancelled caller leaves the read running, so that no message
        is cut in two.
        """
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_message())
        message = await asyncio.shield(self._reading)
        self._reading = None
        return message

    async def _read_message(self) -> Message:
        assert self._process is not None
        assert self._process.stdout is not None
        head = json.loads(await self._process.stdout.readuntil())
        parts = [await self._process.stdout.readexactly(length) for length in head["lengths"]]
        return Message(
            head["kind"], dict(zip(head.get("names", ()), parts, strict=True)), head.get("entry")
        )


class Pool:
    """The workers of one process of the service."""

    def __init__(self, config: Config) -> None:
        self._workers = [Worker(config) for _ in range(config.children)]
        self._turns = Turns(self._workers, waiting=config.waiting_per_analyst)
        self._reviving: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Start all workers, before the first question comes."""
        await asyncio.gather(*(worker.ready() for worker in self._workers))

    async def take(self, seconds: float, who: str) -> Worker:
        """Return a ready worker when it is this analyst's turn. Raises TimeoutError if that takes
        too long, `Full` if too many of their requests wait.
        """
        worker = await self._turns.take(who, seconds)
        try:
            await worker.ready()
        except BaseException:
            self._turns.give(who, worker)
            raise
        return worker

    def give(self, worker: Worker, who: str, *, overran: bool = False) -> None:
        """Return a worker to its slot as soon as it is ready again."""
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
