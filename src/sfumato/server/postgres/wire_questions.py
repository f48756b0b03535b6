"""WireQuestions of the wire: the same plans, charges, deadlines and stored answers as by HTTP.

*Key*       of a release is a digest of the question and the declarations. So a dashboard that asks
            the same again gets the stored answer, and a retry is not charged twice.
*Together*  Equal questions that come at once wait for one release.
*Cancelled* A statement that a client cancels goes on without it: its charge was made.
*Lost*      If the answer under a key was lost, the key tells so, and a new charge needs the
            analyst's word (`SET sfumato.key`). If the ledger has the answer paid for, the next key
            gives it for nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...errors import Failed, Refused
from ...guarantees.stored_guarantee import restore
from ..datasets import Served
from ..http.encode_replies import JSON
from ..http.problems import DEADLINE, Problem, ProblemError, problem_of
from ..http.request_models import Question, read
from ..plan_views import PlanView, is_paid, look_up_plan
from ..releases import answer_request
from ..request_store import RequestKey
from ..roles import ANALYST, Asker
from ..service import CuratorService
from . import wire_refusals as refusals
from .session_settings import read_within
from .wire_types import Parameter

MOST_KEYS = 40  # each serves for `keep_days`
PATIENCE = 30.0  # seconds to wait for the service when it is busy
POLL = 0.2
LOST = ("server.lost", "server.void")

JsonObject = dict[str, object]


@dataclass(frozen=True, slots=True)
class WireRelease:
    """A reply to a question: its table and what it cost; whether it was stored before."""

    content: JsonObject = field(repr=False)
    is_stored: bool


class WireQuestions:
    """Plans and releases for all sessions of a process."""

    def __init__(self, curator: CuratorService) -> None:
        self.curator = curator
        self._under_way: dict[RequestKey, asyncio.Task[bytes]] = {}
        self._declared: dict[str, str] = {}

    def dataset(self, asker: Asker, name: str) -> Served:
        """Return a dataset that an analyst may ask."""
        return self.curator.dataset(asker, name, ANALYST)

    async def plan(self, served: Served, asker: Asker, question: Question) -> PlanView:
        """Return the plan of a question. Reads no data, costs nothing."""
        return await self.curator.plans.plan(served, asker.name, question, question.canonical())

    async def explain(self, served: Served, asker: Asker, question: Question) -> JsonObject:
        """Return the reply of a plan, as by HTTP."""
        planned = await self.plan(served, asker, question)
        await asyncio.to_thread(served.share, asker.name)
        releases = self.curator.config.releases(served.name)
        reply = await self.curator.look(look_up_plan, planned, served, asker.name, releases)
        content: JsonObject = json.loads(reply)
        return content

    async def release(
        self, served: Served, asker: Asker, question: Question, suffix: str
    ) -> WireRelease:
        """Return the answer to a question: the stored one, or a new one, which is charged."""
        for turn in range(MOST_KEYS):
            key = self._key(served, question, suffix, turn)
            request = RequestKey(served.name, asker.name, key)
            try:
                return await self._release_once(served, asker, question, request)
            except ProblemError as stopped:
                if stopped.problem.code not in LOST:
                    raise
            planned = await self.plan(served, asker, question)
            if not await self.curator.look(is_paid, planned, served, asker.name):
                break
        raise ProblemError(Problem.of(refusals.NEW_CHARGE()))

    async def _release_once(
        self, served: Served, asker: Asker, question: Question, request: RequestKey
    ) -> WireRelease:
        end = time.monotonic() + self.curator.config.deadlines[-1] + PATIENCE
        while True:
            try:
                stored = await self.curator.look(self.curator.state.find, request, JSON)
                is_stored = stored is not None and stored.state == "done"
                reply = await self._join(served, asker, question, request)
                content: JsonObject = (
                    json.loads(reply)
                    if len(reply) < 2**18
                    else await asyncio.to_thread(json.loads, reply)
                )
                return WireRelease(content, is_stored)
            except Refused as refusal:
                problem = problem_of(refusal)
            except Failed:
                problem = DEADLINE
            except ProblemError as stopped:
                problem = stopped.problem
            if problem.code not in ("server.running", "server.busy") or time.monotonic() > end:
                raise ProblemError(problem)
            await asyncio.sleep(POLL)

    async def _join(
        self, served: Served, asker: Asker, question: Question, request: RequestKey
    ) -> bytes:
        """Wait for the release under this key; begin it if it is not under way in this process."""
        task = self._under_way.get(request)
        if task is None:
            task = asyncio.create_task(
                answer_request(self.curator, served, asker, question, request.key, JSON)
            )
            self._under_way[request] = task
            task.add_done_callback(lambda done: self._finish(request, done))
        return await asyncio.shield(task)

    async def finish(self) -> None:
        """Wait for the releases that are under way, so that their answers leave."""
        if self._under_way:
            await asyncio.wait(list(self._under_way.values()), timeout=PATIENCE)

    def _finish(self, request: RequestKey, done: asyncio.Task[bytes]) -> None:
        del self._under_way[request]
        if not done.cancelled():
            done.exception()  # marks it as retrieved; the client may have cancelled

    def _key(self, served: Served, question: Question, suffix: str, turn: int) -> str:
        declared = self._declared.get(served.name)
        if declared is None:
            texts = [declaration.to_toml() for declaration in served.declarations]
            declared = hashlib.sha256("\0".join(texts).encode()).hexdigest()
            self._declared[served.name] = declared
        parts = (question.canonical(), declared.encode(), suffix.encode(), str(turn).encode())
        digest = hashlib.sha256(b"\0".join(parts)).hexdigest()
        return f"postgres-{digest[:48]}"


def build_question(sql: str, values: Mapping[str, str], parameters: list[Parameter]) -> Question:
    """Build the question that a statement asks under some settings."""
    fields: JsonObject = {"sql": sql}
    if "epsilon" in values:
        fields["epsilon"] = values["epsilon"]
    elif "within" in values:
        fields["within"] = read_within(values["within"])
    else:
        raise refusals.AMOUNT_MISSING()
    fields |= {name: values[name] for name in ("delta", "confidence") if name in values}
    if parameters:
        fields["parameters"] = parameters
    return read(json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def cost_sentences(release: WireRelease) -> tuple[str, str]:
    """Return what a release cost and what is left, and how answers treat rows."""
    content = release.content
    rules = "; ".join(str(rule) for rule in _list(content.get("rules")))
    if release.is_stored:
        return "a stored answer: nothing was charged", rules
    cost, left = (
        restore(record).numbers_text if isinstance(record, dict) else "unknown"
        for record in (content.get("cost"), content.get("left"))
    )
    if content.get("recalled"):
        return f"an answer of {content['recalled']}, paid for before; {left} is left", rules
    return f"charged {cost}; {left} is left", rules


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
