"""What the ledger says, over the wire: balances, the log by pages, cards, and whether the book holds.

*Analysts*  see charges, and what was booked to them, with their times, which are public. That and when an answer was stored they are not shown, and a card not
            before the reply has left. Owner and auditor see the whole book, and with it when work ended.
"""

from __future__ import annotations

import datetime
import json
import time
from typing import Any

from ..accounting.coordinates import read
from ..answers.answer import Answer
from ..answers.card import Card
from ..ledger import pages
from ..ledger.course import course
from ..ledger.entries import in_currency
from ..ledger.statement import Balance, statement, worth_showing
from ..ledger.totals import exact, fractions
from .datasets import Served
from .problems import UNKNOWN, Stopped
from .replies import written
from .roles import LOOKS, Asker
from .state import State

MOST_ENTRIES = 200
MOST_MOMENTS = 1000
GRACE = 4.0  # seconds beyond the longest class after which every reply has left, also one that was slow to be stored
WORK = frozenset({"answer", "use"})
"""Entries that say how far work has come."""
_PAGE = "SELECT number, kind, body, digest FROM entry WHERE dataset = ? AND number > ? ORDER BY number LIMIT ?"
_CARD = "SELECT answer FROM answer WHERE dataset = ? AND number = ?"
_SHOWN = "SELECT 1 FROM shown JOIN answer USING (dataset, question) WHERE dataset = ? AND number = ? AND share = ?"


def budget(served: Served, asker: Asker) -> dict[str, Any]:
    """Budget, spent, remaining: of the whole; of the own share; for who looks after the whole, of every share, and over time."""
    account = statement(served.long)
    found: dict[str, Any] = {**_numbers(account.whole), "share": None, "shares": None, "course": None}
    own = account.shares.get(asker.name) if asker.role == "analyst" else None
    found["share"] = None if own is None else _numbers(own)
    if asker.role in LOOKS:
        found["shares"] = [{"name": name, **_numbers(balance)} for name, balance in account.shares.items()]
        found["course"] = _course(served)
    return found


def history(served: Served, asker: Asker, after: int, limit: int) -> dict[str, Any]:
    """A page of the log, oldest first: all of it, or what was charged to the asker."""
    ledger, own = served.long, None if asker.role in LOOKS else asker.name
    entries: list[dict[str, Any]] = []
    with ledger._store.reading() as tx:
        currency = pages.account(tx, ledger.dataset, "").budget
        last, more = after, True
        while more and len(entries) < limit:
            rows = tx.execute(_PAGE, (ledger.dataset, last, MOST_ENTRIES)).fetchall()
            more = len(rows) == MOST_ENTRIES
            for row in rows:
                last = row[0]
                body = json.loads(row[2])
                if own is None or (body.get("share") == own and row[1] not in WORK):
                    entries.append(_entry(row, body, currency))
                    if len(entries) == limit:
                        more = True
                        break
    return {"entries": entries, "next": last if more and entries else None}


def card(served: Served, asker: Asker, number: int, state: State, longest: float) -> Card:
    """The card of an answer, by the entry that paid for it; for who looks after the book, and for whoever was given the answer, once the reply has left:
    as the service's records say, or for longer than its longest class."""
    ledger = served.long
    with ledger._store.reading() as tx:
        rows = tx.execute(_CARD, (ledger.dataset, number)).fetchall()
        paid = pages.paid(tx, ledger.dataset, number) if rows else {}
        own = rows and (paid["share"] == asker.name or tx.execute(_SHOWN, (ledger.dataset, number, asker.name)).fetchall())
    if own and asker.role not in LOOKS and time.time() < datetime.datetime.fromisoformat(paid["when"]).timestamp() + longest:
        own = state.given(served.name, asker.name, number)
    if not rows or (asker.role not in LOOKS and not own):
        raise Stopped(UNKNOWN)
    for (stored,) in rows:
        if json.loads(bytes(stored)).get("sfumato") == "answer":
            return Answer.from_json(bytes(stored)).card(description=None)
    raise Stopped(UNKNOWN)


def verified(served: Served, *, alone: bool) -> dict[str, Any]:
    """Whether the book holds, read from its beginning. Of problems it is told where they are only to who may see all that the book is about."""
    found = served.long.verify()
    says = str(found).splitlines() if found.ok or alone else [f"problems: {len(found.problems)}; an owner of all datasets is told which"]
    return {"holds": found.ok, "head": str(found.head), "says": says}


def _entry(row: tuple[Any, ...], body: dict[str, Any], currency: Any) -> dict[str, Any]:
    number, kind, _, digest = row
    cost = in_currency(currency, fractions(exact(body["cost"]))) if "cost" in body else None
    memo = body.get("memo") or body.get("reason") or ""
    about = {"number": number, "when": body["when"], "who": body.get("share") or "", "kind": kind, "memo": memo}
    return {**about, "cost": written(cost), "receipt": digest}


def _numbers(balance: Balance) -> dict[str, Any]:
    return {name: written(getattr(balance, name)) for name in ("budget", "spent", "remaining")}


def _course(served: Served) -> list[list[Any]]:
    """When, and how much was spent then, in the number of the budget that is shown first; thinned where there are many moments."""
    moments = [moment for moment in course(served.long) if moment.kind in ("open", "charge", "reserve", "release", "reprice", "amend")]
    if not moments:
        return []
    step = -(-len(moments) // MOST_MOMENTS)
    chosen = [*moments[:-1:step], moments[-1]]
    place = worth_showing(moments[-1].budget, moments[-1].spent[""])[0]
    return [[one.when, float(one.spent[""][place]), float(read(one.budget)[place])] for one in chosen]
