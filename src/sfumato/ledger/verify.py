"""Check a book against itself, and against a head kept elsewhere.

*Sees*       an entry changed, dropped, added or reordered; totals, reservations, stored answers or
             keys that do not follow from the entries; a charge beyond the budget of its time;
             tables that the ledger did not create; and, with a head, a book that was cut short
             before it, rewritten, or replaced by an older copy.
*Cannot*     without a head, the last three: a writer of the file can also compute a new chain. With
             a head, the same for entries after it.
*Cost*       Reads every entry and every answer once, in time linear in the book.
*Continued*  A check can continue an earlier one: `Checked` remembers the end of the chain and the
             accounts there. Then only new entries and the accounts are read; later changes to old
             entries go unseen.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import Refused
from . import book_queries
from .entries import DatasetState, Replay, canonical, digest, genesis, seal_entry
from .receipts import Head, Verification

if TYPE_CHECKING:
    from ..storage.sqlite_store import Row
    from .storage.book_store import BookTransaction

BLIND = (
    "entries cut off the end, a book rewritten from the start, or an old copy put back: give "
    "the last known head"
)
LATER = "entries after number {} cut off or rewritten: give a later head"
BEFORE = (
    "changes made since then to entries up to number {}, and to answers stored before, which "
    "were read at the last full check"
)
_LISTED = 20  # problems listed of each kind; a broken book can have a million
_ENTRIES = "SELECT * FROM entry WHERE number > ? ORDER BY number"
_ANSWER = "SELECT number, answer FROM answer WHERE dataset = ? AND question = ?"
_SHOWN = "SELECT share FROM shown WHERE dataset = ? AND question = ?"


@dataclass(slots=True)
class Checked:
    """The end of a successful check, and the accounts at that entry."""

    replay: Replay = field(default_factory=Replay)
    head: Head | None = None


def verify(
    tx: BookTransaction, expected: Head | None, since: Checked | None = None
) -> Verification:
    """Check the whole book, or what is new since the successful check `since`. Updates `since`, or
    empties it if there is a problem.
    """
    checked = Checked() if since is None else since
    try:
        verification = _check_book(tx, expected, checked)
    except BaseException:  # stopped midway: nothing to continue from
        checked.head, checked.replay = None, Replay()
        raise
    if not verification.ok:
        checked.head, checked.replay = None, Replay()
    return verification


def _check_book(tx: BookTransaction, expected: Head | None, checked: Checked) -> Verification:
    start = checked.head
    problems = tx.structure() if start is None else []
    try:
        head = book_queries.head(tx)
    except Refused as refusal:
        return Verification((*problems, refusal.reason), (), Head("", 0, ""))
    if start is not None and not book_queries.contains_head(tx, start):
        return Verification(
            ("the book does not contain the entry up to which it was checked before",), (), head
        )
    problems.extend(
        _check_chain(
            tx, checked.replay, Head(head.book, 0, genesis(head.book)) if start is None else start
        )
    )
    problems.extend(_check_accounts(tx, checked.replay, everything=start is None))
    problems.extend(
        _check_answers(tx, checked.replay)
        if start is None
        else _check_new_answers(tx, checked.replay)
    )
    if expected is not None and not book_queries.contains_head(tx, expected):
        problems.append(
            "the book does not contain the head that was kept: it was cut, rewritten, or "
            "is another or an older copy"
        )
    blind = (
        []
        if expected is not None and expected.number >= head.number
        else [BLIND if expected is None else LATER.format(expected.number)]
    )
    if start is not None:
        blind.append(BEFORE.format(start.number))
    for dataset in checked.replay.datasets.values():  # only compared, not needed later
        dataset.answers.clear()
        dataset.shown.clear()
        dataset.reservations = {
            number: reservation
            for number, reservation in dataset.reservations.items()
            if reservation.state == "open"
        }
    checked.head = head
    return Verification(tuple(problems), tuple(blind), head)


def _check_chain(tx: BookTransaction, replay: Replay, start: Head) -> list[str]:
    """Follow the chain after `start` and apply its entries. Returns the problems."""
    problems: list[str] = []
    previous, expected, wrong = start.digest, start.number, 0
    for number, dataset, share, kind, key, text, stored, spent, parts, state in tx.rows(
        _ENTRIES, (start.number,)
    ):
        expected += 1
        faults = [] if number == expected else [f"entry {expected} is missing"]
        # tables that were altered may hold anything
        expected = number if isinstance(number, int) else expected
        previous = (
            digest(previous, text)
            if state is None
            else seal_entry(previous, text, dataset, spent, state)
        )
        if previous != stored:
            faults.append(f"entry {number} does not follow from the one before it")
            previous = stored
        faults.extend(
            _check_entry(replay, number, (dataset, share, kind, key), (spent, parts, state), text)
        )
        wrong += bool(faults)
        problems.extend(faults if wrong <= _LISTED else ())
    if wrong > _LISTED:
        problems.append(f"{wrong - _LISTED} more entries are wrong")
    return problems


def _check_entry(replay: Replay, number: int, columns: Row, carried: Row, text: str) -> list[str]:
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
        faults = (
            [f"entry {number} goes beyond a budget"]
            if over and body["kind"] in ("charge", "reserve", "recall", "amend")
            else []
        )
        return (
            faults
            if carried == total
            else [*faults, f"entry {number} carries another total than the entries come to"]
        )
    except (KeyError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return [f"entry {number} cannot be read"]


def _check_accounts(tx: BookTransaction, replay: Replay, *, everything: bool) -> list[str]:
    """Compare the tables of accounts and reservations with the entries. A continued check skips
    reservations settled before it.
    """
    problems = []
    accounts: set[Row] = set() if replay.standing is None else set(replay.standing.rows.values())
    reserved = {
        (number, reservation.state)
        for dataset in replay.datasets.values()
        for number, reservation in dataset.reservations.items()
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
        stored = rows[table]
        if set(stored) != expected or len(stored) != len(expected):
            problems.append(_table_problem(table, {str(row[0]) for row in set(stored) ^ expected}))
    return problems


def _check_answers(tx: BookTransaction, replay: Replay) -> list[str]:
    """Compare every stored answer, and the shares that have seen it, with the entries."""
    places: dict[str, set[str]] = {"answer": set(), "shown": set()}
    counts: dict[str, int] = {"answer": 0, "shown": 0}
    none = DatasetState()
    for name, question, number, answer in tx.rows("SELECT * FROM answer"):
        counts["answer"] += 1
        if replay.datasets.get(name, none).answers.get(question) != (number, _fingerprint(answer)):
            places["answer"].add(str(name))
    for name, question, share in tx.rows("SELECT * FROM shown"):
        counts["shown"] += 1
        if share not in replay.datasets.get(name, none).shown.get(question, ()):
            places["shown"].add(str(name))
    due = replay.datasets.items()
    expected = {
        "answer": sum(len(dataset.answers) for _, dataset in due),
        "shown": sum(len(shares) for _, dataset in due for shares in dataset.shown.values()),
    }
    for table, count in counts.items():
        # rows that are missing, or doubled where the table was made anew
        if count != expected[table] and not places[table]:
            places[table] = {
                name
                for name, dataset in due
                if getattr(dataset, "answers" if table == "answer" else "shown")
            }
    return [_table_problem(table, named) for table, named in places.items() if named]


def _check_new_answers(tx: BookTransaction, replay: Replay) -> list[str]:
    """Compare the answers stored since a check, and the shares that have seen them, with the
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
            shares_shown = {share for (share,) in tx.execute(_SHOWN, (name, question)).fetchall()}
            if not shares_shown >= set(shares) or (
                question in dataset.answers and shares_shown != set(shares)
            ):
                places["shown"].add(name)
    return [_table_problem(table, named) for table, named in places.items() if named]


def _table_problem(table: str, places: set[str]) -> str:
    return f"the table {table} is not what the entries come to ({', '.join(sorted(places)[:3])})"


def _fingerprint(answer: object) -> str | None:
    return hashlib.sha256(answer).hexdigest() if isinstance(answer, bytes) else None
