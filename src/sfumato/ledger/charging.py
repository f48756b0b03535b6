"""Charge within a durable transaction: find an earlier charge with the same key, check that the
cost fits, and write the entry.

*Fits*      `total ≤ budget`, number by number, for the dataset and then for the share: exact, and
            read under the same write lock as the entry is written.
*Text*      The canonical text of the entry is joined from canonical parts. The mechanisms are most
            of it, and many charges share them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from ..accounting.filters import Filter
from ..exact.numbers import text as number_text
from ..guarantees import Guarantee
from . import book_queries
from . import ledger_refusals as refusals
from .entries import (
    WHOLE,
    Account,
    AccountRow,
    budget_text,
    in_currency,
    quoted,
    spent_as_guarantee,
)
from .exact_totals import ALL, cache_totals, fractions, parse_ratios, spend
from .pricing import Quote
from .receipts import Receipt

if TYPE_CHECKING:
    from .storage.book_store import BookTransaction


class Ask(NamedTuple):
    """A charge without its mechanisms; `kind` is charge or reserve."""

    kind: str
    dataset: str
    share: str | None
    memo: str
    key: str | None

    def text(self, mechanisms: str, cost: str, when: str) -> str:
        """Return the canonical text of the entry, from canonical parts."""
        key = "" if self.key is None else f'"key":{quoted(self.key)},'
        share = "null" if self.share is None else quoted(self.share)
        about = f'"cost":{cost},"dataset":{quoted(self.dataset)},{key}"kind":{quoted(self.kind)}'
        about = f'{about},"mechanisms":{mechanisms}'
        return f'{{{about},"memo":{quoted(self.memo)},"share":{share},"when":{quoted(when)}}}'


def charge(tx: BookTransaction, ask: Ask, price: Quote, account: Account, when: str) -> Receipt:
    """Write a new entry and return its receipt, or refuse."""
    after = [_row_after(ask.dataset, WHOLE, account, price)]
    if ask.share is not None:
        after.append(
            _row_after(
                ask.dataset, ask.share, book_queries.account(tx, ask.dataset, ask.share), price
            )
        )
    number, fresh = book_queries.write_charge(
        tx, ask.kind, ask.dataset, ask.key, ask.text(price.stored, price.texts, when), after
    )
    cost = price.cost or in_currency(account.budget, fractions(price.ratios))
    return Receipt(
        ask.dataset, number, fresh, cost, when, ask.memo, ask.share, ask.kind == "reserve"
    )


def find_earlier_receipt(
    tx: BookTransaction, ask: Ask, price: Quote, currency: Guarantee
) -> Receipt | None:
    """Return the receipt of an earlier charge with this key, if any. Refuse if that charge was for
    something else.
    """
    rows = tx.execute(
        "SELECT number, digest, body FROM entry WHERE dataset = ? AND key = ?",
        (ask.dataset, ask.key),
    ).fetchall()
    if not rows:
        return None
    ((number, fresh, text),) = rows
    body = json.loads(text)
    if json.loads(ask.text(price.stored, "[]", "")) != {**body, "cost": [], "when": ""}:
        raise refusals.KEY_OF_OTHER_CHARGE(number=number)
    if book_queries.reservation(tx, number) == "release":
        raise refusals.KEY_OF_RELEASED_CHARGE(number=number)
    cost = in_currency(currency, fractions(parse_ratios(body["cost"])))
    return Receipt(
        ask.dataset,
        number,
        fresh,
        cost,
        body["when"],
        ask.memo,
        ask.share,
        ask.kind == "reserve",
        repeated=True,
    )


def _smaller_cost(left: Guarantee) -> str:
    """Return a cost that is left, as a question takes it."""
    epsilon = left.parameters.get("epsilon")
    return f", such as epsilon={number_text(epsilon)}" if epsilon else ""


def _row_after(dataset: str, share: str, account: Account, price: Quote) -> AccountRow:
    """Return the row of an account after the cost, or refuse if the cost does not fit."""
    after, text, parts = spend(account.totals, price.ratios, account.limits)
    if parts > ALL:
        left = Filter(account.budget, spent_as_guarantee(account)).remaining
        raise refusals.BUDGET_EXCEEDED(
            account=f"{dataset} / {share}" if share else dataset,
            left=left.numbers_text,
            cost=_smaller_cost(left),
        )
    return AccountRow(dataset, share, budget_text(account.budget), cache_totals(text, after), parts)
