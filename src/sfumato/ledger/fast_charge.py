"""A charge that follows another one of the same process: what the book says is known, but for what
others wrote since, and the statement that writes asks that.

*Since*     The statement takes the write lock before it reads, as `BEGIN IMMEDIATE` does. It writes
            only where the end of the chain, the total that it carries and the budget are those that
            the last charge left behind; else nothing is written, and the charge is made in the
            longer way.
*State*     Such a charge touches no row but its own, so it carries the state of the accounts that
            the one before it carried.
*Same*      The sums, the text and the digest are made as the longer way makes them, so nobody can
            tell from a book which way an entry came. A charge that does not fit is left to the
            longer way, which refuses it by what the book says then.
"""

from __future__ import annotations

from ..guarantees import Guarantee
from .charging import Ask
from .clock import now
from .entries import Account, budget_text, sealed
from .exact_totals import ALL, spend
from .pricing import Quote
from .receipts import Head, Receipt
from .storage.sqlite_store import Store

FOLLOW = """
INSERT OR IGNORE INTO entry VALUES (?1, CASE
    WHEN (SELECT number = ?7 AND digest = ?8 AND spent = ?9 FROM entry ORDER BY number DESC LIMIT 1)
        AND (SELECT budget FROM balance WHERE dataset = ?2 AND share = '') = ?10
    THEN ?2 END, NULL, 'charge', NULL, ?3, ?4, ?5, ?6, ?11)"""
"""A dataset that is NULL is not taken by the table. To insert what a SELECT finds would be slower:
what is read where it is written is put aside first.
"""


class Following:
    """What a charge to a dataset's own account alone left behind: the end of the chain, and the
    total that it carries.
    """

    __slots__ = ("_book", "_budget", "_end", "_limits", "_state", "_text")

    def __init__(self, head: Head, before: Account, price: Quote, state: str) -> None:
        self._state = state
        self._book, self._budget, self._text, self._limits = (
            head.book,
            before.budget,
            budget_text(before.budget),
            before.limits,
        )
        total, written, _ = spend(before.totals, price.ratios, before.limits)
        self._end = (
            head.number,
            head.digest,
            total,
            written,
            # read and replaced as one: threads may follow at the same time, and one of them is the
            # first
        )

    @property
    def head(self) -> Head:
        number, fresh, _, _ = self._end
        return Head(self._book, number, fresh)

    def charge(self, store: Store, ask: Ask, price: Quote, budget: Guarantee) -> Receipt | None:
        """The receipt of a durable entry; None where nothing was written. The price is for this
        budget.
        """
        number, last, before, spent = self._end
        total, written, taken = spend(before, price.ratios, self._limits)
        if taken > ALL or price.cost is None or budget is not self._budget:
            return None
        when, dataset = now(), ask.dataset
        text = ask.text(price.stored, price.texts, when)
        next_, fresh = number + 1, sealed(last, text, dataset, written, self._state)
        if not store.wrote(
            FOLLOW,
            (
                next_,
                dataset,
                text,
                fresh,
                written,
                taken,
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
