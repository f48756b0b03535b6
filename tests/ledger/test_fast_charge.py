"""Charges in the short way: the same entries as in the longer one, and none where somebody else has
written since.
"""

from __future__ import annotations

import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.ledger import clock
from sfumato.ledger.fast_charge import CONDITIONAL_INSERT, FastCharge
from sfumato.ledger.storage.book_store import BookStore
from sfumato.storage import sqlite_store

from ..refusing import refusing
from .books import loosen, open_book, sql

NOISY = mech.Laplace(sensitivity=1, epsilon="0.25", relation="add-remove", unit="patient")
BUDGETS = {
    "pure": sf.Pure(10),
    "approx": sf.Approx(10, "1e-3"),
    "zcdp": sf.ZCDP(10),
    "renyi": sf.Renyi({2: 10, 8: 10}),
}


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each charge that was tried in the short way was made in it."""
    outcomes: list[bool] = []
    real = FastCharge.charge

    def charge(self: FastCharge, *more: Any) -> Any:
        receipt = real(self, *more)
        outcomes.append(receipt is not None)
        return receipt

    monkeypatch.setattr(FastCharge, "charge", charge)
    return outcomes


def rows(path: Path) -> list[Any]:
    return sql(path, "SELECT * FROM entry ORDER BY number")


@pytest.mark.parametrize("name", BUDGETS)
def test_the_same_book_both_ways(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tried: list[bool]
) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda _: "0" * 16)
    books = []
    for way in ("short", "long"):
        ticks = iter(range(10**9, 2 * 10**9, 37 * 10**6 + 1))
        monkeypatch.setattr(clock.time, "time_ns", lambda ticks=ticks: next(ticks))
        if way == "long":
            monkeypatch.setattr(BookStore, "allows_fast_charge", False)
        ledger = open_book(tmp_path / way, budget=BUDGETS[name])
        receipts = [
            ledger.charge(cost, memo)
            for cost, memo in [
                (NOISY, "first"),
                (NOISY, "again"),
                ([NOISY, NOISY], "“two”\n\t"),
                (NOISY, ""),
            ]
        ]
        assert ledger.verify(ledger.head).ok
        assert [receipt.number for receipt in receipts] == [2, 3, 4, 5]
        books.append((rows(tmp_path / way), receipts, ledger.spent, ledger._latest_head))
        ledger.close()
    assert books[0] == books[1]
    assert tried == [True, True, True]


@pytest.mark.parametrize(
    "act",
    [
        lambda writer, path: writer.charge(sf.Pure(1)),
        lambda writer, path: writer.amend(sf.Pure(3), "less"),
        lambda writer, path: writer.allow("alice", sf.Pure(1)),
        lambda writer, path: sf.Ledger.open(
            path, dataset="others", budget=sf.Pure(1), unit="patient", relation="add-remove"
        ).close(),
        lambda writer, path: writer.release(writer.reserve(sf.Pure(1))),
    ],
    ids=["charge", "amend", "share", "another dataset", "reservation"],
)
def test_what_others_write_closes_the_way(act: Any, tmp_path: Path, tried: list[bool]) -> None:
    """The ledger charges in the long way then, and reads the budget anew."""
    path = tmp_path / "a.ledger"
    ledger, writer = open_book(path, 4), open_book(path, 4)
    ledger.charge(sf.Pure(1))
    ledger.charge(sf.Pure(1))
    act(writer, path)
    left = ledger.remaining.parameters["epsilon"]
    while left >= 1:
        ledger.charge(sf.Pure(1))
        left -= 1
    with refusing("budget.exceeded"):
        ledger.charge(sf.Pure(1))
    assert tried[:2] == [True, False]
    assert ledger.verify(ledger.head).ok
    writer.close()
    ledger.close()


def test_others_who_take_turns_are_not_raced(tmp_path: Path, tried: list[bool]) -> None:
    """A ledger that meets the entry of another writer looks before it writes, until two charges in
    a row meet nobody.
    """
    path = tmp_path / "a.ledger"
    first, second = open_book(path, 100), open_book(path, 100)
    for _ in range(5):
        first.charge(sf.Pure(1))
        second.charge(sf.Pure(1))
    assert tried == [False]
    for _ in range(5):
        first.charge(sf.Pure(1))
    assert tried == [False, True, True, True]
    assert first.verify(first.head).ok
    first.close()
    second.close()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("UPDATE entry SET spent = '[\"4\"]' WHERE number = 3", "ledger.corrupt"),
        (
            (
                "UPDATE entry SET digest = iif(digest LIKE 'f%', 'e', 'f') || substr(digest, "
                "2) WHERE number = 3"
            ),
            "ledger.corrupt",
        ),
        ("DELETE FROM entry WHERE number = 3", "ledger.head"),
        ("UPDATE balance SET budget = replace(budget, '\"4\"', '\"2\"')", "ledger.corrupt"),
        ("DELETE FROM balance", "ledger"),
    ],
    ids=["total", "digest", "cut", "budget", "account"],
)
def test_a_book_that_was_changed_is_not_written_to(
    change: str, code: str, tmp_path: Path, tried: list[bool]
) -> None:
    path = tmp_path / "a.ledger"
    ledger = open_book(path, 4)
    ledger.charge(sf.Pure(1))
    ledger.charge(sf.Pure(1))
    loosen(path)
    sql(path, change)
    before = rows(path)
    with pytest.raises(sf.Refused) as caught:
        ledger.charge(sf.Pure(1))
    assert caught.value.code.startswith(code)
    assert rows(path) == before
    assert tried == [True, False]
    ledger.close()


def test_an_old_copy_put_back_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    ledger = open_book(path, 4)
    ledger.charge(sf.Pure(1))
    ledger.charge(sf.Pure(1))
    shutil.copy(path, tmp_path / "old")
    (tmp_path / "old").replace(path)
    with refusing("ledger.moved"):
        ledger.charge(sf.Pure(1))


def test_what_does_not_fit_is_refused_as_ever(tmp_path: Path, tried: list[bool]) -> None:
    ledger = open_book(tmp_path / "a.ledger", 3)
    ledger.charge(sf.Pure(1))
    ledger.charge(sf.Pure(1))
    with refusing("budget.exceeded") as caught:
        ledger.charge(sf.Pure("1.000001"))
    assert "is left; nothing was read, nothing was spent" in str(caught.value)
    ledger.charge(sf.Pure(1))
    assert ledger.remaining.parameters["epsilon"] == 0
    assert tried == [True, False]


def test_other_kinds_go_the_longer_way(tried: list[bool]) -> None:
    ledger = open_book(None, 10)
    ledger.allow("alice", sf.Pure(5))
    ledger.charge(sf.Pure(1))
    paid = ledger.charge(sf.Pure(1), key="k")
    assert ledger.charge(sf.Pure(1), key="k") == paid
    ledger.charge(sf.Pure(1))
    held = ledger.reserve(sf.Pure(1))
    ledger.release(held)
    ledger.charge(sf.Pure(1), share="alice")
    ledger.charge(sf.Pure(1))
    ledger.remember(paid, "how many?", b"12")
    ledger.charge(sf.Pure(1))
    assert not any(tried)
    assert ledger.spent.parameters["epsilon"] == 6
    assert ledger.verify(ledger.head).ok


def test_inside_an_open_transaction_it_is_not_tried(tmp_path: Path) -> None:
    """It would be undone with that transaction, after the receipt was given."""
    ledger = open_book(tmp_path / "a.ledger", 4)
    ledger.charge(sf.Pure(1))
    with ledger._store.writing():
        assert not ledger._store.try_write(CONDITIONAL_INSERT, (0,) * 10)
        with refusing("ledger.storage"):
            ledger.charge(sf.Pure(1))
    assert ledger.head.number == 2
    ledger.close()


def test_a_busy_book_accepts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ledger"
    monkeypatch.setattr(sqlite_store, "PATIENCE", 50)
    ledger = open_book(path, 4)
    ledger.charge(sf.Pure(1))
    holder = apsw.Connection(str(path))
    holder.execute("BEGIN IMMEDIATE")
    with refusing("ledger.busy") as caught:
        ledger.charge(sf.Pure(1))
    assert "nothing was accepted" in str(caught.value)
    holder.execute("ROLLBACK")
    holder.close()
    assert ledger.charge(sf.Pure(1)).number == 3
    ledger.close()


def test_a_writer_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    ledger = open_book(path, 4)
    ledger.charge(sf.Pure(1))
    holder = apsw.Connection(str(path))
    holder.execute("BEGIN IMMEDIATE")
    later = threading.Thread(target=lambda: (time.sleep(0.2), holder.execute("ROLLBACK")))
    later.start()
    assert ledger.charge(sf.Pure(1)).number == 3
    later.join()
    holder.close()
    ledger.close()


def test_threads_follow_one_another(tmp_path: Path) -> None:
    """Every receipt has an entry of its own, and exactly what fits is accepted."""
    ledger = open_book(tmp_path / "a.ledger", 200)

    def ask(_: int) -> int | None:
        try:
            return ledger.charge(sf.Pure(1)).number
        except sf.BudgetExceeded:
            return None

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(ask, range(300)))
    numbers = [number for number in results if number is not None]
    assert sorted(numbers) == list(range(2, 202))
    assert ledger.remaining.parameters["epsilon"] == 0
    assert ledger.verify(ledger.head).ok
    ledger.close()


def test_what_one_thread_has_written_is_not_forgotten_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the commit of a charge and its receipt the ledger refuses another charge, in the
    long way. Then an attacker deletes the entry from the book.
    """
    path = tmp_path / "a.ledger"
    ledger = open_book(path, 4)
    ledger.charge(sf.Pure(1))
    real = sqlite_store.Store.try_write

    def interrupted(self: sqlite_store.Store, *arguments: Any) -> bool:
        monkeypatch.setattr(sqlite_store.Store, "try_write", real)
        done = real(self, *arguments)
        refused: list[bool] = []

        def overspend() -> None:
            with refusing("budget.exceeded"):
                ledger.charge(sf.Pure(5))
            refused.append(True)

        thread = threading.Thread(target=overspend)
        thread.start()
        thread.join(10)
        assert refused == [True]
        return done

    monkeypatch.setattr(sqlite_store.Store, "try_write", interrupted)
    assert ledger.charge(sf.Pure(1)).number == 3
    assert ledger._latest_head is not None
    assert ledger._latest_head.number == 3
    loosen(path)
    sql(path, "DELETE FROM entry WHERE number = 3")
    with refusing("ledger.head"):
        ledger.charge(sf.Pure(1))
    ledger.close()


