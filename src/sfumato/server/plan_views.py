"""Plans as the service replies them: cost, expected errors, explanation, and a sample answer of the
same shape. Planning reads no data and costs nothing.

*Kept*      The service caches replies to the same text, with their plans, without statements. A
            worker releases such a plan and plans nothing again. A cached plan follows from the
            declaration, the known lessons and the question; whether it is affordable is checked
            each time. Each analyst has their own cache: the speed of a reply says nothing about
            what others planned.
*Owing*     An analyst who has not paid for limits that others learned gets the plan, or the
            refusal, as if nobody had learned them.
*Turns*     Planning has threads of its own, given out in turn among analysts, one to each. An
            analyst with many plans delays another's plan by no more than a share of the processor,
            and delays nothing else. No lock is held during planning.
*Limits*    `query_complexity` checks a question before planning. Planning ends after `plan_seconds`
            of processor time, and an analyst has `planning_per_minute` of it in this process. A
            release counts its planning time again if a worker has to plan it again, because limits
            are still to be learned or to be paid for.
*Invented*  The sample uses the assumed group size and the middles of bounds: it shows only how wide
            intervals would be.
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

from ..errors import Refused
from ..exact import effort
from ..ledger import book_queries
from ..ledger.entries import WHOLE, in_currency
from ..ledger.exact_totals import Ratios, fractions, parse_ratios, ratios
from ..ledger.pricing import Priced, price
from ..release import question_key as name_of
from ..session.pending_plan import PendingPlan
from ..session.protected_database import Database
from ..session.protected_table import Table
from ..session.table_state import LearnedLimit
from ..sql.sql_plan import SqlPlan as Text
from ..tables.aggregates import KINDS
from ..tables.aggregates.component import Component
from ..tables.declare.public_keys import Key
from ..tables.plan.components import ColumnPlan
from ..tables.plan.query_plan import Plan
from . import query_complexity
from . import server_refusals as refusals
from .config import Config, Rate
from .datasets import Served, stored_for
from .http.encode_replies import dumped, key, number
from .http.problems import BUSY, PLANNING, WAITING, ProblemError
from .http.request_limits import Buckets
from .http.request_models import PlanArguments, Question
from .http.response_models import (
    CachedPlanModel,
    GuaranteeModel,
    PlannedColumnModel,
    SampleModel,
    TableRow,
)
from .least_cost import part_of, refuse_below, suffices
from .reply_quota import reply_bytes
from .result_columns import ResultColumn, result_columns
from .workers.deadlines import deadline_class
from .workers.fair_turns import Full, Turns
from .workers.handed_plan import pack

MOST_KEPT, MOST_BYTES = 2000, 2**25
THREADS = 4  # that plan; one for each name, of those whose turn it is
PATIENCE = 30.0  # seconds to wait for a turn
SHOWN = 40
OWED = (
    "owed    other analysts have paid to learn the missing limits: your first answer pays "
    "the same for them, once"
)
CacheKey = tuple[str, str, bytes, tuple[LearnedLimit, ...]]
Labels = tuple[str | int | None, ...]
INVENTED = ("a", "b", "c")
"""Sample keys for groups whose keys are not public."""


@dataclass(frozen=True, slots=True)
class PlanView:
    """A cached plan: the reply without `affordable`; its cost, and the part of the budget that the
    answer itself uses; its deadline class; the name under which its answer would be stored; a bound
    on the bytes of its reply, if that is public; the processor time of planning; the columns of its
    answer; and the plan for a worker, None if the worker has to plan again.
    """

    head: bytes
    cost: Ratios
    part: Fraction
    deadline: float
    stored_as: str
    reply: int | None
    seconds: float
    columns: tuple[ResultColumn, ...]
    packed: bytes | None = None

    @property
    def size(self) -> int:
        """The approximate bytes of the plan in the cache, with its question."""
        return len(self.head) + 2 * len(self.stored_as) + len(self.packed or b"")


class Planner:
    """Plans questions in one process, and caches the plans."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._cache: OrderedDict[CacheKey, PlanView] = OrderedDict()
        self._bytes = 0
        self._cache_lock = threading.Lock()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="plan")
        self._turns = Turns(range(THREADS), waiting=config.waiting_per_analyst, held=1)
        self._allowance = Buckets(
            Rate(per_second=config.planning_per_minute / 60, burst=config.planning_per_minute)
        )

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def plan(
        self, served: Served, who: str, question: Question, canonical: bytes
    ) -> PlanView:
        """Return the plan of a question, from the cache or from a planning thread when it is this
        analyst's turn.
        """
        if (
            not served.unpaid_lessons(who)
            and (cached := self._cache.get((served.name, who, canonical, served.lessons)))
            is not None
        ):
            return cached
        self.check_allowance(who)
        try:
            thread = await self._turns.take(who, PATIENCE)
        except Full:
            raise ProblemError(WAITING) from None
        except TimeoutError:
            raise ProblemError(BUSY) from None
        try:
            self.check_allowance(who)
            making = asyncio.get_running_loop().run_in_executor(
                self._threads, self._make_timed, served, who, question, canonical
            )
        except BaseException:
            self._turns.give(who, thread)
            raise
        # the client may be gone by then; the name holds the thread until it ends
        making.add_done_callback(lambda done: self._finish(who, thread, done))
        return await asyncio.shield(making)

    def count_replanning(self, who: str, planned: PlanView) -> None:
        """Count the processor time of a worker that has to plan the question again; refuse if the
        analyst has none left.
        """
        if planned.packed is None:
            self.check_allowance(who)
            self._allowance.spend(who, planned.seconds)

    def make(self, served: Served, who: str, question: Question, canonical: bytes) -> PlanView:
        """Plan a question, or refuse it. The plan uses learned limits only if the analyst has paid
        for them.
        """
        how, begun, state = question.plan_arguments(), time.thread_time(), served.table.state
        declared = state.declared
        owed, lessons, plan = served.unpaid_lessons(who), served.lessons, None
        if not owed:
            plan = _try_plan(served.table, question.sql, how)
            # by planning it was seen what others have learned meanwhile
            owed = served.unpaid_lessons(who)
        if owed:
            plan = _try_plan(served.blank, question.sql, how)
        if isinstance(plan, Exception):
            raise plan
        assert plan is not None
        planned = self._make_view(served, plan, question, owed)
        is_current = not owed and state.declared is declared  # else it was replaced meanwhile
        packed = pack(plan, state, declared) if is_current and isinstance(plan, Plan) else None
        planned = replace(planned, seconds=time.thread_time() - begun, packed=packed)
        if packed is not None:
            self._add_to_cache((served.name, who, canonical, lessons), planned)
        return planned

    def _make_timed(
        self, served: Served, who: str, question: Question, canonical: bytes
    ) -> PlanView:
        """Plan within the limit on processor time, and count the time for the analyst however
        planning ends.
        """
        begun = time.thread_time()
        try:
            with effort.limited(self._config.plan_seconds):
                query_complexity.check(question.sql)
                return self.make(served, who, question, canonical)
        finally:
            self._allowance.spend(who, time.thread_time() - begun)

    def count_time(self, who: str, seconds: float) -> None:
        """Count processor time that an analyst used for something like planning."""
        self._allowance.spend(who, seconds)

    def check_allowance(self, who: str) -> None:
        """Refuse an analyst who has used up their processor time for planning."""
        if (wait := self._allowance.wait(who)) > 0:
            raise ProblemError(replace(PLANNING, headers={"Retry-After": str(math.ceil(wait))}))

    def _finish(self, who: str, thread: int, done: asyncio.Future[PlanView]) -> None:
        if not done.cancelled():
            done.exception()  # marks it as retrieved; the client has got it, or is gone
        self._turns.give(who, thread)

    def _add_to_cache(self, place: CacheKey, planned: PlanView) -> None:
        """Cache a plan; drop the oldest beyond a number of plans or bytes."""
        with self._cache_lock:
            if place in self._cache:
                return
            self._bytes += planned.size
            self._cache[place] = planned
            while len(self._cache) > MOST_KEPT or self._bytes > MOST_BYTES:
                self._bytes -= self._cache.popitem(last=False)[1].size

    def _make_view(
        self, served: Served, plan: Plan | PendingPlan, question: Question, owed: Sequence[Ratios]
    ) -> PlanView:
        shape: Plan = plan.base if isinstance(plan, PendingPlan) else plan
        confidence = 0.95 if question.confidence is None else question.confidence
        errors = {
            name: number(width)
            for name, width in plan.error(confidence, group_size=question.group_size).items()
        }
        parts = len(shape.components) + (len(plan.missing) if isinstance(plan, PendingPlan) else 0)
        deadline = deadline_class(
            self._config.deadlines,
            declared=served.config.deadline,
            table_rows=served.table_rows,
            parts=parts,
            row_work=shape.query.row_work,
        )
        domains = dict(zip(shape.query.keys, shape.query.domains, strict=True))
        shown = (
            {name: domains[of] for of, name in shape.finish.query_keys}
            if isinstance(shape, Text)
            else domains
        )
        groups = shape.group_count if shape.query.public else None
        bins = dict.fromkeys(shape.kinds, 1) | {
            column.name: max(1, len(column.edges) - 1) for column in shape.columns
        }
        texts = len(f"{question.sql}{shape.text}{shape.declared}".encode())
        reply = (
            None
            if groups is None
            else reply_bytes(domains, bins, [_cells(piece) for piece in shape.components], texts)
        )
        if reply is not None and reply > self._config.answer_bytes:
            raise refusals.REPLY_TOO_LARGE(
                groups=groups, bytes=reply, most=self._config.answer_bytes
            )
        priced: Priced = (
            plan.mechanism if isinstance(plan, Plan) else shape.promise if owed else plan.cost
        )
        if (
            owed
            and isinstance(plan, PendingPlan)
            and not {lesson.limit for lesson in served.lessons}.issuperset(plan.missing)
        ):
            # others have learned a part of what is missing
            owed = [*owed, ratios(price(served.ledger.budget, (plan.learning,)))]
        own_cost = ratios(price(served.ledger.budget, (priced,)))
        cost = _sum(own_cost, owed)
        full_cost = in_currency(served.ledger.budget, fractions(cost)) if owed else plan.cost
        cached = CachedPlanModel(
            cost=GuaranteeModel.of(full_cost),
            promise=GuaranteeModel.of(plan.promise),
            error=errors,
            explained=[*plan.explain().splitlines(), *([OWED] if owed else [])],
            columns=[
                PlannedColumnModel(name=name, kind=kind) for name, kind in shape.kinds.items()
            ],
            keys=list(shown),
            deadline=deadline,
            rows=groups,
            sample=_sample(shape, shown, errors, question.group_size or shape.group_size),
        )
        stored_as = name_of(plan) if isinstance(plan, Plan) else ""
        return PlanView(
            dumped(cached)[:-1],
            cost,
            part_of(served.ledger.budget, own_cost),
            deadline,
            stored_as,
            reply,
            0.0,
            result_columns(plan),
        )


