"""The worker: a process of its own that opens the data, asks the ledger, reads, perturbs, and hands
back finished bytes. Nobody talks to it but its parent, which gives it no tokens. It is a process of
the same user: nothing keeps it from the network or from files, except that none of its code goes
there.

*Limits*    Its memory is bounded by the operating system, and by the engine, which spills to disk
            before that; its time by whoever started it, who ends it.
*Speaks*    JSON lines in; out, a line with the lengths of what follows. It ends with its parent, in
            the middle of a question, too.
*Steady*    Once it has charged, it writes to the ledger at moments that follow from the class of
            the question, not from how long data took to read.
*Busy*      From the charge to the end of its time it uses its processors, as many threads of them
            as the engine has, whatever it found.
*Silent*    Whatever breaks after data was read says one constant word. Nothing is printed.
"""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from ...answers.answer import Answer
from ...errors import Failed, Refused
from ...ledger import BudgetExceeded, Ledger, Receipt, book_queries
from ...ledger.storage.sqlite_store import UNSURE
from ...release import question as name_of
from ...session import Database, Table, protect
from ...session.pending_plan import Awaiting
from ...session.share_payments import settled
from ...tables.engine.duckdb_engine import limited
from ...tables.plan.query_plan import Plan
from ..config import Dataset, read
from ..datasets import stored_for, table
from ..http import encode_replies
from ..http.request_models import Question
from .busy_work import Fillers, work_until
from .parent_watch import end_with_parent
from .processors import keep_to

READY = b'{"kind":"ready","lengths":[]}\n'
FAILED = b'{"kind":"failed","lengths":[]}\n'
LOST = b'{"kind":"lost","lengths":[]}\n'
CHARGED = b'{"kind":"charged","lengths":[]}\n'
"""Said after the first charge of a question, before anything is read: all that came before follows
from public things, and so does when it came.
"""
MADE = b'{"kind":"made","lengths":[]}\n'
"""Said when the answer is about to be stored, at its moment: what comes now is about released
numbers, and how long it takes follows from them alone.
"""
MOST_BYTES = 2**27
"""Of a reply: the process that sends it has other things to do."""
ENGINE = 1 / 2
"""Of a worker's memory: what the engine may use before it spills. The rest is for Python, Arrow,
and what the engine does not count.
"""
COLLECT = 32
"""Questions between two collections of what is no longer used: by number, not by how much there
is.
"""
INVENTED = (
    (
        "SELECT k, COUNT(*) AS n, AVG(x) AS m, SUM(x) AS s, STDDEV(x) AS d FROM warm GROUP "
        "BY k ORDER BY n DESC LIMIT 5"
    ),
    "SELECT p, COUNT(*) AS n, COUNT(DISTINCT who) AS u FROM warm WHERE x > 1 GROUP BY p",
    "SELECT MEDIAN(x) AS q, COUNT(DISTINCT p) AS c FROM warm",
)


class Told(Ledger):
    """A ledger that says when it has charged, and stores answers at the moments of a pace: when
    they were made would be seen by what follows in the book.
    """

    announce: Callable[[bytes], None] = staticmethod(lambda _: None)
    fill: Callable[[float], None] = staticmethod(
        lambda _: None
    )  # keep processors busy until a moment
    _held: float | None = (
        None  # seconds from the first charge of a question to the moment when its answer is stored
    )
    _busy: float | None = None  # seconds from the first charge to the end of the worker's time
    _charges = 1  # of the question; what is learned first is stored at even moments before
    _charged = 0
    _stored = 0
    _begun = 0.0

    def pace(self, held: float | None = None, busy: float | None = None, charges: int = 1) -> None:
        """For the next question."""
        self._held, self._busy, self._charges, self._charged, self._stored = (
            held,
            busy,
            charges,
            0,
            0,
        )

    @property
    def ends(self) -> float:
        """Until when the worker is busy with the question; 0 where nothing was charged for it."""
        return self._begun + self._busy if self._charged and self._busy is not None else 0.0

    def charge(self, *given: Any, **named: Any) -> Receipt:
        """As its parent; then the news."""
        receipt = super().charge(*given, **named)
        if not self._charged:
            self._begun = time.monotonic()
        self._charged += 1
        if self._charged == 1 and self._busy is not None:
            self.fill(self.ends)
        self.announce(CHARGED)
        return receipt

    def remember(self, *given: Any) -> None:
        """As its parent, at its moment; what comes later than that has failed, so that the next
        charge, or the next entry, does not tell how much later.
        """
        if self._held is not None and self._stored < self._charged:
            moment = self._begun + self._held * self._charged / self._charges
            if moment < time.monotonic():
                raise Failed
            work_until(moment)
            self._stored = self._charged
            if self._charged >= self._charges:
                with suppress(
                    OSError
                ):  # the parent has gone: who asks again finds what is stored now
                    self.announce(MADE)
        super().remember(*given)


