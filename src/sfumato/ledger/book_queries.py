"""Reading and writing the book's tables inside a transaction that the caller holds, in the SQL that
SQLite and PostgreSQL share.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ..accounting.budget_vector import read
from ..errors import Refused
from ..guarantees import Guarantee
from ..guarantees.stored_guarantee import record as guarantee_record
from ..guarantees.stored_guarantee import restore as restore_guarantee
from . import exact_totals
from .entries import (
    WHOLE,
    Account,
    Dataset,
    Reservation,
    Row,
    Standing,
    apply,
    canonical,
    genesis,
    in_currency,
    is_written,
    sealed,
)
from .exact_totals import Ratios, exact, fractions, ratios
from .receipts import Charge, Head

STAND = """
SELECT 'book', id, NULL, NULL, NULL, NULL, NULL, NULL FROM book
UNION ALL SELECT 'entry', CAST(number AS TEXT), dataset, body, digest, spent, state, parts
    FROM (SELECT number, dataset, body, digest, spent, state, parts FROM entry ORDER BY number DESC LIMIT 2) AS last
UNION ALL SELECT 'account', dataset, share, budget, spent, NULL, NULL, parts FROM balance
UNION ALL SELECT 'open', CAST(number AS TEXT), NULL, NULL, NULL, NULL, NULL, NULL FROM reservation WHERE state = 'open'"""
"""All that a charge is held against, in one look."""

HEAD = (
    "SELECT id, number, digest FROM book LEFT JOIN (SELECT number, digest FROM entry ORDER "
    "BY number DESC LIMIT 1) AS last ON true"
)
DAMAGED = "what an account comes to is not what the chain says"


class Written(NamedTuple):
    """An entry with all that it does to the other tables, to be written in one go: rows of
    accounts, the state of a reservation, an answer, who has seen it.
    """

    number: int
    dataset: str
    share: str | None
    kind: str
    key: str | None
    body: str
    digest: str
    spent: str
    parts: int
    state: str
    rows: Sequence[Row] = ()
    reserved: tuple[int, str] | None = None
    answer: tuple[str, int, bytes] | None = (
        # question, the entry that paid, and the bytes: whoever saw an older one has not seen this
        None
    )
    shown: str | None = None  # the question whose answer the share has seen now


def begin(tx: Any, book: str) -> None:
    """Name a new book."""
    if not tx.execute("SELECT 1 FROM book").fetchall():
        tx.execute("INSERT INTO book VALUES (?)", (book,))
        tx.head = None


def stand(tx: Any) -> Standing:
    """The accounts, once they were found to be those that the last entry, and so the head, vouches
    for.
    """
    if tx.standing is None:
        found: dict[str, list[Any]] = {"book": [], "entry": [], "account": [], "open": []}
        for kind, *row in tx.run(STAND):
            found[kind].append(row)
        try:
            tx.head, tx.standing = _stood(*found.values())
        except (ValueError, TypeError, AttributeError, KeyError):
            raise _damaged(DAMAGED) from None
    standing: Standing = tx.standing
    return standing


def _stood(
    books: list[Any], entries: list[Any], accounts: list[Any], open_: list[Any]
) -> tuple[Head, Standing]:
    ((book, *_),) = books
    standing = Standing(
        (
            Row(dataset, share, budget, spent, parts)
            for dataset, share, budget, spent, _, _, parts in accounts
        ),
        (int(one) for one, *_ in open_),
    )
    if not entries:
        if standing.rows or standing.open:
            raise ValueError("accounts without entries")
        return Head(book, 0, genesis(book)), standing
    (number, dataset, body, fresh, spent, state, parts), *before = sorted(
        entries, key=lambda row: int(row[0]), reverse=True
    )
    previous = before[0][3] if before else genesis(book)
    if state != standing.state or fresh != sealed(previous, body, dataset, spent, state):
        raise ValueError("state")
    standing.carried = standing.rows[dataset, WHOLE]._replace(spent=spent, parts=parts)
    return Head(book, int(number), fresh), standing


def datasets(tx: Any) -> list[str]:
    return [
        name
        for (name,) in tx.execute("SELECT dataset FROM balance WHERE share = '' ORDER BY dataset")
    ]


def header(tx: Any, dataset: str) -> dict[str, Any]:
    """What the opening entry says, with the budget of today."""
    rows = tx.execute(
        "SELECT body FROM entry WHERE dataset = ? AND kind = 'open'", (dataset,)
    ).fetchall()
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
        tx.head = (
            Head(str(book), 0, genesis(str(book)))
            if number is None
            else Head(str(book), number, fresh)
        )
    last: Head = tx.head
    return last


def holds(tx: Any, known: Head) -> bool:
    """Whether the book still has the entry that a head names."""
    if known == head(tx):
        return True
    if known.number == 0:
        return known.digest == genesis(known.book) and known.book == head(tx).book
    return bool(
        tx.execute(
            "SELECT 1 FROM book, entry WHERE id = ? AND number = ? AND digest = ?",
            (known.book, known.number, known.digest),
        ).fetchall()
    )


def has_account(tx: Any, dataset: str, share: str) -> bool:
    return (dataset, share) in stand(tx).rows


def account(tx: Any, dataset: str, share: str) -> Account:
    row = stand(tx).account(dataset, share)
    if row is None:
        raise Refused(
            "ledger.share",
            f"share={share!r}",
            "the dataset has no such share",
            "allow(share, budget) makes one",
        )
    return _account(row.budget, row.spent)


def shares(tx: Any, dataset: str) -> list[str]:
    """The names of a dataset's accounts, its own first."""
    return [share for name, share in sorted(stand(tx).rows) if name == dataset]