def _cells(piece: Component) -> int:
    """Return the noisy numbers per group of a component; a quantile has its value, the ends of its
    interval, and those of all groups at once.
    """
    if piece.strategies is not None:
        return piece.strategies.measured
    return 5 if piece.form == "point" else piece.cells


def _try_plan(
    table: Table | Database, sql: str, how: PlanArguments
) -> Plan | PendingPlan | Exception:
    """Return the plan, or the exception: whether it may be shown is not known yet."""
    try:
        plan: Plan | PendingPlan = table.plan(sql, **how)
    except Exception as error:
        return error
    return plan


def plan_reply(planned: PlanView, *, affordable: bool, paid: bool = False) -> bytes:
    """Return the reply bytes of a plan."""
    return planned.head + b"," + dumped({"affordable": affordable, "paid": paid})[1:]


def look_up_plan(planned: PlanView, served: Served, who: str, releases: int) -> bytes:
    """Return the reply of a plan: whether it is affordable, and whether it is paid already. Refuse
    it if it would cost too little.
    """
    check_least_cost(planned, served, who, releases)
    paid = is_paid(planned, served, who)
    affordable = paid or is_affordable(planned, served, who)
    return plan_reply(planned, affordable=affordable, paid=paid)


def check_least_cost(planned: PlanView, served: Served, share: str, releases: int) -> None:
    """Refuse a release that uses less of the budget than required, unless its answer is stored."""
    if suffices(planned.part, releases):
        return  # without reading the ledger
    try:
        refuse_below(served.ledger.budget, planned.part, releases)
    except Refused:
        if not planned.stored_as or stored_for(served.ledger, planned.stored_as, share) is None:
            raise


