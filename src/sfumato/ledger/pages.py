"""Reading and writing the book's tables inside a transaction that the caller holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ..accounting.coordinates import read
from ..errors import Refused
from ..guarantees import Guarantee
from ..guarantees.stored import restore as restore_guarantee
from .entries import WHOLE, Account, Dataset, Reservation, apply, budget_record, canonical, digest, exact_numbers, genesis, in_currency, numbers
from .receipts import Charge, Head, Receipt

_PARTS = 1 << 60
WRITE = "INSERT INTO account VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET budget = excluded.budget, spent = excluded.spent, parts = excluded.parts"


def begin(tx: Any, book: str) -> None:
    """Name a new book."""
    if not tx.execute("SELECT 1 FROM book").fetchall():
        tx.execute("INSERT INTO book VALUES (?)", (book,))
        tx.head = None


def datasets(tx: Any) -> list[str]:
    return [name for (name,) in tx.execute("SELECT dataset FROM account WHERE share = '' ORDER BY dataset")]


def header(tx: Any, dataset: str) -> dict[str, Any]:
    """What the opening entry says, with the budget of today."""
    rows = tx.execute("SELECT body FROM entry WHERE dataset = ? AND kind = 'open'", (dataset,)).fetchall()
    if not rows:
        raise _damaged("the opening of a dataset is missing")
    stored: dict[str, Any] = json.loads(rows[0][0])["header"]
    return {**stored, "budget": budget_record(account(tx, dataset, WHOLE).budget)}


def head(tx: Any) -> Head:
    if tx.head is None:
        rows = tx.execute("SELECT id, number, digest FROM book LEFT JOIN (SELECT number, digest FROM entry ORDER BY number DESC LIMIT 1)").fetchall()
        if len(rows) != 1:
            raise _damaged("it has no name of its own, or several")
        ((book, number, fresh),) = rows
        tx.head = Head(str(book), 0, genesis(str(book))) if number is None else Head(str(book), number, fresh)
    last: Head = tx.head
    return last


def holds(tx: Any, known: Head) -> bool:
    """Whether the book still has the entry that a head names."""
    if known == head(tx):
        return True
    if known.number == 0:
        return known.digest == genesis(known.book) and known.book == head(tx).book
    return bool(tx.execute("SELECT 1 FROM book, entry WHERE id = ? AND number = ? AND digest = ?", (known.book, known.number, known.digest)).fetchall())


def has_account(tx: Any, dataset: str, share: str) -> bool:
    return bool(tx.execute("SELECT 1 FROM account WHERE dataset = ? AND share = ?", (dataset, share)).fetchall())


def account(tx: Any, dataset: str, share: str) -> Account:
    rows = tx.execute("SELECT budget, spent FROM account WHERE dataset = ? AND share = ?", (dataset, share)).fetchall()
    if not rows:
        raise Refused("ledger.share", f"share={share!r}", "the dataset has no such share", "allow(share, budget) makes one")
    ((budget, spent),) = rows
    try:
        return Account(_budget(budget), exact_numbers(json.loads(spent)))
    except (ValueError, TypeError, ZeroDivisionError):
        raise _damaged("an account cannot be read") from None


def append(tx: Any, body: dict[str, Any], key: str | None = None, accounts: dict[str, Account] | None = None) -> tuple[int, str]:
    """Write an entry at the end of the chain, and what it does to the rest of the book; the accounts that it touches, if they were read before."""
    last = head(tx)
    number, name = last.number + 1, body["dataset"]
    kept = body if key is None else {**body, "key": key}
    text = canonical(kept)
    fresh = digest(last.digest, text)
    tx.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)", (number, name, body["kind"], key, text, fresh))
    tx.head = Head(last.book, number, fresh)
    state = {} if body["kind"] == "open" else {name: _touched(tx, body) if accounts is None else Dataset({}, accounts)}
    apply(state, number, kept)
    for share, after in state[name].accounts.items():
        tx.execute(WRITE, account_row(name, share, after))
    for entry, reserved in state[name].reservations.items():
        tx.execute("INSERT OR REPLACE INTO reservation VALUES (?, ?)", (entry, reserved.state))
    for question, share in state[name].shown:
        tx.execute("INSERT INTO shown VALUES (?, ?, ?)", (name, question, share))
    return number, fresh


def account_row(name: str, share: str, account: Account) -> tuple[str, str, str, str, int]:
    """An account as the table holds it."""
    return name, share, _budget_text(account.budget), json.dumps(numbers(account.spent)), _parts(account)


def _touched(tx: Any, body: dict[str, Any]) -> Dataset:
    """The part of a dataset's state that an entry may change."""
    name, new = body["dataset"], {body["share"]} if body["kind"] == "share" else set()
    shares = {WHOLE, body.get("share") or WHOLE, *body.get("spent", ())} - new
    reservations = {}
    if body["kind"] in ("use", "release"):
        entry = body["entry"]
        reservations[entry] = Reservation(body["share"] or WHOLE, paid(tx, name, entry)["cost"], reservation(tx, entry))
    return Dataset({}, {share: account(tx, name, share) for share in shares}, reservations)


