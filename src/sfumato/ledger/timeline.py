"""The timeline of an account: its totals after every entry, for plots and for checking sums.

*Points*    For a page that reloads often: at most a given number of moments of the dataset's own
            account, read from the totals that entries carry. The next read continues where the
            last one ended.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..guarantees import Guarantee
from ..guarantees.guarantee import Numbers
from ..guarantees.stored_guarantee import restore as restore_guarantee
from . import book_queries
from .account_view import AccountView
from .entries import WHOLE, DatasetState, apply
from .exact_totals import fractions, read_totals
from .receipts import Head

if TYPE_CHECKING:
    from .storage.book_store import BookTransaction

_AMENDS = (
    "SELECT number, body FROM entry WHERE dataset = ? AND number > ? AND kind = 'amend' "
    "ORDER BY number"
)
_LAST = (
    "SELECT max(number) FROM entry WHERE dataset = ? AND number > ? GROUP BY number / ? ORDER BY 1"
)
_ONE = "SELECT body, spent FROM entry WHERE number = ?"


@dataclass(frozen=True, slots=True)
class Moment:
    """The account after an entry. `spent` is by share; the dataset's total has the empty name."""

    number: int
    when: str
    kind: str
    budget: Guarantee
    spent: dict[str, Numbers]


def course(ledger: AccountView) -> tuple[Moment, ...]:
    """Return a moment for every entry about the dataset, oldest first."""
    state: dict[str, DatasetState] = {}
    moments: list[Moment] = []
    spent: dict[str, Numbers] = {}
    with ledger._store.reading() as tx:
        for number, text in tx.rows(
            "SELECT number, body FROM entry WHERE dataset = ? ORDER BY number", (ledger.dataset,)
        ):
            body = json.loads(text)
            touched = apply(state, number, body)
            dataset = state[ledger.dataset]
            dataset.answers.clear()  # they change no total
            dataset.shown.clear()
            if touched:
                spent = {**spent, **{share: dataset.accounts[share].spent for share in touched}}
            moments.append(
                Moment(number, body["when"], body["kind"], dataset.accounts[WHOLE].budget, spent)
            )
    return tuple(moments)


class TimelinePoints:
    """At most `most` moments of a dataset's own account, the last one among them."""

    def __init__(self, dataset: str, most: int) -> None:
        self._dataset, self._most = dataset, most
        self._reset()

    def _reset(self) -> None:
        self._head: Head | None = None
        self._budgets: list[tuple[int, Guarantee]] = []  # from which entry on
        self._step = 1
        self._moments: dict[int, Moment] = {}

    def read(self, tx: BookTransaction) -> list[Moment]:
        """Read new entries and return the moments."""
        head = book_queries.head(tx)
        # another book is in its place
        if self._head is not None and not book_queries.contains_head(tx, self._head):
            self._reset()
        since = 0 if self._head is None else self._head.number
        if not self._budgets:
            rows = tx.execute(
                "SELECT number, body FROM entry WHERE dataset = ? AND kind = 'open'",
                (self._dataset,),
            ).fetchall()
            self._budgets = [
                (number, restore_guarantee(json.loads(text)["header"]["budget"]))
                for number, text in rows
            ]
        for number, text in tx.execute(_AMENDS, (self._dataset, since)).fetchall():
            body = json.loads(text)
            if not body["share"]:
                self._budgets.append((number, restore_guarantee(body["budget"])))
        while head.number // self._step >= self._most:
            self._step *= 2
        for (number,) in tx.execute(_LAST, (self._dataset, since, self._step)).fetchall():
            ((text, spent),) = tx.execute(_ONE, (number,)).fetchall()
            body = json.loads(text)
            budget = next(budget for start, budget in reversed(self._budgets) if start <= number)
            self._moments[number] = Moment(
                number, body["when"], body["kind"], budget, {WHOLE: fractions(read_totals(spent))}
            )
        last_of = {number // self._step: number for number in sorted(self._moments)}
        self._moments = {number: self._moments[number] for number in last_of.values()}
        self._head = head
        return list(self._moments.values())
