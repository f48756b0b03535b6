"""The ledger as its users see it: budgets, shares, keys, reservations, stored answers, and what is
refused.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.ledger import Head
from sfumato.ledger.entries import genesis

from ..refusing import refusing
from .books import open_book

pytestmark = pytest.mark.usefixtures("anywhere")

SAID: dict[str, Any] = {"relation": "add-remove", "unit": "patient"}
CURVE = {2: "0.5", 8: 2}
BUDGETS: list[sf.Guarantee] = [
    sf.Pure(1),
    sf.Approx(1, "1e-6"),
    sf.ZCDP("0.5"),
    sf.ZCDP("0.5", "1e-6"),
    sf.GDP(1),
    sf.Renyi(CURVE),
    sf.Renyi(CURVE, "1e-6"),
]


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_every_currency_is_spent_to_its_end_and_no_further(budget: sf.Guarantee) -> None:
    ledger = open_book(None, budget=budget)
    tenth = budget.scaled(Fraction(1, 10))
    for n in range(10):
        assert ledger.charge(tenth).number == n + 2
    assert ledger.spent.vector == ledger.budget.vector == budget.vector
    assert not any(ledger.remaining.vector)
    with refusing("budget.exceeded") as caught:
        ledger.charge(tenth)
    assert isinstance(caught.value, sf.BudgetExceeded)
    assert "nothing was spent" in str(caught.value)
    assert ledger.head.number == 11
    ledger.charge(0 * tenth)
    assert ledger.verify(ledger.head).ok
    assert (ledger.spent.relation, ledger.spent.unit) == ("add-remove", "patient")


def test_costs_are_exact() -> None:
    """Attack F7: three tenths are 0.3, and a tiny cost counts."""
    ledger = open_book(None, "0.3")
    for _ in range(3):
        ledger.charge(sf.Pure("0.1"))
    with refusing("budget.exceeded"):
        ledger.charge(sf.Pure("1e-300"))
    small = open_book(None, 1)
    small.charge(sf.Pure(1 - Fraction(1, 10**20)))
    small.charge(sf.Pure(Fraction(1, 10**20)))
    with refusing("budget.exceeded"):
        small.charge(sf.Pure(Fraction(1, 10**20)))


def test_costs_with_long_denominators_are_rounded_up() -> None:
    ledger = open_book(None, 1)
    for prime in (10**150 + 67, 10**140 + 291, 10**130 + 19):
        ledger.charge(sf.Pure(Fraction(1, prime)))
    (spent,) = ledger.account().spent
    assert spent >= Fraction(1, 10**150 + 67) + Fraction(1, 10**140 + 291) + Fraction(
        1, 10**130 + 19
    )
    assert spent.denominator.bit_length() <= 512
    assert ledger.verify(ledger.head).ok


def test_random_differential_privacy_is_no_currency_and_no_cost() -> None:
    random_dp = sf.RandomDP(sf.Pure("0.1"), gamma="0.01", over="the data")
    with refusing("filter.currency"):
        open_book(None, budget=random_dp)
    ledger = open_book(None, 1)
    with pytest.raises(sf.Refused):
        ledger.charge(random_dp)
    assert ledger.head.number == 1


def test_another_relation_or_unit_is_refused() -> None:
    ledger = open_book(None, 1)
    with refusing("guarantee.relation"):
        ledger.charge(sf.Pure("0.1", relation="replace"))
    with refusing("guarantee.unit"):
        ledger.charge(mech.Laplace(sensitivity=1, epsilon="0.1", unit="visit"))
    with refusing("guarantee.unit"):
        ledger.allow("alice", sf.Pure(1, unit="visit"))
    with refusing("guarantee.relation"):
        ledger.amend(sf.Pure(2, relation="replace"), "why")
    assert ledger.head.number == 1


def test_what_is_no_mechanism_is_refused() -> None:
    ledger = open_book(None, 1)
    wrong: list[Any] = [[], 5, "laplace", None, [sf.Pure("0.1"), 1], {sf.Pure("0.1")}]
    for mechanism in wrong:
        with refusing("ledger.charge"):
            ledger.charge(mechanism)
    for memo in (5, None, "\ud800"):
        with refusing("ledger.text"):
            ledger.charge(sf.Pure("0.1"), memo)  # type: ignore[arg-type]  # on purpose
    for key in ("", "a\nb", 5):
        with refusing("ledger.name"):
            ledger.charge(sf.Pure("0.1"), key=key)  # type: ignore[arg-type]  # on purpose
    with refusing("ledger.name"):
        ledger.charge(sf.Pure("0.1"), share="")
    with refusing("ledger.share"):
        ledger.charge(sf.Pure("0.1"), share="nobody")
    assert ledger.head.number == 1


def test_an_existing_book_is_opened_by_its_path(place: Any) -> None:
    path = place
    open_book(path, 1, schema={"age": "integer"}).charge(sf.Pure("0.1"))
    for more in (
        {},
        {"budget": sf.Pure(1)},
        {"budget": sf.Pure(1), "dataset": "visits"},
        {"budget": sf.Pure("1.0", **SAID)},
        {"unit": "patient"},
        {"relation": "add-remove"},
        {"schema": {"age": "integer"}},
    ):
        again = sf.Ledger.open(path, **more)
        assert again.budget == sf.Pure(1, **SAID)
        assert again.spent == sf.Pure("0.1", **SAID)
        again.close()
    assert sf.Ledger.open(str(path)).head.number == 2
    others: list[tuple[str, dict[str, Any]]] = [
        ("ledger.budget", {"budget": sf.Pure(2)}),
        ("ledger.currency", {"budget": sf.ZCDP(1)}),
        ("ledger.unit", {"unit": "visit"}),
        ("ledger.unit", {"budget": sf.Pure(1, unit="visit")}),
        ("ledger.relation", {"relation": "replace"}),
        ("ledger.relation", {"budget": sf.Pure(1, relation="replace")}),
        ("ledger.relation", {"budget": sf.Pure(1, relation="replace"), "relation": "add-remove"}),
        ("ledger.schema", {"schema": {"age": "text"}}),
        ("ledger.schema", {"schema": {"age": 1}}),
        ("ledger.dataset", {"dataset": "bills"}),
        ("ledger.name", {"dataset": ""}),
        ("ledger.head", {"head": "nonsense"}),
    ]
    for code, more in others:
        with refusing(code):
            sf.Ledger.open(path, **more)
    assert sf.Ledger.open(path).head.number == 2


def test_a_new_book_needs_a_budget_a_unit_and_a_relation(tmp_path: Path) -> None:
    with refusing("ledger.budget"):
        sf.Ledger.open()
    with refusing("ledger.budget"):
        sf.Ledger.open(tmp_path / "a.ledger")
    (tmp_path / "empty").touch()
    with refusing("ledger.budget"):
        sf.Ledger.open(tmp_path / "empty")
    assert (tmp_path / "empty").stat().st_size == 0
    for more in ({}, {"unit": "patient"}, {"relation": "replace"}):
        with refusing("ledger.dataset"):
            sf.Ledger.open(None, budget=sf.Pure(1), **more)  # type: ignore[arg-type]  # on purpose
    assert sf.Ledger.open(None, budget=sf.Pure(1, **SAID)).dataset == "data"


def test_one_book_holds_several_datasets(place: Any) -> None:
    path = place
    visits, bills = (
        open_book(path, 1),
        open_book(path, dataset="bills", budget=sf.ZCDP("0.5"), relation="replace"),
    )
    visits.charge(sf.Pure("0.25"), key="same")
    bills.charge(sf.ZCDP("0.1"), key="same")  # keys belong to a dataset
    assert visits.spent == sf.Pure("0.25", **SAID)
    assert bills.spent == sf.ZCDP("0.1", relation="replace", unit="patient")
    assert [line.kind for line in bills.history()] == ["open", "charge"]
    assert visits.head == bills.head
    with refusing("ledger.dataset"):
        sf.Ledger.open(path)
    with refusing("ledger.receipt"):
        bills.release(visits.reserve(sf.Pure("0.1")))


def test_growing_data_share_one_book(place: Any) -> None:
    """The identity is a name: a new version of the data opens the same account, and refills
    nothing.
    """
    for _ in range(3):
        ledger = open_book(place, 1)
        ledger.charge(sf.Pure("1/3"))
        ledger.close()
    with refusing("budget.exceeded"):
        open_book(place, 1).charge(sf.Pure("1/3"))


def test_shares_and_the_whole_both_bind() -> None:
    ledger = open_book(None, 1)
    ledger.allow("alice", sf.Pure("0.8"))
    ledger.allow("bob", sf.Pure("0.8"))  # together more than the whole: the whole binds
    ledger.charge(sf.Pure("0.7"), share="alice")
    with refusing("budget.exceeded") as caught:
        ledger.charge(sf.Pure("0.2"), share="alice")
    assert caught.value.place == "visits / alice"
    with refusing("budget.exceeded") as caught:
        ledger.charge(sf.Pure("0.4"), share="bob")
    assert caught.value.place == "visits"
    assert ledger.account("bob").spent == (0,)
    with refusing("ledger.share"):
        ledger.allow("alice", sf.Pure(1))
    with refusing("ledger.share"):
        ledger.account("nobody")
    with refusing("ledger.name"):
        ledger.allow("", sf.Pure(1))
    assert ledger.verify(ledger.head).ok


def test_amend_is_an_entry_and_not_below_what_is_spent() -> None:
    ledger = open_book(None, 1)
    ledger.charge(sf.Pure("0.6"))
    with refusing("ledger.budget"):
        ledger.amend(sf.Pure("0.5"), "less")
    for reason in ("", None):
        with refusing("ledger.text"):
            ledger.amend(sf.Pure(2), reason)  # type: ignore[arg-type]  # on purpose
    with refusing("ledger.currency"):
        ledger.amend(sf.ZCDP(2), "another currency")
    ledger.amend(sf.Pure(2), "a new year")
    assert ledger.remaining == sf.Pure("1.4", **SAID)
    assert ledger.history()[-1].memo == "a new year"
    assert ledger.header["budget"]["epsilon"] == "2"


def test_orders_of_a_curve_are_fixed_at_the_beginning() -> None:
    ledger = open_book(None, budget=sf.Renyi(CURVE))
    for budget in (sf.Renyi({2: 1}), sf.Renyi({2: 1, 4: 2, 8: 3})):
        with refusing("ledger.currency"):
            ledger.amend(budget, "other orders")
    ledger.amend(sf.Renyi({2: 1, 8: 3}), "more")
    ledger.charge(sf.ZCDP("0.1"))


def test_an_amended_budget_changes_the_price_in_other_processes_too(place: Any) -> None:
    first, second = open_book(place, 1), open_book(place, 1)
    first.charge(sf.Pure(1))
    second.amend(sf.Pure(2), "more")
    first.charge(sf.Pure(1))
    assert second.spent == second.budget == sf.Pure(2, **SAID)


def test_a_book_holds_every_head_that_it_had_and_no_head_of_another_book() -> None:
    ledger, stranger = open_book(None), open_book(None)
    first = ledger.head
    ledger.charge(sf.Pure(1))
    ledger.hold(first)
    ledger.hold(ledger.head)
    for wrong in (stranger.head, first._replace(digest="0" * 64), first._replace(number=2)):
        with refusing("ledger.head"):
            ledger.hold(wrong)


def test_the_head_of_a_book_without_entries_is_its_beginning() -> None:
    ledger = open_book(None)
    beginning = Head(ledger.head.book, 0, genesis(ledger.head.book))
    ledger.hold(beginning)
    for wrong in (beginning._replace(digest="0" * 64), Head("another", 0, genesis("another"))):
        with refusing("ledger.head"):
            ledger.hold(wrong)


@pytest.mark.parametrize("schema", [None, {"age": "integer"}], ids=["without", "with schema"])
def test_a_declaration_has_to_agree_with_the_book(schema: dict[str, str] | None) -> None:
    ledger = open_book(None, 1, schema=schema)
    declared: dict[str, Any] = {**SAID, "budget": sf.Pure(1), "dataset": "visits"}
    ledger.agree(**declared, schema={"age": "integer"})
    for wrong, code in (
        ({"dataset": "bills"}, "ledger.dataset"),
        ({"budget": sf.Pure(2)}, "ledger.budget"),
        ({"unit": "doctor"}, "ledger.unit"),
        ({"relation": "replace"}, "ledger.relation"),
    ):
        with refusing(code):
            ledger.agree(**{**declared, **wrong}, schema={"age": "integer"})
    if schema is None:
        ledger.agree(**declared, schema={"age": "text"})
    else:
        with refusing("ledger.schema"):
            ledger.agree(**declared, schema={"age": "text"})
