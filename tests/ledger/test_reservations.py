"""Keys, reservations and prices brought up to date: what may be asked twice, and what is given
back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.ledger import stored_answers
from sfumato.mechanisms.shared.mechanism import Mechanism

from ..refusing import refusing
from .books import open_book

pytestmark = pytest.mark.usefixtures("anywhere")

SAID: dict[str, Any] = {"relation": "add-remove", "unit": "patient"}


def test_a_key_gives_the_same_receipt() -> None:
    """Attack F5: one charge, however often it is asked for; something else under the same key is
    refused.
    """
    ledger = open_book(None, 1)
    first = ledger.charge(sf.Pure("0.1"), "why", key="k")
    again = ledger.charge(sf.Pure("0.1"), "why", key="k")
    assert again == first
    assert again.repeated
    assert not first.repeated
    changes: list[dict[str, Any]] = [
        {"memo": "other"},
        {"mechanisms": sf.Pure("0.2")},
        {"mechanisms": [sf.Pure("0.1")] * 2},
        {"share": "alice"},
    ]
    ledger.allow("alice", sf.Pure(1))
    for change in changes:
        with refusing("ledger.key"):
            ledger.charge(**{"mechanisms": sf.Pure("0.1"), "memo": "why", "key": "k", **change})
    with refusing("ledger.key"):
        ledger.reserve(sf.Pure("0.1"), "why", key="k")
    assert ledger.spent == sf.Pure("0.1", **SAID)
    ledger.charge(sf.Pure("0.9"))
    assert ledger.charge(sf.Pure("0.1"), "why", key="k") == first  # also when nothing is left


def test_a_key_of_a_released_reservation_pays_for_nothing() -> None:
    ledger = open_book(None, 1)
    held = ledger.reserve(sf.Pure("0.1"), key="k")
    assert ledger.reserve(sf.Pure("0.1"), key="k") == held
    ledger.release(held)
    with refusing("ledger.key"):
        ledger.reserve(sf.Pure("0.1"), key="k")


def test_reservations_are_settled_once() -> None:
    ledger = open_book(None, 1)
    held, used = ledger.reserve(sf.Pure("0.4")), ledger.reserve(sf.Pure("0.4"))
    with refusing("budget.exceeded"):
        ledger.charge(sf.Pure("0.4"))
    ledger.use(used)
    ledger.release(held)
    for receipt in (held, used):
        for settle in (ledger.use, ledger.release):
            with refusing("ledger.reservation"):
                settle(receipt)
    with refusing("ledger.reservation"):
        ledger.release(ledger.charge(sf.Pure("0.1")))
    assert ledger.spent == sf.Pure("0.5", **SAID)
    assert ledger.verify(ledger.head).ok


def test_a_forged_receipt_gives_nothing_back() -> None:
    """What is refunded is what the book says was reserved."""
    ledger = open_book(None, 1)
    ledger.allow("alice", sf.Pure(1))
    ledger.charge(sf.Pure("0.5"), share="alice")
    held = ledger.reserve(sf.Pure("0.1"))
    with refusing("ledger.receipt"):
        ledger.release(replace(held, digest="0" * 64))
    with refusing("ledger.receipt"):
        ledger.release(replace(held, number=1))
    ledger.release(replace(held, cost=sf.Pure("0.6"), share="alice"))
    assert ledger.account().spent == ledger.account("alice").spent == (Fraction(1, 2),)


def test_reprice_uses_better_theorems_and_leaves_open_reservations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A reservation released after a re-pricing gives back what it took, not more."""
    noisy = mech.Laplace(sensitivity=1, epsilon="0.4")
    ledger = open_book(None, 2)
    ledger.allow("alice", sf.Pure(1))
    ledger.charge(noisy, share="alice")
    held, used = ledger.reserve(noisy), ledger.reserve(noisy)
    ledger.use(used)
    before = ledger.head
    assert ledger.reprice("nothing new") == sf.Pure("1.2", **SAID)
    assert ledger.head == before  # nothing to write down
    monkeypatch.setattr(stored_answers, "price_stored", lambda *_: (Fraction(3, 10),))
    assert ledger.reprice("a better theorem") == sf.Pure("1", **SAID)
    assert ledger.account("alice").spent == (Fraction(3, 10),)
    ledger.release(held)
    assert ledger.spent == sf.Pure("0.6", **SAID)
    monkeypatch.setattr(stored_answers, "price_stored", lambda *_: (Fraction(9, 10),))
    assert ledger.reprice("a worse one") == sf.Pure("0.6", **SAID)
    assert ledger.verify(ledger.head).ok


@dataclass(frozen=True)
class Either(Mechanism):
    """Keeps two promises, neither of which implies the other."""

    epsilon: Fraction
    delta: Fraction
    relation = None
    unit = None

    @property
    def promises(self) -> tuple[sf.Guarantee, ...]:
        return sf.Approx(1, 0), sf.Approx(self.epsilon, self.delta)


def test_reprice_goes_by_the_budget_of_the_time() -> None:
    """Which of two promises counts was settled when it was charged. A budget amended since, perhaps
    by someone who saw the answers, does not choose again: here it would make both sums smaller
    without any theorem.
    """
    ledger = open_book(None, budget=sf.Approx(10, "1e-9"))
    assert ledger.charge(Either(Fraction("0.5"), Fraction("1e-9"))).cost == sf.Approx(1, 0, **SAID)
    ledger.amend(sf.Approx(2, "0.5"), "less ε, more δ")
    assert ledger.charge(Either(Fraction("0.9"), Fraction("1e-8"))).cost == sf.Approx(
        "0.9", "1e-8", **SAID
    )
    ledger.amend(sf.Approx(4, "1e-8"), "another")
    head = ledger.head
    assert ledger.reprice("nothing new is known") == sf.Approx("1.9", "1e-8", **SAID)
    assert ledger.head == head


def test_shares_recalls_reservations_and_prices_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that changes a total, in one life: nothing is given back twice, and what bob saw
    is what bob pays.
    """
    noisy = mech.Laplace(sensitivity=1, epsilon="0.4")
    ledger = open_book(None, 4)
    for name in ("alice", "bob"):
        ledger.allow(name, sf.Pure(2))
    used, held = ledger.reserve(noisy, share="alice", key="k"), ledger.reserve(noisy, share="bob")
    ledger.use(used)
    ledger.remember(used, "q", b"1")
    ledger.recall("q", share="bob")
    monkeypatch.setattr(stored_answers, "price_stored", lambda *_: (Fraction(3, 10),))
    ledger.reprice("a better theorem")
    assert [ledger.account(name).spent[0] for name in (None, "alice", "bob")] == [
        Fraction("0.7"),
        Fraction("0.3"),
        Fraction("0.7"),
    ]
    ledger.release(held)
    assert [ledger.account(name).spent[0] for name in (None, "alice", "bob")] == [
        Fraction("0.3")
    ] * 3
    with refusing("ledger.reservation"):
        ledger.release(held)
    again = ledger.reserve(noisy, share="alice", key="k")
    assert again.repeated
    assert again.cost == sf.Pure("0.4", **SAID)  # what it was charged at
    with refusing("ledger.reservation"):
        ledger.release(again)
    ledger.amend(sf.Pure("0.3"), "enough", share="bob")
    with refusing("budget.exceeded"):
        ledger.charge(sf.Pure("1e-9"), share="bob")
    assert ledger.verify(ledger.head).ok
