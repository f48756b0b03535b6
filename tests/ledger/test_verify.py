"""What `verify` sees, problem by problem; the random tampering is in test_tampering."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import sfumato as sf
from sfumato.ledger import Head, Verification, course, reading
from sfumato.ledger.verify import BEFORE, BLIND, LATER, Checked

from .books import loosen, open_book, quick_folder, sql, tighten
from .tampering import rewrite

STORED = Path(__file__).parent.parent / "vectors" / "stored"


@contextmanager
def book() -> Iterator[Path]:
    with quick_folder() as folder:
        ledger = open_book(folder / "a.ledger", 10)
        ledger.allow("alice", sf.Pure(5))
        ledger.charge(sf.Pure(1), "first", key="k", share="alice")
        ledger.use(ledger.reserve(sf.Pure(1)))
        ledger.remember(ledger.charge(sf.Pure(1)), "q", b"answer")
        ledger.close()
        yield folder / "a.ledger"


def checked(path: Path, head: Head | str | None = None) -> Verification:
    """Verify a book that is opened for reading only: a ledger does not open a book with edited
    accounts for writing.
    """
    with reading(path) as opened:
        return opened.verify(head)


def tampered(path: Path, *statements: str) -> tuple[str, ...]:
    loosen(path)
    for statement in statements:
        sql(path, statement)
    tighten(path)
    return checked(path).problems


def test_a_whole_book() -> None:
    with book() as path:
        verification = checked(path)
        assert verification.ok
        assert verification.blind == (BLIND,)
        assert checked(path, verification.head).blind == ()
        assert checked(path, str(verification.head)).ok


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        (
            "UPDATE entry SET body = replace(body, 'first', 'First') WHERE number = 3",
            "entry 3 does not follow from the one before it",
        ),
        (
            (
                "UPDATE entry SET digest = replace(digest, substr(digest, 1, 4), 'zzzz') "
                "WHERE number = 3"
            ),
            "entry 4 does not follow from the one before it",
        ),
        (
            "UPDATE entry SET kind = 'reserve' WHERE number = 3",
            "entry 3 is not in the form the book writes",
        ),
        (
            "UPDATE entry SET key = 'other' WHERE number = 3",
            "entry 3 is not in the form the book writes",
        ),
        (
            "UPDATE entry SET key = NULL WHERE number = 3",
            "entry 3 is not in the form the book writes",
        ),
        ("UPDATE entry SET body = 'nothing' WHERE number = 3", "entry 3 cannot be read"),
        ("UPDATE entry SET body = '[]' WHERE number = 3", "entry 3 cannot be read"),
        ("DELETE FROM entry WHERE number = 3", "entry 3 is missing"),
        (
            "UPDATE balance SET spent = '[\"0\"]' WHERE share = 'alice'",
            "the table balance is not what the entries come to (visits)",
        ),
        (
            "UPDATE balance SET parts = 0 WHERE share = 'alice'",
            "the table balance is not what the entries come to (visits)",
        ),
        (
            "UPDATE entry SET spent = '[\"0\"]'",
            "entry 4 carries another total than the entries come to",
        ),
        (
            "UPDATE entry SET spent = '', parts = 0",
            "entry 4 carries another total than the entries come to",
        ),
        (
            "UPDATE entry SET state = NULL WHERE number = 4",
            "entry 4 is not in the form the book writes",
        ),
        (
            "UPDATE entry SET share = NULL WHERE number = 3",
            "entry 3 is not in the form the book writes",
        ),
        ("UPDATE entry SET parts = 0", "entry 3 carries another total than the entries come to"),
        (
            "DELETE FROM balance WHERE share = 'alice'",
            "the table balance is not what the entries come to (visits)",
        ),
        (
            "UPDATE reservation SET state = 'open'",
            "the table reservation is not what the entries come to (4)",
        ),
        ("DELETE FROM reservation", "the table reservation is not what the entries come to (4)"),
        (
            "UPDATE answer SET answer = x'00'",
            "the table answer is not what the entries come to (visits)",
        ),
        (
            "UPDATE answer SET answer = 'text'",
            "the table answer is not what the entries come to (visits)",
        ),
        (
            "UPDATE answer SET number = 3",
            "the table answer is not what the entries come to (visits)",
        ),
        (
            "INSERT INTO shown SELECT dataset, question, 'alice' FROM answer",
            "the table shown is not what the entries come to (visits)",
        ),
        ("UPDATE book SET id = 'other'", "entry 1 does not follow from the one before it"),
        ("CREATE TABLE more (a)", "the tables are not those that the book makes"),
        ("DROP INDEX entry_key", "the tables are not those that the book makes"),
    ],
)
def test_problems_are_named(statement: str, problem: str) -> None:
    with book() as path:
        assert problem in tampered(path, statement)


def test_a_charge_beyond_the_budget_is_seen_even_with_a_new_chain() -> None:
    """An attacker who rewrites the whole chain still cannot hide a wrong sum."""
    with book() as path:
        loosen(path)
        sql(
            path,
            """UPDATE entry SET body = replace(body, '"cost":["1"]', '"cost":["9"]')
            WHERE number = 3""",
        )
        tighten(path)
        rewrite(path, random.Random(1))
        assert "entry 3 goes beyond a budget" in checked(path).problems


def answered(path: Path, answers: int) -> sf.Ledger:
    """A book in which every charge was answered, as a service's are."""
    ledger = open_book(path, 10**6)
    ledger.allow("alice", sf.Pure(10**6))
    for turn in range(answers):
        ledger.remember(ledger.charge(sf.Pure(1), share="alice"), f"q{turn}", b"answer")
    return ledger


