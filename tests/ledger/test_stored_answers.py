"""Stored answers: the same bytes, free for the dataset, paid by every share that sees them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.ledger import reading, stored_answers

from ..refusing import refusing
from .books import open_book, quick_folder, sql

SECRET = "Anna Karenina"


@pytest.mark.usefixtures("anywhere")
def test_the_same_bytes_at_no_cost() -> None:
    ledger = open_book(None, 1)
    assert ledger.recall("how many?") is None
    paid = ledger.charge(sf.Pure("0.5"))
    ledger.remember(paid, "how many?", b"about 12")
    spent, head = ledger.spent, ledger.head
    for _ in range(3):
        recalled = ledger.recall("how many?")
        assert recalled is not None
        assert (recalled.answer, recalled.when, recalled.number) == (
            b"about 12",
            paid.when,
            paid.number,
        )
    assert ledger.recall("how many? ") is None  # an identical question, or none
    assert (ledger.spent, ledger.head) == (spent, head)


@pytest.mark.usefixtures("anywhere")
def test_all_answers_or_those_that_a_share_has_seen() -> None:
    ledger = open_book(None, 10)
    ledger.allow("ada", sf.Pure(5))
    ledger.remember(ledger.charge(sf.Pure(1)), "how many?", b"about 12")
    assert ledger.answers(share="ada") == ()
    ledger.remember(ledger.charge(sf.Pure(1), share="ada"), "how old?", b"about 40")
    assert [each.answer for each in ledger.answers()] == [b"about 12", b"about 40"]
    assert [each.answer for each in ledger.answers(share="ada")] == [b"about 40"]
    head = ledger.head
    ledger.recall("how many?", share="ada")  # pays for it, and has seen it from now on
    assert ledger.head != head
    assert ledger.answers(share="ada") == ledger.answers()
    assert ledger.answers(share="nobody") == ()


@pytest.mark.usefixtures("anywhere")
def test_every_share_pays_once() -> None:
    ledger = open_book(None, 1)
    for name, room in (("alice", "1"), ("bob", "0.7"), ("carol", "0.1")):
        ledger.allow(name, sf.Pure(room))
    ledger.remember(ledger.charge(sf.Pure("0.5"), share="alice"), "q", b"1")
    for _ in range(2):
        for name in ("alice", "bob"):
            assert ledger.recall("q", share=name) is not None
            assert ledger.account(name).spent[0] == 1 / 2
    with refusing("budget.exceeded") as caught:
        ledger.recall("q", share="carol")
    assert caught.value.place == "visits / carol"
    with refusing("ledger.share"):
        ledger.recall("q", share="nobody")
    assert ledger.account().spent[0] == 1 / 2
    assert ledger.verify(ledger.head).ok


@pytest.mark.usefixtures("anywhere")
def test_answers_of_one_charge_are_paid_for_once() -> None:
    """Who has paid for a charge by seeing one of its answers is shown the others for nothing; an
    answer of another charge is none of these.
    """
    ledger = open_book(None, 3)
    for name, room in (("alice", "3"), ("bob", "0.7"), ("carol", "0.1")):
        ledger.allow(name, sf.Pure(room))
    batch = ledger.charge(sf.Pure("0.5"), share="alice")
    for question in ("a", "b", "c"):
        ledger.remember(batch, question, question.encode())
    ledger.remember(ledger.charge(sf.Pure("0.25"), share="alice"), "d", b"d")
    for question in ("b", "a", "c", "b"):
        assert ledger.recall(question, share="bob") is not None
        assert ledger.account("bob").spent[0] == Fraction("0.5")
    for question, share in (("d", "bob"), ("a", "carol")):
        with refusing("budget.exceeded"):
            ledger.recall(question, share=share)
    assert ledger.reprice("nothing is cheaper") == ledger.spent
    assert ledger.account("bob").spent[0] == Fraction("0.5")
    assert ledger.account().spent[0] == Fraction("0.75")
    assert ledger.verify(ledger.head).ok


@pytest.mark.usefixtures("anywhere")
def test_several_answers_are_paid_for_together_or_not_at_all() -> None:
    ledger = open_book(None, 3)
    for name, room in (("alice", "3"), ("bob", "0.7"), ("carol", "0.8")):
        ledger.allow(name, sf.Pure(room))
    batch = ledger.charge(sf.Pure("0.5"), share="alice")
    for question in ("a", "b"):
        ledger.remember(batch, question, question.encode())
    ledger.remember(ledger.charge(sf.Pure("0.25"), share="alice"), "d", b"d")
    entries = ledger.head.number
    assert ledger.recall_all(["a", "never asked"], share="bob") is None
    with refusing("budget.exceeded"):
        ledger.recall_all(["a", "b", "d"], share="bob")
    assert (ledger.account("bob").spent[0], ledger.head.number) == (0, entries)
    for _ in range(2):
        recalled = ledger.recall_all(["a", "b", "d"], share="carol")
        assert recalled is not None
        assert [stored.answer for stored in recalled] == [b"a", b"b", b"d"]
        assert ledger.account("carol").spent[0] == Fraction("0.75")
    assert ledger.recall_all(["d", "a"]) == (recalled[2], recalled[0])
    assert ledger.verify(ledger.head).ok


@pytest.mark.usefixtures("anywhere")
def test_a_new_answer_is_new_to_everybody() -> None:
    ledger = open_book(None, 2)
    ledger.allow("alice", sf.Pure(2))
    ledger.allow("bob", sf.Pure(2))
    ledger.remember(ledger.charge(sf.Pure("0.5"), share="alice"), "q", b"1")
    ledger.recall("q", share="bob")
    ledger.remember(ledger.charge(sf.Pure("0.25"), share="alice"), "q", b"2")
    recalled = ledger.recall("q", share="bob")
    assert recalled is not None
    assert recalled.answer == b"2"
    assert ledger.account("bob").spent[0] == 3 / 4
    assert ledger.verify(ledger.head).ok


@pytest.mark.usefixtures("anywhere")
def test_only_what_was_paid_for_is_stored() -> None:
    ledger = open_book(None, 2)
    paid, held, free = (
        ledger.charge(sf.Pure("0.1")),
        ledger.reserve(sf.Pure("0.1")),
        ledger.reserve(sf.Pure("0.1")),
    )
    ledger.release(free)
    for receipt in (
        replace(paid, digest="0" * 64),
        replace(paid, number=1),
        replace(paid, number=99),
    ):
        with refusing("ledger.receipt"):
            ledger.remember(receipt, "q", b"1")
    for receipt in (held, free):
        with refusing("ledger.reservation"):
            ledger.remember(receipt, "q", b"1")
    assert ledger.recall("q") is None
    ledger.use(held)
    ledger.remember(held, "q", b"1")
    assert ledger.recall("q") is not None


def test_entries_hold_digests_only() -> None:
    """Questions and answers stand in the chain as fingerprints. The answer itself, which was
    released, stands in its table.
    """
    with quick_folder() as folder:
        path: Path = folder / "a.ledger"
        ledger = open_book(path, 1)
        ledger.remember(
            ledger.charge(sf.Pure("0.1")), f"is {SECRET} here?", f"{SECRET}: perhaps".encode()
        )
        ledger.close()
        assert SECRET not in repr(sql(path, "SELECT * FROM entry"))
        assert sql(path, "SELECT answer FROM answer") == [(f"{SECRET}: perhaps".encode(),)]


def test_a_dataset_keeps_its_answers_to_itself() -> None:
    with quick_folder() as folder:
        visits, bills = (
            open_book(folder / "a.ledger", 1),
            open_book(folder / "a.ledger", 1, dataset="bills"),
        )
        visits.remember(visits.charge(sf.Pure("0.1")), "q", b"1")
        assert bills.recall("q") is None
        visits.close()
        bills.close()


@pytest.mark.usefixtures("anywhere")
def test_a_recalled_answer_is_repriced_with_its_charge(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_book(None, 1)
    ledger.allow("bob", sf.Pure(1))
    ledger.remember(ledger.charge(sf.Pure("0.5")), "q", b"1")
    ledger.recall("q", share="bob")
    monkeypatch.setattr(stored_answers, "price_stored", lambda *_: (Fraction(1, 4),))
    ledger.reprice("a better theorem")
    assert ledger.account().spent == ledger.account("bob").spent == (Fraction(1, 4),)
    assert ledger.verify(ledger.head).ok


def test_looking_writes_nothing_and_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for every query, mostly in vain; only what is to be booked needs the lock."""
    with quick_folder() as folder:
        path = folder / "a.ledger"
        ledger = open_book(path, 1)
        ledger.allow("bob", sf.Pure(1))
        ledger.remember(ledger.charge(sf.Pure("0.1")), "q", b"1")
        ledger.recall("q", share="bob")
        before = {
            file.name: file.read_bytes()
            for file in folder.iterdir()
            if not file.name.endswith("-shm")
        }
        with monkeypatch.context() as patched:
            patched.setattr(ledger._store, "writing", None)
            assert ledger.recall("never asked") is None
            assert ledger.recall("never asked", share="bob") is None
            for share in (None, "bob"):
                recalled = ledger.recall("q", share=share)
                assert recalled is not None
                assert recalled.answer == b"1"
        assert {
            file.name: file.read_bytes()
            for file in folder.iterdir()
            if not file.name.endswith("-shm")
        } == before
        with reading(path) as book:
            assert book["visits"].recall("q") is not None
        ledger.close()


