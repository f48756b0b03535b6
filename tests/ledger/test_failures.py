"""Attack F10: the disk is full, breaks, or may not be written; another writer never ends; the clock
jumps. Nothing is accepted, and the book is whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

import sfumato as sf
from sfumato.ledger import clock
from sfumato.storage import sqlite_store

from ..refusing import refusing
from .books import open_book, quick_folder
from .disks import Step, disk

SECRET = "Anna Karenina, 19 Rosewater Lane"
"""Stands in memos, questions and answers; no text of an error may hold it."""


def life(path: Path, notes: list[str]) -> None:
    """A bit of everything; every acknowledged step notes the head."""
    ledger = open_book(path, 10)

    def note(_: object) -> None:
        notes.append(str(ledger._latest_head))

    try:
        note(None)
        note(ledger.allow("alice", sf.Pure(5)))
        paid = ledger.charge(sf.Pure(1), SECRET, key="first")
        note(paid)
        held = ledger.reserve(sf.Pure(1), SECRET, share="alice")
        note(held)
        note(ledger.use(held))
        spare = ledger.reserve(sf.Pure(1))
        note(spare)
        note(ledger.release(spare))
        note(ledger.remember(paid, SECRET, SECRET.encode() * 200))
        for _ in range(4):  # of which the last three go the short way
            note(ledger.charge(sf.Pure("0.1"), SECRET))
        note(ledger.recall(SECRET, share="alice"))
        note(ledger.amend(sf.Pure(20), SECRET))
    finally:
        notes.append("closing")
        ledger.close()


def changes(step: Step) -> bool:
    return step[0] in ("write", "truncate", "sync")


class Fault:
    """Lets so many changes of the disk pass, then raises: once, or ever after. Closing a book is
    let alone.
    """

    def __init__(
        self, error: type[apsw.Error], at: int, *, lasting: bool, notes: list[str]
    ) -> None:
        self.error, self.left, self.lasting, self.notes, self.raised = error, at, lasting, notes, 0

    def __call__(self, step: Step) -> None:
        if not changes(step) or "closing" in self.notes:
            return
        self.left -= 1
        if self.left == -1 or (self.left < 0 and self.lasting):
            self.raised += 1
            raise self.error("injected")


def check(caught: sf.Refused, code: str) -> None:
    assert caught.code == code
    text = str(caught)
    assert "nothing was accepted" in text or "no receipt was given" in text
    assert "Anna" not in text
    assert not re.search(r"patient|visits|/", text.replace("a.ledger", ""))
    assert caught.__cause__ is None
    assert caught.__suppress_context__


ERRORS = [
    (apsw.FullError, "ledger.full"),
    (apsw.IOError, "ledger.io"),
    (apsw.ReadOnlyError, "ledger.read-only"),
]


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize(("error", "code"), ERRORS, ids=["ENOSPC", "EIO", "EROFS"])
def test_attack_f10_at_every_write(
    error: type[apsw.Error], code: str, lasting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault at the first, second, … change of the disk, until a whole life passes without one."""
    at, faults = 0, 0
    while True:
        notes: list[str] = []
        fault = Fault(error, at, lasting=lasting, notes=notes)
        with quick_folder() as folder:
            path = folder / "a.ledger"
            with disk(monkeypatch, fault):
                try:
                    life(path, notes)
                except sf.Refused as caught:
                    check(caught, code)
                else:
                    if not fault.raised:
                        break
            assert fault.raised
            heads = [line for line in notes if line != "closing"]
            after = open_book(path, 10) if len(heads) < 13 else sf.Ledger.open(path)
            checked = after.verify(heads[-1] if heads else None)
            assert checked.ok, checked.problems
            assert after.head.number == (
                int(heads[-1].split(":")[1]) if heads else 1
            )  # nothing was accepted that was not acknowledged
            after.charge(sf.Pure(1))
            after.close()
        at, faults = at + 1, faults + 1
    assert faults > 30


def test_attack_f10_the_twin_that_swallows_errors_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A book whose commits fail unnoticed acknowledges what it does not hold; the check above would
    see it.
    """

    heads: list[str] = []
    with quick_folder() as folder:
        path = folder / "a.ledger"
        ledger = open_book(path, 10)
        real = ledger._store._connection

        ledger._store._run = lambda statement, *more: real.execute(
            "ROLLBACK" if statement == "COMMIT" else statement, *more
        )
        ledger.charge(sf.Pure(1))
        heads.append(str(ledger._latest_head))
        ledger.close()
        after = sf.Ledger.open(path)
        assert not after.verify(heads[-1]).ok
        after.close()


def test_attack_f10_a_lock_that_is_never_released(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_store, "PATIENCE", 30)
    with quick_folder() as folder:
        ledger = open_book(folder / "a.ledger", 10)
        ledger.allow("bob", sf.Pure(1))
        ledger.remember(ledger.charge(sf.Pure(1)), SECRET, b"1")
        length = ledger.head.number
        blocker = apsw.Connection(str(folder / "a.ledger"))
        blocker.execute("BEGIN IMMEDIATE")
        asks: list[Callable[[], object]] = [
            lambda: ledger.charge(sf.Pure(1), SECRET),
            lambda: ledger.reserve(sf.Pure(1)),
            lambda: ledger.allow("alice", sf.Pure(1)),
            lambda: ledger.amend(sf.Pure(3), SECRET),
            lambda: ledger.recall(SECRET, share="bob"),
            lambda: sf.Ledger.open(folder / "a.ledger"),
        ]
        for ask in asks:
            with pytest.raises(sf.Refused) as caught:
                ask()
            check(caught.value, "ledger.busy")
        assert ledger.spent == sf.Pure(
            1, relation="add-remove", unit="patient"
        )  # reading goes on meanwhile
        assert ledger.recall(SECRET) is not None
        assert ledger.recall("another question", share="bob") is None
        blocker.execute("ROLLBACK")
        blocker.close()
        assert ledger.charge(sf.Pure(1)).number == length + 1
        ledger.close()


def test_threads_do_not_wait_for_ever_either(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    monkeypatch.setattr(sqlite_store, "PATIENCE", 30)
    ledger = open_book(None)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with ledger._store.reading():
            held.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    with refusing("ledger.busy"):
        ledger.charge(sf.Pure(1))
    done.set()
    thread.join()


def test_attack_f10_the_clock_jumps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times are for readers; the order is that of the numbers."""
    times = iter([2**31, 0, 253_402_300_799, 1_800_000_000])
    monkeypatch.setattr(clock.time, "time_ns", lambda: next(times) * 10**9)
    ledger = open_book(None, 2)
    assert [ledger.charge(sf.Pure(1)).when[:4] for _ in range(2)] == ["1970", "9999"]
    with refusing("budget.exceeded"):
        ledger.charge(sf.Pure(1))
    assert [line.number for line in ledger.history()] == [1, 2, 3]
    assert ledger.verify(ledger.head).ok


def test_a_clock_that_fails_accepts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_book(None, 2)
    for number in (1, 2):  # before the first charge, and before one that follows
        with monkeypatch.context() as patched:
            patched.setattr(clock.time, "time_ns", lambda: 10**30)
            with pytest.raises((OverflowError, ValueError)):
                ledger.charge(sf.Pure(1))
        assert ledger.head.number == number
        ledger.charge(sf.Pure(1))
