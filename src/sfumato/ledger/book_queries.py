"""Queries on the tables of a book, in the SQL that SQLite and PostgreSQL share. The caller holds
the transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ..guarantees import Guarantee
from ..guarantees.stored_guarantee import record as guarantee_record
from ..guarantees.stored_guarantee import restore as restore_guarantee
from . import exact_totals
from . import ledger_refusals as refusals
from .entries import (
    WHOLE,
    Account,
    AccountRow,
    DatasetState,
    EntryBody,
    Header,
    Reservation,
    Standing,
    apply,
    canonical,
    genesis,
    in_currency,
    is_written,
    seal_entry,
)
from .exact_totals import Ratios, fractions, parse_ratios, ratios
from .receipts import Charge, Head

if TYPE_CHECKING:
    from ..storage.sqlite_store import Row
    from .storage.book_store import BookTransaction

STAND = """
SELECT 'book', id, NULL, NULL, NULL, NULL, NULL, NULL FROM book
UNION ALL SELECT 'entry', CAST(number AS TEXT), dataset, body, digest, spent, state, parts
    FROM (SELECT number, dataset, body, digest, spent, state, parts FROM entry
        ORDER BY number DESC LIMIT 2) AS last
UNION ALL SELECT 'account', dataset, share, budget, spent, NULL, NULL, parts FROM balance
UNION ALL SELECT 'open', CAST(number AS TEXT), NULL, NULL, NULL, NULL, NULL, NULL
    FROM reservation WHERE state = 'open'"""
"""All that a charge is checked against, in one query."""

HEAD = (
    "SELECT id, number, digest FROM book LEFT JOIN (SELECT number, digest FROM entry ORDER "
    "BY number DESC LIMIT 1) AS last ON true"
)


class EntryWrite(NamedTuple):
    """An entry and its changes to the other tables, written together: account rows, the state of a
    reservation, an answer, the share that has seen it.
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
    rows: Sequence[AccountRow] = ()
    reserved: tuple[int, str] | None = None
    answer: tuple[str, int, bytes] | None = (
        # question, the entry that paid, the bytes; shares that saw an older answer did not see it
        None
    )
    shown: str | None = None  # the question whose answer the share has seen now


def begin(tx: BookTransaction, book: str) -> None:
    """Name a new book."""
    if not tx.execute("SELECT 1 FROM book").fetchall():
        tx.execute("INSERT INTO book VALUES (?)", (book,))
        tx.head = None


def load_standing(tx: BookTransaction) -> Standing:
    """Return the accounts, after checking them against the state digest in the last entry. Read
    once per transaction.
    """
    if tx.standing is None:
        rows_by_kind: dict[str, list[Row]] = {"book": [], "entry": [], "account": [], "open": []}
        for kind, *row in tx.run(STAND):
            rows_by_kind[kind].append(tuple(row))
        try:
            tx.head, tx.standing = _check_standing(*rows_by_kind.values())
        except (ValueError, TypeError, AttributeError, KeyError):
            raise refusals.TOTAL_DIFFERS_FROM_CHAIN() from None
    standing: Standing = tx.standing
    return standing


def _check_standing(
    books: list[Row], entries: list[Row], accounts: list[Row], open_: list[Row]
) -> tuple[Head, Standing]:
    ((book, *_),) = books
    standing = Standing(
        (
            AccountRow(dataset, share, budget, spent, parts)
            for dataset, share, budget, spent, _, _, parts in accounts
        ),
        (int(number_text) for number_text, *_ in open_),
    )
    if not entries:
        if standing.rows or standing.open:
            raise ValueError("accounts without entries")
        return Head(book, 0, genesis(book)), standing
    (number, dataset, body, fresh, spent, state, parts), *before = sorted(
        entries, key=lambda row: int(row[0]), reverse=True
    )
    previous = before[0][3] if before else genesis(book)
    if state != standing.state or fresh != seal_entry(previous, body, dataset, spent, state):
        raise ValueError("state")
    standing.carried = standing.rows[dataset, WHOLE]._replace(spent=spent, parts=parts)
    return Head(book, int(number), fresh), standing


