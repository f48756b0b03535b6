"""A book against a model of a few exact rationals, under random histories."""

from __future__ import annotations

import shutil
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

import sfumato as sf
from sfumato.ledger import Ledger, Receipt

from ..refusing import refusing
from .books import SHARED_MEMORY, open_book
from .servers import PostgresServer

Pair = tuple[Fraction, Fraction]
ZERO = (Fraction(0), Fraction(0))
SHARES = ("alice", "bob")

epsilons = st.sampled_from(["0", "0.1", "1/3", "0.5", "1", "7/5"]).map(Fraction)
deltas = st.sampled_from(["0", "1e-9", "1/3000000", "1e-6"]).map(Fraction)
costs = st.tuples(epsilons, deltas)
keys = st.sampled_from([None, None, None, "k1", "k2", "k3"])
shares = st.sampled_from([None, None, *SHARES])
questions = st.sampled_from(["how many?", "how old?"])


def plus(a: Pair, b: Pair) -> Pair:
    return a[0] + b[0], a[1] + b[1]


def fits(a: Pair, budget: Pair) -> bool:
    return a[0] <= budget[0] and a[1] <= budget[1]


class Account:
    def __init__(self, budget: Pair) -> None:
        self.budget, self.spent = budget, ZERO


class Model(RuleBasedStateMachine):
    """What the book should do, said again in dictionaries."""

    rounding = Fraction(0)  # the twin forgets this much of every charge

    @initialize()
    def begin(self) -> None:
        self.place = self.fresh()
        self.ledger: Ledger = open_book(self.place, budget=sf.Approx(5, "1e-5"))
        self.accounts: dict[str | None, Account] = {None: Account((Fraction(5), Fraction("1e-5")))}
        self.receipts: dict[str, tuple[Any, Receipt]] = {}
        self.paid: list[tuple[Receipt, Pair, str]] = []  # with "charge", "open", "use" or "release"
        self.answers: dict[
            str, tuple[bytes, Pair, int, set[str | None]]
        ] = {}  # by question; the number is that of the charge
        self.entries = 1

    def fresh(self) -> Path | str:
        return (
            Path(tempfile.mkdtemp(dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None))
            / "a.ledger"
        )

    def clear(self) -> None:
        shutil.rmtree(Path(self.place).parent)

    def expect(self, code: str | None, action: Any) -> Any:
        """Do it; it has to be refused with this code, or to pass and write an entry."""
        if code is not None:
            with refusing(code):
                action()
            return None
        self.entries += 1
        return action()

    def booked(self, cost: Pair, share: str | None, *, charges_dataset: bool = True) -> str | None:
        """The code with which a cost is refused; booked if there is none."""
        if share not in self.accounts:
            return (
                "budget.exceeded"
                if not fits(plus(self.accounts[None].spent, cost), self.accounts[None].budget)
                and charges_dataset
                else "ledger.share"
            )
        touched = {None, share} if charges_dataset else {share}
        if not all(
            fits(plus(self.accounts[s].spent, cost), self.accounts[s].budget) for s in touched
        ):
            return "budget.exceeded"
        for name in touched:
            self.accounts[name].spent = plus(
                self.accounts[name].spent, (cost[0] - self.rounding, cost[1])
            )
        return None

    @rule(cost=costs, key=keys, share=shares, reserve=st.booleans())
    def charge(self, cost: Pair, key: str | None, share: str | None, reserve: bool) -> None:
        ask = self.ledger.reserve if reserve else self.ledger.charge
        content = (cost, share, reserve)
        if key in self.receipts:
            before, receipt = self.receipts[key]
            state = next(s for r, _, s in self.paid if r == receipt)
            if before == content and state != "release":
                again = ask(sf.Approx(*cost), key=key, share=share)
                assert again == receipt
                assert again.repeated
            else:
                self.expect("ledger.key", lambda: ask(sf.Approx(*cost), key=key, share=share))
            return
        receipt = self.expect(
            self.booked(cost, share), lambda: ask(sf.Approx(*cost), key=key, share=share)
        )
        if receipt is not None:
            self.paid.append((receipt, cost, "open" if reserve else "charge"))
            if key is not None:
                self.receipts[key] = (content, receipt)

    @rule(data=st.data(), release=st.booleans())
    def settle(self, data: st.DataObject, release: bool) -> None:
        if not self.paid:
            return
        at = data.draw(st.integers(0, len(self.paid) - 1))
        receipt, cost, state = self.paid[at]
        action, done = (self.ledger.release, "release") if release else (self.ledger.use, "use")
        self.expect(None if state == "open" else "ledger.reservation", lambda: action(receipt))
        if state == "open":
            self.paid[at] = (receipt, cost, done)
            for name in {None, receipt.share} if release else ():
                spent = self.accounts[name].spent
                self.accounts[name].spent = (spent[0] - cost[0], spent[1] - cost[1])

    @rule(share=st.sampled_from(SHARES), budget=costs)
    def allow(self, share: str, budget: Pair) -> None:
        self.expect(
            "ledger.share" if share in self.accounts else None,
            lambda: self.ledger.allow(share, sf.Approx(*budget)),
        )
        self.accounts.setdefault(share, Account(budget))

    @rule(share=shares, budget=st.tuples(st.integers(1, 8).map(Fraction), deltas))
    def amend(self, share: str | None, budget: Pair) -> None:
        account = self.accounts.get(share)
        code = (
            "ledger.share"
            if account is None
            else None
            if fits(account.spent, budget)
            else "ledger.budget"
        )
        self.expect(code, lambda: self.ledger.amend(sf.Approx(*budget), "why", share=share))
        if account is not None and code is None:
            account.budget = budget

    @rule(data=st.data(), question=questions)
    def remember(self, data: st.DataObject, question: str) -> None:
        if not self.paid:
            return
        receipt, cost, state = data.draw(st.sampled_from(self.paid))
        answer = f"{question} {self.entries}".encode()
        self.expect(
            "ledger.reservation" if state in ("open", "release") else None,
            lambda: self.ledger.remember(receipt, question, answer),
        )
        if state in ("charge", "use"):
            self.answers[question] = (answer, cost, receipt.number, {None, receipt.share})

    @rule(question=questions, share=shares)
    def recall(self, question: str, share: str | None) -> None:
        if question not in self.answers:
            assert self.ledger.recall(question, share=share) is None
            return
        answer, cost, paid, shown = self.answers[question]
        if share in shown:
            recalled = self.ledger.recall(question, share=share)
        else:
            already_paid = any(
                number == paid and share in shown_to
                for _, _, number, shown_to in self.answers.values()
            )  # a charge is paid for once
            recalled = self.expect(
                self.booked(ZERO if already_paid else cost, share, charges_dataset=False),
                lambda: self.ledger.recall(question, share=share),
            )
        if recalled is not None:
            assert recalled.answer == answer
            shown.add(share)

    @rule()
    def reprice(self) -> None:
        """These costs are guarantees, which no theorem makes cheaper."""
        self.ledger.reprice("again")

    @rule(closed=st.booleans())
    def reopen(self, closed: bool) -> None:
        head = self.ledger.head
        if closed:
            self.ledger.close()
        self.ledger = sf.Ledger.open(self.place, head=head)

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "ledger"):
            return
        assert self.ledger.head.number == self.entries
        for share, account in self.accounts.items():
            actual = self.ledger.account(share)
            assert actual.spent == account.spent
            assert actual.budget == sf.Approx(
                *account.budget, relation="add-remove", unit="patient"
            )
            assert fits(account.spent, account.budget)

    def teardown(self) -> None:
        if hasattr(self, "ledger"):
            checked = self.ledger.verify(self.ledger.head)
            self.ledger.close()
            self.clear()
            assert checked.ok, checked.problems


