"""Long books for tests and measurements: a million charges in one transaction, the same entries that as many charges would have written."""

from __future__ import annotations

from ..guarantees import Guarantee
from ..guarantees.stored import record as guarantee_record
from ..ledger import Ledger, pages
from ..ledger.entries import canonical, digest, numbers
from ..ledger.pricing import price
from ..ledger.totals import ratios


def fill(ledger: Ledger, entries: int, cost: Guarantee) -> None:
    """Charge a cost so many times, with one commit. Only for books that nobody else writes meanwhile."""
    with ledger._store.writing() as tx:
        account, last = pages.whole(tx, ledger.dataset), pages.head(tx)
        paid = price(account.budget, (cost,))
        body = {"kind": "charge", "dataset": ledger.dataset, "share": None, "memo": "filled", "mechanisms": [guarantee_record(cost)], "cost": numbers(paid)}
        text = canonical({**body, "when": "2026-01-01T00:00:00.000+00:00"})
        previous, rows, after, each = last.digest, [], account, ratios(paid)
        for number in range(last.number + 1, last.number + entries + 1):
            previous = digest(previous, text)
            after = after.plus(each)
            rows.append((number, ledger.dataset, "charge", None, text, previous, *after.sums))
        if tx.carried != ledger.dataset:
            tx.execute(pages.SETTLE)
        tx.executemany(pages.ENTER, rows)
    ledger._seen = ledger._following = None
