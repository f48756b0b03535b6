"""The entry of a charge: the one text that the encoder would write, and prices that are kept only
of what cannot change.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.ledger import pricing
from sfumato.ledger.charging import Ask
from sfumato.ledger.entries import canonical
from sfumato.mechanisms.shared.mechanism import Mechanism

from ..refusing import refusing
from .books import open_book

texts = st.text(st.characters(exclude_categories=["Cs"]))


asks = st.builds(
    Ask, st.sampled_from(["charge", "reserve"]), texts, st.none() | texts, texts, st.none() | texts
)


@given(asks, st.lists(st.dictionaries(texts, texts)), st.lists(texts), texts)
def test_the_text_is_canonical(
    ask: Ask, mechanisms: list[dict[str, str]], cost: list[str], when: str
) -> None:
    """Whatever anybody typed: controls, quotes, line separators, all of Unicode."""
    fields = {
        name: value for name, value in ask._asdict().items() if name != "key" or value is not None
    }
    text = ask.text(canonical(mechanisms), canonical(cost), when)
    assert text == canonical({**fields, "mechanisms": mechanisms, "cost": cost, "when": when})
    assert canonical(json.loads(text)) == text


@dataclass
class Changing(Mechanism):
    """Not frozen, against the rules; may be hashed by its identity."""

    epsilon: Any
    relation = None
    unit = None
    __hash__ = object.__hash__

    @property
    def promises(self) -> tuple[sf.Guarantee, ...]:
        return (sf.Pure(self.epsilon),)


class Heir(mech.Laplace):
    """Equal to any other by the fields that it inherits."""

    more = Fraction(0)

    @property
    def promises(self) -> tuple[sf.Guarantee, ...]:
        return (sf.Pure(Fraction(1, 10) + type(self).more),)


def test_a_mechanism_that_changes_is_priced_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_book(None, 3)
    changing, heir = Changing("0.1"), Heir(sensitivity=1, epsilon="0.1")
    assert (
        ledger.charge(changing).cost
        == ledger.charge([heir]).cost
        == sf.Pure("0.1", relation="add-remove", unit="patient")
    )
    changing.epsilon = 1
    monkeypatch.setattr(Heir, "more", Fraction(9, 10))
    for mechanism in (changing, heir):
        assert ledger.charge(mechanism).cost == sf.Pure(1, relation="add-remove", unit="patient")
    assert ledger.account().spent == (Fraction("2.2"),)


def test_prices_of_records_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_book(None, 3)
    noisy = mech.Laplace(sensitivity=1, epsilon="0.1")
    ledger.charge(noisy)
    monkeypatch.setattr(pricing, "_cached_quote", None)
    for again in (noisy, [noisy], (noisy,)):
        ledger.charge(again)
    assert ledger.account().spent == (Fraction(4, 10),)


def test_a_budget_amended_by_another_while_the_price_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The price belongs to the budget under which it is booked, also if that changed between the
    quote and the lock.
    """

    @dataclass(frozen=True)
    class Two(Mechanism):
        relation = None
        unit = None

        @property
        def promises(self) -> tuple[sf.Guarantee, ...]:
            return sf.Approx("0.4", 0), sf.Approx("0.2", "1e-8")

    first, second = (
        open_book(tmp_path / "a.ledger", budget=sf.Approx(1, "1e-6")) for _ in range(2)
    )
    real, amended = pricing.Prices.quote, False

    def meanwhile(self: pricing.Prices, budget: sf.Guarantee, mechanisms: object) -> pricing.Quote:
        nonlocal amended
        quote = real(self, budget, mechanisms)
        if not amended:
            second.amend(sf.Approx(1, 0), "no δ any more")
            amended = True
        return quote

    monkeypatch.setattr(pricing.Prices, "quote", meanwhile)
    assert first.charge(Two()).cost == sf.Approx("0.4", 0, relation="add-remove", unit="patient")
    assert first.verify(first.head).ok
    first.close()
    second.close()


def test_no_price_is_found_while_the_book_is_locked() -> None:
    """A slow or failing mechanism keeps nobody else waiting."""
    ledger = open_book(None, 3)

    @dataclass(frozen=True)
    class Looking(Mechanism):
        relation = None
        unit = None

        @property
        def promises(self) -> tuple[sf.Guarantee, ...]:
            connection = ledger._store._connection
            assert isinstance(connection, apsw.Connection)
            assert connection.get_autocommit()
            return (sf.Pure(1),)

    ledger.charge(Looking(), key="k")
    ledger.charge(Looking(), key="k")


def test_a_name_that_cannot_be_written_down_is_refused() -> None:
    ledger = open_book(None, 3)
    with refusing("ledger.charge") as caught:
        ledger.charge(mech.RandomizedResponse(epsilon=1, categories=["a", "\ud800"]))
    str(caught.value).encode()
    assert ledger.head.number == 1