def test_an_older_copy_gives_no_answers_either() -> None:
    with quick_folder() as folder:
        path = folder / "a.ledger"
        ledger = open_book(path, 1)
        ledger.remember(ledger.charge(sf.Pure("0.1")), "q", b"1")
        ledger.close()
        old = path.read_bytes()
        ledger.charge(sf.Pure("0.1"))
        ledger.close()
        path.write_bytes(old)
        with refusing("ledger.head"):
            ledger.recall("q")
        ledger.close()


@pytest.mark.usefixtures("anywhere")
def test_answers_are_bytes_and_questions_text() -> None:
    ledger = open_book(None, 1)
    paid = ledger.charge(sf.Pure("0.1"))
    for question in (5, None, b"q", "\ud800"):
        with refusing("ledger.text"):
            ledger.remember(paid, question, b"1")  # type: ignore[arg-type]  # on purpose
        with refusing("ledger.text"):
            ledger.recall(question)  # type: ignore[arg-type]  # on purpose
    for answer in ("text", None, 5, bytearray(b"1")):  # what could still change is no answer
        with refusing("ledger.text"):
            ledger.remember(paid, "q", answer)  # type: ignore[arg-type]  # on purpose
    assert ledger.head.number == paid.number


def test_an_answer_touches_no_account(tmp_path: Path) -> None:
    ledger = open_book(tmp_path / "a.ledger", 1)
    paid, held = ledger.charge(sf.Pure("0.1")), ledger.reserve(sf.Pure("0.1"))
    connection = ledger._store._connection
    assert connection is not None
    executed: list[str] = []
    connection.set_exec_trace(lambda _, statement, __: bool(executed.append(statement)) or True)
    ledger.remember(paid, "q", b"1")
    ledger.use(held)
    connection.set_exec_trace(None)
    assert not [
        statement
        for statement in executed
        if "balance" in statement and not statement.lstrip().startswith("SELECT")
    ]
    assert ledger.verify(ledger.head).ok
    ledger.close()


