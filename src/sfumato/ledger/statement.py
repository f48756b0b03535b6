"""A statement of account: everything there is to say about a dataset, read in one view.

*Promise*   What is promised is the budget of the whole; what was spent of it is bookkeeping.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..accounting.budget_vector import Numbers, make, read
from ..exact.numbers import text
from ..guarantees import GDP, ZCDP, Approx, Guarantee, Pure, Renyi
from . import book_queries
from .account_view import Readings
from .entries import WHOLE, Account, spent_as_guarantee
from .exact_totals import exact, fractions
from .receipts import Charge, Head

NAMES: dict[type[Guarantee], tuple[str, ...]] = {
    Pure: ("ε",),
    Approx: ("ε", "δ"),
    ZCDP: ("ρ", "δ"),
    GDP: ("μ²",),
}
"""The numbers of a budget that add up; a Rényi curve has one for each order, and δ."""

_COUNTED = """
SELECT CAST({json} -> 'memo' AS TEXT), CAST({json} -> 'cost' AS TEXT), count(*), max(CAST({json} -> 'when' AS TEXT))
FROM entry LEFT JOIN reservation USING (number)
WHERE dataset = ? AND kind IN ('charge', 'reserve') AND coalesce(reservation.state, '') <> 'release' GROUP BY 1, 2"""


@dataclass(frozen=True, slots=True)
class Balance:
    """A budget, and what was spent of it."""

    budget: Guarantee
    spent: Guarantee

    @property
    def remaining(self) -> Guarantee:
        left = make(
            self.budget,
            (
                max(Fraction(0), b - s)
                for b, s in zip(read(self.budget), read(self.spent), strict=True)
            ),
        )
        return Guarantee._bind(left, self.budget.relation, self.budget.unit)

    @property
    def part(self) -> Fraction:
        """How much of the budget is gone, in the number of it that is nearest its limit."""
        return max(
            (s / b for s, b in zip(read(self.spent), read(self.budget), strict=True) if b),
            default=Fraction(0),
        )


@dataclass(frozen=True, slots=True)
class Use:
    """What was charged under one memo, as charged; what was released again is left out."""

    memo: str
    times: int
    cost: Numbers
    last: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A dataset's account. Entries are listed if they were asked for: there may be millions."""

    dataset: str
    unit: str
    relation: str
    theorem: str
    schema: dict[str, str] | None
    whole: Balance
    shares: dict[str, Balance]
    head: Head
    uses: tuple[Use, ...]
    history: tuple[Charge, ...]


def name_of(budget: Guarantee, index: int) -> str:
    """What a number of a budget is called."""
    if isinstance(budget, Renyi):
        return f"D at α = {text(budget.orders[index])}" if index < len(budget.orders) else "δ"
    return NAMES[type(budget)][index]


def worth_showing(budget: Guarantee, spent: Numbers) -> list[int]:
    """Which numbers of a budget to show: those that are not zero; of a curve, the order that is
    nearest its limit.
    """
    limits = read(budget)
    numbers = [i for i, limit in enumerate(limits) if limit]
    if not isinstance(budget, Renyi):
        return numbers or [0]
    nearest = max(
        range(len(budget.orders)), key=lambda i: spent[i] / limits[i] if limits[i] else Fraction(0)
    )
    return [i for i in range(len(limits)) if i == nearest or (i == len(limits) - 1 and limits[i])]


def balances(ledger: Readings, only: Collection[str] | None = None) -> dict[str, Balance]:
    """The accounts of the dataset, its own under the empty name; or those of these names that there
    are. Nothing else is read.
    """
    with ledger._store.reading() as tx:
        return {
            share: _balance(book_queries.account(tx, ledger.dataset, share))
            for share in book_queries.shares(tx, ledger.dataset)
            if only is None or share in only
        }


def statement(ledger: Readings, *, history: bool = False) -> Statement:
    """What the book says of the dataset now."""
    name = ledger.dataset
    with ledger._store.reading() as tx:
        header = book_queries.header(tx, name)
        balances = {
            share: _balance(book_queries.account(tx, name, share))
            for share in book_queries.shares(tx, name)
        }
        whole = balances.pop(WHOLE)
        said = (header["unit"], header["relation"], header["theorem"], header.get("schema"))
        listed = tuple(book_queries.history(tx, name)) if history else ()
        return Statement(
            name, *said, whole, balances, book_queries.head(tx), _uses(tx, name), listed
        )


def _uses(tx: Any, dataset: str) -> tuple[Use, ...]:
    """What the budget went into, the most expensive first; summed here, exactly, over what the
    database has counted.
    """
    found: dict[str, Use] = {}
    for said, costs, times, last in tx.execute(_COUNTED.format(json=tx.json), (dataset,)):
        memo, when = json.loads(said), json.loads(last)
        cost = tuple(times * c for c in fractions(exact(json.loads(costs))))
        before = found.get(memo, Use(memo, 0, tuple(Fraction(0) for _ in cost), ""))
        total = tuple(a + b for a, b in zip(before.cost, cost, strict=True))
        found[memo] = Use(memo, before.times + times, total, max(before.last, when))
    return tuple(sorted(found.values(), key=lambda use: use.cost, reverse=True))


def _balance(account: Account) -> Balance:
    return Balance(account.budget, spent_as_guarantee(account))
