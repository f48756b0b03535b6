"""Concurrent histories have an order: that of the chain. Everything a user was told has to follow
from it.
"""

from __future__ import annotations

import threading
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest

import sfumato as sf
from sfumato.ledger import Ledger

from .books import open_book, quick_folder
from .servers import PostgresServer


class Outcome(NamedTuple):
    """Whether one charge was granted, and the length of the book just before and just after."""

    granted: bool
    before: int
    after: int


def contradictions(
    ledger: Ledger, outcomes: dict[str, Outcome], costs: dict[str, Fraction], room: Fraction
) -> list[str]:
    """The charges whose outcome contradicts the order of the chain.

    A grant is in the book once, between the two lengths. A refusal needs a moment between them at
    which the cost did not fit; as spending only grows here, the last one is the best.
    """
    numbers = {line.memo: line.number for line in ledger.history() if line.kind == "charge"}
    granted = {name for name, outcome in outcomes.items() if outcome.granted}
    wrong = [*(granted ^ set(numbers))] + [
        name
        for name in granted & set(numbers)
        if not outcomes[name].before < numbers[name] <= outcomes[name].after
    ]
    if (
        len(numbers) != sum(line.kind == "charge" for line in ledger.history())
        or sum((costs[name] for name in numbers), Fraction(0)) > room
    ):
        wrong.append("overspent")
    for name, outcome in outcomes.items():
        spent = sum(
            (costs[memo] for memo, number in numbers.items() if number <= outcome.after),
            Fraction(0),
        )
        wrong += [name] if not outcome.granted and spent + costs[name] <= room else []
    return wrong


def history(path: Path | str, costs: dict[str, Fraction]) -> dict[str, Outcome]:
    """Four users, each with a connection of his own as another process would have, ask for
    everything under their number.
    """
    outcomes: dict[str, Outcome] = {}

    def work(worker: str) -> None:
        ledger = sf.Ledger.open(path)
        for name in (name for name in costs if name.startswith(worker)):
            before, granted = ledger.head.number, True
            try:
                ledger.charge(sf.Pure(costs[name]), memo=name)
            except sf.BudgetExceeded:
                granted = False
            outcomes[name] = Outcome(granted, before, ledger.head.number)
        ledger.close()

    threads = [threading.Thread(target=work, args=(str(worker),)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def check_a_history(path: Path | str, turn: int) -> None:
    open_book(path, 3).close()
    costs = {
        f"{worker}-{n}": Fraction(1 + (worker * 7 + n * 5 + turn) % 6, 7)
        for worker in range(4)
        for n in range(6)
    }
    outcomes = history(path, costs)
    assert len(outcomes) == len(costs)
    assert {outcome.granted for outcome in outcomes.values()} == {True, False}
    ledger = sf.Ledger.open(path)
    assert contradictions(ledger, outcomes, costs, Fraction(3)) == []
    assert ledger.verify(ledger.head).ok
    ledger.close()


@pytest.mark.parametrize("histories", [30, pytest.param(1000, marks=pytest.mark.slow)])
def test_concurrent_histories_have_an_order(histories: int) -> None:
    with quick_folder() as folder:
        for turn in range(histories):
            check_a_history(folder / f"{turn}.ledger", turn)


@pytest.mark.parametrize("histories", [10, pytest.param(300, marks=pytest.mark.slow)])
def test_concurrent_histories_on_a_server_have_an_order(
    histories: int, server: PostgresServer
) -> None:
    url = server.new()
    for turn in range(histories):
        server.clear(url)
        check_a_history(url, turn)


def test_the_checker_sees_what_is_wrong() -> None:
    ledger = open_book(None, 3)
    costs = dict.fromkeys("abcd", Fraction(1))
    for name in "ab":
        ledger.charge(sf.Pure(1), memo=name)
    right = {"a": Outcome(True, 1, 2), "b": Outcome(True, 1, 3)}
    room = Fraction(3)
    assert contradictions(ledger, right, costs, room) == []
    assert contradictions(
        ledger, {**right, "c": Outcome(True, 3, 4)}, costs, room
    )  # told, but not written
    assert contradictions(ledger, {"a": right["a"]}, costs, room)  # written, but not told
    assert contradictions(
        ledger, {**right, "c": Outcome(False, 1, 3)}, costs, room
    )  # refused, though there was room
    assert contradictions(
        ledger, {**right, "c": Outcome(False, 1, 2)}, costs, Fraction(2)
    )  # refused too early
    assert not contradictions(ledger, {**right, "c": Outcome(False, 1, 3)}, costs, Fraction(2))
    assert contradictions(
        ledger, {**right, "b": Outcome(True, 3, 4)}, costs, room
    )  # not in its time
    assert contradictions(ledger, right, costs, Fraction(1))
