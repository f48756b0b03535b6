"""Answer a release request: one charge per key, and the same bytes for the same key.

*Begun*     The service records a request, with the digest of its question, before it charges. A
            retry with the same key finds the record.
*Done*      The service stores the reply durably before its first byte leaves. A retry gets these
            bytes.
*Lost*      If the process ended in between, a retry gets the answer stored in the ledger, of which
            no byte has left yet. Without one the key is void, and a new key is a new charge.
*Padded*    After the charge, when data may have been read, the reply leaves at the deadline of its
            class, counted from the charge. What ends before the charge is public. From the deadline
            on, by wall clock, every process tells the outcome under the key; until then the request
            counts as running.
*Charged*   After the charge no reply says that nothing was charged, and no key becomes free, unless
            the ledger itself refused the next charge.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import time
from contextlib import suppress
from typing import NamedTuple

from ..errors import Refused
from ..ledger import BudgetExceeded
from .datasets import Served
from .http import encode_replies, problems
from .http.problems import ProblemError, problem_of
from .http.request_models import Question
from .plan_views import PlanView, check_least_cost
from .request_store import ROW, Limited, RequestKey, StoredRequest
from .roles import Asker
from .service import CuratorService
from .workers.deadlines import reply_time, storing_time, wait_until, worker_time
from .workers.fair_turns import Full
from .workers.worker_pool import STORING, Message, WorkerRequest

PATIENCE = 30.0  # seconds to wait for a free worker
PREPARE = 10.0  # seconds that planning and charging may take, which are public
GRACE = 1.0  # further seconds until a request counts as lost


class RequestOutcome(NamedTuple):
    """The outcome of a request: bytes or a problem; whether it overran; whether its key is free
    again.
    """

    reply: bytes | problems.Problem
    overran: bool = False
    key_is_free: bool = False


async def answer_request(
    curator: CuratorService, served: Served, asker: Asker, question: Question, key: str, media: str
) -> bytes:
    """Return the reply to a release request in a media type."""
    canonical = question.canonical()
    digest = hashlib.sha256(canonical).hexdigest()
    request = RequestKey(served.name, asker.name, key)
    stored = await curator.look(curator.state.find, request, media)
    if stored is not None:
        return await _answer_again(curator, served, request, stored, question, digest, media)
    if await curator.look(
        curator.state.count_overruns, served.name, asker.name
    ) >= curator.config.overruns(served.name, asker.name):
        raise ProblemError(problems.OVERRUNS)
    planned = await curator.plans.plan(served, request.who, question, canonical)
    await curator.look(
        check_least_cost, planned, served, asker.name, curator.config.releases(served.name)
    )
    await asyncio.to_thread(curator.quota.check, request, planned.reply)
    await asyncio.to_thread(served.share, asker.name)
    return await _answer_new(curator, request, planned, question, digest, media)


async def _answer_new(
    curator: CuratorService,
    request: RequestKey,
    planned: PlanView,
    question: Question,
    digest: str,
    media: str,
    *,
    earlier: StoredRequest | None = None,
) -> bytes:
    """Take a worker, record the request, ask the worker, store the reply, wait for the deadline."""
    state, pool = curator.state, curator.pool
    try:
        curator.plans.count_replanning(request.who, planned)
        worker = await pool.take(PATIENCE, request.who)
    except Full:
        raise ProblemError(problems.WAITING) from None
    except (TimeoutError, RuntimeError, OSError, EOFError, ValueError):
        # none is free in time, or one ended while it began
        raise ProblemError(problems.BUSY) from None
    ended = RequestOutcome(problems.INTERNAL)
    try:
        end = time.time() + PREPARE + planned.deadline + STORING + GRACE
        limit = curator.config.overruns(request.dataset, request.who)
        begun = (
            (state.begin, request, digest, end, limit)
            if earlier is None
            else (state.take_over, request, earlier.until, end)
        )
        try:
            if not await asyncio.to_thread(*begun):
                raise ProblemError(problems.RUNNING)
        except Limited as limited:
            raise ProblemError(problems.OVERRUNS if limited.reached else problems.BUSY) from None
        sent = _message(request, question, media, planned, recall=earlier is not None)
        message, charged = await worker.ask(sent, PREPARE, worker_time(planned.deadline))
        leaves = 0.0 if charged is None else charged + reply_time(planned.deadline)
        # when it broke is about data: our own records are written at one moment
        if charged is not None and message.kind not in ("answer", "refused", "exceeded"):
            await wait_until(charged + worker_time(planned.deadline))
        try:
            ended = await _store_outcome(
                curator, request, question, message, media, leaves if charged is not None else None
            )
            # it was begun before, and may have been charged then: its key is found again
            if ended.key_is_free and earlier is not None:
                ended = RequestOutcome(problems.INTERNAL)
        # our own records cannot be written; under its key it is found in the ledger later, if it is
        # there
        except Refused:
            ended = RequestOutcome(problems.INTERNAL, overran=charged is not None)
        finally:
            await wait_until(leaves)
        if ended.key_is_free:
            with suppress(Refused):  # else the key is void, later
                await asyncio.to_thread(state.forget, request)
    finally:
        pool.give(worker, request.who, overran=ended.overran)
    if isinstance(ended.reply, bytes):
        return ended.reply
    raise ProblemError(ended.reply)


async def _store_outcome(
    curator: CuratorService,
    request: RequestKey,
    question: Question,
    message: Message,
    media: str,
    leaves: float | None,
) -> RequestOutcome:
    """Store the worker's reply, or that there will be none. After a charge it may be told from
    `leaves` on.
    """
    state, charged = curator.state, leaves is not None
    visible = 0.0 if leaves is None else time.time() + leaves - asyncio.get_running_loop().time()
    if message.kind == "answer":
        stored = await asyncio.to_thread(
            lambda: state.store(
                request, message.parts, visible=visible, entry=message.entry, sql=question.sql
            )
        )
        curator.quota.add(request, ROW + sum(map(len, stored.values())))
        return RequestOutcome(stored.get(media, problems.LOST))
    is_exceeded = message.kind == "exceeded"
    if is_exceeded or (message.kind == "refused" and not charged):
        # exceeded after a charge: the ledger refused the next one, and the learned limits are paid
        refusal = (BudgetExceeded if is_exceeded else Refused).restore(
            json.loads(message.parts["refusal"])
        )
        return RequestOutcome(problem_of(refusal), key_is_free=True)
    overran = charged and message.kind != "lost"
    await asyncio.to_thread(lambda: state.mark_lost(request, visible=visible, overran=overran))
    return RequestOutcome(
        problems.LOST if message.kind == "lost" else problems.DEADLINE, overran=overran
    )


async def _answer_again(
    curator: CuratorService,
    served: Served,
    request: RequestKey,
    stored: StoredRequest,
    question: Question,
    digest: str,
    media: str,
) -> bytes:
    """Answer a request whose key was used before."""
    if stored.digest != digest:
        raise ProblemError(problems.OTHER_BODY)
    if (stored.until if stored.state == "begun" else stored.visible) > time.time():
        raise ProblemError(problems.RUNNING)
    if stored.state == "done":
        return (
            stored.reply
            if stored.reply is not None
            else await asyncio.to_thread(_render_other_form, curator, request, media)
        )
    if stored.state == "lost":
        raise ProblemError(problems.LOST)
    canonical = question.canonical()
    planned = await curator.plans.plan(served, request.who, question, canonical)
    return await _answer_new(curator, request, planned, question, digest, media, earlier=stored)


def _render_other_form(curator: CuratorService, request: RequestKey, media: str) -> bytes:
    """Render a stored answer in another media type, and store it before it leaves."""
    stored = curator.state.find(request, encode_replies.JSON)
    if stored is None or stored.reply is None:  # it was let go just now
        raise ProblemError(problems.LOST)
    rendered = encode_replies.from_reply(stored.reply, media)
    curator.quota.check(request, len(rendered))
    return curator.state.store(request, {media: rendered})[media]


def _message(
    request: RequestKey, question: Question, media: str, planned: PlanView, *, recall: bool
) -> WorkerRequest:
    deadline, packed = planned.deadline, planned.packed
    stored = storing_time(deadline)
    # the engine is interrupted a little before that
    timeout = worker_time(worker_time(deadline) if stored is None else stored)
    busy = None if stored is None else worker_time(deadline)
    return {
        "dataset": request.dataset,
        "who": request.who,
        "question": question.as_sent(),
        "plan": None if packed is None else base64.b64encode(packed).decode("ascii"),
        "media": media,
        "timeout": timeout,
        "recall": recall,
        "held": stored,
        "busy": busy,
    }