def test_an_account_with_too_few_numbers_is_damaged(tmp_path: Path) -> None:
    """One number of two: what is missing would never be counted."""
    path = tmp_path / "a.ledger"
    ledger = open_book(path, budget=sf.Approx(1, "1e-6"))
    sql(path, """UPDATE balance SET spent = '["0"]'""")
    for _ in range(3):
        with refusing("ledger.corrupt"):
            ledger.charge(sf.Approx("0.1", "5e-7"))
    assert len(rows(path)) == 1
    ledger.close()


def test_a_statement_that_looks_at_nothing_would_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A twin without its conditions overspends what two share."""
    naive = (
        "INSERT OR IGNORE INTO entry SELECT max(number) + 1, ?2, NULL, 'charge', NULL, ?3, "
        "?4, ?5, ?6, ?11 FROM entry WHERE ?1 + ?7 + ?8 + ?9 + ?10 NOTNULL"
    )
    monkeypatch.setattr("sfumato.ledger.fast_charge.CONDITIONAL_INSERT", naive)
    path = tmp_path / "a.ledger"
    first, second = open_book(path, 4), open_book(path, 4)
    first.charge(sf.Pure(1))
    for _ in range(3):
        second.charge(sf.Pure(1))
    first.charge(sf.Pure(1))
    assert len(rows(path)) == 1 + 5
    assert not first.verify().ok
    first.close()
    second.close()
