"""The worker process: it opens the data, charges the ledger, reads, perturbs, and returns finished
bytes. Only its parent talks to it, and gives it no tokens. It runs as the same user: nothing keeps
it from the network or from files, except that its code does not use them.

*Limits*    The operating system bounds its memory, and the engine spills to disk before that. Its
            parent bounds its time, and ends it.
*Speaks*    JSON lines in; out, a line with the lengths of the parts that follow. It ends with its
            parent, even in the middle of a question.
*Steady*    After the charge it writes to the ledger at times that follow from the deadline class,
            not from how long reading took.
*Busy*      From the charge to the end of its time it keeps its processors busy, with as many
            threads as the engine has, whatever it read.
*Silent*    Any failure after data was read sends one constant word. Nothing is printed.
"""

from __future__ import annotations

import base64
import gc
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ...answers.answer import Answer
from ...errors import Failed, Refused
from ...ledger import BudgetExceeded, Ledger, Receipt, book_queries
from ...ledger.ledger_refusals import UNSURE
from ...ledger.pricing import Priced
from ...release import question_key as name_of
from ...session import Database, Table, protect
from ...session.request import PlanAttempt, Request
from ...session.share_payments import has_unpaid, pay_lessons_and_replan
from ...tables.engine.duckdb_engine import limit_engines
from ...tables.plan.query_plan import Plan
from .. import server_refusals as refusals
from ..config import DatasetConfig, read
from ..datasets import protect_dataset, stored_for
from ..http import encode_replies
from ..http.request_models import Question
from .busy_work import Fillers, work_until
from .handed_plan import unpack
from .parent_watch import end_with_parent
from .processors import keep_to

if TYPE_CHECKING:
    from .worker_pool import WorkerRequest

READY = b'{"kind":"ready","lengths":[]}\n'
FAILED = b'{"kind":"failed","lengths":[]}\n'
LOST = b'{"kind":"lost","lengths":[]}\n'
CHARGED = b'{"kind":"charged","lengths":[]}\n'
"""Sent after the first charge of a question, before data is read: everything before it, and its
time, follows from public facts.
"""
ABOUT_TO_STORE = b'{"kind":"made","lengths":[]}\n'
"""Sent when the worker is about to store the answer, at its fixed time: what follows concerns only
released numbers, and takes a time that follows from them alone.
"""
MOST_BYTES = 2**27
"""The largest reply: the process that sends it has other work."""
ENGINE = 1 / 2
"""The part of a worker's memory that the engine may use before it spills. The rest is for Python,
Arrow, and what the engine does not count.
"""
COLLECT = 32
"""Questions between two garbage collections: a number, so that it does not depend on data."""
INVENTED = (
    (
        "SELECT k, COUNT(*) AS n, AVG(x) AS m, SUM(x) AS s, STDDEV(x) AS d FROM warm GROUP "
        "BY k ORDER BY n DESC LIMIT 5"
    ),
    "SELECT p, COUNT(*) AS n, COUNT(DISTINCT who) AS u FROM warm WHERE x > 1 GROUP BY p",
    "SELECT MEDIAN(x) AS q, COUNT(DISTINCT p) AS c FROM warm",
)


class PacedLedger(Ledger):
    """A ledger that announces charges, and stores answers at fixed times after the charge, so that
    ledger timestamps do not reveal how long reading took.
    """

    announce: Callable[[bytes], None] = staticmethod(lambda _: None)
    # keep processors busy until a time
    fill: Callable[[float], None] = staticmethod(lambda _: None)
    # seconds from the first charge of a question until its answer is stored
    _held: float | None = None
    _busy: float | None = None  # seconds from the first charge to the end of the worker's time
    _charges = 1  # of the question; learned limits are stored at even times before the answer
    _charged = 0
    _stored = 0
    _begun = 0.0

    def pace(self, held: float | None = None, busy: float | None = None, charges: int = 1) -> None:
        """Set the times for the next question."""
        self._held = held
        self._busy = busy
        self._charges = charges
        self._charged = 0
        self._stored = 0

    @property
    def ends(self) -> float:
        """Until when the worker stays busy; 0 if it charged nothing for the question."""
        return self._begun + self._busy if self._charged and self._busy is not None else 0.0

    def charge(
        self,
        mechanisms: Priced | Sequence[Priced],
        memo: str = "",
        key: str | None = None,
        *,
        share: str | None = None,
    ) -> Receipt:
        """Charge, then announce it and start the fillers."""
        receipt = super().charge(mechanisms, memo, key, share=share)
        if not self._charged:
            self._begun = time.monotonic()
        self._charged += 1
        if self._charged == 1 and self._busy is not None:
            self.fill(self.ends)
        self.announce(CHARGED)
        return receipt

    def remember(self, receipt: Receipt, question: str, answer: bytes) -> None:
        """Store an answer at its fixed time. A later answer fails, so that the next entry does not
        reveal how late it was.
        """
        if self._held is not None and self._stored < self._charged:
            moment = self._begun + self._held * self._charged / self._charges
            if moment < time.monotonic():
                raise Failed
            work_until(moment)
            self._stored = self._charged
            if self._charged >= self._charges:
                with suppress(OSError):
                    # the parent has gone: who asks again finds what is stored now
                    self.announce(ABOUT_TO_STORE)
        super().remember(receipt, question, answer)


