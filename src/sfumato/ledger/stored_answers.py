"""Store and recall answers, and price old charges again. None of it costs the dataset anything."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..guarantees.guarantee import Numbers
from ..guarantees.stored_guarantee import restore as restore_guarantee
from . import book_queries
from . import ledger_refusals as refusals
from .entries import WHOLE, Account, digest, new_account, numbers
from .exact_totals import Ratios, fractions, parse_ratios, ratios, within
from .pricing import best, price_stored
from .receipts import Recalled, Receipt

if TYPE_CHECKING:
    from .storage.book_store import BookTransaction

SAME_CHARGE = """
SELECT 1 FROM answer JOIN shown ON answer.dataset = shown.dataset
    AND answer.question = shown.question
WHERE answer.dataset = ? AND shown.share = ? AND answer.number = ? LIMIT 1"""
"""Whether a share has already seen an answer of this charge."""
PRICED = "('open', 'amend', 'charge', 'reserve', 'recall')"
"""The kinds of entries that determine the totals."""


def remember(
    tx: BookTransaction, dataset: str, question: str, receipt: Receipt, answer: bytes, when: str
) -> None:
    """Store an answer, and its fingerprint in the chain, so that `verify` detects a change."""
    question_digest = digest("question", question)
    paid = book_queries.read_charge(tx, dataset, receipt.number, receipt.digest)
    if book_queries.reservation(tx, receipt.number) in ("open", "release"):
        raise refusals.RESERVATION_NOT_USED(number=receipt.number)
    fingerprint = hashlib.sha256(answer).hexdigest()
    body = {
        "kind": "answer",
        "dataset": dataset,
        "share": paid["share"],
        "entry": receipt.number,
        "question": question_digest,
        "answer": fingerprint,
        "when": when,
    }
    book_queries.append(tx, body, answer)


class StoredAnswer(NamedTuple):
    """A stored answer, what a share pays to see it, and whether this share still has to pay
    (`due`).

    The price is what the first analyst paid; nothing, if the share has paid for another answer of
    the same charge.
    """

    recalled: Recalled
    cost: list[str]
    due: bool


def find_answer(
    tx: BookTransaction, dataset: str, question: str, share: str | None
) -> StoredAnswer | None:
    """Return the stored answer to a question, or None."""
    question_digest = digest("question", question)
    rows = tx.execute(
        "SELECT number, answer FROM answer WHERE dataset = ? AND question = ?",
        (dataset, question_digest),
    ).fetchall()
    if not rows:
        return None
    ((number, answer),) = rows
    paid = book_queries.read_charge(tx, dataset, number)
    due = (
        share is not None
        and not tx.execute(
            "SELECT 1 FROM shown WHERE dataset = ? AND question = ? AND share = ?",
            (dataset, question_digest, share),
        ).fetchall()
    )
    is_paid = due and tx.execute(SAME_CHARGE, (dataset, share, number)).fetchall()
    return StoredAnswer(
        Recalled(bytes(answer), paid["when"], number),
        ["0" for _ in paid["cost"]] if is_paid else paid["cost"],
        due,
    )


def read_answers(tx: BookTransaction, dataset: str, share: str | None) -> tuple[Recalled, ...]:
    """Return all stored answers about a dataset, oldest charge first; with a share, those that it
    has seen.
    """
    condition = (
        ""
        if share is None
        else " AND EXISTS (SELECT 1 FROM shown WHERE shown.dataset = answer.dataset "
        "AND shown.question = answer.question AND shown.share = ?)"
    )
    rows = tx.execute(
        f"SELECT number, answer FROM answer WHERE dataset = ?{condition} ORDER BY number, question",
        (dataset,) if share is None else (dataset, share),
    ).fetchall()
    return tuple(
        Recalled(
            bytes(answer), book_queries.read_charge(tx, dataset, int(number))["when"], int(number)
        )
        for number, answer in rows
    )


def unpaid_costs(answers: Iterable[StoredAnswer | None]) -> list[Ratios]:
    """Return the costs that a share pays to see all answers: every charge once."""
    return list(
        {
            stored.recalled.number: parse_ratios(stored.cost)
            for stored in answers
            if stored is not None and stored.due
        }.values()
    )


def recall(
    tx: BookTransaction, dataset: str, questions: Sequence[str], share: str | None, when: str
) -> tuple[Recalled, ...] | None:
    """Return the stored answers to all questions, or None if one is missing. A share pays for all
    that it has not seen, or for none.
    """
    answers = [find_answer(tx, dataset, question, share) for question in questions]
    if share is not None and None not in answers:
        after = book_queries.account(tx, dataset, share)
        for cost in unpaid_costs(answers):
            after = after.plus(cost)
        if not after.fits:
            raise refusals.SHARE_EXCEEDED(dataset=dataset, share=share)
        for question in questions:
            stored = find_answer(tx, dataset, question, share)
            if (
                stored is not None and stored.due
                # looked up again for each: the first answer of a charge pays for the others
            ):
                about = {
                    "kind": "recall",
                    "dataset": dataset,
                    "share": share,
                    "entry": stored.recalled.number,
                    "question": digest("question", question),
                }
                book_queries.append(tx, {**about, "cost": stored.cost, "when": when})
    return all_recalled(answers)


def all_recalled(answers: Sequence[StoredAnswer | None]) -> tuple[Recalled, ...] | None:
    """Return the answers, or None if one is missing."""
    recalled = [stored.recalled for stored in answers if stored is not None]
    return tuple(recalled) if len(recalled) == len(answers) else None


def reprice(tx: BookTransaction, dataset: str, reason: str, when: str) -> None:
    """Add up the charges again, each at the lower of its old and new price; write an entry if a
    total falls.

    The choice between guarantees follows from the mechanism and the budget in force at the charge,
    not from a budget amended since, which may depend on answers. An open reservation keeps its
    price, because a release gives that price back.
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
        state, then = book_queries.reservation(tx, number), fractions(parse_ratios(body["cost"]))
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
            totals[share] = totals.get(share, new_account(budget)).plus(ratios(costs[number]))
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
