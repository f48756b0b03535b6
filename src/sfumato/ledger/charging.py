"""A charge, inside the transaction that makes it durable: whether it was asked before, whether it
fits, and its entry.

*Fits*      `total ≤ budget`, number by number, for the whole and then for the share: exact, and
            read under the write lock that the entry is written under.
*Text*      The entry's canonical text is put together from parts that are canonical already,
            because the mechanisms, which are most of it, are the same for many charges.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from ..accounting.filters import Filter
from ..errors import Refused
from ..guarantees import Guarantee
from . import book_queries
from .entries import WHOLE, Account, Row, budget_text, in_currency, quoted, spent_as_guarantee
from .exact_totals import ALL, exact, fractions, lately, spend
from .pricing import Quote
from .receipts import BudgetExceeded, Receipt


class Ask(NamedTuple):
    """What is asked of the book, but for the mechanisms; `kind` is charge or reserve."""

    kind: str
    dataset: str
    share: str | None
    memo: str
    key: str | None

    def text(self, mechanisms: str, cost: str, when: str) -> str:
        """The canonical text of its entry, of canonical parts."""
        key = "" if self.key is None else f'"key":{quoted(self.key)},'
        share = "null" if self.share is None else quoted(self.share)
        about = f'"cost":{cost},"dataset":{quoted(self.dataset)},{key}"kind":{quoted(self.kind)},"mechanisms":{mechanisms}'
        return f'{{{about},"memo":{quoted(self.memo)},"share":{share},"when":{quoted(when)}}}'


def charge(tx: Any, ask: Ask, price: Quote, whole: Account, when: str) -> Receipt:
    """The receipt of a new entry, or a refusal."""
    after = [_spent(ask.dataset, WHOLE, whole, price)]
    if ask.share is not None:
        after.append(
            _spent(ask.dataset, ask.share, book_queries.account(tx, ask.dataset, ask.share), price)
        )
    number, fresh = book_queries.enter(
        tx, ask.kind, ask.dataset, ask.key, ask.text(price.stored, price.texts, when), after
    )
    cost = price.cost or in_currency(whole.budget, fractions(price.ratios))
    return Receipt(
        ask.dataset, number, fresh, cost, when, ask.memo, ask.share, ask.kind == "reserve"
    )


def given_before(tx: Any, ask: Ask, price: Quote, currency: Guarantee) -> Receipt | None:
    """The receipt given before for this key, if any; refused if something else is asked under
    it.
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
        raise Refused(
            "ledger.key",
            f"entry {number}",
            "this key was used for another charge; nothing was spent",
            "a new key",
        )
    if book_queries.reservation(tx, number) == "release":
        raise Refused(
            "ledger.key",
            f"entry {number}",
            "the reservation of this key was given back; nothing was spent",
            "a new key",
        )
    cost = in_currency(currency, fractions(exact(body["cost"])))
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


def _spent(dataset: str, share: str, account: Account, price: Quote) -> Row:
    """What the cost makes of an account, if it fits."""
    after, text, taken = spend(account.totals, price.ratios, account.limits)
    if taken > ALL:
        left = Filter(account.budget, spent_as_guarantee(account)).remaining
        place, reason = (
            f"{dataset} / {share}" if share else dataset,
            f"it does not fit: {left} is left; nothing was read, nothing was spent",
        )
        raise BudgetExceeded("budget.exceeded", place, reason, "a smaller cost")
    return Row(dataset, share, budget_text(account.budget), lately(text, after), taken)
