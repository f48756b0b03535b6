"""Reading and writing the book's tables inside a transaction that the caller holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from ..accounting.coordinates import make, read
from ..accounting.filters import Filter
from ..errors import Refused
from ..guarantees import Guarantee
from ..guarantees.stored import restore as restore_guarantee
from ..mechanisms.stored import promises as stored_promises
from .entries import GENESIS, WHOLE, Account, Dataset, apply, budget_record, canonical, digest, exact_numbers, numbers
from .receipts import BudgetExceeded, Charge, Head, Recalled, Receipt

_PARTS = 1 << 60
_WRITE = "INSERT INTO account VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET budget = excluded.budget, spent = excluded.spent, parts = excluded.parts"


def begin(tx: Any, book: str, when: str) -> None:
    """Name a new book."""
    if not tx.execute("SELECT 1 FROM book").fetchall():
        tx.execute("INSERT INTO book VALUES (?, ?)", (book, when))


def datasets(tx: Any) -> list[str]:
    return [name for (name,) in tx.execute("SELECT dataset FROM account WHERE share = '' ORDER BY dataset")]


def header(tx: Any, dataset: str) -> dict[str, Any]:
    """What the opening entry says, with the budget of today."""
    ((text,),) = tx.execute("SELECT body FROM entry WHERE dataset = ? AND kind = 'open'", (dataset,)).fetchall()
    stored: dict[str, Any] = json.loads(text)["header"]
    return {**stored, "budget": budget_record(account(tx, dataset, WHOLE).budget)}


def head(tx: Any) -> Head:
    ((book,),) = tx.execute("SELECT id FROM book").fetchall()
    rows = tx.execute("SELECT number, digest FROM entry ORDER BY number DESC LIMIT 1").fetchall()
    return Head(book, *(rows[0] if rows else (0, GENESIS)))


def has_account(tx: Any, dataset: str, share: str) -> bool:
    return bool(tx.execute("SELECT 1 FROM account WHERE dataset = ? AND share = ?", (dataset, share)).fetchall())


def account(tx: Any, dataset: str, share: str) -> Account:
    rows = tx.execute("SELECT budget, spent FROM account WHERE dataset = ? AND share = ?", (dataset, share)).fetchall()
    if not rows:
        raise Refused("ledger.share", f"share={share!r}", "the dataset has no such share", "allow(share, budget) makes one")
    ((budget, spent),) = rows
    return Account(restore_guarantee(json.loads(budget)), exact_numbers(json.loads(spent)))


def append(tx: Any, body: dict[str, Any], key: str | None = None) -> tuple[int, str]:
    """Write an entry at the end of the chain, and what it does to the totals."""
    last = head(tx)
    text = canonical(body)
    number, fresh = last.number + 1, digest(last.digest, text)
    tx.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)", (number, body["dataset"], body["kind"], key, text, fresh))
    name = body["dataset"]
    touched = {WHOLE, body.get("share") or WHOLE, *body.get("spent", ())}
    state = {} if body["kind"] == "open" else {name: Dataset({}, {s: account(tx, name, s) for s in touched if has_account(tx, name, s)})}
    apply(state, body)
    for share, after in state[name].accounts.items():
        row = (name, share, canonical(budget_record(after.budget)), json.dumps(numbers(after.spent)), _parts(after))
        tx.execute(_WRITE, row)
    return number, fresh


def charge(tx: Any, body: dict[str, Any], key: str | None, currency: Guarantee) -> Receipt:
    number, fresh = append(tx, body, key)
    if body["kind"] == "reserve":
        tx.execute("INSERT INTO reservation VALUES (?, 'open')", (number,))
    return _receipt(number, fresh, body, currency)


def by_key(tx: Any, dataset: str, key: str) -> tuple[int, str, dict[str, Any], Guarantee] | None:
    rows = tx.execute("SELECT number, digest, body FROM entry WHERE dataset = ? AND key = ?", (dataset, key)).fetchall()
    return (rows[0][0], rows[0][1], json.loads(rows[0][2]), account(tx, dataset, WHOLE).budget) if rows else None


def repeated(before: tuple[int, str, dict[str, Any], Guarantee], content: dict[str, Any]) -> Receipt:
    """The receipt given before for this key; refused if something else is asked under it."""
    number, fresh, body, currency = before
    if {name: body.get(name) for name in content} != json.loads(canonical(content)):
        raise Refused("ledger.key", f"entry {number}", "this key was used for another charge; nothing was spent", "a new key")
    return _receipt(number, fresh, body, currency)


def reservation(tx: Any, number: int) -> str:
    rows = tx.execute("SELECT state FROM reservation WHERE number = ?", (number,)).fetchall()
    return rows[0][0] if rows else ""


def settle(tx: Any, number: int, kind: str, body: dict[str, Any]) -> None:
    append(tx, body)
    tx.execute("UPDATE reservation SET state = ? WHERE number = ?", (kind, number))


def remember(tx: Any, dataset: str, question: str, receipt: Receipt, answer: bytes, when: str) -> None:
    asked = digest("question", question)
    if tx.execute("SELECT 1 FROM entry WHERE number = ? AND digest = ? AND dataset = ?", (receipt.number, receipt.digest, dataset)).fetchall() == []:
        raise Refused("ledger.answer", f"entry {receipt.number}", "the book has no such charge", "the receipt that paid for the answer")
    fingerprint = hashlib.sha256(answer).hexdigest()  # of what may be published, so that a changed answer is seen
    append(tx, {"kind": "answer", "dataset": dataset, "share": receipt.share, "entry": receipt.number, "question": asked, "answer": fingerprint, "when": when})
    tx.execute("INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?)", (dataset, asked, receipt.number, answer))
    tx.execute("DELETE FROM shown WHERE dataset = ? AND question = ?", (dataset, asked))  # whoever saw an older answer has not seen this one
    tx.execute("INSERT OR IGNORE INTO shown VALUES (?, ?, ?)", (dataset, asked, receipt.share or WHOLE))


def recall(tx: Any, dataset: str, question: str, share: str | None, when: str) -> Recalled | None:
    asked = digest("question", question)
    rows = tx.execute("SELECT number, answer FROM answer WHERE dataset = ? AND question = ?", (dataset, asked)).fetchall()
    if not rows:
        return None
    ((number, answer),) = rows
    ((text,),) = tx.execute("SELECT body FROM entry WHERE number = ?", (number,)).fetchall()
    paid = json.loads(text)
    if share and not tx.execute("SELECT 1 FROM shown WHERE dataset = ? AND question = ? AND share = ?", (dataset, asked, share)).fetchall():
        cost = exact_numbers(paid["cost"])
        if not account(tx, dataset, share).plus(cost).fits:
            reason = "the share has not enough left to be shown this answer; nothing was spent"
            raise BudgetExceeded("budget.exceeded", f"{dataset} / {share}", reason, "a larger share")
        append(tx, {"kind": "recall", "dataset": dataset, "share": share, "entry": number, "cost": paid["cost"], "when": when})
        tx.execute("INSERT INTO shown VALUES (?, ?, ?)", (dataset, asked, share))
    return Recalled(bytes(answer), paid["when"], number)


def reprice(tx: Any, dataset: str, reason: str, when: str) -> None:
    """Sum the charges anew; where the new total is lower, write it down."""
    from .book import price

    filter_ = Filter(account(tx, dataset, WHOLE).budget)
    totals: dict[str, list[Fraction]] = {}
    rows = tx.execute("SELECT number, body FROM entry WHERE dataset = ? AND kind IN ('charge', 'reserve', 'recall') ORDER BY number", (dataset,)).fetchall()
    bodies = {number: json.loads(text) for number, text in rows}
    for number, body in bodies.items():
        if reservation(tx, number) == "release":
            continue
        source = bodies[body["entry"]] if body["kind"] == "recall" else body
        now = tuple(Fraction(0) for _ in body["cost"])
        for stored in source["mechanisms"]:
            options = stored_promises(stored) if stored["sfumato"] == "mechanism" else (restore_guarantee(stored),)
            costs = [price(filter_, (promise,)) for promise in options if _priceable(filter_, promise)]
            best = min(costs, key=lambda c: tuple(reversed(c)))
            now = tuple(a + b for a, b in zip(now, best, strict=True))
        cost = tuple(map(min, now, exact_numbers(body["cost"])))
        for share in {body.get("share") or WHOLE} | (set() if body["kind"] == "recall" else {WHOLE}):
            totals[share] = [a + b for a, b in zip(totals.get(share, [Fraction(0)] * len(cost)), cost, strict=True)]
    spent = {share: numbers(total) for share, total in totals.items() if tuple(total) != account(tx, dataset, share).spent}
    lower = {share: s for share, s in spent.items() if all(a <= b for a, b in zip(exact_numbers(s), account(tx, dataset, share).spent, strict=True))}
    if lower:
        append(tx, {"kind": "reprice", "dataset": dataset, "share": None, "spent": lower, "reason": reason, "when": when})


def history(tx: Any, dataset: str) -> Iterator[Charge]:
    currency = account(tx, dataset, WHOLE).budget
    for number, kind, text, fresh in tx.execute("SELECT number, kind, body, digest FROM entry WHERE dataset = ? ORDER BY number", (dataset,)):
        body = json.loads(text)
        cost = make(currency, exact_numbers(body["cost"])) if "cost" in body else None
        memo = body.get("memo") or body.get("reason") or ""
        yield Charge(number, body["when"], kind, dataset, body.get("share"), memo, cost, tuple(body.get("mechanisms", ())), fresh)


def _priceable(filter_: Filter, promise: Guarantee) -> bool:
    try:
        filter_.price(promise)
    except Refused:
        return False
    return True


def _receipt(number: int, fresh: str, body: dict[str, Any], currency: Guarantee) -> Receipt:
    cost = Guarantee._bind(make(currency, exact_numbers(body["cost"])), currency.relation, currency.unit)
    return Receipt(body["dataset"], number, fresh, cost, body["when"], body["memo"], body["share"], body["kind"] == "reserve")


def _parts(after: Account) -> int:
    """The largest share of a budget's number that is spent, in parts of 2^-60, rounded down: the table's own check, beside the book's exact one."""
    pairs = [(s, b) for s, b in zip(after.spent, read(after.budget), strict=True) if s]
    return max((_PARTS + 1 if b == 0 else int(s * _PARTS / b) if s <= b else _PARTS + 1 for s, b in pairs), default=0)
