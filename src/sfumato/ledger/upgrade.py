"""A book of the first version, rewritten in one transaction: all of it, or nothing.

Entries, their texts and their chain stay as they are, and so does the head; what is new is that a charge carries the total that it comes to, which is found by
replaying the book.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..errors import Refused
from .entries import Replay, digest, genesis
from .pages import ENTER, WRITE, account_row
from .schema import FIRST, SCHEMA, TABLES, undo

if TYPE_CHECKING:
    import apsw

TABLE_OF = {"book": "book", "account": "balance", "reservation": "reservation", "answer": "answer", "shown": "shown"}
"""The other tables of the first version, and where their rows go."""


def rewrite(connection: apsw.Connection) -> None:
    """Bring the file to the version of today, unless another process was quicker."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.execute("PRAGMA user_version").fetchall() == [(FIRST,)]:
            _move(connection)
        connection.execute("COMMIT")
    except (KeyError, ValueError, TypeError, AttributeError, ArithmeticError):
        undo(connection)
        reason = "the entries do not come to what the book says; it was not touched"
        raise Refused("ledger.corrupt", "a book of the first version", reason, "the last backup, checked with verify(head=…)") from None
    except BaseException:
        undo(connection)
        raise


def _move(connection: apsw.Connection) -> None:
    for kind in ("trigger", "index"):
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = ? AND sql IS NOT NULL", (kind,)).fetchall():
            connection.execute(f"DROP {kind} {name}")  # a name that the schema has
    for table in ("entry", *TABLE_OF):
        connection.execute(f"ALTER TABLE {table} RENAME TO first_{table}")
    connection.execute(TABLES)
    replay = Replay()
    connection.executemany(ENTER, _entries(connection, replay))
    for table, now in TABLE_OF.items():
        connection.execute(f"INSERT INTO {now} SELECT * FROM first_{table}; DROP TABLE first_{table}")
    connection.execute("DROP TABLE first_entry")
    told = {account_row(name, share, account) for name, dataset in replay.datasets.items() for share, account in dataset.accounts.items()}
    if {tuple(row) for row in connection.execute("SELECT * FROM balance")} != told:
        raise ValueError("accounts")  # which would not be seen any more once they are written anew
    connection.executemany(WRITE, [account_row(*place, account) for place, account in replay.balances().items()])
    connection.execute(f"PRAGMA user_version={SCHEMA}")


def _entries(connection: apsw.Connection, replay: Replay) -> Iterator[tuple[Any, ...]]:
    ((book,),) = connection.execute("SELECT id FROM first_book").fetchall()
    previous, expected = genesis(str(book)), 1
    for number, dataset, kind, key, text, stored in connection.execute("SELECT * FROM first_entry ORDER BY number"):
        previous = digest(previous, text)
        if (number, stored) != (expected, previous):
            raise ValueError("chain")
        expected += 1
        yield number, dataset, kind, key, text, stored, *replay.count(number, json.loads(text))
