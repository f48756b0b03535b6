"""The ledger as the service replies it: balances, pages of the log, cards, verification.

*Questions* are shown as they were typed, to those who may see the entry.
*Analysts*  see the charges to their share with their times, which are public. They do not see that
            and when an answer was stored, and no card before the reply has left. Owner and auditor
            see the whole book, and with it when work ended.
"""

from __future__ import annotations

import datetime
import json
import time

from ..answers.answer import Answer
from ..answers.cards.card import Card
from ..errors import Refused
from ..guarantees import Guarantee
from ..ledger import book_queries
from ..ledger.entries import WHOLE, EntryBody, in_currency
from ..ledger.exact_totals import fractions, parse_ratios
from ..ledger.receipts import Balance, Head
from ..ledger.statement import balances
from ..ledger.verify import Checked
from ..storage.sqlite_store import Row
from .datasets import Served
from .http.problems import UNKNOWN, ProblemError
from .http.response_models import (
    BalanceModel,
    BudgetModel,
    EntryModel,
    GuaranteeModel,
    HistoryModel,
    ShareModel,
    VerifiedModel,
)
from .request_store import RequestStore
from .roles import LOOKS, Asker

# seconds after the longest class by which every reply has left, also one stored late
GRACE = 4.0
LOOK = 120.0  # seconds that reading a whole book may take
FULL = 3600.0  # seconds after which a check starts again at the first entry
_PAGE = (
    "SELECT number, kind, body, digest FROM entry WHERE dataset = ? AND number > ? ORDER BY "
    "number LIMIT ?"
)
_OWN = """
SELECT number, kind, body, digest FROM entry WHERE dataset = ? AND number > ? AND share = ?
    AND kind NOT IN ('answer', 'use') ORDER BY number LIMIT ?"""
_CARD = "SELECT answer FROM answer WHERE dataset = ? AND number = ?"
_SHOWN = (
    "SELECT 1 FROM shown JOIN answer USING (dataset, question) WHERE dataset = ? AND number "
    "= ? AND share = ?"
)


def budget(served: Served, asker: Asker) -> BudgetModel:
    """Return budget, spent and remaining of the dataset and of the analyst's share; for owner and
    auditor, of every share, and over time.
    """
    looks = asker.role in LOOKS
    accounts = balances(served.long) if looks else balances(served.ledger, {WHOLE, asker.name})
    total = _numbers(accounts.pop(WHOLE))
    share = accounts.get(asker.name) if asker.role == "analyst" else None
    return BudgetModel(
        **total,
        share=None if share is None else BalanceModel(**_numbers(share)),
        shares=[ShareModel(name=name, **_numbers(balance)) for name, balance in accounts.items()]
        if looks
        else None,
        course=_course(served) if looks else None,
    )


def history(
    served: Served, asker: Asker, after: int, limit: int, state: RequestStore
) -> HistoryModel:
    """Return a page of the log, oldest first: all entries, or the charges to the analyst."""
    ledger = served.long if asker.role in LOOKS else served.ledger
    page = (
        (_PAGE, (ledger.dataset, after, limit))
        if asker.role in LOOKS
        else (_OWN, (ledger.dataset, after, asker.name, limit))
    )
    with ledger._store.reading() as tx:
        currency = book_queries.account(tx, ledger.dataset, WHOLE).budget
        rows = tx.execute(*page).fetchall()
    bodies: list[EntryBody] = [json.loads(text) for _, _, text, _ in rows]
    # a recall names the charge that it pays a part of
    paid = [
        int(body.get("entry") or number) for (number, *_), body in zip(rows, bodies, strict=True)
    ]
    typed = (
        state.questions(
            served.name,
            range(min(paid), max(paid) + 1),
            None if asker.role in LOOKS else asker.name,
        )
        if paid
        else {}
    )
    entries = [
        _entry(row, body, typed.get((body.get("share") or "", entry), ""), currency)
        for row, body, entry in zip(rows, bodies, paid, strict=True)
    ]
    return HistoryModel(entries=entries, next=rows[-1][0] if len(rows) == limit else None)


