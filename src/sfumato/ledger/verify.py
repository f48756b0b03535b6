"""Checking a book against itself, and against a head that was kept elsewhere.

*Sees*       an entry changed, dropped, added or reordered; totals, reservations, stored answers or keys that are not what the entries come to; a charge beyond
             the budget of its time; tables that the book did not make; and, with a head, a book that was cut short before it, rewritten, or replaced by an
             older copy.
*Cannot*     without a head, the last three: whoever can write the file can also compute a new chain. With one, the same for what came after it.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ..errors import Refused
from . import pages
from .entries import Replay, canonical, digest, genesis
from .receipts import Head, Verification

BLIND = "entries cut off the end, a book rewritten from the start, or an old copy put back: give the last known head"
LATER = "entries after number {} cut off or rewritten: give a later head"
_LISTED = 20  # of each kind of problem; a broken book can have a million


def verify(tx: Any, known: Head | None) -> Verification:
    """Read everything once."""
    problems = tx.structure()
    try:
        head = pages.head(tx)
    except Refused as refusal:
        return Verification((*problems, refusal.reason), (), Head("", 0, ""))
    replay = Replay()
    previous, expected, wrong = genesis(head.book), 0, 0
    for number, dataset, kind, key, text, stored, spent, parts in tx.rows("SELECT * FROM entry ORDER BY number"):
        expected += 1
        found = [] if number == expected else [f"entry {expected} is missing"]
        expected = number if isinstance(number, int) else expected  # tables that were altered may hold anything
        previous = digest(previous, text)
        if previous != stored:
            found.append(f"entry {number} does not follow from the one before it")
            previous = stored
        found.extend(_replayed(replay, number, (dataset, kind, key), (spent, parts), text))
        wrong += bool(found)
        problems.extend(found if wrong <= _LISTED else ())
    if wrong > _LISTED:
        problems.append(f"{wrong - _LISTED} more entries are wrong")
    problems.extend(_tables(tx, replay))
    if known is not None and not pages.holds(tx, known):
        problems.append("the book does not contain the head that was kept: it was cut, rewritten, or is another or an older copy")
    blind = () if known is not None and known.number >= head.number else (BLIND if known is None else LATER.format(known.number),)
    return Verification(tuple(problems), blind, head)


def _replayed(replay: Replay, number: int, columns: tuple[Any, ...], carried: tuple[Any, Any], text: str) -> list[str]:
    try:
        body = json.loads(text)
        if (body["dataset"], body["kind"], body.get("key")) != columns or canonical(body) != text:
            return [f"entry {number} is not in the form the book writes"]
        total = replay.count(number, body)
        over = any(not account.fits for account in replay.datasets[body["dataset"]].accounts.values())
        found = [f"entry {number} goes beyond a budget"] if over and body["kind"] in ("charge", "reserve", "recall", "amend") else []
        return found if carried == total else [*found, f"entry {number} carries another total than the entries come to"]
    except (KeyError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return [f"entry {number} cannot be read"]


def _tables(tx: Any, replay: Replay) -> list[str]:
    """What the entries come to, row by row, against what the tables say."""
    due = list(replay.datasets.items())
    expected: dict[str, set[tuple[Any, ...]]] = {
        "balance": {pages.account_row(name, share, account) for (name, share), account in replay.balances().items()},
        "reservation": {(number, reserved.state) for _, dataset in due for number, reserved in dataset.reservations.items()},
        "answer": {(name, question, *answer) for name, dataset in due for question, answer in dataset.answers.items()},
        "shown": {(name, *seen) for name, dataset in due for seen in dataset.shown},
    }
    problems = []
    for table, rows in expected.items():
        found = [_row(table, row) for row in tx.rows(f"SELECT * FROM {table}")]  # a name from above
        if set(found) != rows or len(found) != len(rows):
            places = sorted({str(row[0]) for row in set(found) ^ rows})
            problems.append(f"the table {table} is not what the entries come to ({', '.join(places[:3])})")
    return problems


def _row(table: str, row: tuple[Any, ...]) -> tuple[Any, ...]:
    if table == "answer":
        *about, answer = row
        return (*about, hashlib.sha256(answer).hexdigest() if isinstance(answer, bytes) else None)
    return tuple(row)
