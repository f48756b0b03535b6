"""Checking a book against itself, and against a head that was kept elsewhere.

*Sees*       an entry changed, dropped, added or reordered; totals that are not the sum of the entries; a charge beyond the budget of its time; a stored
             answer that is not the one recorded; and, with a head, a book that was cut short, rewritten as a whole, or replaced by an old copy.
*Cannot*     without a head, the last three: whoever can write the file can also compute a new chain.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from . import pages
from .entries import GENESIS, Account, Dataset, apply, budget_record, canonical, digest, numbers
from .receipts import Head, Verification

BLIND = ("entries cut off the end, a book rewritten from the start, or an old copy put back: give the last known head",)


def verify(tx: Any, known: Head | None) -> Verification:
    """Read everything once."""
    problems: list[str] = []
    state: dict[str, Dataset] = {}
    previous, expected = GENESIS, 0
    at_known: str | None = GENESIS if known is not None and known.number == 0 else None
    for number, dataset, kind, text, stored in tx.execute("SELECT number, dataset, kind, body, digest FROM entry ORDER BY number"):
        expected += 1
        if number != expected:
            problems.append(f"entry {expected} is missing")
            expected = number
        previous = digest(previous, text)
        if previous != stored:
            problems.append(f"entry {number} does not follow from the one before it")
            previous = stored
        if known is not None and number == known.number:
            at_known = stored
        problems.extend(_replayed(state, number, dataset, kind, text))
    problems.extend(_totals(tx, state))
    problems.extend(_answers(tx))
    head = pages.head(tx)
    if known is not None and (known.book != head.book or at_known != known.digest):
        problems.append("the book does not contain the head that was kept: it was cut, rewritten, or is another or an older copy")
    return Verification(tuple(problems), () if known is not None else BLIND, head)


def _replayed(state: dict[str, Dataset], number: int, dataset: str, kind: str, text: str) -> list[str]:
    try:
        body = json.loads(text)
        if (body["dataset"], body["kind"]) != (dataset, kind) or canonical(body) != text:
            return [f"entry {number} is not in the form the book writes"]
        apply(state, body)
        over = [share for share, account in state[dataset].accounts.items() if not account.fits]
        return [f"entry {number} goes beyond a budget"] if over and kind in ("charge", "reserve", "recall", "amend") else []
    except (KeyError, ValueError, TypeError, ArithmeticError):
        return [f"entry {number} cannot be read"]


def _totals(tx: Any, state: dict[str, Dataset]) -> list[str]:
    rows = {(d, s): (json.loads(b), json.loads(t)) for d, s, b, t in tx.execute("SELECT dataset, share, budget, spent FROM account")}
    summed = {(d, s): a for d, dataset in state.items() for s, a in dataset.accounts.items()}
    wrong = [key for key in rows.keys() | summed.keys() if key not in rows or key not in summed or rows[key] != _row(summed[key])]
    return [f"the total of {d}{f' / {s}' if s else ''} is not the sum of its entries" for d, s in sorted(wrong)]


def _row(account: Account) -> tuple[Any, Any]:
    return json.loads(canonical(budget_record(account.budget))), numbers(account.spent)


def _answers(tx: Any) -> list[str]:
    recorded = {}
    for text, dataset in tx.execute("SELECT body, dataset FROM entry WHERE kind = 'answer' ORDER BY number"):
        body = json.loads(text)
        recorded[dataset, body["question"]] = (body["entry"], body["answer"])
    kept = {(d, q): (n, hashlib.sha256(a).hexdigest()) for d, q, n, a in tx.execute("SELECT dataset, question, number, answer FROM answer")}
    return ["a stored answer is not the one recorded"] * sum(recorded.get(key) != kept.get(key) for key in recorded.keys() | kept.keys())
