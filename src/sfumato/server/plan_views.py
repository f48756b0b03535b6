"""What a plan says over the wire: cost, expected errors, sentences, and an invented answer of the
same shape. Reads no data, costs nothing.

*Kept*      Replies to the same text are kept, without statements: a plan that is released is made
            anew, in the worker. What is kept follows from the declaration, the lessons known and
            the question; whether it can be afforded is looked up each time. Everybody has their
            own: how quickly a plan comes says nothing of what others planned.
*Owing*     Whoever has not paid for what others learned gets the plan, or the refusal, that there
            would be if nobody had.
*Turns*     Planning has threads of its own, given out by turns among names, one to a name: somebody
            with many plans under way delays another's plan by no more than a share of the
            processor, and delays nothing else. No lock is held while a question is planned.
*Limits*    A question is counted (`complexity`) before it is planned; planning it ends after
            `plan_seconds` of processor time; and a name has `planning_per_minute` of it, by this
            process. A release counts again what its plan took, since a worker plans it anew.
*Invented*  The sample is made of the assumed size of a group and the middles of bounds: it says how
            wide intervals would be, and nothing else.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ..errors import Refused
from ..exact import effort
from ..ledger import book_queries
from ..ledger.entries import WHOLE, in_currency
from ..ledger.exact_totals import Ratios, exact, fractions, ratios
from ..ledger.pricing import price
from ..release import question as name_of
from ..session.pending_plan import Awaiting
from ..session.protected_database import Database
from ..session.protected_table import Table
from ..sql.sql_plan import Planned as Text
from ..tables.plan.components import Piece
from ..tables.plan.query_plan import Plan
from . import query_complexity
from .config import Config, Rate
from .datasets import Served, stored_for
from .http.encode_replies import dumped, key, number, written
from .http.problems import BUSY, PLANNING, WAITING, Stopped
from .http.request_limits import Buckets
from .http.request_models import Question
from .least_cost import part_of, refuse_below, suffices
from .reply_quota import reply_bytes
from .workers.deadlines import deadline_class
from .workers.fair_turns import Full, Turns

MOST_KEPT, MOST_BYTES = 2000, 2**25
THREADS = 4  # that plan; one for each name, of those whose turn it is
PATIENCE = 30.0  # seconds to wait for a turn
SHOWN = 40
OWED = (
    "owed    others have learned what is missing: it is yours with the first answer, for "
    "what they paid"
)
INVENTED = ("a", "b", "c")
"""Keys of groups whose keys are not public."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What is kept of a plan: the reply, but for whether it can be afforded; its price, and the
    part of the budget that the answer itself takes; its class; the name that its answer would be
    stored under; a bound on the bytes of its reply, where that is public; and the processor time
    that planning took.
    """

    head: bytes
    cost: Ratios
    part: Fraction
    deadline: float
    asked: str
    reply: int | None
    seconds: float

    @property
    def size(self) -> int:
        """About how many bytes it takes, with the question that it is kept under."""
        return len(self.head) + 2 * len(self.asked)


class Plans:
    """The plans of a service, as one process knows them."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._kept: OrderedDict[tuple[Any, ...], Planned] = OrderedDict()
        self._bytes = 0
        self._keeping = threading.Lock()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="plan")
        self._turns = Turns(range(THREADS), waiting=config.waiting_per_analyst, held=1)
        self._allowance = Buckets(
            Rate(per_second=config.planning_per_minute / 60, burst=config.planning_per_minute)
        )

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def of(self, served: Served, who: str, asked: Question, question: bytes) -> Planned:
        """The plan of a question: kept, if what it follows from is the same, else made in a thread,
        when it is the turn of this name.
        """
        if (
            not served.owed(who)
            and (kept := self._kept.get((served.name, who, question, served.lessons))) is not None
        ):
            return kept
        self._allowed(who)
        try:
            thread = await self._turns.take(who, PATIENCE)
        except Full:
            raise Stopped(WAITING) from None
        except TimeoutError:
            raise Stopped(BUSY) from None
        try:
            self._allowed(who)
            making = asyncio.get_running_loop().run_in_executor(
                self._threads, self._timed, served, who, asked, question
            )
        except BaseException:
            self._turns.give(who, thread)
            raise
        making.add_done_callback(
            lambda done: self._ended(who, thread, done)
        )  # whoever asked may be gone by then; the thread is theirs until it ends
        return await asyncio.shield(making)

    def again(self, who: str, planned: Planned) -> None:
        """Count that a worker plans the question once more; refused where the name has no processor
        time left.
        """
        self._allowed(who)
        self._allowance.spend(who, planned.seconds)

    def made(self, served: Served, who: str, asked: Question, question: bytes) -> Planned:
        """The plan of a question; refused where there is none. What others have learned is in it
        once it was paid for.
        """
        how, begun = asked.how(), time.thread_time()
        owed, lessons, found = served.owed(who), served.lessons, None
        if not owed:
            found = _attempt(served.table, asked.sql, how)
            owed = served.owed(who)  # by planning it was seen what others have learned meanwhile
        if owed:
            found = _attempt(served.blank, asked.sql, how)
        if isinstance(found, Exception):
            raise found
        assert found is not None
        planned = self._planned(served, found, asked, owed)
        planned = replace(planned, seconds=time.thread_time() - begun)
        if not owed and not isinstance(found, Awaiting) and served.lessons == lessons:
            self._keep((served.name, who, question, lessons), planned)
        return planned

    def _timed(self, served: Served, who: str, asked: Question, question: bytes) -> Planned:
        """The plan, within the limit on processor time, which is counted for the name however
        planning ends.
        """
        begun = time.thread_time()
        try:
            with effort.limited(self._config.plan_seconds):
                query_complexity.check(asked.sql)
                return self.made(served, who, asked, question)
        finally:
            self._allowance.spend(who, time.thread_time() - begun)

    def _allowed(self, who: str) -> None:
        if (wait := self._allowance.wait(who)) > 0:
            raise Stopped(replace(PLANNING, headers={"Retry-After": str(math.ceil(wait))}))

    def _ended(self, who: str, thread: int, done: asyncio.Future[Planned]) -> None:
        if not done.cancelled():
            done.exception()  # it was told to whoever asked, or there is nobody to tell
        self._turns.give(who, thread)

    def _keep(self, place: tuple[Any, ...], planned: Planned) -> None:
        """Up to a number of plans, and of bytes: the oldest go first."""
        with self._keeping:
            if place in self._kept:
                return
            self._bytes += planned.size
            self._kept[place] = planned
            while len(self._kept) > MOST_KEPT or self._bytes > MOST_BYTES:
                self._bytes -= self._kept.popitem(last=False)[1].size

    def _planned(
        self, served: Served, found: Plan | Awaiting, asked: Question, owed: Sequence[Ratios]
    ) -> Planned:
        shape: Plan = found.one if isinstance(found, Awaiting) else found
        confidence = 0.95 if asked.confidence is None else asked.confidence
        errors = {
            name: number(width)
            for name, width in found.error(confidence, group_size=asked.group_size).items()
        }
        parts = len(shape.pieces) + (len(found.lacks) if isinstance(found, Awaiting) else 0)
        deadline = deadline_class(
            self._config.deadlines,
            declared=served.config.deadline,
            table_rows=served.table_rows,
            parts=parts,
            row_work=shape.query.row_work,
        )
        domains = dict(zip(shape.query.keys, shape.query.domains, strict=True))
        shown = (
            {name: domains[of] for of, name in shape.finish.keys}
            if isinstance(shape, Text)
            else domains
        )
        groups = (
            math.prod(len(domain) for domain in shape.query.domains) if shape.query.public else None
        )
        bins = dict.fromkeys(shape.kinds, 1) | {
            column.name: max(1, len(column.edges) - 1) for column in shape.columns
        }
        texts = len(f"{asked.sql}{shape.text}{shape.declared}".encode())
        reply = (
            None
            if groups is None
            else reply_bytes(domains, bins, [_cells(piece) for piece in shape.pieces], texts)
        )
        if reply is not None and reply > self._config.answer_bytes:
            reason = (
                f"its reply may take {reply} bytes, and a reply has at most "
                f"{self._config.answer_bytes} here (`answer_bytes`)"
            )
            raise Refused(
                "server.cells", f"{groups} groups", reason, "fewer keys, bins, quantiles or columns"
            )
        priced: Any = (
            found.mechanism if isinstance(found, Plan) else shape.promise if owed else found.cost
        )
        if (
            owed
            and isinstance(found, Awaiting)
            and not {one.lack for one in served.lessons}.issuperset(found.lacks)
        ):
            owed = [
                *owed,
                ratios(price(served.ledger.budget, (found.learning,))),
            ]  # others have learned a part of what is missing
        own = ratios(price(served.ledger.budget, (priced,)))
        cost = _sum(own, owed)
        record = {
            "cost": written(
                in_currency(served.ledger.budget, fractions(cost)) if owed else found.cost
            ),
            "promise": written(found.promise),
            "error": errors,
            "explained": [*found.explain().splitlines(), *([OWED] if owed else [])],
            "columns": [{"name": name, "kind": kind} for name, kind in shape.kinds.items()],
            "keys": list(shown),
            "deadline": deadline,
            "rows": groups,
            "sample": _sample(shape, shown, errors, asked.group_size or shape.group_size),
        }
        asked_as = name_of(found) if isinstance(found, Plan) else ""
        return Planned(
            dumped(record)[:-1],
            cost,
            part_of(served.ledger.budget, own),
            deadline,
            asked_as,
            reply,
            0.0,
        )


