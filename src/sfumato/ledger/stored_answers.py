"""Stored answers, and prices brought up to date: what a book gives back without a new charge to the
dataset.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..accounting.budget_vector import Numbers
from ..errors import Refused
from ..guarantees.stored_guarantee import restore as restore_guarantee
from . import book_queries
from .entries import WHOLE, Account, digest, numbers, open_account
from .exact_totals import Ratios, exact, fractions, ratios, within
from .pricing import best, price_stored
from .receipts import BudgetExceeded, Recalled, Receipt

BESIDE = """
SELECT 1 FROM answer JOIN shown ON answer.dataset = shown.dataset AND answer.question = shown.question
WHERE answer.dataset = ? AND shown.share = ? AND answer.number = ? LIMIT 1"""
"""Whether a share has seen another answer of the same charge."""
PRICED = "('open', 'amend', 'charge', 'reserve', 'recall')"
"""The kinds of entries that a sum of costs follows from."""


def remember(
    tx: Any, dataset: str, question: str, receipt: Receipt, answer: bytes, when: str
) -> None:
    """Store an answer, and its fingerprint in the chain: of what may be published, so that a
    changed answer is seen.
    """
    asked = digest("question", question)
    paid = book_queries.paid(tx, dataset, receipt.number, receipt.digest)
    if book_queries.reservation(tx, receipt.number) in ("open", "release"):
        raise Refused(
            "ledger.reservation",
            f"entry {receipt.number}",
            "no data may be read for a reservation before it is used",
            "use(receipt) first",
        )
    fingerprint = hashlib.sha256(answer).hexdigest()
    body = {
        "kind": "answer",
        "dataset": dataset,
        "share": paid["share"],
        "entry": receipt.number,
        "question": asked,
        "answer": fingerprint,
        "when": when,
    }
    book_queries.append(tx, body, answer)


class Found(NamedTuple):
    """A stored answer, what a share pays for it that has not seen it yet, and whether this one has
    not.

    That is what the first asker paid; nothing, where the share has paid for another answer of the
    same charge.
    """

    recalled: Recalled
    cost: list[str]
    due: bool


def found(tx: Any, dataset: str, question: str, share: str | None) -> Found | None:
    """What is stored under a question, if anything is."""
    asked = digest("question", question)
    rows = tx.execute(
        "SELECT number, answer FROM answer WHERE dataset = ? AND question = ?", (dataset, asked)
    ).fetchall()
    if not rows:
        return None
    ((number, answer),) = rows
    paid = book_queries.paid(tx, dataset, number)
    due = (
        share is not None
        and not tx.execute(
            "SELECT 1 FROM shown WHERE dataset = ? AND question = ? AND share = ?",
            (dataset, asked, share),
        ).fetchall()
    )
    beside = due and tx.execute(BESIDE, (dataset, share, number)).fetchall()
    return Found(
        Recalled(bytes(answer), paid["when"], number),
        ["0" for _ in paid["cost"]] if beside else paid["cost"],
        due,
    )


def owed(several: Iterable[Found | None]) -> list[Ratios]:
    """What a share that sees all of these pays: every charge once."""
    return list(
        {
            one.recalled.number: exact(one.cost) for one in several if one is not None and one.due
        }.values()
    )


def recall(
    tx: Any, dataset: str, questions: Sequence[str], share: str | None, when: str
) -> tuple[Recalled, ...] | None:
    """The bytes stored for questions, if they are stored for all of them; a share that has not seen
    some pays for these together, or for none.
    """
    several = [found(tx, dataset, question, share) for question in questions]
    if share is not None and None not in several:
        after = book_queries.account(tx, dataset, share)
        for cost in owed(several):
            after = after.plus(cost)
        if not after.fits:
            reason = (
                f"the share has not enough left to be shown "
                f"{'this answer' if len(several) == 1 else 'these answers'}; nothing was "
                f"spent"
            )
            raise BudgetExceeded(
                "budget.exceeded", f"{dataset} / {share}", reason, "a larger share"
            )
        for question in questions:
            known = found(tx, dataset, question, share)
            if (
                known is not None and known.due
                # asked anew for each: what one has paid for, the next of the same charge has not to
                # pay
                # again
            ):
                about = {
                    "kind": "recall",
                    "dataset": dataset,
                    "share": share,
                    "entry": known.recalled.number,
                    "question": digest("question", question),
                }
                book_queries.append(tx, {**about, "cost": known.cost, "when": when})
    return all_of(several)


def all_of(several: Sequence[Found | None]) -> tuple[Recalled, ...] | None:
    """The answers, if none is missing."""
    known = [one.recalled for one in several if one is not None]
    return tuple(known) if len(known) == len(several) else None


def reprice(tx: Any, dataset: str, reason: str, when: str) -> None:
    """Sum the charges anew, each at the better of its two prices; where a total is lower now, write
    it down.

    Which of several promises is the better follows from the mechanism and the budget in force when
    it was charged: not from a budget amended since, which somebody may have chosen after seeing
    what was answered. A reservation that is still open keeps its price: it is the price that a
    release gives back.
    """
    budget = book_queries.account(tx, dataset, WHOLE).budget
    totals: dict[str, Account] = {}
    costs: dict[int, Numbers] = {}
    for number, text in tx.rows(
        f"SELECT number, body FROM entry WHERE dataset = ? AND kind IN {PRICED} ORDER BY number",
        (dataset,),
    ):
        body = json.loads(text)
        match body["kind"]:
            case "open":
                budget = restore_guarantee(body["header"]["budget"])
                continue
            case "amend":
                budget = budget if body["share"] else restore_guarantee(body["budget"])
                continue
        state, then = book_queries.reservation(tx, number), fractions(exact(body["cost"]))
        if state == "release":
            continue
        if body["kind"] == "recall":
            costs[number] = best(budget, (costs.get(body["entry"], then), then))
        else:
            costs[number] = (
                then
                if state == "open"
                else best(budget, (price_stored(budget, body["mechanisms"]), then))
            )
        for share in {body.get("share") or WHOLE} | (
            set() if body["kind"] == "recall" else {WHOLE}
        ):
            totals[share] = totals.get(share, open_account(budget)).plus(ratios(costs[number]))
    lower = {}
    for share, total in totals.items():
        before = book_queries.account(tx, dataset, share).totals
        if total.totals != before and within(total.totals, before):
            lower[share] = numbers(total.spent)
    if lower:
        book_queries.append(
            tx,
            {
                "kind": "reprice",
                "dataset": dataset,
                "share": None,
                "spent": lower,
                "reason": reason,
                "when": when,
            },
        )
