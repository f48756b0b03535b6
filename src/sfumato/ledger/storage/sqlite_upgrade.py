"""Upgrade a SQLite book of an older version, all in one transaction.

*Kept*      Entries, their texts and their chain stay as they are; a head kept elsewhere is still in
            the book.
*Read*      The upgrade follows the chain and adds it up once, in time linear in the book. It
            refuses a book whose accounts or reservations differ from its entries, and does not
            touch it: rewriting them would hide the difference.
*New*       Every entry stores its share and total in columns. A last entry, of the kind `upgrade`,
            carries the state of the accounts under its digest: from there on the chain vouches for
            them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import ledger_refusals as refusals
from ..clock import now
from ..entries import AccountRow, Replay, canonical, digest, genesis, seal_entry
from .book_store import BALANCE, ENTER
from .sqlite_schema import SCHEMA, TABLES

if TYPE_CHECKING:
    import apsw

    from ...storage.sqlite_store import Row

READ = "number, dataset, kind, key, body, digest"
REASON = "rewritten: from here on the chain covers what the accounts come to"
SAME = ("book", "reservation", "answer", "shown")
"""Tables whose rows are copied unchanged."""
DAMAGE = (KeyError, ValueError, TypeError, AttributeError, ArithmeticError)
"""Errors raised by a book whose rows are not those that the ledger wrote."""


@dataclass(slots=True)
class LastEntry:
    """The last entry that an upgrade has read."""

    number: int
    digest: str
    dataset: str | None


def rewrite(connection: apsw.Connection) -> None:
    """Upgrade the tables to this version, in the transaction that is open."""
    try:
        _move(connection)
    except DAMAGE:
        raise refusals.OLDER_BOOK_DAMAGED() from None


def upgraded_entries(
    rows: Iterable[Row], replay: Replay, last: LastEntry, book: str
) -> Iterator[Row]:
    """Yield the entries of an older book as rows of this version. Sets `last` to the last entry."""
    last.number, last.digest, last.dataset = 0, genesis(book), None
    for number, dataset, kind, key, text, stored in rows:
        fresh = digest(last.digest, text)
        if (number, stored) != (last.number + 1, fresh):
            raise ValueError("chain")
        body = json.loads(text)
        last.number, last.digest, last.dataset = number, fresh, dataset
        yield (
            number,
            dataset,
            body.get("share"),
            kind,
            key,
            text,
            fresh,
            *replay.count(number, body, carries=False),
        )


def check_agrees(replay: Replay, accounts: Iterable[Row], reservations: Iterable[Row]) -> None:
    """Raise ValueError if accounts or reservations of the older book differ from its entries."""
    due = replay.datasets.items()
    if set(map(tuple, accounts)) != {
        tuple(AccountRow.of(name, share, account))
        for name, dataset in due
        for share, account in dataset.accounts.items()
    }:
        raise ValueError("accounts")
    if set(map(tuple, reservations)) != {
        (number, reserved.state)
        for _, dataset in due
        for number, reserved in dataset.reservations.items()
    }:
        raise ValueError("reservations")


def seal_upgrade(replay: Replay, last: LastEntry) -> tuple[list[AccountRow], list[Row]]:
    """Return the account rows and the `upgrade` entry that seals them; none for a book without
    entries.
    """
    number, previous, dataset = last.number, last.digest, last.dataset
    if dataset is None:
        return [], []
    body = {
        "kind": "upgrade",
        "dataset": dataset,
        "share": None,
        "version": SCHEMA,
        "reason": REASON,
        "when": now(),
    }
    text = canonical(body)
    spent, parts, state = replay.count(number + 1, body, carries=True)
    assert replay.standing is not None
    assert state is not None
    fresh = seal_entry(previous, text, dataset, spent, state)
    return list(replay.standing.rows.values()), [
        (number + 1, dataset, None, "upgrade", None, text, fresh, spent, parts, state)
    ]


def _move(connection: apsw.Connection) -> None:
    accounts = connection.execute(
        "SELECT dataset, share, budget, spent, parts FROM account"
    ).fetchall()
    for kind in ("view", "trigger", "index"):
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = ? AND sql IS NOT NULL", (kind,)
        ).fetchall():
            connection.execute(f"DROP {kind} {name}")  # a name that the schema has
    tables = [
        name
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table'"
        ).fetchall()
    ]
    for table in tables:
        connection.execute(f"ALTER TABLE {table} RENAME TO older_{table}")
    connection.execute(TABLES)
    replay, last = Replay(), LastEntry(0, "", None)
    ((book,),) = connection.execute("SELECT id FROM older_book").fetchall()
    connection.executemany(
        ENTER,
        upgraded_entries(
            connection.execute(f"SELECT {READ} FROM older_entry ORDER BY number"),
            replay,
            last,
            str(book),
        ),
    )
    for table in SAME:
        connection.execute(f"INSERT INTO {table} SELECT * FROM older_{table}")
    for table in tables:
        connection.execute(f"DROP TABLE older_{table}")
    check_agrees(replay, accounts, connection.execute("SELECT * FROM reservation"))
    rows, sealing_ = seal_upgrade(replay, last)
    connection.executemany(BALANCE, rows)
    connection.executemany(ENTER, sealing_)