def datasets(tx: BookTransaction) -> list[str]:
    return [
        name
        for (name,) in tx.execute("SELECT dataset FROM balance WHERE share = '' ORDER BY dataset")
    ]


def header(tx: BookTransaction, dataset: str) -> Header:
    """Return the header of the opening entry, with the current budget."""
    rows = tx.execute(
        "SELECT body FROM entry WHERE dataset = ? AND kind = 'open'", (dataset,)
    ).fetchall()
    if not rows:
        account(tx, dataset, WHOLE)  # refuses an account that is not open
        raise refusals.OPENING_MISSING()
    stored: Header = json.loads(rows[0][0])["header"]
    return {**stored, "budget": guarantee_record(account(tx, dataset, WHOLE).budget)}


def head(tx: BookTransaction) -> Head:
    if tx.head is None:
        rows = tx.execute(HEAD).fetchall()
        if len(rows) != 1:
            raise refusals.BOOK_ID_MISSING()
        ((book, number, fresh),) = rows
        if not isinstance(number, int | None):
            raise refusals.ENTRY_NUMBER_MISSING()
        tx.head = (
            Head(str(book), 0, genesis(str(book)))
            if number is None
            else Head(str(book), number, fresh)
        )
    last: Head = tx.head
    return last


def contains_head(tx: BookTransaction, expected: Head) -> bool:
    """Whether the book contains the entry that a head names."""
    if expected == head(tx):
        return True
    if expected.number == 0:
        return expected.digest == genesis(expected.book) and expected.book == head(tx).book
    return bool(
        tx.execute(
            "SELECT 1 FROM book, entry WHERE id = ? AND number = ? AND digest = ?",
            (expected.book, expected.number, expected.digest),
        ).fetchall()
    )


def has_account(tx: BookTransaction, dataset: str, share: str) -> bool:
    return (dataset, share) in load_standing(tx).rows


def account(tx: BookTransaction, dataset: str, share: str) -> Account:
    row = load_standing(tx).account(dataset, share)
    if row is None:
        raise (
            refusals.UNKNOWN_SHARE(share=share)
            if share != WHOLE
            else refusals.ACCOUNT_NOT_OPEN(dataset=dataset)
        )
    return _account(row.budget, row.spent)


def shares(tx: BookTransaction, dataset: str) -> list[str]:
    """Return the names of a dataset's accounts, its own (empty) name first."""
    return [share for name, share in sorted(load_standing(tx).rows) if name == dataset]


def write_charge(
    tx: BookTransaction,
    kind: str,
    dataset: str,
    key: str | None,
    text: str,
    after: Sequence[AccountRow],
) -> tuple[int, str]:
    """Append a charge or reservation with this text, and write the rows of the accounts it touches.
    Returns its number and digest.
    """
    total_row, *share_rows = after
    number = head(tx).number + 1
    share = share_rows[0].share if share_rows else None
    return number, _write(
        tx,
        (dataset, share, kind, key),
        text,
        total_row,
        share_rows,
        reserved=(number, "open") if kind == "reserve" else None,
    )


def append(tx: BookTransaction, body: EntryBody, answer: bytes | None = None) -> None:
    """Append an entry of any other kind, and write its changes to the other tables."""
    name, kind, number = body["dataset"], body["kind"], head(tx).number + 1
    state = {} if kind == "open" else {name: _load_touched(tx, body)}
    touched = apply(state, number, body)
    accounts = state[name].accounts
    total_row = AccountRow.of(name, WHOLE, accounts[WHOLE])
    rows = [
        AccountRow.of(name, share, accounts[share]) for share in touched if is_written(share, kind)
    ]
    reserved = (body["entry"], kind) if kind in ("use", "release") else None
    stored = None if answer is None else (body["question"], body["entry"], answer)
    share = body.get("share")
    _write(
        tx,
        (name, share, kind, None),
        canonical(body),
        total_row,
        rows,
        reserved=reserved,
        answer=stored,
        shown=body.get("question"),
    )