def enter(
    tx: Any, kind: str, dataset: str, key: str | None, text: str, after: Sequence[Row]
) -> tuple[int, str]:
    """Write a charge or a reservation, whose text is at hand, at the end of the chain, and what the
    accounts that it touches come to.
    """
    whole, *shares = after
    number = head(tx).number + 1
    share = shares[0].share if shares else None
    return number, _write(
        tx,
        (dataset, share, kind, key),
        text,
        whole,
        shares,
        reserved=(number, "open") if kind == "reserve" else None,
    )


def append(tx: Any, body: dict[str, Any], answer: bytes | None = None) -> None:
    """Write an entry of another kind at the end of the chain, and what it does to the rest of the
    book.
    """
    name, kind, number = body["dataset"], body["kind"], head(tx).number + 1
    state = {} if kind == "open" else {name: _touched(tx, body)}
    touched = apply(state, number, body)
    accounts = state[name].accounts
    whole = Row.of(name, WHOLE, accounts[WHOLE])
    rows = [Row.of(name, share, accounts[share]) for share in touched if is_written(share, kind)]
    reserved = (body["entry"], kind) if kind in ("use", "release") else None
    stored = None if answer is None else (body["question"], body["entry"], answer)
    share = body.get("share")
    _write(
        tx,
        (name, share, kind, None),
        canonical(body),
        whole,
        rows,
        reserved=reserved,
        answer=stored,
        shown=body.get("question"),
    )


def _write(
    tx: Any,
    about: tuple[str, str | None, str, str | None],
    text: str,
    whole: Row,
    rows: Sequence[Row],
    **more: Any,
) -> str:
    """Write an entry, with the digest of the accounts as they are after it. Returns the entry's own
    digest.
    """
    standing, last, dataset = stand(tx), head(tx), about[0]
    rows = [*standing.settled(dataset), *rows]
    for row in rows:
        standing.put(row)
    if more.get("reserved") is not None:
        standing.settle(*more["reserved"])
    number, fresh = last.number + 1, sealed(last.digest, text, dataset, whole.spent, standing.state)
    tx.put(
        Written(number, *about, text, fresh, whole.spent, whole.parts, standing.state, rows, **more)
    )
    tx.head, standing.carried = Head(last.book, number, fresh), whole
    return fresh


def _touched(tx: Any, body: dict[str, Any]) -> Dataset:
    """The part of a dataset's state that an entry may change."""
    name, kind, share = body["dataset"], body["kind"], body.get("share") or WHOLE
    shares = (
        {WHOLE} if kind in ("share", "use", "answer") else {WHOLE, share, *body.get("spent", ())}
    )
    reservations = {}
    if kind in ("use", "release"):
        entry = body["entry"]
        reservations[entry] = Reservation(
            share, paid(tx, name, entry)["cost"], reservation(tx, entry)
        )
    return Dataset({}, {one: account(tx, name, one) for one in shares}, reservations)


def paid(tx: Any, dataset: str, number: int, fresh: str | None = None) -> dict[str, Any]:
    """The body of the charge or reservation with this number, and this digest."""
    rows = tx.execute(
        (
            "SELECT body, digest FROM entry WHERE number = ? AND dataset = ? AND kind IN "
            "('charge', 'reserve')"
        ),
        (number, dataset),
    ).fetchall()
    if not rows or fresh not in (None, rows[0][1]):
        raise Refused(
            "ledger.receipt",
            f"entry {number}",
            "the book has no such charge of this dataset",
            "a receipt that charge(…) or reserve(…) gave",
        )
    body: dict[str, Any] = json.loads(rows[0][0])
    return body


def reservation(tx: Any, number: int) -> str:
    """Open, use or release; empty for what is no reservation."""
    rows = tx.execute("SELECT state FROM reservation WHERE number = ?", (number,)).fetchall()
    return rows[0][0] if rows else ""


def history(tx: Any, dataset: str) -> Iterator[Charge]:
    currency = account(tx, dataset, WHOLE).budget
    for number, kind, text, fresh in tx.rows(
        "SELECT number, kind, body, digest FROM entry WHERE dataset = ? ORDER BY number", (dataset,)
    ):
        body = json.loads(text)
        cost = in_currency(currency, fractions(exact(body["cost"]))) if "cost" in body else None
        memo = body.get("memo") or body.get("reason") or ""
        yield Charge(
            number,
            body["when"],
            kind,
            dataset,
            body.get("share"),
            memo,
            cost,
            tuple(body.get("mechanisms", ())),
            fresh,
        )


def _damaged(reason: str) -> Refused:
    return Refused(
        "ledger.corrupt",
        "the book",
        f"{reason}; nothing was accepted",
        "the last backup, checked with verify(head=…)",
    )


@lru_cache(maxsize=64)
def _budget(text: str) -> tuple[Guarantee, Ratios]:
    budget = restore_guarantee(json.loads(text))
    return budget, ratios(read(budget))


def _account(budget: str, spent: str) -> Account:
    """An account as the table has it."""
    try:
        kept, limits = _budget(budget)
        found = exact_totals.read(spent)
        if len(found) != len(limits):
            raise ValueError(spent)
        return Account(kept, found, limits)
    except (ValueError, TypeError, ZeroDivisionError):
        raise _damaged("an account cannot be read") from None
