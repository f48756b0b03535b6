"""The hook that fills long books writes what as many charges would have written."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.testing.ledger_fixtures import fill, fill_answers

from .books import open_book, sql


def test_a_filled_book_is_a_book(tmp_path: Path) -> None:
    ledger = open_book(tmp_path / "a.ledger", 1)
    ledger.charge(sf.Pure("0.5"))
    fill(ledger, 1000, sf.Pure("1/4000"))
    assert ledger.head.number == 1002
    assert ledger.spent == sf.Pure("3/4", relation="add-remove", unit="patient")
    assert ledger.charge(sf.Pure("1/4")).number == 1003
    with pytest.raises(sf.BudgetExceeded):
        ledger.charge(sf.Pure("1/4"))
    assert ledger.verify(ledger.head).ok
    ledger.close()


def test_the_entries_are_those_of_charges(tmp_path: Path) -> None:
    for name in ("filled", "charged"):
        ledger = open_book(tmp_path / name, 1)
        if name == "filled":
            fill(ledger, 3, sf.Pure("1/4"))
        else:
            for _ in range(3):
                ledger.charge(sf.Pure("1/4"), "filled")
        ledger.close()
    without = "SELECT number, dataset, kind, key, json_remove(body, '$.when') FROM entry"
    assert sql(tmp_path / "filled", without) == sql(tmp_path / "charged", without)
    assert sql(tmp_path / "filled", "SELECT * FROM account") == sql(
        tmp_path / "charged", "SELECT * FROM account"
    )


def test_a_book_filled_with_answers_is_a_book(tmp_path: Path) -> None:
    ledger = open_book(tmp_path / "a.ledger", 1)
    ledger.allow("alice", sf.Pure(1))
    fill_answers(ledger, 50, sf.Pure("1/100"), b"about 12", "alice")
    assert ledger.head.number == 102
    assert ledger.account("alice").spent == ledger.account().spent == (Fraction(1, 2),)
    recalled = ledger.recall("question 49", share="alice")
    assert recalled is not None
    assert recalled.answer == b"about 12"
    ledger.charge(sf.Pure("1/2"), share="alice")
    assert ledger.verify(ledger.head).ok
    ledger.close()


def test_more_than_the_budget_cannot_be_filled(tmp_path: Path) -> None:
    ledger = open_book(tmp_path / "a.ledger", 1)
    with pytest.raises(sf.Refused):
        fill(ledger, 5, sf.Pure("1/4"))  # stopped by the table's own check
    assert ledger.head.number == 1
    ledger.close()
