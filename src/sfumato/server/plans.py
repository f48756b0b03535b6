"""What a plan says over the wire: cost, expected errors, sentences, and an invented answer of the same shape. Reads no data, costs nothing.

*Kept*      Replies to the same text are kept, without statements: a plan that is released is made anew, in the worker. What is kept follows from the
            declaration, the lessons known and the question; whether it can be afforded is looked up each time. Everybody has their own: how quickly a plan
            comes says nothing of what others planned.
*Owing*     Whoever has not paid for what others learned gets the plan, or the refusal, that there would be if nobody had.
*Invented*  The sample is made of the assumed size of a group and the middles of bounds: it says how wide intervals would be, and nothing else.
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Refused
from ..ledger import pages
from ..ledger.entries import WHOLE, in_currency
from ..ledger.pricing import price
from ..ledger.totals import Ratios, exact, fractions, ratios
from ..release import question as name_of
from ..session.awaiting import Awaiting
from ..session.database import Database
from ..session.table import Table
from ..sql.planned import Planned as Text
from ..tables.plan import Plan
from .config import Config
from .datasets import Served, stored_for
from .padding import deadline_class
from .questions import Question
from .replies import dumped, key, number, written

MOST_KEPT, MOST_BYTES = 2000, 2**25
MOST_CELLS = 100_000  # more could not be stored and written out in the time for that, and would be charged for nothing
SHOWN = 40
OWED = "owed    others have learned what is missing: it is yours with the first answer, for what they paid"
INVENTED = ("a", "b", "c")
"""Keys of groups whose keys are not public."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What is kept of a plan: the reply, but for whether it can be afforded; its price; its class; the name that its answer would be stored under."""

    head: bytes
    cost: Ratios
    deadline: float
    asked: str

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

    async def of(self, served: Served, who: str, asked: Question, question: bytes) -> Planned:
        """The plan of a question: kept, if what it follows from is the same, else made in a thread."""
        if not served.owed(who) and (kept := self._kept.get((served.name, who, question, served.lessons))) is not None:
            return kept
        return await asyncio.to_thread(self.made, served, who, asked, question)

    def made(self, served: Served, who: str, asked: Question, question: bytes) -> Planned:
        """The plan of a question; refused where there is none. What others have learned is in it once it was paid for."""
        how = asked.how()
        with served.lock:
            owed, found = served.owed(who), None
            if not owed:
                found = _attempt(served.table, asked.sql, how)
                owed = served.owed(who)  # by planning it was seen what others have learned meanwhile
            if owed:
                found = _attempt(served.blank, asked.sql, how)
            if isinstance(found, Exception):
                raise found
            assert found is not None
            planned = self._planned(served, found, asked, owed)
            if not owed and not isinstance(found, Awaiting):
                self._keep((served.name, who, question, served.lessons), planned)
        return planned

    def _keep(self, place: tuple[Any, ...], planned: Planned) -> None:
        """Up to a number of plans, and of bytes: the oldest go first."""
        if place in self._kept:
            return
        self._bytes += planned.size
        self._kept[place] = planned
        while len(self._kept) > MOST_KEPT or self._bytes > MOST_BYTES:
            self._bytes -= self._kept.popitem(last=False)[1].size

    def _planned(self, served: Served, found: Plan | Awaiting, asked: Question, owed: Sequence[Ratios]) -> Planned:
        shape: Plan = found.one if isinstance(found, Awaiting) else found
        confidence = 0.95 if asked.confidence is None else asked.confidence
        errors = {name: number(width) for name, width in found.error(confidence, group_size=asked.group_size).items()}
        parts = len(shape.pieces) + (len(found.lacks) if isinstance(found, Awaiting) else 0)
        deadline = deadline_class(self._config.deadlines, declared=served.config.deadline, table_rows=served.table_rows, parts=parts)
        domains = dict(zip(shape.query.keys, shape.query.domains, strict=True))
        shown = {name: domains[of] for of, name in shape.finish.keys} if isinstance(shape, Text) else domains
        groups = math.prod(len(domain) for domain in shape.query.domains) if shape.query.public else None
        if groups is not None and groups * sum(max(1, len(column.edges) - 1) for column in shape.columns) > MOST_CELLS:
            raise Refused("server.cells", f"{groups} groups", f"an answer has at most {MOST_CELLS} numbers here", "fewer keys, bins or columns")
        priced: Any = found.mechanism if isinstance(found, Plan) else shape.promise if owed else found.cost
        if owed and isinstance(found, Awaiting) and not {one.lack for one in served.lessons}.issuperset(found.lacks):
            owed = [*owed, ratios(price(served.ledger.budget, (found.learning,)))]  # others have learned a part of what is missing
        cost = _sum(ratios(price(served.ledger.budget, (priced,))), owed)
        record = {
            "cost": written(in_currency(served.ledger.budget, fractions(cost)) if owed else found.cost),
            "promise": written(found.promise),
            "error": errors,
            "explained": [*found.explain().splitlines(), *([OWED] if owed else [])],
            "columns": [{"name": name, "kind": kind} for name, kind in shape.kinds.items()],
            "keys": list(shown),
            "deadline": deadline,
            "rows": groups,
            "sample": _sample(shape, shown, errors, asked.group_size or shape.group_size),
        }
        return Planned(dumped(record)[:-1], cost, deadline, name_of(found) if isinstance(found, Plan) else "")


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


