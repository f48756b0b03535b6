"""Keys, reservations and prices brought up to date: what may be asked twice, and what is given back."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.ledger import answers

from .books import open_book, refusal

SAID: dict[str, Any] = {"relation": "add-remove", "unit": "patient"}


def test_a_key_gives_the_same_receipt() -> None:
    """Attack F5: one charge, however often it is asked for; something else under the same key is refused."""
    ledger = open_book(None, 1)
    first = ledger.charge(sf.Pure("0.1"), "why", key="k")
    again = ledger.charge(sf.Pure("0.1"), "why", key="k")
    assert again == first
    assert again.repeated
    assert not first.repeated
    others: list[dict[str, Any]] = [{"memo": "other"}, {"mechanisms": sf.Pure("0.2")}, {"mechanisms": [sf.Pure("0.1")] * 2}, {"share": "alice"}]
    ledger.allow("alice", sf.Pure(1))
    for other in others:
        with refusal("ledger.key"):
            ledger.charge(**{"mechanisms": sf.Pure("0.1"), "memo": "why", "key": "k", **other})
    with refusal("ledger.key"):
        ledger.reserve(sf.Pure("0.1"), "why", key="k")
    assert ledger.spent == sf.Pure("0.1", **SAID)
    ledger.charge(sf.Pure("0.9"))
    assert ledger.charge(sf.Pure("0.1"), "why", key="k") == first  # also when nothing is left


def test_a_key_of_a_released_reservation_pays_for_nothing() -> None:
    ledger = open_book(None, 1)
    held = ledger.reserve(sf.Pure("0.1"), key="k")
    assert ledger.reserve(sf.Pure("0.1"), key="k") == held
    ledger.release(held)
    with refusal("ledger.key"):
        ledger.reserve(sf.Pure("0.1"), key="k")


def test_reservations_are_settled_once() -> None:
    ledger = open_book(None, 1)
    held, kept = ledger.reserve(sf.Pure("0.4")), ledger.reserve(sf.Pure("0.4"))
    with refusal("budget.exceeded"):
        ledger.charge(sf.Pure("0.4"))
    ledger.use(kept)
    ledger.release(held)
    for receipt in (held, kept):
        for settle in (ledger.use, ledger.release):
            with refusal("ledger.reservation"):
                settle(receipt)
    with refusal("ledger.reservation"):
        ledger.release(ledger.charge(sf.Pure("0.1")))
    assert ledger.spent == sf.Pure("0.5", **SAID)
    assert ledger.verify(ledger.head).ok


def test_a_forged_receipt_gives_nothing_back() -> None:
    """What is refunded is what the book says was reserved."""
    ledger = open_book(None, 1)
    ledger.allow("alice", sf.Pure(1))
    ledger.charge(sf.Pure("0.5"), share="alice")
    held = ledger.reserve(sf.Pure("0.1"))
    with refusal("ledger.receipt"):
        ledger.release(replace(held, digest="0" * 64))
    with refusal("ledger.receipt"):
        ledger.release(replace(held, number=1))
    ledger.release(replace(held, cost=sf.Pure("0.6"), share="alice"))
    assert ledger.account().spent == ledger.account("alice").spent == (Fraction(1, 2),)


def test_reprice_uses_better_theorems_and_leaves_open_reservations(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reservation released after a re-pricing gives back what it took, not more."""
    noisy = mech.Laplace(sensitivity=1, epsilon="0.4")
    ledger = open_book(None, 2)
    ledger.allow("alice", sf.Pure(1))
    ledger.charge(noisy, share="alice")
    held, kept = ledger.reserve(noisy), ledger.reserve(noisy)
    ledger.use(kept)
    before = ledger.head
    assert ledger.reprice("nothing new") == sf.Pure("1.2", **SAID)
    assert ledger.head == before  # nothing to write down
    monkeypatch.setattr(answers, "price_stored", lambda *_: (Fraction(3, 10),))
    assert ledger.reprice("a better theorem") == sf.Pure("1", **SAID)
    assert ledger.account("alice").spent == (Fraction(3, 10),)
    ledger.release(held)
    assert ledger.spent == sf.Pure("0.6", **SAID)
    monkeypatch.setattr(answers, "price_stored", lambda *_: (Fraction(9, 10),))
    assert ledger.reprice("a worse one") == sf.Pure("0.6", **SAID)
    assert ledger.verify(ledger.head).ok
