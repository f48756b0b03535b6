"""Stored answers: the same bytes, free for the dataset, paid by every share that sees them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.ledger import answers

from .books import open_book, quick_folder, refusal, sql

SECRET = "Anna Karenina"


def test_the_same_bytes_at_no_cost() -> None:
    ledger = open_book(None, 1)
    assert ledger.recall("how many?") is None
    paid = ledger.charge(sf.Pure("0.5"))
    ledger.remember(paid, "how many?", b"about 12")
    spent, head = ledger.spent, ledger.head
    for _ in range(3):
        found = ledger.recall("how many?")
        assert found is not None
        assert (found.answer, found.when, found.number) == (b"about 12", paid.when, paid.number)
    assert ledger.recall("how many? ") is None  # an identical question, or none
    assert (ledger.spent, ledger.head) == (spent, head)


def test_every_share_pays_once() -> None:
    ledger = open_book(None, 1)
    for name, room in (("alice", "1"), ("bob", "0.7"), ("carol", "0.1")):
        ledger.allow(name, sf.Pure(room))
    ledger.remember(ledger.charge(sf.Pure("0.5"), share="alice"), "q", b"1")
    for _ in range(2):
        for name in ("alice", "bob"):
            assert ledger.recall("q", share=name) is not None
            assert ledger.account(name).spent[0] == 1 / 2
    with refusal("budget.exceeded") as caught:
        ledger.recall("q", share="carol")
    assert caught.value.place == "visits / carol"
    with refusal("ledger.share"):
        ledger.recall("q", share="nobody")
    assert ledger.account().spent[0] == 1 / 2
    assert ledger.verify(ledger.head).ok


def test_a_new_answer_is_new_to_everybody() -> None:
    ledger = open_book(None, 2)
    ledger.allow("alice", sf.Pure(2))
    ledger.allow("bob", sf.Pure(2))
    ledger.remember(ledger.charge(sf.Pure("0.5"), share="alice"), "q", b"1")
    ledger.recall("q", share="bob")
    ledger.remember(ledger.charge(sf.Pure("0.25"), share="alice"), "q", b"2")
    found = ledger.recall("q", share="bob")
    assert found is not None
    assert found.answer == b"2"
    assert ledger.account("bob").spent[0] == 3 / 4
    assert ledger.verify(ledger.head).ok


def test_only_what_was_paid_for_is_stored() -> None:
    ledger = open_book(None, 2)
    paid, held, free = ledger.charge(sf.Pure("0.1")), ledger.reserve(sf.Pure("0.1")), ledger.reserve(sf.Pure("0.1"))
    ledger.release(free)
    for receipt in (replace(paid, digest="0" * 64), replace(paid, number=1), replace(paid, number=99)):
        with refusal("ledger.receipt"):
            ledger.remember(receipt, "q", b"1")
    for receipt in (held, free):
        with refusal("ledger.reservation"):
            ledger.remember(receipt, "q", b"1")
    assert ledger.recall("q") is None
    ledger.use(held)
    ledger.remember(held, "q", b"1")
    assert ledger.recall("q") is not None


def test_entries_hold_digests_only() -> None:
    """Questions and answers stand in the chain as fingerprints. The answer itself, which was released, stands in its table."""
    with quick_folder() as folder:
        path: Path = folder / "a.ledger"
        ledger = open_book(path, 1)
        ledger.remember(ledger.charge(sf.Pure("0.1")), f"is {SECRET} here?", f"{SECRET}: perhaps".encode())
        ledger.close()
        assert SECRET not in repr(sql(path, "SELECT * FROM entry"))
        assert sql(path, "SELECT answer FROM answer") == [(f"{SECRET}: perhaps".encode(),)]


def test_a_dataset_keeps_its_answers_to_itself() -> None:
    with quick_folder() as folder:
        visits, bills = open_book(folder / "a.ledger", 1), open_book(folder / "a.ledger", 1, dataset="bills")
        visits.remember(visits.charge(sf.Pure("0.1")), "q", b"1")
        assert bills.recall("q") is None
        visits.close()
        bills.close()


def test_a_recalled_answer_is_repriced_with_its_charge(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_book(None, 1)
    ledger.allow("bob", sf.Pure(1))
    ledger.remember(ledger.charge(sf.Pure("0.5")), "q", b"1")
    ledger.recall("q", share="bob")
    monkeypatch.setattr(answers, "price_stored", lambda *_: (Fraction(1, 4),))
    ledger.reprice("a better theorem")
    assert ledger.account().spent == ledger.account("bob").spent == (Fraction(1, 4),)
    assert ledger.verify(ledger.head).ok
