"""From a question to stored bytes: one charge for each key, and the same bytes for the same key.

*Begun*     A request is written down with the digest of its question before the ledger is asked. Whoever comes again under the key finds it.
*Done*      The reply is stored, durably, before its first byte leaves. A retry gets these bytes.
*Lost*      If the process ended in between: an answer that the ledger stored is given, for no byte of it has left yet; where there is none, the key is void
            and a new one is a new charge.
*Padded*    Once it was charged, and data may have been read, a request leaves when its class says so, counted from the charge. What ends before that is public.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from typing import Any

from ..errors import Refused
from ..ledger import BudgetExceeded
from . import problems, replies
from .curator import Curator
from .datasets import Served
from .padding import until, worker_time
from .plans import Planned
from .pool import Said
from .problems import Stopped, problem_of
from .questions import Question
from .roles import Asker
from .state import Kept, Request

PATIENCE = 30.0  # seconds to wait for a free worker
PREPARE = 10.0  # seconds that planning and charging may take, which are public
GRACE = 2.0  # seconds beyond all that until a request counts as lost


async def released(curator: Curator, served: Served, asker: Asker, question: Question, key: str, media: str) -> bytes:
    """The reply, in a form."""
    asked = question.canonical()
    digest = hashlib.sha256(asked).hexdigest()
    request = Request(served.name, asker.name, key)
    kept = await curator.look(curator.state.kept, request, media)
    if kept is not None:
        return await _again(curator, served, request, kept, question, digest, media)
    if (await curator.look(curator.state.overruns, served.name)).get(asker.name, 0) >= max(1, curator.config.overruns_per_analyst):
        raise Stopped(problems.OVERRUNS)
    planned = await curator.plans.of(served, request.who, question, asked)
    await asyncio.to_thread(served.share, asker.name)
    return await _answered(curator, request, planned, question, digest, media)


async def _answered(curator: Curator, request: Request, planned: Planned, question: Question, digest: str, media: str, *, kept: Kept | None = None) -> bytes:
    """Take a worker, write down that it was begun, ask, store, and wait for the deadline."""
    state, pool = curator.state, curator.pool
    try:
        worker = await pool.take(PATIENCE)
    except (TimeoutError, RuntimeError, OSError):
        raise Stopped(problems.BUSY) from None
    try:
        end = time.time() + PREPARE + planned.deadline + GRACE
        begun = (state.begin, request, digest, end) if kept is None else (state.again, request, kept.until, end)
        if not await asyncio.to_thread(*begun):
            raise Stopped(problems.RUNNING)
        message = _message(request, question, media, planned.deadline, recall=kept is not None)
        said, charged = await worker.ask(message, PREPARE, worker_time(planned.deadline))
        try:
            ended = await _settled(curator, request, said, media, charged=charged is not None)
        finally:
            if charged is not None:
                await until(charged + planned.deadline)
    finally:
        pool.give(worker)
    if isinstance(ended, bytes):
        return ended
    raise Stopped(ended)


async def _settled(curator: Curator, request: Request, said: Said, media: str, *, charged: bool) -> bytes | problems.Problem:
    """Store what the worker said: the reply, or that there will be none."""
    state = curator.state
    match said.kind:
        case "answer":
            await asyncio.to_thread(state.store, request, said.parts)
            return said.parts[media]
        case "refused":
            await asyncio.to_thread(state.forget, request)
            about: dict[str, Any] = json.loads(said.parts["refusal"])
            kind = BudgetExceeded if about.pop("over") else Refused
            return problem_of(kind(**about))
        case "lost":
            await asyncio.to_thread(state.lose, request)
            return problems.LOST
    await asyncio.to_thread(state.lose, request)
    if charged:
        await asyncio.to_thread(state.overran, request.dataset, request.who)
    return problems.DEADLINE


async def _again(curator: Curator, served: Served, request: Request, kept: Kept, question: Question, digest: str, media: str) -> bytes:
    """What is given to a request that was made before under this key."""
    if kept.digest != digest:
        raise Stopped(problems.OTHER_BODY)
    if kept.state == "done":
        return kept.reply if kept.reply is not None else await asyncio.to_thread(_other_form, curator, request, media)
    if kept.state == "lost":
        raise Stopped(problems.LOST)
    if kept.until > time.time():
        raise Stopped(problems.RUNNING)
    asked = question.canonical()
    planned = await curator.plans.of(served, request.who, question, asked)
    return await _answered(curator, request, planned, question, digest, media, kept=kept)


def _other_form(curator: Curator, request: Request, media: str) -> bytes:
    """The stored answer in a form that it was not asked for yet; stored before it is given, like the first."""
    stored = curator.state.kept(request, replies.JSON)
    assert stored is not None
    assert stored.reply is not None
    curator.state.store(request, {media: replies.from_reply(stored.reply, media)})
    found = curator.state.kept(request, media)
    assert found is not None
    assert found.reply is not None
    return found.reply


def _message(request: Request, question: Question, media: str, deadline: float, *, recall: bool) -> dict[str, Any]:
    asked = question.said()
    timeout = worker_time(worker_time(deadline))  # the engine is interrupted a little before the worker would be ended
    return {"dataset": request.dataset, "who": request.who, "question": asked, "media": media, "timeout": timeout, "recall": recall}