def work(call: Callable[[], object]) -> int:
    """Lines of Python that were run: of time a busy machine says little. A comprehension counts for
    each of its turns.
    """
    counted = [0]

    def trace(_: FrameType, event: str, __: object) -> Any:
        counted[0] += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return counted[0]


def test_verify_and_the_course_do_no_more_for_an_entry_of_a_longer_book() -> None:
    """Each answer walked through all that were shown before it: twice as many answers took four
    times as long.
    """
    with quick_folder() as folder:
        short, long = answered(folder / "short", 20), answered(folder / "long", 80)
        for look in (lambda ledger: ledger.verify(), course):
            assert (
                2 < work(lambda look=look: look(long)) / work(lambda look=look: look(short)) < 4.5
            )
        for ledger in (short, long):
            ledger.close()


def test_a_long_book_with_answers_is_verified_in_linear_time() -> None:
    """By the processor's time, four times as many answers against a quarter of them; the quadratic
    check took sixteen times as long.
    """
    with quick_folder() as folder:
        seconds = []
        for name, answers in (("short", 100), ("long", 400)):
            ledger = answered(folder / name, answers)
            start = time.process_time()
            assert ledger.verify(ledger.head).ok
            seconds.append(time.process_time() - start)
            ledger.close()
        assert seconds[1] < 8 * seconds[0] + 0.2


def test_a_check_goes_on_from_the_last_one() -> None:
    with quick_folder() as folder:
        path, since = folder / "a.ledger", Checked()
        ledger = answered(path, 5)
        held = ledger.reserve(sf.Pure(1))
        assert ledger.verify(since=since).ok
        assert since.head == ledger.head
        ledger.use(held)
        ledger.remember(ledger.charge(sf.Pure(1)), "q1", b"another")
        ledger.allow("bob", sf.Pure(9))
        ledger.recall("q2", share="bob")
        verification = ledger.verify(ledger.head, since=since)
        assert verification.ok, verification.problems
        assert len(verification.blind) == 1
        assert BEFORE.split("{}", maxsplit=1)[0] in verification.blind[0]
        assert since.head == ledger.head
        ledger.close()


NEW = {
    "UPDATE answer SET answer = x'00' WHERE number = (SELECT max(number) FROM answer)": (
        "the table answer"
    ),
    "DELETE FROM shown WHERE share = 'bob'": "the table shown",
    "UPDATE reservation SET state = 'release'": "the table reservation",
    "UPDATE balance SET parts = 0 WHERE share = 'bob'": "the table balance",
    "UPDATE entry SET parts = parts + 1 WHERE number = (SELECT max(number) FROM entry)": (
        "carries another total"
    ),
    (
        "UPDATE entry SET digest = iif(digest LIKE 'f%', 'e', 'f') || substr(digest, 2) "
        "WHERE number = 5"
    ): "does not contain the entry up to which it was checked",
}