def paid(tx: Any, dataset: str, number: int, fresh: str | None = None) -> dict[str, Any]:
    """The body of the charge or reservation with this number, and this digest."""
    rows = tx.execute("SELECT body, digest FROM entry WHERE number = ? AND dataset = ? AND kind IN ('charge', 'reserve')", (number, dataset)).fetchall()
    if not rows or fresh not in (None, rows[0][1]):
        raise Refused("ledger.receipt", f"entry {number}", "the book has no such charge of this dataset", "a receipt that charge(…) or reserve(…) gave")
    body: dict[str, Any] = json.loads(rows[0][0])
    return body


def by_key(tx: Any, dataset: str, key: str, content: dict[str, Any], currency: Guarantee) -> Receipt | None:
    """The receipt given before for this key, if any; refused if something else is asked under it."""
    rows = tx.execute("SELECT number, digest, body FROM entry WHERE dataset = ? AND key = ?", (dataset, key)).fetchall()
    if not rows:
        return None
    ((number, fresh, text),) = rows
    body = json.loads(text)
    if {name: body.get(name) for name in content} != json.loads(canonical(content)):
        raise Refused("ledger.key", f"entry {number}", "this key was used for another charge; nothing was spent", "a new key")
    if reservation(tx, number) == "release":
        raise Refused("ledger.key", f"entry {number}", "the reservation of this key was given back; nothing was spent", "a new key")
    return receipt(number, fresh, body, in_currency(currency, exact_numbers(body["cost"])), repeated=True)


def reservation(tx: Any, number: int) -> str:
    """Open, use or release; empty for what is no reservation."""
    rows = tx.execute("SELECT state FROM reservation WHERE number = ?", (number,)).fetchall()
    return rows[0][0] if rows else ""


def history(tx: Any, dataset: str) -> Iterator[Charge]:
    currency = account(tx, dataset, WHOLE).budget
    for number, kind, text, fresh in tx.execute("SELECT number, kind, body, digest FROM entry WHERE dataset = ? ORDER BY number", (dataset,)):
        body = json.loads(text)
        cost = in_currency(currency, exact_numbers(body["cost"])) if "cost" in body else None
        memo = body.get("memo") or body.get("reason") or ""
        yield Charge(number, body["when"], kind, dataset, body.get("share"), memo, cost, tuple(body.get("mechanisms", ())), fresh)


def receipt(number: int, fresh: str, body: dict[str, Any], cost: Guarantee, *, repeated: bool = False) -> Receipt:
    return Receipt(body["dataset"], number, fresh, cost, body["when"], body["memo"], body["share"], body["kind"] == "reserve", repeated)


def _damaged(reason: str) -> Refused:
    return Refused("ledger.corrupt", "the book", f"{reason}; nothing was accepted", "the last backup, checked with verify(head=…)")


@lru_cache(maxsize=64)
def _budget_text(budget: Guarantee) -> str:
    return canonical(budget_record(budget))


@lru_cache(maxsize=64)
def _budget(text: str) -> Guarantee:
    return restore_guarantee(json.loads(text))


def _parts(after: Account) -> int:
    """The largest share of a budget's number that is spent, in parts of 2^-60, rounded down: the table's own check, beside the book's exact one."""
    most = 0
    for s, b in zip(after.spent, read(after.budget), strict=True):
        if s > b:
            return _PARTS + 1
        if s:
            most = max(most, s.numerator * b.denominator * _PARTS // (s.denominator * b.numerator))
    return most