def _cells(piece: Piece) -> int:
    """How many noisy numbers a group has of a piece: of a quantile, it and the ends of its
    interval.
    """
    return 3 if piece.form == "point" else piece.cells


def _attempt(table: Table | Database, sql: str, how: dict[str, Any]) -> Plan | Awaiting | Exception:
    """The plan, or what was raised instead: whether that may leave is not known yet."""
    try:
        found: Plan | Awaiting = table.plan(sql, **how)
    except Exception as error:
        return error
    return found


def replied(planned: Planned, *, affordable: bool) -> bytes:
    """The reply, with what is true now."""
    return planned.head + (b',"affordable":true}' if affordable else b',"affordable":false}')


def enough(planned: Planned, served: Served, share: str, releases: int) -> None:
    """Refuse a release that takes less of the budget than it has to, unless its answer is
    stored.
    """
    if suffices(planned.part, releases):
        return  # without a look at the ledger
    try:
        refuse_below(served.ledger.budget, planned.part, releases)
    except Refused:
        if not planned.asked or stored_for(served.ledger, planned.asked, share) is None:
            raise


def affordable(planned: Planned, served: Served, share: str) -> bool:
    """Whether it fits what is left of the whole and of the share; or was answered before, and fits
    the share if it has not seen that yet.
    """
    ledger = served.ledger
    with ledger._store.reading() as tx:  # both in one look
        accounts = [book_queries.account(tx, ledger.dataset, one) for one in (WHOLE, share)]
    if all(account.plus(planned.cost).fits for account in accounts):
        return True
    stored = stored_for(ledger, planned.asked, share) if planned.asked else None
    return stored is not None and (
        not stored.due or ledger.account(share).plus(exact(stored.cost)).fits
    )