def affordable(planned: Planned, served: Served, share: str) -> bool:
    """Whether it fits what is left of the whole and of the share; or was answered before, and fits the share if it has not seen that yet."""
    ledger = served.ledger
    with ledger._store.reading() as tx:  # both in one look
        accounts = [pages.account(tx, ledger.dataset, one) for one in (WHOLE, share)]
    if all(account.plus(planned.cost).fits for account in accounts):
        return True
    stored = stored_for(ledger, planned.asked, share) if planned.asked else None
    return stored is not None and (not stored.due or ledger.account(share).plus(exact(stored.cost)).fits)


def _sum(first: Ratios, more: Sequence[Ratios]) -> Ratios:
    total = fractions(first)
    for one in more:
        total = tuple(a + b for a, b in zip(total, fractions(one), strict=True))
    return ratios(total)


def _sample(plan: Plan, keys: Mapping[str, Sequence[Any]], errors: dict[str, Any], size: int) -> dict[str, Any]:
    """An answer that nobody gave: every group of the assumed size, every value in the middle of its bounds."""
    own = {column.name: column for column in plan.columns}
    values = {name: _middle(own.get(name), size) for name in plan.kinds}
    rows = []
    for labels in _labels(plan, keys):
        row: dict[str, Any] = dict(zip(keys, labels, strict=True))
        for name, value in values.items():
            width = errors.get(name)
            low, high = (value - width, value + width) if isinstance(width, int | float) else (None, None)
            row |= {name: value, f"{name}_low": low, f"{name}_high": high}
        rows.append(row)
    return {"columns": [*keys, *values], "keys": list(keys), "rows": rows, "invented": True}


def _middle(column: Any, size: int) -> float:
    numbers = {} if column is None else column.numbers
    low, high = numbers.get("low"), numbers.get("high")
    middle = 0.0 if low is None or high is None else float(low + high) / 2
    kind = "" if column is None else column.kind
    return {"count": float(size), "count_units": float(size), "count_distinct": float(size), "sum": size * middle}.get(kind, middle)


def _labels(plan: Plan, keys: Mapping[str, Sequence[Any]]) -> list[tuple[Any, ...]]:
    if keys and not plan.query.public:
        return [tuple(one for _ in keys) for one in INVENTED]
    found: list[tuple[Any, ...]] = [()]
    for domain in keys.values():
        found = [(*labels, key(one)) for labels in found for one in list(domain)[:SHOWN]][:SHOWN]
    return found
