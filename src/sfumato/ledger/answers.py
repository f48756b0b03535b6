"""Stored answers, and prices brought up to date: what a book gives back without a new charge to the dataset."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ..accounting.coordinates import Numbers
from ..errors import Refused
from . import pages
from .entries import WHOLE, Account, digest, exact_numbers, numbers, open_account
from .pricing import best, price_stored
from .receipts import BudgetExceeded, Recalled, Receipt


def remember(tx: Any, dataset: str, question: str, receipt: Receipt, answer: bytes, when: str) -> None:
    """Store an answer, and its fingerprint in the chain: of what may be published, so that a changed answer is seen."""
    asked = digest("question", question)
    paid = pages.paid(tx, dataset, receipt.number, receipt.digest)
    if pages.reservation(tx, receipt.number) in ("open", "release"):
        raise Refused("ledger.reservation", f"entry {receipt.number}", "no data may be read for a reservation before it is used", "use(receipt) first")
    tx.execute("DELETE FROM shown WHERE dataset = ? AND question = ?", (dataset, asked))  # whoever saw an older answer has not seen this one
    fingerprint = hashlib.sha256(answer).hexdigest()
    body = {"kind": "answer", "dataset": dataset, "share": paid["share"], "entry": receipt.number, "question": asked, "answer": fingerprint, "when": when}
    pages.append(tx, body)
    tx.execute("INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?)", (dataset, asked, receipt.number, answer))


def recall(tx: Any, dataset: str, question: str, share: str | None, when: str) -> Recalled | None:
    """The bytes stored for a question; a share that has not seen them pays what the first asker paid."""
    asked = digest("question", question)
    rows = tx.execute("SELECT number, answer FROM answer WHERE dataset = ? AND question = ?", (dataset, asked)).fetchall()
    if not rows:
        return None
    ((number, answer),) = rows
    paid = pages.paid(tx, dataset, number)
    if share and not tx.execute("SELECT 1 FROM shown WHERE dataset = ? AND question = ? AND share = ?", (dataset, asked, share)).fetchall():
        if not pages.account(tx, dataset, share).plus(exact_numbers(paid["cost"])).fits:
            reason = "the share has not enough left to be shown this answer; nothing was spent"
            raise BudgetExceeded("budget.exceeded", f"{dataset} / {share}", reason, "a larger share")
        body = {"kind": "recall", "dataset": dataset, "share": share, "entry": number, "question": asked, "cost": paid["cost"], "when": when}
        pages.append(tx, body)
    return Recalled(bytes(answer), paid["when"], number)


def reprice(tx: Any, dataset: str, reason: str, when: str) -> None:
    """Sum the charges anew, each at the better of its two prices; where a total is lower now, write it down.

    A reservation that is still open keeps its price, because it is the price that a release gives back.
    """
    budget = pages.account(tx, dataset, WHOLE).budget
    rows = tx.execute("SELECT number, body FROM entry WHERE dataset = ? AND kind IN ('charge', 'reserve', 'recall') ORDER BY number", (dataset,))
    totals: dict[str, Account] = {}
    costs: dict[int, Numbers] = {}
    for number, text in rows.fetchall():
        body = json.loads(text)
        state = pages.reservation(tx, number)
        if state == "release":
            continue
        then = exact_numbers(body["cost"])
        if body["kind"] == "recall":
            costs[number] = best(budget, (costs.get(body["entry"], then), then))
        else:
            costs[number] = then if state == "open" else best(budget, (price_stored(budget, body["mechanisms"]), then))
        for share in {body.get("share") or WHOLE} | (set() if body["kind"] == "recall" else {WHOLE}):
            totals[share] = totals.get(share, open_account(budget)).plus(costs[number])
    lower = {}
    for share, total in totals.items():
        before = pages.account(tx, dataset, share).spent
        if total.spent != before and all(a <= b for a, b in zip(total.spent, before, strict=True)):
            lower[share] = numbers(total.spent)
    if lower:
        pages.append(tx, {"kind": "reprice", "dataset": dataset, "share": None, "spent": lower, "reason": reason, "when": when})
