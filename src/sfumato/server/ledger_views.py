"""What the ledger says, over the wire: balances, the log by pages, cards, and whether the book
holds.

*Analysts*  see charges, and what was booked to them, with their times, which are public. That and
            when an answer was stored they are not shown, and a card not before the reply has left.
            Owner and auditor see the whole book, and with it when work ended.
"""

from __future__ import annotations

import datetime
import json
import time
from typing import Any

from ..accounting.budget_vector import read
from ..answers.answer import Answer
from ..answers.cards.card import Card
from ..ledger import book_queries
from ..ledger.entries import WHOLE, in_currency
from ..ledger.exact_totals import exact, fractions
from ..ledger.receipts import Head
from ..ledger.statement import Balance, balances, worth_showing
from ..ledger.verify import Checked
from .datasets import Served
from .http.encode_replies import written
from .http.problems import UNKNOWN, Stopped
from .request_store import State
from .roles import LOOKS, Asker

# seconds beyond the longest class after which every reply has left, also one that was slow to be
# stored
GRACE = 4.0
LOOK = 120.0  # seconds that a look at a whole book may take
FULL = 3600.0  # seconds after which a check begins again at the first entry
_PAGE = (
    "SELECT number, kind, body, digest FROM entry WHERE dataset = ? AND number > ? ORDER BY "
    "number LIMIT ?"
)
_OWN = """
SELECT number, kind, body, digest FROM entry WHERE dataset = ? AND number > ? AND share = ? AND kind NOT IN ('answer', 'use') ORDER BY number LIMIT ?"""
_CARD = "SELECT answer FROM answer WHERE dataset = ? AND number = ?"
_SHOWN = (
    "SELECT 1 FROM shown JOIN answer USING (dataset, question) WHERE dataset = ? AND number "
    "= ? AND share = ?"
)


def budget(served: Served, asker: Asker) -> dict[str, Any]:
    """Budget, spent, remaining: of the whole; of the own share; for who looks after the whole, of
    every share, and over time.
    """
    looks = asker.role in LOOKS
    accounts = balances(served.long) if looks else balances(served.ledger, {WHOLE, asker.name})
    found: dict[str, Any] = {
        **_numbers(accounts.pop(WHOLE)),
        "share": None,
        "shares": None,
        "course": None,
    }
    if asker.role == "analyst" and asker.name in accounts:
        found["share"] = _numbers(accounts[asker.name])
    if looks:
        found["shares"] = [
            {"name": name, **_numbers(balance)} for name, balance in accounts.items()
        ]
        found["course"] = _course(served)
    return found


def history(served: Served, asker: Asker, after: int, limit: int) -> dict[str, Any]:
    """A page of the log, oldest first: all of it, or what was charged to the asker."""
    ledger = served.long if asker.role in LOOKS else served.ledger
    page = (
        (_PAGE, (ledger.dataset, after, limit))
        if asker.role in LOOKS
        else (_OWN, (ledger.dataset, after, asker.name, limit))
    )
    with ledger._store.reading() as tx:
        currency = book_queries.account(tx, ledger.dataset, WHOLE).budget
        rows = tx.execute(*page).fetchall()
    entries = [_entry(row, json.loads(row[2]), currency) for row in rows]
    return {"entries": entries, "next": rows[-1][0] if len(rows) == limit else None}


def card(served: Served, asker: Asker, number: int, state: State, longest: float) -> Card:
    """The card of an answer, by the entry that paid for it; for who looks after the book, and for
    whoever was given the answer, once the reply has left: as the service's records say, or for
    longer than its longest class.
    """
    ledger = served.long if asker.role in LOOKS else served.ledger
    with ledger._store.reading() as tx:
        rows = tx.execute(_CARD, (ledger.dataset, number)).fetchall()
        paid = book_queries.paid(tx, ledger.dataset, number) if rows else {}
        own = rows and (
            paid["share"] == asker.name
            or tx.execute(_SHOWN, (ledger.dataset, number, asker.name)).fetchall()
        )
    if (
        own
        and asker.role not in LOOKS
        and time.time() < datetime.datetime.fromisoformat(paid["when"]).timestamp() + longest
    ):
        own = state.given(served.name, asker.name, number)
    if not rows or (asker.role not in LOOKS and not own):
        raise Stopped(UNKNOWN)
    for (stored,) in rows:
        if json.loads(bytes(stored)).get("sfumato") == "answer":
            return Answer.from_json(bytes(stored)).card(description=None)
    raise Stopped(UNKNOWN)


def verified(served: Served, *, alone: bool, head: Head | None = None) -> dict[str, Any]:
    """Whether the book holds, and contains the head that the service kept: read from its beginning,
    or from where a check of the last hour ended. Of problems it is told where they are only to who
    may see all that the book is about.
    """
    with served.checking:
        if time.monotonic() > served.checked_fully + FULL:
            served.checked = Checked()
        whole = served.checked.head is None
        found = served.long.verify(head, since=served.checked)
        if whole:
            served.checked_fully = time.monotonic()
    says = (
        str(found).splitlines()
        if found.ok or alone
        else [f"problems: {len(found.problems)}; an owner of all datasets is told which"]
    )
    return {"holds": found.ok, "head": str(found.head), "says": says}


def _entry(row: tuple[Any, ...], body: dict[str, Any], currency: Any) -> dict[str, Any]:
    number, kind, _, digest = row
    cost = in_currency(currency, fractions(exact(body["cost"]))) if "cost" in body else None
    memo = body.get("memo") or body.get("reason") or ""
    about = {
        "number": number,
        "when": body["when"],
        "who": body.get("share") or "",
        "kind": kind,
        "memo": memo,
    }
    return {**about, "cost": written(cost), "receipt": digest}


def _numbers(balance: Balance) -> dict[str, Any]:
    return {name: written(getattr(balance, name)) for name in ("budget", "spent", "remaining")}


def _course(served: Served) -> list[list[Any]]:
    """When, and how much was spent then, in the number of the budget that is shown first; thinned
    where there are many moments.
    """
    with served.long._store.reading() as tx:
        moments = served.points.read(tx)
    if not moments:
        return []
    chosen = [moments[0]]
    for one in moments[1:]:
        if (one.spent, one.budget) != (chosen[-1].spent, chosen[-1].budget):
            chosen.append(one)
    place = worth_showing(chosen[-1].budget, chosen[-1].spent[WHOLE])[0]
    return [
        [one.when, float(one.spent[WHOLE][place]), float(read(one.budget)[place])] for one in chosen
    ]
