"""A statement says what the account says, and what the budget went into."""

from __future__ import annotations

from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.ledger import Statement, course, statement
from sfumato.ledger.statement import balances

from . import books

TENTH = Fraction(1, 10)


@pytest.fixture
def ledger(anywhere: None) -> sf.Ledger:
    led = sf.Ledger.open(
        books.nowhere(),
        budget=sf.Pure(1),
        dataset="visits",
        unit="user_id",
        relation="add-remove",
        schema={"city": "text"},
    )
    led.allow("alice", sf.Pure(0.5))
    paid = led.charge(sf.Pure(0.1), memo="count", share="alice")
    led.remember(paid, "how many?", b"41")
    led.release(led.reserve(sf.Pure(0.3), memo="mean", share="alice"))
    led.use(led.reserve(sf.Pure(0.15), memo="mean"))
    led.allow("bob", sf.Pure(0.5))
    led.recall("how many?", share="bob")
    led.charge(sf.Pure(0.1), memo="count")
    led.reserve(sf.Pure(0.05))
    led.amend(sf.Pure(2), "why not")
    return led


def test_it_is_the_account(ledger: sf.Ledger) -> None:
    account = statement(ledger)
    assert isinstance(account, Statement)
    assert (account.dataset, account.unit, account.relation, account.schema) == (
        "visits",
        "user_id",
        "add-remove",
        {"city": "text"},
    )
    assert "Rogers" in account.theorem
    assert (account.total.budget, account.total.spent, account.total.remaining) == (
        ledger.budget,
        ledger.spent,
        ledger.remaining,
    )
    assert {name: balance.spent.vector for name, balance in account.shares.items()} == {
        "alice": (TENTH,),
        "bob": (TENTH,),
    }
    assert account.total.part == Fraction(1, 5)
    assert account.shares["alice"].part == Fraction(1, 5)
    assert account.head == ledger.head
    assert account.history == ()
    assert statement(ledger, history=True).history == ledger.history()


def test_uses_add_up_and_leave_out_what_was_released(ledger: sf.Ledger) -> None:
    uses = statement(ledger).uses
    assert [(use.memo, use.times, use.cost) for use in uses] == [
        ("count", 2, (2 * TENTH,)),
        ("mean", 1, (TENTH * 3 / 2,)),
        ("", 1, (TENTH / 2,)),
    ]
    assert sum(use.cost[0] for use in uses) == ledger.spent.vector[0]
    charges = [entry.when for entry in ledger.history() if entry.memo == "count"]
    assert uses[0].last == max(charges)


def test_uses_of_unequal_costs_and_of_nothing() -> None:
    led = sf.Ledger.open(
        budget=sf.Approx(1, 1e-6), dataset="visits", unit="user_id", relation="add-remove"
    )
    assert statement(led).uses == ()
    for cost in (sf.Pure("1/3"), sf.Approx("1/7", 1e-7), sf.Approx("1/7", 1e-7)):
        led.charge(cost, memo="the same")
    (use,) = statement(led).uses
    assert (use.times, use.cost) == (3, (Fraction(1, 3) + Fraction(2, 7), Fraction(2, 10**7)))


@pytest.mark.parametrize(
    ("budget", "names"),
    [
        (sf.Pure(1), ["ε"]),
        (sf.Approx(1, 1e-6), ["ε", "δ"]),
        (sf.Approx(1, 0), ["ε"]),
        (sf.ZCDP(0.1), ["ρ"]),
        (sf.ZCDP(0.1, 1e-6), ["ρ", "δ"]),
        (sf.GDP(1), ["μ²"]),
        (sf.Renyi({2: 1, 8: 2}), ["D at α = 2"]),
        (sf.Renyi({2: 1, 8: 2}, 1e-6), ["D at α = 2", "δ"]),
    ],
    ids=str,
)
def test_the_numbers_of_a_budget_have_names(budget: sf.Guarantee, names: list[str]) -> None:
    led = sf.Ledger.open(budget=budget, dataset="d", unit="u", relation="add-remove")
    last = course(led)[-1]
    assert [budget.vector_names[i] for i in budget.worth_showing(last.spent[""])] == names


def test_of_a_curve_the_order_nearest_its_limit_is_shown() -> None:
    led = sf.Ledger.open(
        budget=sf.Renyi({2: 1, 8: 2}), dataset="d", unit="u", relation="add-remove"
    )
    led.charge(sf.Renyi({2: 0.1, 8: 1}))
    assert led.budget.worth_showing(course(led)[-1].spent[""]) == [1]


def test_balances_are_those_of_the_statement_by_share(ledger: sf.Ledger) -> None:
    every = balances(ledger)
    account = statement(ledger)
    assert every == {"": account.total, **account.shares}
    assert set(every) == {"", "alice", "bob"}
    assert balances(ledger, {"", "bob", "nobody"}) == {"": every[""], "bob": every["bob"]}