def card(served: Served, asker: Asker, number: int, state: RequestStore, longest: float) -> Card:
    """Return the card of an answer by the number of its charge: to owner and auditor, and to the
    analyst who got the answer, once the reply has left. The service's records say so, or more time
    has passed than the longest class.
    """
    ledger = served.long if asker.role in LOOKS else served.ledger
    with ledger._store.reading() as tx:
        rows = tx.execute(_CARD, (ledger.dataset, number)).fetchall()
        paid = book_queries.read_charge(tx, ledger.dataset, number) if rows else {}
        is_allowed = rows and (
            paid["share"] == asker.name
            or tx.execute(_SHOWN, (ledger.dataset, number, asker.name)).fetchall()
        )
    if (
        is_allowed
        and asker.role not in LOOKS
        and time.time() < datetime.datetime.fromisoformat(paid["when"]).timestamp() + longest
    ):
        is_allowed = state.has_received(served.name, asker.name, number)
    if not rows or (asker.role not in LOOKS and not is_allowed):
        raise ProblemError(UNKNOWN)
    for (stored,) in rows:
        if json.loads(bytes(stored)).get("sfumato") == "answer":
            return Answer.from_json(bytes(stored)).card(description=None)
    raise ProblemError(UNKNOWN)


def verify_ledger(
    served: Served, *, alone: bool, head: Head | None = None, kept_head: Head | None = None
) -> VerifiedModel:
    """Verify the ledger, and that it contains the recorded head and the head that the caller kept:
    the whole book, or what is new since a check within the last hour. Only owners of all datasets
    (`alone`) are told where problems are.
    """
    with served.checking:
        if time.monotonic() > served.checked_fully + FULL:
            served.checked = Checked()
        is_full = served.checked.head is None
        verification = served.long.verify(head, since=served.checked)
        if is_full:
            served.checked_fully = time.monotonic()
    says = (
        str(verification).splitlines()
        if verification.ok or alone
        else [f"problems: {len(verification.problems)}; an owner of all datasets is told which"]
    )
    contains = True
    if kept_head is not None:
        try:
            served.long.hold(kept_head)
            says = [*says, f"contains your head, entry {kept_head.number}"]
        except Refused as refusal:
            contains, says = False, [*says, f"your head: {refusal.reason}"]
    return VerifiedModel(holds=verification.ok and contains, head=str(verification.head), says=says)


def _entry(row: Row, body: EntryBody, sql: str, currency: Guarantee) -> EntryModel:
    number, kind, _, digest = row
    cost = in_currency(currency, fractions(parse_ratios(body["cost"]))) if "cost" in body else None
    return EntryModel(
        number=number,
        when=body["when"],
        who=body.get("share") or "",
        kind=kind,
        memo=body.get("memo") or body.get("reason") or "",
        sql=sql,
        cost=None if cost is None else GuaranteeModel.of(cost),
        receipt=digest,
    )


def _numbers(balance: Balance) -> dict[str, GuaranteeModel]:
    return {
        name: GuaranteeModel.of(getattr(balance, name)) for name in ("budget", "spent", "remaining")
    }


def _course(served: Served) -> list[list[str | float]]:
    """Return times with the spent and total budget, in the number shown first; thinned if there are
    many moments.
    """
    with served.long._store.reading() as tx:
        moments = served.points.read(tx)
    if not moments:
        return []
    chosen = [moments[0]]
    for moment in moments[1:]:
        if (moment.spent, moment.budget) != (chosen[-1].spent, chosen[-1].budget):
            chosen.append(moment)
    place = chosen[-1].budget.worth_showing(chosen[-1].spent[WHOLE])[0]
    return [
        [moment.when, float(moment.spent[WHOLE][place]), float(moment.budget.vector[place])]
        for moment in chosen
    ]