def is_paid(planned: PlanView, served: Served, share: str) -> bool:
    """Whether the analyst has paid for the stored answer to this question: asking again is free."""
    stored = stored_for(served.ledger, planned.stored_as, share) if planned.stored_as else None
    return stored is not None and not stored.due


def is_affordable(planned: PlanView, served: Served, share: str) -> bool:
    """Whether the plan fits what is left of the dataset and the share; or its answer is stored, and
    fits the share if the share has to pay for it.
    """
    ledger = served.ledger
    with ledger._store.reading() as tx:  # both in one look
        accounts = [book_queries.account(tx, ledger.dataset, name) for name in (WHOLE, share)]
    if all(account.plus(planned.cost).fits for account in accounts):
        return True
    stored = stored_for(ledger, planned.stored_as, share) if planned.stored_as else None
    return stored is not None and (
        not stored.due or ledger.account(share).plus(parse_ratios(stored.cost)).fits
    )


def _sum(first: Ratios, more: Sequence[Ratios]) -> Ratios:
    total = fractions(first)
    for cost in more:
        total = tuple(a + b for a, b in zip(total, fractions(cost), strict=True))
    return ratios(total)


def _sample(
    plan: Plan,
    keys: Mapping[str, Sequence[Key]],
    errors: Mapping[str, float | str | None],
    size: int,
) -> SampleModel:
    """Return a sample answer: every group has the assumed size, every value is in the middle of its
    bounds.
    """
    columns = {column.name: column for column in plan.columns}
    values = {name: _middle(columns.get(name), size) for name in plan.kinds}
    rows: list[TableRow] = []
    for labels in _labels(plan, keys):
        row: TableRow = dict(zip(keys, labels, strict=True))
        for name, value in values.items():
            width = errors.get(name)
            low, high = (
                (value - width, value + width) if isinstance(width, int | float) else (None, None)
            )
            row |= {name: value, f"{name}_low": low, f"{name}_high": high}
        rows.append(row)
    return SampleModel(columns=[*keys, *values], keys=list(keys), rows=rows, invented=True)


def _middle(column: ColumnPlan | None, size: int) -> float:
    """Return the value of an aggregate in the middle of its bounds; 0 for a computed column."""
    if column is None:
        return 0.0
    return float(KINDS[column.kind].assume(column.numbers, size, Fraction(1, 2)) or 0)


def _labels(plan: Plan, keys: Mapping[str, Sequence[Key]]) -> list[Labels]:
    if keys and not plan.query.public:
        return [tuple(letter for _ in keys) for letter in INVENTED]
    labels_so_far: list[Labels] = [()]
    for domain in keys.values():
        labels_so_far = [
            (*labels, key(value)) for labels in labels_so_far for value in list(domain)[:SHOWN]
        ][:SHOWN]
    return labels_so_far