@pytest.mark.usefixtures("anywhere")
def test_a_question_that_is_asked_twice_at_once_is_paid_for_once() -> None:
    ledger = open_book(None, 1)
    ledger.allow("bob", sf.Pure("0.1"))
    ledger.remember(ledger.charge(sf.Pure("0.1")), "q", b"1")
    before = ledger.head.number
    recalled = ledger.recall_all(["q", "q"], share="bob")
    assert recalled is not None
    assert [stored.answer for stored in recalled] == [b"1", b"1"]
    assert ledger.account("bob").spent[0] == Fraction("0.1")
    assert ledger.head.number == before + 1


@pytest.mark.usefixtures("anywhere")
def test_a_share_pays_nothing_if_an_answer_is_missing() -> None:
    ledger = open_book(None, 1)
    ledger.allow("bob", sf.Pure(1))
    ledger.remember(ledger.charge(sf.Pure("0.1")), "q", b"1")
    before = ledger.head
    with ledger._store.writing() as tx:
        assert stored_answers.recall(tx, "visits", ["q", "never asked"], "bob", "now") is None
    assert (ledger.head, ledger.account("bob").spent[0]) == (before, 0)


@pytest.mark.usefixtures("anywhere")
def test_only_the_first_answer_is_stored() -> None:
    ledger = open_book(None, 1)
    paid = ledger.charge(sf.Pure("0.5"))
    assert ledger.remember_first(paid, "day 1", b"about 12") == b"about 12"
    head = ledger.head
    assert ledger.remember_first(paid, "day 1", b"about 15") == b"about 12"
    assert ledger.head == head, "nothing is written"
    recalled = ledger.recall("day 1")
    assert recalled is not None
    assert recalled.answer == b"about 12"
    with refusing("ledger.text"):
        ledger.remember_first(paid, "day 2", "about 12")  # type: ignore[arg-type]  # no bytes
    assert ledger.verify(ledger.head).ok


@pytest.mark.usefixtures("anywhere")
def test_an_account_of_another_unit_in_the_same_book() -> None:
    ledger = open_book(None, 1)
    weekly = ledger.open_account("visits by week", budget=sf.ZCDP(1), unit="patient in any week")
    weekly.charge(sf.ZCDP("0.5"))
    ledger.charge(sf.Pure("0.5"))
    assert weekly.spent == sf.ZCDP("0.5", relation="add-remove", unit="patient in any week")
    assert ledger.spent.parameters["epsilon"] == Fraction(1, 2)
    again = ledger.open_account("visits by week", budget=sf.ZCDP(1), unit="patient in any week")
    assert again.spent == weekly.spent
    with refusing("ledger.budget"):
        ledger.open_account("visits by week", budget=sf.ZCDP(2), unit="patient in any week")
    assert ledger.verify(ledger.head).ok
