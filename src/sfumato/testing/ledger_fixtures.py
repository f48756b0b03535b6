"""Fill ledgers for tests and measurements: a million charges or answers in one transaction, the
same entries that as many calls would write.
"""

from __future__ import annotations

from ..guarantees import Guarantee
from ..guarantees.stored_guarantee import record as guarantee_record
from ..ledger import Ledger, book_queries
from ..ledger.charging import Ask, charge
from ..ledger.entries import WHOLE, canonical, numbers, seal_entry
from ..ledger.exact_totals import ratios
from ..ledger.pricing import Prices, price
from ..ledger.storage.book_store import BALANCE, ENTER
from ..ledger.stored_answers import remember


def fill(ledger: Ledger, entries: int, cost: Guarantee) -> None:
    """Charge a cost `entries` times with one commit. Only for ledgers without another writer."""
    with ledger._store.writing() as tx:
        account = book_queries.account(tx, ledger.dataset, WHOLE)
        last = book_queries.head(tx)
        name = ledger.dataset
        paid = price(account.budget, (cost,))
        body = {
            "kind": "charge",
            "dataset": name,
            "share": None,
            "memo": "filled",
            "mechanisms": [guarantee_record(cost)],
            "cost": numbers(paid),
        }
        text = canonical({**body, "when": "2026-01-01T00:00:00.000+00:00"})
        standing = book_queries.load_standing(tx)
        for row in standing.pending_rows(name):
            standing.put(row)
            tx.execute(BALANCE, row)
        previous, rows, after, each = last.digest, [], account, ratios(paid)
        for number in range(last.number + 1, last.number + entries + 1):
            after = after.plus(each)
            spent, parts = after.sums
            previous = seal_entry(previous, text, name, spent, standing.state)
            rows.append(
                (number, name, None, "charge", None, text, previous, spent, parts, standing.state)
            )
        tx.executemany(ENTER, rows)
    ledger._last_head = ledger._fast_charge = None


def fill_answers(
    ledger: Ledger, answers: int, cost: Guarantee, answer: bytes, share: str | None = None
) -> None:
    """Charge and answer `answers` questions with one commit, by the ledger's own functions. Only
    for ledgers without another writer.
    """
    name, when = ledger.dataset, "2026-01-01T00:00:00.000+00:00"
    ask, quote = Ask("charge", name, share, "filled", None), Prices().quote(ledger.budget, cost)
    with ledger._store.writing() as tx:
        for number in range(answers):
            receipt = charge(tx, ask, quote, book_queries.account(tx, name, WHOLE), when)
            remember(tx, name, f"question {number}", receipt, answer, when)
    ledger._last_head = ledger._fast_charge = None
