"""The course of a dataset's account: what each entry made of the budget and of the totals, replayed by the rule that the book itself goes by."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ..accounting.coordinates import Numbers
from ..guarantees import Guarantee
from .entries import WHOLE, Dataset, apply
from .readings import Readings


@dataclass(frozen=True, slots=True)
class Moment:
    """The account after an entry. `spent` is by share; the whole is under the empty name."""

    number: int
    when: str
    kind: str
    budget: Guarantee
    spent: dict[str, Numbers]


def course(ledger: Readings) -> tuple[Moment, ...]:
    """A moment for every entry about the dataset, oldest first."""
    state: dict[str, Dataset] = {}
    moments = []
    with ledger._store.reading() as tx:
        for number, text in tx.rows("SELECT number, body FROM entry WHERE dataset = ? ORDER BY number", (ledger.dataset,)):
            body = json.loads(text)
            apply(state, number, body)
            accounts = state[ledger.dataset].accounts
            spent = {share: account.spent for share, account in accounts.items()}
            moments.append(Moment(number, body["when"], body["kind"], accounts[WHOLE].budget, spent))
    return tuple(moments)