@pytest.mark.parametrize("change", NEW)
def test_a_check_that_goes_on_sees_changes_of_what_is_new(change: str) -> None:
    with quick_folder() as folder:
        path, since = folder / "a.ledger", Checked()
        ledger = answered(path, 1)
        held = ledger.reserve(sf.Pure(1))
        assert ledger.verify(since=since).ok
        assert ledger.head.number == 5
        ledger.use(held)
        ledger.remember(ledger.charge(sf.Pure(1)), "q1", b"another")
        ledger.allow("bob", sf.Pure(9))
        ledger.recall("q0", share="bob")
        loosen(path)
        sql(path, change)
        tighten(path)
        assert any(NEW[change] in problem for problem in ledger.verify(since=since).problems)
        assert since.head is None  # the next check begins at the first entry
        assert not ledger.verify(since=since).ok
        ledger.close()


@pytest.mark.parametrize("number", ["NULL", "'three'", "3.5", "x'00'"])
def test_entries_without_a_number_are_problems(number: str) -> None:
    """Tables that were made anew take anything in the place of a number."""
    with book() as path:
        loosen(path)
        columns = "dataset, share, kind, key, body, digest, spent, parts, state"
        sql(
            path,
            (
                f"CREATE TABLE other AS SELECT CASE number WHEN 3 THEN {number} ELSE number "
                f"END AS number, {columns} FROM entry"
            ),
        )
        sql(path, "DROP TABLE entry")
        sql(path, "CREATE TABLE entry AS SELECT * FROM other")
        try:
            problems = checked(path).problems
        except sf.Refused:
            return  # seen already when it is opened
        assert any("missing" in problem or "no number" in problem for problem in problems), problems


def test_a_broken_book_has_a_short_report() -> None:
    with quick_folder() as folder:
        ledger = open_book(folder / "a.ledger", 100)
        for _ in range(60):
            ledger.charge(sf.Pure(1))
        ledger.close()
        problems = tampered(folder / "a.ledger", "UPDATE entry SET body = '' WHERE number > 1")
        assert len(problems) < 60
        assert "40 more entries are wrong" in problems


def test_a_head_of_long_ago_says_less() -> None:
    with book() as path:
        ledger = sf.Ledger.open(path)
        old = ledger.head
        ledger.charge(sf.Pure(1))
        verification = ledger.verify(old)
        assert verification.ok
        assert verification.blind == (LATER.format(old.number),)
        assert not ledger.verify(Head(old.book, old.number, "0" * 64)).ok
        assert not ledger.verify(Head("0" * 16, old.number, old.digest)).ok
        assert not ledger.verify(Head(old.book, 99, old.digest)).ok
        ledger.close()


@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_version_is_still_read(version: int) -> None:
    """A book written by that version, with every kind of entry, and the head that was kept of
    it.
    """
    stored = STORED / f"ledger-v{version}.sqlite"
    head = stored.with_suffix(".head").read_text(encoding="utf-8")
    with quick_folder() as folder:
        copy = folder / "a.ledger"
        copy.write_bytes(stored.read_bytes())
        ledger = sf.Ledger.open(copy, dataset="visits", head=head)
        verification = ledger.verify(head)
        assert verification.ok, verification.problems
        assert ledger.verify(ledger.head).blind == ()
        kinds = {line.kind for line in ledger.history()} - {"upgrade"}
        assert kinds == {
            "open",
            "share",
            "charge",
            "reserve",
            "use",
            "release",
            "answer",
            "recall",
            "amend",
            "reprice",
        }
        assert ledger.budget == sf.Pure(12, relation="add-remove", unit="patient")
        assert ledger.spent == sf.Pure("7/8", relation="add-remove", unit="patient")
        recalled = ledger.recall("how many?")
        assert recalled is not None
        assert recalled.answer == b"about 13"
        ledger.charge(sf.Pure(1), "goes on")
        assert ledger.verify(head).ok
        assert ledger.reprice("by what is known today").parameters["epsilon"] <= 2
        ledger.close()
