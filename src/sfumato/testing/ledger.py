"""Long books for tests and measurements: a million charges in one transaction, the same entries that as many charges would have written."""

from __future__ import annotations

from ..guarantees import Guarantee
from ..ledger import Ledger, pages
from ..ledger.entries import WHOLE, budget_record, canonical, digest, numbers
from ..ledger.pricing import price
from ..ledger.totals import ratios


def fill(ledger: Ledger, entries: int, cost: Guarantee) -> None:
    """Charge a cost so many times, with one commit and one sum at the end. Only for books that nobody else writes meanwhile."""
    with ledger._store.writing() as tx:
        account, last = pages.account(tx, ledger.dataset, WHOLE), pages.head(tx)
        paid = price(account.budget, (cost,))
        body = {"kind": "charge", "dataset": ledger.dataset, "share": None, "memo": "filled", "mechanisms": [budget_record(cost)], "cost": numbers(paid)}
        text = canonical({**body, "when": "2026-01-01T00:00:00.000+00:00"})
        previous, rows = last.digest, []
        for number in range(last.number + 1, last.number + entries + 1):
            previous = digest(previous, text)
            rows.append((number, ledger.dataset, "charge", None, text, previous))
        tx.executemany("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)", rows)
        after = account.plus(ratios(entries * number for number in paid))
        tx.execute(pages.WRITE, pages.account_row(ledger.dataset, WHOLE, after))
    ledger._seen = None
