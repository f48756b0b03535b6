"""The tables, read and written inside a transaction."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.ledger import book_queries
from sfumato.ledger.entries import (
    Account,
    AccountRow,
    budget_text,
    canonical,
    genesis,
    seal_entry,
)
from sfumato.testing.ledger_fixtures import fill

from ..refusing import refusing
from .books import loosen, open_book, quick_folder, sql


def test_an_entry_follows_from_the_one_before_it(tmp_path: Path) -> None:
    ledger = open_book(tmp_path / "a.ledger", 10)
    ledger.charge(sf.Pure(1), "first")
    ledger.close()
    ((book,),) = sql(tmp_path / "a.ledger", "SELECT id FROM book")
    previous = genesis(book)
    for body, spent, state, fresh in sql(
        tmp_path / "a.ledger", "SELECT body, spent, state, digest FROM entry ORDER BY number"
    ):
        previous = seal_entry(previous, body, "visits", spent, state)
        assert fresh == previous
        assert canonical(json.loads(body)) == body
    assert str(sf.Ledger.open(tmp_path / "a.ledger").head) == f"{book}:2:{previous}"


def test_what_an_entry_holds() -> None:
    """Names, public numbers, guarantees, what the user wrote; nothing else."""
    with quick_folder() as folder:
        ledger = open_book(folder / "a.ledger", 10)
        ledger.charge([mech.Laplace(sensitivity=1, epsilon=1), sf.Pure(1)], "why", key="k")
        ledger.close()
        ((text,),) = sql(folder / "a.ledger", "SELECT body FROM entry WHERE number = 2")
    body: dict[str, Any] = json.loads(text)
    assert set(body) == {"kind", "dataset", "share", "memo", "mechanisms", "cost", "when", "key"}
    assert [stored["sfumato"] for stored in body["mechanisms"]] == ["mechanism", "guarantee"]
    assert body["cost"] == ["2"]


def test_a_charge_reads_no_more_in_a_longer_book(tmp_path: Path) -> None:
    """Every statement of a charge, of a reading and of an opening finds its rows by a key: no table
    is gone through.
    """
    ledger = open_book(tmp_path / "a.ledger", 100)
    ledger.allow("alice", sf.Pure(50))
    connection = ledger._store._connection
    assert connection is not None
    executed: set[str] = set()
    connection.set_exec_trace(lambda _, statement, __: bool(executed.add(statement)) or True)
    held = ledger.reserve(sf.Pure(1), key="k", share="alice")
    ledger.use(held)
    ledger.remember(held, "q", b"1")
    ledger.recall("q", share="alice")
    ledger.charge(sf.Pure(1))
    assert ledger.header
    assert ledger.spent
    connection.set_exec_trace(None)
    statements = [
        statement
        for statement in executed
        if statement.startswith(("SELECT", "INSERT", "UPDATE", "DELETE"))
    ]
    assert len(statements) > 10
    for statement in statements:
        plan = [
            row[3]
            for row in connection.execute(
                f"EXPLAIN QUERY PLAN {statement}", (None,) * statement.count("?")
            )
        ]
        last = (
            "ORDER BY number DESC LIMIT" in statement
        )  # the end of the chain: one row or two, by their numbers
        short = (
            "SCAN book",
            "SCAN balance",
            "SCAN reservation USING COVERING INDEX reservation_open",
        )  # accounts, and what is reserved now
        assert [
            step for step in plan if step.startswith("SCAN") and step not in short and not last
        ] == [], statement
    ledger.close()


def test_a_charge_takes_no_more_steps_in_a_longer_book() -> None:
    """Of SQLite's machine, counted: whatever its plans say."""
    steps = []
    for entries in (10, 10_000):
        ledger = open_book(None, 10**6)
        ledger.allow("alice", sf.Pure(50))
        fill(ledger, entries, sf.Pure(1))
        ledger.charge(sf.Pure(1))
        connection, counter = ledger._store._connection, [0]
        assert connection is not None
        connection.set_progress_handler(
            lambda counter=counter: bool(counter.__setitem__(0, counter[0] + 1)), 1
        )
        ledger.charge(sf.Pure(1))
        ledger.charge(sf.Pure(1), share="alice")
        assert ledger.spent
        connection.set_progress_handler(None)
        steps.append(counter[0])
    short, long = steps
    assert 0 < long < 1.1 * short


def test_charges_in_a_row_carry_their_total(tmp_path: Path) -> None:
    """A charge of another dataset brings the balance up to date. Every reader gets the same
    account, also between charges of two datasets.
    """
    path = tmp_path / "a.ledger"
    first, second = (
        open_book(path, 10),
        sf.Ledger.open(
            path, budget=sf.Pure(10), dataset="other", unit="patient", relation="add-remove"
        ),
    )
    totals = []
    for ledger, cost in ((first, 1), (first, 2), (second, 3), (first, 1), (first, 1)):
        ledger.charge(sf.Pure(cost))
        settled = dict(sql(path, "SELECT dataset, spent FROM balance"))
        totals.append(tuple(json.loads(settled[name.dataset])[0] for name in (first, second)))
        assert (first.spent, second.spent) == tuple(
            sf.Pure(json.loads(text)[0], relation="add-remove", unit="patient")
            for _, text in _accounts(path, first, second)
        )
        assert first.verify().ok
    assert totals == [("0", "0"), ("0", "0"), ("3", "0"), ("3", "3"), ("3", "3")]
    first.allow("alice", sf.Pure(2))
    assert dict(
        sql(path, "SELECT share, spent FROM balance WHERE dataset = ?", (first.dataset,))
    ) == {"": '["3"]', "alice": '["0"]'}
    first.charge(sf.Pure(1), share="alice")
    assert [
        spent for (spent,) in sql(path, "SELECT spent FROM entry ORDER BY number DESC LIMIT 1")
    ] == ['["6"]']
    assert (first.account().spent, first.account("alice").spent) == ((6,), (1,))
    assert first.verify().ok


