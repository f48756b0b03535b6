"""The statement of a dataset's account: budgets, totals, shares, uses, history, read in one view.

*Promise*   The guarantee is the budget of the dataset; the spent total is bookkeeping.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from ..guarantees.guarantee import Numbers
from ..templates.summary import Summarized, Summary
from . import book_queries
from .account_view import AccountView
from .entries import WHOLE, Account, spent_as_guarantee
from .exact_totals import fractions, parse_ratios
from .receipts import Balance, Charge, Head

if TYPE_CHECKING:
    from .storage.book_store import BookTransaction

_COUNTED = """
SELECT CAST({json} -> 'memo' AS TEXT), CAST({json} -> 'cost' AS TEXT), count(*),
    max(CAST({json} -> 'when' AS TEXT))
FROM entry LEFT JOIN reservation USING (number)
WHERE dataset = ? AND kind IN ('charge', 'reserve') AND coalesce(reservation.state,
    '') <> 'release' GROUP BY 1, 2"""


@dataclass(frozen=True, slots=True)
class Use:
    """The charges under one memo, without released reservations."""

    memo: str
    times: int
    cost: Numbers
    last: str


@dataclass(frozen=True, slots=True, repr=False)
class Statement(Summarized):
    """A dataset's account. `history` is empty unless requested: it may have millions of entries."""

    dataset: str
    unit: str
    relation: str
    theorem: str
    schema: dict[str, str] | None
    total: Balance
    shares: dict[str, Balance]
    head: Head
    uses: tuple[Use, ...] = field(repr=False)
    history: tuple[Charge, ...] = field(repr=False)

    def _summary(self) -> Summary:
        balances = {"all": self.total, **self.shares}
        rows = [
            (name, *(part.numbers_text for part in (b.budget, b.spent, b.remaining)))
            for name, b in balances.items()
        ]
        return Summary(
            title=f"statement of {self.dataset} · unit {self.unit} · {self.relation}",
            heads=("share", "budget", "spent", "left"),
            rows=rows,
            notes=[f"head {self.head}"],
        )


def balances(ledger: AccountView, only: Collection[str] | None = None) -> dict[str, Balance]:
    """Return the balances of the dataset and its shares; the dataset's is under the empty name.
    `only` restricts them to these names.
    """
    with ledger._store.reading() as tx:
        return {
            share: _balance(book_queries.account(tx, ledger.dataset, share))
            for share in book_queries.shares(tx, ledger.dataset)
            if only is None or share in only
        }


def statement(ledger: AccountView, *, history: bool = False) -> Statement:
    """Read the statement of a dataset."""
    name = ledger.dataset
    with ledger._store.reading() as tx:
        header = book_queries.header(tx, name)
        balances = {
            share: _balance(book_queries.account(tx, name, share))
            for share in book_queries.shares(tx, name)
        }
        total = balances.pop(WHOLE)
        declared = (header["unit"], header["relation"], header["theorem"], header.get("schema"))
        listed = tuple(book_queries.history(tx, name)) if history else ()
        return Statement(
            name, *declared, total, balances, book_queries.head(tx), _uses(tx, name), listed
        )


def _uses(tx: BookTransaction, dataset: str) -> tuple[Use, ...]:
    """Return the uses of the budget, the most expensive first. The database counts equal charges;
    the sums here are exact.
    """
    uses: dict[str, Use] = {}
    for memo_text, costs, times, last in tx.execute(_COUNTED.format(json=tx.json), (dataset,)):
        memo, when = json.loads(memo_text), json.loads(last)
        cost = tuple(times * c for c in fractions(parse_ratios(json.loads(costs))))
        before = uses.get(memo, Use(memo, 0, tuple(Fraction(0) for _ in cost), ""))
        total = tuple(a + b for a, b in zip(before.cost, cost, strict=True))
        uses[memo] = Use(memo, before.times + times, total, max(before.last, when))
    return tuple(sorted(uses.values(), key=lambda use: use.cost, reverse=True))


def _balance(account: Account) -> Balance:
    return Balance(account.budget, spent_as_guarantee(account))