def main() -> None:
    """Serve the parent process until it ends."""
    end_with_parent()  # if it has ended already, there is nothing to read
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    quiet = os.open(os.devnull, os.O_RDWR)
    debug = os.environ.get("SFUMATO_DEBUG") == "1"
    # nothing that a library prints goes anywhere
    for descriptor, to in ((0, quiet), (1, 2 if debug else quiet), (2, 2 if debug else quiet)):
        os.dup2(to, descriptor)
    with suppress(KeyboardInterrupt, BrokenPipeError):
        serve(source, sink)


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Read the configuration, open every dataset, then answer questions one by one."""
    begun = json.loads(source.readline())
    config = read(begun["text"], Path(begun["folder"]))
    threads, fill = occupy(begun.get("processors", ()))
    with limit_engines(threads=threads, memory=int(ENGINE * config.memory)):
        tables = {
            name: open_dataset(about, lambda news: _send(sink, news), fill)
            for name, about in config.datasets.items()
        }
        warm()
    limit(config.memory)
    gc.freeze()
    gc.disable()  # a collection in the middle of a question takes longer than the question
    _send(sink, READY)
    for place, line in enumerate(source, 1):
        message = json.loads(line)
        reply, ledger = answer_question(tables, message), tables[message["dataset"]].ledger
        assert isinstance(ledger, PacedLedger)
        if reply == FAILED:  # when it broke is about data
            work_until(ledger.ends)
        _send(sink, reply)
        if place % COLLECT == 0:
            gc.collect()
        work_until(ledger.ends)


def occupy(processors: Sequence[int]) -> tuple[int, Callable[[float], None]]:
    """Restrict this process to the given processors, if any. Returns the number of engine threads,
    and a function that keeps the processors busy.
    """
    import pyarrow as pa

    if not processors:
        return 1, lambda _: None
    keep_to(processors)
    pa.set_cpu_count(len(processors))
    return len(processors), Fillers(processors)


def open_dataset(
    config: DatasetConfig,
    announce: Callable[[bytes], None],
    fill: Callable[[float], None] = PacedLedger.fill,
) -> Table | Database:
    """Open a dataset on its ledger, which the parent has created."""
    ledger = PacedLedger.open(config.ledger, dataset=config.declared["name"])
    ledger.announce, ledger.fill = announce, fill
    return protect_dataset(config, ledger=ledger)


def limit(memory: int) -> None:
    """Limit the memory that this process may take from now on. An allocation beyond fails, and with
    it the answer.
    """
    import resource

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    needed = pages * resource.getpagesize() + memory
    allowed = needed if most == resource.RLIM_INFINITY else min(needed, most)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))


def warm() -> None:
    """Answer invented questions about invented rows, so that the first real question is not slowed
    by first-use loading.
    """
    import pyarrow as pa

    rows = pa.table(
        {
            "who": [1, 2, 3, 3],
            "x": [0.5, 1.5, 2.5, 3.5],
            "k": ["a", "b", "a", "b"],
            "p": ["c", "d", "c", "d"],
        }
    )
    with protect(
        rows,
        name="warm",
        unit="who",
        budget=1000,
        max_rows=2,
        bounds={"x": (0, 4)},
        keys={"k": ["a", "b"]},
    ) as invented:
        for text in INVENTED:
            answer = invented.sql(text, epsilon=10, timeout=60)
            for form in encode_replies.FORMS:
                encode_replies.rendered(answer, form)


def answer_question(tables: Mapping[str, Table | Database], message: WorkerRequest) -> bytes:
    """Return the reply to one question: an answer, a public refusal, or the constant word."""
    try:
        if isinstance(ledger := tables[message["dataset"]].ledger, PacedLedger):
            ledger.pace()  # until it is known
        question = Question.model_validate(message["question"])
        answer = (
            _recall(tables[message["dataset"]], question, message["who"])
            if message["recall"]
            else _release(tables[message["dataset"]], question, message)
        )
        if answer is None:
            return LOST
        forms = [
            encode_replies.JSON,
            *([message["media"]] if message["media"] != encode_replies.JSON else []),
        ]
        rendered = {form: encode_replies.rendered(answer, form) for form in forms}
        return (
            _frame("answer", rendered, entry=answer.receipts[0].number if answer.receipts else None)
            if sum(map(len, rendered.values())) <= MOST_BYTES
            else FAILED
        )
    except Refused as refusal:
        if UNSURE in refusal.reason:  # it may have been charged: do not say that it was not
            return LOST
        kind = "exceeded" if isinstance(refusal, BudgetExceeded) else "refused"
        return _frame(kind, {"refusal": json.dumps(refusal.record()).encode()})
    except Exception:
        return FAILED


def _release(table: Table | Database, question: Question, message: WorkerRequest) -> Answer:
    """Take the plan of the service, or plan the question; set the times that follow from the plan,
    and release it.
    """
    request = Request.of_question(
        table.state,
        table.state.first,
        question.sql,
        share=message["who"],
        timeout=message["timeout"],
        **question.plan_arguments(),
    )
    plan = _handed_plan(table, message)
    if request.explains:
        if plan is None:
            request.plan()  # refuses what `sql` would refuse
        raise refusals.PLAN_NOT_RELEASED(dataset=message["dataset"])
    attempt = request.attempt() if plan is None else PlanAttempt.of(plan, table.state.declared)
    if isinstance(table.ledger, PacedLedger):
        charges = 1 + len(attempt.unlearned)
        table.ledger.pace(message.get("held"), message.get("busy"), charges)
    return request.release(attempt)[0]


def _handed_plan(table: Table | Database, message: WorkerRequest) -> Plan | None:
    """Return the plan that the service made. None if it made none, if the declarations are others
    here, or if the share has not paid for all learned limits: then the worker plans.
    """
    packed = message.get("plan")
    if packed is None or has_unpaid(table.state, message["who"]):
        return None
    return unpack(base64.b64decode(packed), table.state)


def _recall(table: Table | Database, question: Question, who: str) -> Answer | None:
    """Return the answer that the ledger stored for this question and this share has paid for; None
    if there is none.

    The answer depends on learned limits: the share first pays for those it has not paid, as for any
    answer.
    """
    ledger = table.ledger
    # a refusal here may depend on limits that the share has not paid for: the key becomes void
    try:
        plan = table.plan(question.sql, **question.plan_arguments())
        if not isinstance(plan, Plan) or not _is_paid_by(ledger, plan, who):
            return None
        if pay_lessons_and_replan((plan,), plan.mechanism, who, fresh=False):
            plan = table.plan(question.sql, **question.plan_arguments())
            if not isinstance(plan, Plan) or not _is_paid_by(ledger, plan, who):
                return None
    except Refused:
        return None
    stored = ledger.recall(name_of(plan), share=who)
    assert stored is not None  # `_is_paid_by` has found it
    recalled = replace(Answer.from_json(stored.answer), recalled=stored.when)
    answer: Answer = plan.finish(recalled)  # type: ignore[attr-defined]  # plans of SQL have it
    return answer


def _is_paid_by(ledger: Ledger, plan: Plan, who: str) -> bool:
    """Whether the stored answer was charged to this share."""
    stored = stored_for(ledger, name_of(plan), who)
    if stored is None:
        return False
    with ledger._store.reading() as tx:
        return bool(
            book_queries.read_charge(tx, ledger.dataset, stored.recalled.number)["share"] == who
        )


def _frame(kind: str, parts: dict[str, bytes], **more: int | None) -> bytes:
    head = {
        "kind": kind,
        "names": list(parts),
        "lengths": [len(part) for part in parts.values()],
        **more,
    }
    return json.dumps(head).encode() + b"\n" + b"".join(parts.values())


def _send(sink: BinaryIO, message: bytes) -> None:
    sink.write(message)
    sink.flush()
