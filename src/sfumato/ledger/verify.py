"""Checking a book against itself, and against a head that was kept elsewhere.

*Sees*       an entry changed, dropped, added or reordered; totals, reservations, stored answers or
             keys that are not what the entries come to; a charge beyond the budget of its time;
             tables that the book did not make; and, with a head, a book that was cut short before
             it, rewritten, or replaced by an older copy.
*Cannot*     without a head, the last three: whoever can write the file can also compute a new
             chain. With one, the same for what came after it.
*Cost*       Every entry and every answer is read once, in time that grows as the book does.
*Continued*  Whoever has checked a book may go on from there: a `Checked` remembers the end of the
             chain and the accounts at that entry. Then what is new is read, and the accounts; what
             was read before is not, so a change of it since is not seen.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from ..errors import Refused
from . import book_queries
from .entries import Dataset, Replay, canonical, digest, genesis, sealed
from .receipts import Head, Verification

BLIND = (
    "entries cut off the end, a book rewritten from the start, or an old copy put back: give "
    "the last known head"
)
LATER = "entries after number {} cut off or rewritten: give a later head"
BEFORE = (
    "changes made since then to entries up to number {}, and to answers stored before, which "
    "were read at the last full check"
)
_LISTED = 20  # of each kind of problem; a broken book can have a million
_ENTRIES = "SELECT * FROM entry WHERE number > ? ORDER BY number"
_ANSWER = "SELECT number, answer FROM answer WHERE dataset = ? AND question = ?"
_SHOWN = "SELECT share FROM shown WHERE dataset = ? AND question = ?"


@dataclass(slots=True)
class Checked:
    """How far a book was read and found whole, and what its accounts were there."""

    replay: Replay = field(default_factory=Replay)
    head: Head | None = None


def verify(tx: Any, known: Head | None, since: Checked | None = None) -> Verification:
    """Read everything once; or, after a check that found the book whole, what is new. `since` is
    brought up to date, or emptied where a problem was found.
    """
    checked = Checked() if since is None else since
    try:
        found = _verified(tx, known, checked)
    except BaseException:  # in the middle of the book: there is nothing to go on from
        checked.head, checked.replay = None, Replay()
        raise
    if not found.ok:
        checked.head, checked.replay = None, Replay()
    return found


def _verified(tx: Any, known: Head | None, checked: Checked) -> Verification:
    start = checked.head
    problems = tx.structure() if start is None else []
    try:
        head = book_queries.head(tx)
    except Refused as refusal:
        return Verification((*problems, refusal.reason), (), Head("", 0, ""))
    if start is not None and not book_queries.holds(tx, start):
        return Verification(
            ("the book does not contain the entry up to which it was checked before",), (), head
        )
    problems.extend(
        _chain(
            tx, checked.replay, Head(head.book, 0, genesis(head.book)) if start is None else start
        )
    )
    problems.extend(_accounts(tx, checked.replay, everything=start is None))
    problems.extend(
        _answers(tx, checked.replay) if start is None else _new_answers(tx, checked.replay)
    )
    if known is not None and not book_queries.holds(tx, known):
        problems.append(
            "the book does not contain the head that was kept: it was cut, rewritten, or "
            "is another or an older copy"
        )
    blind = (
        []
        if known is not None and known.number >= head.number
        else [BLIND if known is None else LATER.format(known.number)]
    )
    if start is not None:
        blind.append(BEFORE.format(start.number))
    for dataset in checked.replay.datasets.values():  # what is only compared is not remembered
        dataset.answers.clear()
        dataset.shown.clear()
        dataset.reservations = {
            number: one for number, one in dataset.reservations.items() if one.state == "open"
        }
    checked.head = head
    return Verification(tuple(problems), tuple(blind), head)


def _chain(tx: Any, replay: Replay, start: Head) -> list[str]:
    """Follow the entries after one of them, and count them in."""
    problems: list[str] = []
    previous, expected, wrong = start.digest, start.number, 0
    for number, dataset, share, kind, key, text, stored, spent, parts, state in tx.rows(
        _ENTRIES, (start.number,)
    ):
        expected += 1
        found = [] if number == expected else [f"entry {expected} is missing"]
        expected = (
            number if isinstance(number, int) else expected
        )  # tables that were altered may hold anything
        previous = (
            digest(previous, text)
            if state is None
            else sealed(previous, text, dataset, spent, state)
        )
        if previous != stored:
            found.append(f"entry {number} does not follow from the one before it")
            previous = stored
        found.extend(
            _replayed(replay, number, (dataset, share, kind, key), (spent, parts, state), text)
        )
        wrong += bool(found)
        problems.extend(found if wrong <= _LISTED else ())
    if wrong > _LISTED:
        problems.append(f"{wrong - _LISTED} more entries are wrong")
    return problems


def _replayed(
    replay: Replay, number: int, columns: tuple[Any, ...], carried: tuple[Any, ...], text: str
) -> list[str]:
    try:
        body = json.loads(text)
        if (
            body["dataset"],
            body.get("share"),
            body["kind"],
            body.get("key"),
        ) != columns or canonical(body) != text:
            return [f"entry {number} is not in the form the book writes"]
        if carried[2] is None and replay.standing is not None:
            return [f"entry {number} is not in the form the book writes"]
        total = replay.count(number, body, carries=carried[2] is not None)
        over = any(not account.fits for account in replay.touched)
        found = (
            [f"entry {number} goes beyond a budget"]
            if over and body["kind"] in ("charge", "reserve", "recall", "amend")
            else []
        )
        return (
            found
            if carried == total
            else [*found, f"entry {number} carries another total than the entries come to"]
        )
    except (KeyError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return [f"entry {number} cannot be read"]


def _accounts(tx: Any, replay: Replay, *, everything: bool) -> list[str]:
    """The accounts and the reservations, row by row, against what the entries come to; of
    reservations that were settled before a continued check, nothing.
    """
    problems = []
    accounts: set[tuple[Any, ...]] = (
        set() if replay.standing is None else set(replay.standing.rows.values())
    )
    reserved = {
        (number, one.state)
        for dataset in replay.datasets.values()
        for number, one in dataset.reservations.items()
    }
    rows = {"balance": [tuple(row) for row in tx.rows("SELECT * FROM balance")]}
    if everything:
        rows["reservation"] = [tuple(row) for row in tx.rows("SELECT * FROM reservation")]
    else:
        settled = [number for number, state in sorted(reserved) if state != "open"]
        rows["reservation"] = [
            tuple(row) for row in tx.rows("SELECT * FROM reservation WHERE state = 'open'")
        ]
        rows["reservation"] += [
            tuple(row)
            for number in settled
            for row in tx.execute(
                "SELECT * FROM reservation WHERE number = ?", (number,)
            ).fetchall()
        ]
    for table, expected in (("balance", accounts), ("reservation", reserved)):
        found = rows[table]
        if set(found) != expected or len(found) != len(expected):
            problems.append(_otherwise(table, {str(row[0]) for row in set(found) ^ expected}))
    return problems


def _answers(tx: Any, replay: Replay) -> list[str]:
    """Every stored answer, and who has seen it, against what the entries come to."""
    places: dict[str, set[str]] = {"answer": set(), "shown": set()}
    found: dict[str, int] = {"answer": 0, "shown": 0}
    none = Dataset()
    for name, question, number, answer in tx.rows("SELECT * FROM answer"):
        found["answer"] += 1
        if replay.datasets.get(name, none).answers.get(question) != (number, _fingerprint(answer)):
            places["answer"].add(str(name))
    for name, question, share in tx.rows("SELECT * FROM shown"):
        found["shown"] += 1
        if share not in replay.datasets.get(name, none).shown.get(question, ()):
            places["shown"].add(str(name))
    due = replay.datasets.items()
    expected = {
        "answer": sum(len(one.answers) for _, one in due),
        "shown": sum(len(shares) for _, one in due for shares in one.shown.values()),
    }
    for table, count in found.items():
        if (
            count != expected[table] and not places[table]
        ):  # rows that are missing, or doubled where the table was made anew
            places[table] = {
                name
                for name, one in due
                if getattr(one, "answers" if table == "answer" else "shown")
            }
    return [_otherwise(table, named) for table, named in places.items() if named]


def _new_answers(tx: Any, replay: Replay) -> list[str]:
    """The answers that were stored since a check, and who has seen them since, against the
    tables.
    """
    places: dict[str, set[str]] = {"answer": set(), "shown": set()}
    for name, dataset in replay.datasets.items():
        for question, expected in dataset.answers.items():
            if [
                (number, _fingerprint(answer))
                for number, answer in tx.execute(_ANSWER, (name, question)).fetchall()
            ] != [expected]:
                places["answer"].add(name)
        for question, shares in dataset.shown.items():
            seen = {share for (share,) in tx.execute(_SHOWN, (name, question)).fetchall()}
            if not seen >= set(shares) or (question in dataset.answers and seen != set(shares)):
                places["shown"].add(name)
    return [_otherwise(table, named) for table, named in places.items() if named]


def _otherwise(table: str, places: set[str]) -> str:
    return f"the table {table} is not what the entries come to ({', '.join(sorted(places)[:3])})"


def _fingerprint(answer: Any) -> str | None:
    return hashlib.sha256(answer).hexdigest() if isinstance(answer, bytes) else None