def _sum(first: Ratios, more: Sequence[Ratios]) -> Ratios:
    total = fractions(first)
    for one in more:
        total = tuple(a + b for a, b in zip(total, fractions(one), strict=True))
    return ratios(total)


def _sample(
    plan: Plan, keys: Mapping[str, Sequence[Any]], errors: dict[str, Any], size: int
) -> dict[str, Any]:
    """An answer that nobody gave: every group of the assumed size, every value in the middle of its
    bounds.
    """
    own = {column.name: column for column in plan.columns}
    values = {name: _middle(own.get(name), size) for name in plan.kinds}
    rows = []
    for labels in _labels(plan, keys):
        row: dict[str, Any] = dict(zip(keys, labels, strict=True))
        for name, value in values.items():
            width = errors.get(name)
            low, high = (
                (value - width, value + width) if isinstance(width, int | float) else (None, None)
            )
            row |= {name: value, f"{name}_low": low, f"{name}_high": high}
        rows.append(row)
    return {"columns": [*keys, *values], "keys": list(keys), "rows": rows, "invented": True}


def _middle(column: Any, size: int) -> float:
    numbers = {} if column is None else column.numbers
    low, high = numbers.get("low"), numbers.get("high")
    middle = 0.0 if low is None or high is None else float(low + high) / 2
    kind = "" if column is None else column.kind
    return {
        "count": float(size),
        "count_units": float(size),
        "count_distinct": float(size),
        "sum": size * middle,
    }.get(kind, middle)


def _labels(plan: Plan, keys: Mapping[str, Sequence[Any]]) -> list[tuple[Any, ...]]:
    if keys and not plan.query.public:
        return [tuple(one for _ in keys) for one in INVENTED]
    found: list[tuple[Any, ...]] = [()]
    for domain in keys.values():
        found = [(*labels, key(one)) for labels in found for one in list(domain)[:SHOWN]][:SHOWN]
    return found
