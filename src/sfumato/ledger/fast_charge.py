"""Fast path for a charge that follows another charge of the same process: one conditional INSERT
that re-checks head, total and budget.

*Since*     The statement takes the write lock before it reads, as `BEGIN IMMEDIATE` does. It writes
            only if the end of the chain, its total and the budget are those that the last charge
            left behind. Otherwise it writes nothing, and the ledger charges by the slow path.
*State*     A fast charge touches no row but its own, so it carries the same state of the accounts
            as the entry before it.
*Same*      Sums, text and digest equal those of the slow path: a book does not show which path
            wrote an entry. A charge that does not fit goes to the slow path, which refuses it.
"""

from __future__ import annotations

from ..guarantees import Guarantee
from .charging import Ask
from .clock import now
from .entries import Account, budget_text, seal_entry
from .exact_totals import ALL, spend
from .pricing import Quote
from .receipts import Head, Receipt
from .storage.book_store import BookStore

CONDITIONAL_INSERT = """
INSERT OR IGNORE INTO entry VALUES (?1, CASE
    WHEN (SELECT number = ?7 AND digest = ?8 AND spent = ?9 FROM entry ORDER BY number DESC LIMIT 1)
        AND (SELECT budget FROM balance WHERE dataset = ?2 AND share = '') = ?10
    THEN ?2 END, NULL, 'charge', NULL, ?3, ?4, ?5, ?6, ?11)"""
"""The table rejects a NULL dataset, so a failed check inserts nothing. INSERT … SELECT would be
slower: SQLite copies rows first that a statement reads from the table it writes to.
"""


class FastCharge:
    """The end of the chain and its total, as the last charge to the dataset (without a share) left
    them.
    """

    __slots__ = ("_book", "_budget", "_end", "_limits", "_state", "_text")

    def __init__(self, head: Head, before: Account, price: Quote, state: str) -> None:
        self._state = state
        self._book = head.book
        self._budget = before.budget
        self._text = budget_text(before.budget)
        self._limits = before.limits
        total, written, _ = spend(before.totals, price.ratios, before.limits)
        self._end = (
            head.number,
            head.digest,
            total,
            written,
            # one tuple: threads read and replace it at once, and one of them is first
        )

    @property
    def account(self) -> Account:
        """The account of the dataset after the last charge."""
        _, _, total, _ = self._end
        return Account(self._budget, total, self._limits)

    @property
    def head(self) -> Head:
        number, fresh, _, _ = self._end
        return Head(self._book, number, fresh)

    def charge(self, store: BookStore, ask: Ask, price: Quote, budget: Guarantee) -> Receipt | None:
        """Write a durable entry and return its receipt; None if nothing was written. `price` holds
        for this `budget`.
        """
        number, last, before, spent = self._end
        total, written, parts = spend(before, price.ratios, self._limits)
        if parts > ALL or price.cost is None or budget is not self._budget:
            return None
        when, dataset = now(), ask.dataset
        text = ask.text(price.stored, price.texts, when)
        next_, fresh = number + 1, seal_entry(last, text, dataset, written, self._state)
        if not store.try_write(
            CONDITIONAL_INSERT,
            (
                next_,
                dataset,
                text,
                fresh,
                written,
                parts,
                number,
                last,
                spent,
                self._text,
                self._state,
            ),
        ):
            return None
        self._end = next_, fresh, total, written
        return Receipt(dataset, next_, fresh, price.cost, when, ask.memo, None, False)
