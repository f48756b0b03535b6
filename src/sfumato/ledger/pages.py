"""Reading and writing the book's tables inside a transaction that the caller holds, in the SQL that SQLite and PostgreSQL share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from ..accounting.coordinates import read
from ..errors import Refused
from ..guarantees import Guarantee
from ..guarantees.stored import record as guarantee_record
from ..guarantees.stored import restore as restore_guarantee
from . import totals
from .entries import WHOLE, Account, Dataset, Reservation, apply, canonical, digest, genesis, in_currency
from .receipts import Charge, Head
from .totals import Ratios, exact, fractions, ratios

LOOK = """
SELECT CASE (SELECT count(*) FROM book) WHEN 1 THEN (SELECT id FROM book) END, number, digest,
    (SELECT budget FROM balance WHERE dataset = ? AND share = ''), (SELECT spent FROM balance WHERE dataset = ? AND share = ''), dataset, coalesce(spent, '')
FROM entry ORDER BY number DESC LIMIT 1"""
HEAD = "SELECT id, number, digest FROM book LEFT JOIN (SELECT number, digest FROM entry ORDER BY number DESC LIMIT 1) AS last ON true"
ACCOUNT = """
SELECT budget, coalesce(last.spent, balance.spent)
FROM balance LEFT JOIN (SELECT dataset, spent FROM entry ORDER BY number DESC LIMIT 1) AS last ON last.dataset = balance.dataset AND share = ''
WHERE balance.dataset = ? AND share = ?"""
ENTER = "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
SETTLE = """
UPDATE balance SET spent = last.spent, parts = last.parts FROM (SELECT dataset, spent, parts FROM entry ORDER BY number DESC LIMIT 1) AS last
WHERE last.spent IS NOT NULL AND balance.dataset = last.dataset AND share = ''"""
"""Before an entry of another kind: what the last charges carried with them."""

SPEND = "UPDATE balance SET spent = ?, parts = ? WHERE dataset = ? AND share = ?"
Spent = tuple[str, int, str, str]
"""What SPEND writes: totals, parts, dataset and share."""

WRITE = """
INSERT INTO balance VALUES (?, ?, ?, ?, ?)
ON CONFLICT (dataset, share) DO UPDATE SET budget = excluded.budget, spent = excluded.spent, parts = excluded.parts"""
KEEP = "INSERT INTO reservation VALUES (?, ?) ON CONFLICT (number) DO UPDATE SET state = excluded.state"


def begin(tx: Any, book: str) -> None:
    """Name a new book."""
    if not tx.execute("SELECT 1 FROM book").fetchall():
        tx.execute("INSERT INTO book VALUES (?)", (book,))
        tx.head = None


def datasets(tx: Any) -> list[str]:
    return [name for (name,) in tx.execute("SELECT dataset FROM balance WHERE share = '' ORDER BY dataset")]


def header(tx: Any, dataset: str) -> dict[str, Any]:
    """What the opening entry says, with the budget of today."""
    rows = tx.execute("SELECT body FROM entry WHERE dataset = ? AND kind = 'open'", (dataset,)).fetchall()
    if not rows:
        raise _damaged("the opening of a dataset is missing")
    stored: dict[str, Any] = json.loads(rows[0][0])["header"]
    return {**stored, "budget": guarantee_record(account(tx, dataset, WHOLE).budget)}


def head(tx: Any) -> Head:
    if tx.head is None:
        rows = tx.execute(HEAD).fetchall()
        if len(rows) != 1:
            raise _damaged("it has no name of its own, or several")
        ((book, number, fresh),) = rows
        if not isinstance(number, int | None):
            raise _damaged("its entries have no numbers")
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
    return bool(tx.execute("SELECT 1 FROM balance WHERE dataset = ? AND share = ?", (dataset, share)).fetchall())


def account(tx: Any, dataset: str, share: str) -> Account:
    rows = tx.execute(ACCOUNT, (dataset, share)).fetchall()
    if not rows:
        raise Refused("ledger.share", f"share={share!r}", "the dataset has no such share", "allow(share, budget) makes one")
    ((budget, spent),) = rows
    return _account(budget, spent)


def whole(tx: Any, dataset: str) -> Account:
    """The dataset's own account, read together with the end of the chain."""
    rows = tx.run(LOOK, (dataset, dataset)).fetchall()
    if len(rows) != 1 or None in rows[0]:  # not as the book writes it: what follows says why
        head(tx)
        return account(tx, dataset, WHOLE)
    ((book, number, fresh, budget, spent, last, carried),) = rows
    tx.head = Head(book, number, fresh)
    tx.carried = dataset if carried and last == dataset else None
    return _account(budget, carried if tx.carried else spent)