def main() -> None:
    """Serve one parent, until it ends."""
    end_with_parent()  # if it has ended already, there is nothing to read
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    quiet = os.open(os.devnull, os.O_RDWR)
    debug = os.environ.get("SFUMATO_DEBUG") == "1"
    for descriptor, to in (
        (0, quiet),
        (1, 2 if debug else quiet),
        (2, 2 if debug else quiet),
    ):  # nothing that a library prints goes anywhere
        os.dup2(to, descriptor)
    with suppress(KeyboardInterrupt, BrokenPipeError):
        serve(source, sink)


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Read the configuration, open every dataset, then answer one question after the other."""
    begun = json.loads(source.readline())
    config = read(begun["text"], Path(begun["folder"]))
    threads, fill = occupy(begun.get("processors", ()))
    with limited(threads=threads, memory=int(ENGINE * config.memory)):
        tables = {
            name: opened(about, lambda news: _send(sink, news), fill)
            for name, about in config.datasets.items()
        }
        warm()
    limit(config.memory)
    gc.freeze()
    gc.disable()  # a collection in the middle of a question takes longer than the question
    _send(sink, READY)
    for place, line in enumerate(source, 1):
        asked = json.loads(line)
        said, ledger = answered(tables, asked), tables[asked["dataset"]].ledger
        assert isinstance(ledger, Told)
        if said == FAILED:  # when it broke is about data
            work_until(ledger.ends)
        _send(sink, said)
        if place % COLLECT == 0:
            gc.collect()
        work_until(ledger.ends)


def occupy(processors: Sequence[int]) -> tuple[int, Callable[[float], None]]:
    """Keep to these processors, if there are any; how many threads the engine is to have, and what
    keeps as many processors busy.
    """
    import pyarrow as pa

    if not processors:
        return 1, lambda _: None
    keep_to(processors)
    pa.set_cpu_count(len(processors))
    return len(processors), Fillers(processors)


def opened(
    config: Dataset, announce: Callable[[bytes], None], fill: Callable[[float], None] = Told.fill
) -> Table | Database:
    """A dataset on its book, which the parent has begun."""
    ledger = Told.open(config.ledger, dataset=config.declared["name"])
    ledger.announce, ledger.fill = announce, fill
    return table(config, ledger=ledger)


def limit(memory: int) -> None:
    """No more memory than this beyond what the process has by now: an allocation beyond fails, and
    with it the answer.
    """
    import resource

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    wanted = pages * resource.getpagesize() + memory
    allowed = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))


def warm() -> None:
    """Answer invented questions about invented rows, so that the first real one does not pay for
    what is loaded at first use.
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


def answered(tables: dict[str, Any], asked: dict[str, Any]) -> bytes:
    """The reply to one question: an answer, a refusal that is public, or the constant word."""
    try:
        if isinstance(told := tables[asked["dataset"]].ledger, Told):
            told.pace()  # until it is known
        said = Question.model_validate(asked["question"])
        found = (
            _recalled(tables[asked["dataset"]], said, asked["who"])
            if asked["recall"]
            else _released(tables[asked["dataset"]], said, asked)
        )
        if found is None:
            return LOST
        forms = [
            encode_replies.JSON,
            *([asked["media"]] if asked["media"] != encode_replies.JSON else []),
        ]
        made = {form: encode_replies.rendered(found, form) for form in forms}
        return (
            _framed("answer", made, entry=found.receipts[0].number if found.receipts else None)
            if sum(map(len, made.values())) <= MOST_BYTES
            else FAILED
        )
    except Refused as refusal:
        if UNSURE in refusal.reason:  # it may have been charged: nobody is told that it was not
            return LOST
        about = {
            name: getattr(refusal, name) for name in ("code", "place", "reason", "rewrite")
        } | {"over": isinstance(refusal, BudgetExceeded)}
        return _framed("refused", {"refusal": json.dumps(about).encode()})
    except Exception:
        return FAILED


def _released(found: Any, said: Question, asked: dict[str, Any]) -> Answer:
    if isinstance(found.ledger, Told):
        planned = None
        with suppress(
            Refused
            # it may follow from what the share has not paid for: what may be heard is raised by
            # `sql`,
            # below
        ):
            planned = found.plan(said.sql, **said.how())
        found.ledger.pace(
            asked.get("held"),
            asked.get("busy"),
            1 + len(planned.lacks) if isinstance(planned, Awaiting) else 1,
        )
    answer = found.sql(said.sql, share=asked["who"], timeout=asked["timeout"], **said.how())
    if not isinstance(answer, Answer):
        raise Refused(
            "server.explain", "EXPLAIN PRIVACY", "this is a plan, and costs nothing", "POST …/plan"
        )
    return answer


def _recalled(found: Any, said: Question, who: str) -> Answer | None:
    """The answer that was stored in the ledger for this question, and that this share has paid for,
    without a charge; None where there is none.

    What was learned of the table is in the answer: what the share has yet to pay of that is booked
    first, as for any other answer.
    """
    ledger = found.ledger
    # what is refused here may follow from what the share has not paid for: the key is void then,
    # and says no more
    try:
        plan = found.plan(said.sql, **said.how())
        if not isinstance(plan, Plan) or not _own(ledger, plan, who):
            return None
        if settled((plan,), plan.mechanism, ledger, who, fresh=False):
            plan = found.plan(said.sql, **said.how())
            if not isinstance(plan, Plan) or not _own(ledger, plan, who):
                return None
    except Refused:
        return None
    stored = ledger.recall(name_of(plan), share=who)
    answer: Answer = plan.finish(replace(Answer.from_json(stored.answer), recalled=stored.when))  # type: ignore[attr-defined]
    return answer


def _own(ledger: Ledger, plan: Plan, who: str) -> bool:
    """Whether an answer is stored that this share itself was charged for."""
    stored = stored_for(ledger, name_of(plan), who)
    if stored is None:
        return False
    with ledger._store.reading() as tx:
        return bool(book_queries.paid(tx, ledger.dataset, stored.recalled.number)["share"] == who)


def _framed(kind: str, parts: dict[str, bytes], **more: Any) -> bytes:
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
