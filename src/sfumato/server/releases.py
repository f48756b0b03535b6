"""From a question to stored bytes: one charge for each key, and the same bytes for the same key.

*Begun*     A request is written down with the digest of its question before the ledger is asked.
            Whoever comes again under the key finds it.
*Done*      The reply is stored, durably, before its first byte leaves. A retry gets these bytes.
*Lost*      If the process ended in between: an answer that the ledger stored is given, for no byte
            of it has left yet; where there is none, the key is void and a new one is a new charge.
*Padded*    Once it was charged, and data may have been read, a request leaves when its class says
            so, counted from the charge. What ends before that is public. How it ended is told under
            its key from that moment on, by the clock on the wall, in every process; until then it
            runs, for whoever asks.
*Charged*   From then on nothing says that nothing was charged, and no key is free again, unless the
            ledger itself refused what was to come.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from contextlib import suppress
from typing import Any, NamedTuple

from ..errors import Refused
from ..ledger import BudgetExceeded
from .datasets import Served
from .http import encode_replies, problems
from .http.problems import Stopped, problem_of
from .http.request_models import Question
from .plan_views import Planned, enough
from .request_store import ROW, Kept, Limited, Request
from .roles import Asker
from .service import Curator
from .workers.deadlines import held, padded, until, worker_time
from .workers.fair_turns import Full
from .workers.worker_pool import STORING, Said

PATIENCE = 30.0  # seconds to wait for a free worker
PREPARE = 10.0  # seconds that planning and charging may take, which are public
GRACE = 1.0  # seconds beyond all that until a request counts as lost


class End(NamedTuple):
    """How a request ended: bytes or a problem; whether it was an overrun; whether its key is free
    again.
    """

    told: bytes | problems.Problem
    overran: bool = False
    free: bool = False


async def released(
    curator: Curator, served: Served, asker: Asker, question: Question, key: str, media: str
) -> bytes:
    """The reply, in a form."""
    asked = question.canonical()
    digest = hashlib.sha256(asked).hexdigest()
    request = Request(served.name, asker.name, key)
    kept = await curator.look(curator.state.kept, request, media)
    if kept is not None:
        return await _again(curator, served, request, kept, question, digest, media)
    if await curator.look(curator.state.told, served.name, asker.name) >= curator.config.overruns(
        served.name, asker.name
    ):
        raise Stopped(problems.OVERRUNS)
    planned = await curator.plans.of(served, request.who, question, asked)
    await curator.look(enough, planned, served, asker.name, curator.config.releases(served.name))
    await asyncio.to_thread(curator.room.check, request, planned.reply)
    await asyncio.to_thread(served.share, asker.name)
    return await _answered(curator, request, planned, question, digest, media)


async def _answered(
    curator: Curator,
    request: Request,
    planned: Planned,
    question: Question,
    digest: str,
    media: str,
    *,
    kept: Kept | None = None,
) -> bytes:
    """Take a worker, write down that it was begun, ask, store, and wait for the deadline."""
    state, pool = curator.state, curator.pool
    try:
        curator.plans.again(request.who, planned)
        worker = await pool.take(PATIENCE, request.who)
    except Full:
        raise Stopped(problems.WAITING) from None
    except (
        TimeoutError,
        RuntimeError,
        OSError,
        EOFError,
        ValueError,
    ):  # none is free in time, or one ended while it began
        raise Stopped(problems.BUSY) from None
    ended = End(problems.INTERNAL)
    try:
        end = time.time() + PREPARE + planned.deadline + STORING + GRACE
        limit = curator.config.overruns(request.dataset, request.who)
        begun = (
            (state.begin, request, digest, end, limit)
            if kept is None
            else (state.again, request, kept.until, end)
        )
        try:
            if not await asyncio.to_thread(*begun):
                raise Stopped(problems.RUNNING)
        except Limited as limited:
            raise Stopped(problems.OVERRUNS if limited.reached else problems.BUSY) from None
        message = _message(request, question, media, planned.deadline, recall=kept is not None)
        said, charged = await worker.ask(message, PREPARE, worker_time(planned.deadline))
        leaves = 0.0 if charged is None else charged + padded(planned.deadline)
        if charged is not None and said.kind not in (
            "answer",
            "refused",
        ):  # when it broke is about data: our own records are written at one moment
            await until(charged + worker_time(planned.deadline))
        try:
            ended = await _settled(
                curator, request, said, media, leaves if charged is not None else None
            )
            if (
                ended.free and kept is not None
            ):  # it was begun before, and may have been charged then: its key is found again
                ended = End(problems.INTERNAL)
        # our own records cannot be written; under its key it is found in the ledger later, if it is
        # there
        except Refused:
            ended = End(problems.INTERNAL, overran=charged is not None)
        finally:
            await until(leaves)
        if ended.free:
            with suppress(Refused):  # else the key is void, later
                await asyncio.to_thread(state.forget, request)
    finally:
        pool.give(worker, request.who, overran=ended.overran)
    if isinstance(ended.told, bytes):
        return ended.told
    raise Stopped(ended.told)


async def _settled(
    curator: Curator, request: Request, said: Said, media: str, leaves: float | None
) -> End:
    """Store what the worker said: the reply, or that there will be none; to be told when it leaves,
    if it was charged.
    """
    state, charged = curator.state, leaves is not None
    visible = 0.0 if leaves is None else time.time() + leaves - asyncio.get_running_loop().time()
    if said.kind == "answer":
        stored = await asyncio.to_thread(
            lambda: state.store(request, said.parts, visible=visible, entry=said.entry)
        )
        curator.room.add(request, ROW + sum(map(len, stored.values())))
        return End(stored.get(media, problems.LOST))
    if said.kind == "refused":
        about: dict[str, Any] = json.loads(said.parts["refusal"])
        over = about.pop("over")
        if (
            over or not charged
            # charged, and the ledger refused what was to come: what was learned before the answer
            # is
            # paid for
        ):
            return End(problem_of((BudgetExceeded if over else Refused)(**about)), free=True)
    overran = charged and said.kind != "lost"
    await asyncio.to_thread(lambda: state.lose(request, visible=visible, overran=overran))
    return End(problems.LOST if said.kind == "lost" else problems.DEADLINE, overran=overran)


async def _again(
    curator: Curator,
    served: Served,
    request: Request,
    kept: Kept,
    question: Question,
    digest: str,
    media: str,
) -> bytes:
    """What is given to a request that was made before under this key."""
    if kept.digest != digest:
        raise Stopped(problems.OTHER_BODY)
    if (kept.until if kept.state == "begun" else kept.visible) > time.time():
        raise Stopped(problems.RUNNING)
    if kept.state == "done":
        return (
            kept.reply
            if kept.reply is not None
            else await asyncio.to_thread(_other_form, curator, request, media)
        )
    if kept.state == "lost":
        raise Stopped(problems.LOST)
    asked = question.canonical()
    planned = await curator.plans.of(served, request.who, question, asked)
    return await _answered(curator, request, planned, question, digest, media, kept=kept)


def _other_form(curator: Curator, request: Request, media: str) -> bytes:
    """The stored answer in a form that it was not asked for yet; stored before it is given, like
    the first.
    """
    stored = curator.state.kept(request, encode_replies.JSON)
    if stored is None or stored.reply is None:  # it was let go just now
        raise Stopped(problems.LOST)
    made = encode_replies.from_reply(stored.reply, media)
    curator.room.check(request, len(made))
    return curator.state.store(request, {media: made})[media]


def _message(
    request: Request, question: Question, media: str, deadline: float, *, recall: bool
) -> dict[str, Any]:
    asked = question.said()
    stored = held(deadline)
    timeout = worker_time(
        worker_time(deadline) if stored is None else stored
    )  # the engine is interrupted a little before that
    busy = None if stored is None else worker_time(deadline)
    return {
        "dataset": request.dataset,
        "who": request.who,
        "question": asked,
        "media": media,
        "timeout": timeout,
        "recall": recall,
        "held": stored,
        "busy": busy,
    }
