"""The course of an account ends where the account stands, whatever happened on the way."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.ledger import course
from sfumato.ledger.timeline import Moment, TimelinePoints

from . import books

TENTH = Fraction(1, 10)


@pytest.fixture
def ledger(anywhere: None) -> sf.Ledger:
    led = sf.Ledger.open(
        books.nowhere(), budget=sf.Pure(1), dataset="visits", unit="user_id", relation="add-remove"
    )
    led.allow("alice", sf.Pure(0.5))
    paid = led.charge(sf.Pure(0.1), memo="count", share="alice")
    led.remember(paid, "how many?", b"41")
    led.release(led.reserve(sf.Pure(0.3), memo="mean", share="alice"))
    led.use(led.reserve(sf.Pure(0.2), memo="mean"))
    led.allow("bob", sf.Pure(0.5))
    led.recall("how many?", share="bob")
    led.charge(sf.Pure(0.1), memo="count")
    led.amend(sf.Pure(2), "why not")
    return led


def test_moments_follow_the_entries(ledger: sf.Ledger) -> None:
    moments = course(ledger)
    assert [m.number for m in moments] == [line.number for line in ledger.history()]
    assert [m.kind for m in moments] == [line.kind for line in ledger.history()]
    totals = [m.spent[""][0] for m in moments]
    assert totals == [TENTH * n for n in (0, 0, 1, 1, 4, 1, 3, 3, 3, 3, 4, 4)]
    assert [m.budget.vector for m in moments] == [(1,)] * 11 + [(2,)]


def test_the_last_moment_is_the_account(ledger: sf.Ledger) -> None:
    last = course(ledger)[-1]
    assert last.spent == {
        "": ledger.spent.vector,
        **{name: ledger.account(name).spent for name in ("alice", "bob")},
    }
    assert last.budget == ledger.budget


def test_a_course_is_about_one_dataset(ledger: sf.Ledger, tmp_path: Path) -> None:
    for name in ("a", "b"):
        dataset_ledger = sf.Ledger.open(
            tmp_path / "two.ledger",
            budget=sf.Pure(1),
            dataset=name,
            unit="user_id",
            relation="add-remove",
        )
        dataset_ledger.charge(sf.Pure(0.5 if name == "a" else 0.1))
        assert [m.spent[""][0] for m in course(dataset_ledger)] == [
            0,
            Fraction(1, 2) if name == "a" else TENTH,
        ]


def read(points: TimelinePoints, ledger: sf.Ledger) -> list[Moment]:
    with ledger._store.reading() as tx:
        return points.read(tx)


def about_the_dataset(ledger: sf.Ledger) -> list[Moment]:
    """The course without the totals of shares."""
    return [replace(m, spent={"": m.spent[""]}) for m in course(ledger)]


def test_points_of_a_short_book_are_its_course(ledger: sf.Ledger) -> None:
    ledger.amend(sf.Pure("0.75"), "a larger share", share="alice")
    ledger.amend(sf.Pure(3), "more for all")
    ledger.charge(sf.Pure("0.1"))
    points = TimelinePoints("visits", 1000)
    assert read(points, ledger) == about_the_dataset(ledger)
    assert read(points, ledger) == about_the_dataset(ledger)


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_points_are_few_and_true_and_end_with_the_last_entry(most: int, ledger: sf.Ledger) -> None:
    every = about_the_dataset(ledger)
    points = read(TimelinePoints("visits", most), ledger)
    assert most / 2 <= len(points) <= most
    assert [m for m in every if m in points] == points
    assert points[-1] == every[-1]


def test_a_later_read_continues_where_the_last_one_ended(ledger: sf.Ledger) -> None:
    """It takes over budgets amended since, reads no older entry again, and thins out."""
    points = TimelinePoints("visits", 13)
    assert len(read(points, ledger)) == 12
    ledger.amend(sf.Pure(3), "more for all")
    for _ in range(20):
        ledger.charge(sf.Pure("0.05"))
    later = read(points, ledger)
    assert later == read(TimelinePoints("visits", 13), ledger)
    assert later[-1] == about_the_dataset(ledger)[-1]
    assert later[-1].budget == ledger.budget


def test_points_of_a_book_that_was_replaced_are_those_of_the_new_book(
    ledger: sf.Ledger, anywhere: None
) -> None:
    points = TimelinePoints("visits", 100)
    read(points, ledger)
    replacement = books.open_book(None, 9)
    replacement.charge(sf.Pure(4))
    assert read(points, replacement) == about_the_dataset(replacement)