@pytest.mark.parametrize("examples", [105, pytest.param(2100, marks=pytest.mark.slow)])
def test_random_histories(examples: int) -> None:
    """Fifty steps each: 5,000, and 10⁵."""
    plenty = settings(
        max_examples=examples,
        stateful_step_count=50,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Model, settings=plenty)  # type: ignore[no-untyped-call]  # Hypothesis


@pytest.mark.parametrize("examples", [10, pytest.param(400, marks=pytest.mark.slow)])
def test_random_histories_on_a_server(examples: int, server: PostgresServer) -> None:
    """The same: 500 steps, and 2·10⁴."""
    url = server.new()

    class OnServer(Model):
        def fresh(self) -> str:
            return url

        def clear(self) -> None:
            server.clear(url)

    few = settings(
        max_examples=examples,
        stateful_step_count=50,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(OnServer, settings=few)  # type: ignore[no-untyped-call]  # Hypothesis


def test_a_model_that_forgets_a_little_is_seen() -> None:
    class Twin(Model):
        rounding = Fraction(1, 10**30)

    few = settings(
        max_examples=50,
        stateful_step_count=20,
        deadline=None,
        database=None,
        print_blob=False,
        phases=[Phase.generate],
    )
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Twin, settings=few)  # type: ignore[no-untyped-call]  # Hypothesis