def enter(tx: Any, kind: str, dataset: str, key: str | None, text: str, after: Sequence[Spent]) -> tuple[int, str]:
    """Write a charge or a reservation, whose text is at hand, at the end of the chain, and what the accounts that it touches come to: carried by the
    entry where that is the dataset's own account alone."""
    last = head(tx)
    number, fresh = last.number + 1, digest(last.digest, text)
    if tx.carried != dataset or len(after) > 1:
        tx.run(SETTLE)
    (total, taken, *_), *shares = after
    if shares:
        tx.carried = None
        tx.run(ENTER, (number, dataset, kind, key, text, fresh, None, None))
        for spent in after:
            tx.run(SPEND, spent)
    else:
        tx.carried = dataset
        tx.run(ENTER, (number, dataset, kind, key, text, fresh, total, taken))
    tx.head = Head(last.book, number, fresh)
    if kind == "reserve":
        tx.execute("INSERT INTO reservation VALUES (?, 'open')", (number,))
    return number, fresh


def append(tx: Any, body: dict[str, Any]) -> None:
    """Write an entry of another kind at the end of the chain, and what it does to the rest of the book."""
    last = head(tx)
    number, name, text = last.number + 1, body["dataset"], canonical(body)
    fresh = digest(last.digest, text)
    tx.execute(SETTLE)
    tx.execute(ENTER, (number, name, body["kind"], None, text, fresh, None, None))
    tx.head, tx.carried = Head(last.book, number, fresh), None
    state = {} if body["kind"] == "open" else {name: _touched(tx, body)}
    before = dict(state[name].accounts) if state else {}
    apply(state, number, body)
    for share, after in state[name].accounts.items():
        if after is not before.get(share):
            tx.execute(WRITE, account_row(name, share, after))
    for entry, reserved in state[name].reservations.items():
        tx.execute(KEEP, (entry, reserved.state))
    for question, share in state[name].shown:
        tx.execute("INSERT INTO shown VALUES (?, ?, ?)", (name, question, share))


def account_row(name: str, share: str, account: Account) -> tuple[str, str, str, str, int]:
    """An account as the table holds it."""
    return name, share, budget_text(account.budget), *account.sums


def _touched(tx: Any, body: dict[str, Any]) -> Dataset:
    """The part of a dataset's state that an entry may change."""
    name, kind, share = body["dataset"], body["kind"], body.get("share") or WHOLE
    shares = set() if kind in ("share", "use", "answer") else {WHOLE, share, *body.get("spent", ())}
    reservations = {}
    if kind in ("use", "release"):
        entry = body["entry"]
        reservations[entry] = Reservation(share, paid(tx, name, entry)["cost"], reservation(tx, entry))
    return Dataset({}, {one: account(tx, name, one) for one in shares}, reservations)


def paid(tx: Any, dataset: str, number: int, fresh: str | None = None) -> dict[str, Any]:
    """The body of the charge or reservation with this number, and this digest."""
    rows = tx.execute("SELECT body, digest FROM entry WHERE number = ? AND dataset = ? AND kind IN ('charge', 'reserve')", (number, dataset)).fetchall()
    if not rows or fresh not in (None, rows[0][1]):
        raise Refused("ledger.receipt", f"entry {number}", "the book has no such charge of this dataset", "a receipt that charge(…) or reserve(…) gave")
    body: dict[str, Any] = json.loads(rows[0][0])
    return body


def reservation(tx: Any, number: int) -> str:
    """Open, use or release; empty for what is no reservation."""
    rows = tx.execute("SELECT state FROM reservation WHERE number = ?", (number,)).fetchall()
    return rows[0][0] if rows else ""


def history(tx: Any, dataset: str) -> Iterator[Charge]:
    currency = account(tx, dataset, WHOLE).budget
    for number, kind, text, fresh in tx.rows("SELECT number, kind, body, digest FROM entry WHERE dataset = ? ORDER BY number", (dataset,)):
        body = json.loads(text)
        cost = in_currency(currency, fractions(exact(body["cost"]))) if "cost" in body else None
        memo = body.get("memo") or body.get("reason") or ""
        yield Charge(number, body["when"], kind, dataset, body.get("share"), memo, cost, tuple(body.get("mechanisms", ())), fresh)


def _damaged(reason: str) -> Refused:
    return Refused("ledger.corrupt", "the book", f"{reason}; nothing was accepted", "the last backup, checked with verify(head=…)")


@lru_cache(maxsize=64)
def budget_text(budget: Guarantee) -> str:
    """As the table of accounts has it."""
    return canonical(guarantee_record(budget))


@lru_cache(maxsize=64)
def _budget(text: str) -> tuple[Guarantee, Ratios]:
    budget = restore_guarantee(json.loads(text))
    return budget, ratios(read(budget))


def _account(budget: str, spent: str) -> Account:
    """An account as the table has it."""
    try:
        kept, limits = _budget(budget)
        found = totals.read(spent)
        if len(found) != len(limits):
            raise ValueError(spent)
        return Account(kept, found, limits)
    except (ValueError, TypeError, ZeroDivisionError):
        raise _damaged("an account cannot be read") from None