def _write(
    tx: BookTransaction,
    about: tuple[str, str | None, str, str | None],
    text: str,
    total_row: AccountRow,
    rows: Sequence[AccountRow],
    *,
    reserved: tuple[int, str] | None = None,
    answer: tuple[str, int, bytes] | None = None,
    shown: str | None = None,
) -> str:
    """Write an entry that carries the state of the accounts after it. Returns its digest."""
    standing, last, dataset = load_standing(tx), head(tx), about[0]
    rows = [*standing.pending_rows(dataset), *rows]
    for row in rows:
        standing.put(row)
    if reserved is not None:
        standing.settle(*reserved)
    number = last.number + 1
    fresh = seal_entry(last.digest, text, dataset, total_row.spent, standing.state)
    tx.put(
        EntryWrite(
            number,
            *about,
            text,
            fresh,
            total_row.spent,
            total_row.parts,
            standing.state,
            rows,
            reserved,
            answer,
            shown,
        )
    )
    tx.head, standing.carried = Head(last.book, number, fresh), total_row
    return fresh


def _load_touched(tx: BookTransaction, body: EntryBody) -> DatasetState:
    """Load the part of a dataset's state that an entry may change."""
    name, kind, share = body["dataset"], body["kind"], body.get("share") or WHOLE
    shares = (
        {WHOLE} if kind in ("share", "use", "answer") else {WHOLE, share, *body.get("spent", ())}
    )
    reservations = {}
    if kind in ("use", "release"):
        entry = body["entry"]
        reservations[entry] = Reservation(
            share, read_charge(tx, name, entry)["cost"], reservation(tx, entry)
        )
    return DatasetState(
        None,
        {name_of_share: account(tx, name, name_of_share) for name_of_share in shares},
        reservations,
    )


def read_charge(
    tx: BookTransaction, dataset: str, number: int, fresh: str | None = None
) -> EntryBody:
    """Return the body of the charge or reservation with this number, and this digest if given."""
    rows = tx.execute(
        (
            "SELECT body, digest FROM entry WHERE number = ? AND dataset = ? AND kind IN "
            "('charge', 'reserve')"
        ),
        (number, dataset),
    ).fetchall()
    if not rows or fresh not in (None, rows[0][1]):
        raise refusals.UNKNOWN_CHARGE(number=number)
    body: EntryBody = json.loads(rows[0][0])
    return body


def reservation(tx: BookTransaction, number: int) -> str:
    """Return the state of a reservation: open, use or release; empty if it is none."""
    rows = tx.execute("SELECT state FROM reservation WHERE number = ?", (number,)).fetchall()
    return rows[0][0] if rows else ""


def history(tx: BookTransaction, dataset: str) -> Iterator[Charge]:
    currency = account(tx, dataset, WHOLE).budget
    for number, kind, text, fresh in tx.rows(
        "SELECT number, kind, body, digest FROM entry WHERE dataset = ? ORDER BY number", (dataset,)
    ):
        body = json.loads(text)
        cost = (
            in_currency(currency, fractions(parse_ratios(body["cost"]))) if "cost" in body else None
        )
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


@lru_cache(maxsize=64)
def _budget(text: str) -> tuple[Guarantee, Ratios]:
    budget = restore_guarantee(json.loads(text))
    return budget, ratios(budget.vector)


def _account(budget: str, spent: str) -> Account:
    """Parse a row of the table `balance`."""
    try:
        stored_budget, limits = _budget(budget)
        totals = exact_totals.read_totals(spent)
        if len(totals) != len(limits):
            raise ValueError(spent)
        return Account(stored_budget, totals, limits)
    except (ValueError, TypeError, ZeroDivisionError):
        raise refusals.ACCOUNT_UNREADABLE() from None