def _accounts(path: Path, *ledgers: sf.Ledger) -> list[tuple[str, str]]:
    spent = dict(sql(path, "SELECT dataset, spent FROM account WHERE share = ''"))
    return [(ledger.dataset, spent[ledger.dataset]) for ledger in ledgers]


EDITS = (
    "UPDATE balance SET spent = '[\"0\"]', parts = 0 WHERE share = 'alice'",
    "UPDATE balance SET spent = '[\"0\"]', parts = 0 WHERE dataset = 'other'",
    "UPDATE balance SET budget = replace(budget, '\"10\"', '\"1000\"') WHERE dataset = 'visits'",
    "UPDATE entry SET spent = '[\"0\"]', parts = 0 WHERE number = (SELECT max(number) FROM entry)",
    "UPDATE entry SET dataset = 'other' WHERE number = (SELECT max(number) FROM entry)",
    "UPDATE entry SET state = NULL WHERE number = (SELECT max(number) FROM entry)",
    "UPDATE reservation SET state = 'open'",
    "DELETE FROM balance WHERE share = 'alice'",
    (
        "INSERT INTO balance SELECT dataset, 'mallory', budget, spent, parts FROM balance "
        "WHERE share = 'alice'"
    ),
)


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_balance_is_refused_at_opening_and_at_a_charge_although_the_head_is_right(
    edit: str, tmp_path: Path
) -> None:
    """The head covered entries, and not what a charge is held against: a balance set to zero opened
    with the right head, and was spent again.
    """
    path = tmp_path / "a.ledger"
    other_ledger = open_book(path, 10, dataset="other")
    other_ledger.charge(sf.Pure(5))
    ledger = open_book(path, 10)
    ledger.allow("alice", sf.Pure(8))
    ledger.use(ledger.reserve(sf.Pure(2)))
    ledger.charge(sf.Pure(3), share="alice")
    ledger.charge(sf.Pure(1))
    head = str(ledger.head)
    loosen(path)
    sql(path, edit)
    # a charge that follows another is held against the total that this process knows, which no edit
    # changes
    ledger._fast_charge = None
    for ask in (
        lambda: ledger.charge(sf.Pure(1)),
        lambda: ledger.charge(sf.Pure(1), share="alice"),
        lambda: other_ledger.charge(sf.Pure(1)),
        lambda: ledger.spent,
    ):
        with refusing("ledger.corrupt"):
            ask()
    ledger.close()
    other_ledger.close()
    for name in ("visits", "other"):
        with refusing("ledger.corrupt"):
            sf.Ledger.open(path, dataset=name, head=head)


def test_a_damaged_account_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    for change in ("spent = 'x'", "spent = '[\"1/0\"]'", "budget = '{}'", "budget = 'x'"):
        path.unlink(missing_ok=True)
        ledger = open_book(path)
        ledger.close()
        sql(path, f"UPDATE balance SET {change}")
        with refusing("ledger.corrupt"):
            ledger.charge(sf.Pure(1))
        with refusing("ledger.corrupt"):
            assert ledger.spent
        ledger.close()
    for change in ("DELETE FROM book", "INSERT INTO book VALUES ('another')"):
        path.unlink(missing_ok=True)
        ledger = open_book(path)
        ledger.close()
        sql(path, change)
        with refusing("ledger.corrupt"):
            ledger.charge(sf.Pure(1))
        ledger.close()


@pytest.mark.parametrize(
    ("spent", "parts"),
    [
        (["0", "0"], 0),
        (["1/2", "0"], 1 << 59),
        (["1/2", "1/1000000"], 1 << 60),
        (["1", "0"], 1 << 60),
        (["2", "0"], (1 << 60) + 1),
    ],
)
def test_the_tables_own_check(spent: list[str], parts: int) -> None:
    account = Account.of(sf.Approx(1, "1e-6"), tuple(map(Fraction, spent)))
    assert AccountRow.of("a", "", account)[-1] == parts
    assert (
        AccountRow.of("a", "", Account.of(sf.Approx(1, 0), (Fraction(0), Fraction(1, 10))))[-1]
        == (1 << 60) + 1
    )


def test_accounts_without_entries_are_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    ledger = open_book(path)
    ledger.close()
    loosen(path)
    sql(path, "DELETE FROM entry")
    for ask in (ledger.account, lambda: open_book(path)):
        with refusing("ledger.corrupt"):
            ask()
    ledger.close()


@pytest.mark.parametrize("spent", ['["1", "1"]', "[]", '["1/0"]', "1", "?", '["x"]'])
def test_an_account_that_cannot_be_read_is_damage(spent: str) -> None:
    budget = budget_text(sf.Pure(1))
    assert book_queries._account(budget, '["1/2"]').spent == (Fraction(1, 2),)
    with refusing("ledger.corrupt"):
        book_queries._account(budget, spent)
