"""The tables, read and written inside a transaction."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.ledger import pages
from sfumato.ledger.entries import Account, canonical, digest, genesis

from .books import open_book, quick_folder, refusal, sql


def test_an_entry_follows_from_the_one_before_it(tmp_path: Path) -> None:
    ledger = open_book(tmp_path / "a.ledger", 10)
    ledger.charge(sf.Pure(1), "first")
    ledger.close()
    ((book,),) = sql(tmp_path / "a.ledger", "SELECT id FROM book")
    previous = genesis(book)
    for body, fresh in sql(tmp_path / "a.ledger", "SELECT body, digest FROM entry ORDER BY number"):
        previous = digest(previous, body)
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
    """Every statement of a charge, of a reading and of an opening finds its rows by a key: no table is gone through."""
    ledger = open_book(tmp_path / "a.ledger", 100)
    ledger.allow("alice", sf.Pure(50))
    connection = ledger._store._connection
    assert connection is not None
    seen: set[str] = set()
    connection.set_exec_trace(lambda _, statement, __: bool(seen.add(statement)) or True)
    held = ledger.reserve(sf.Pure(1), key="k", share="alice")
    ledger.use(held)
    ledger.remember(held, "q", b"1")
    ledger.recall("q", share="alice")
    ledger.charge(sf.Pure(1))
    assert ledger.header
    assert ledger.spent
    connection.set_exec_trace(None)
    statements = [statement for statement in seen if statement.startswith(("SELECT", "INSERT", "UPDATE", "DELETE"))]
    assert len(statements) > 10
    for statement in statements:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", (None,) * statement.count("?"))]
        assert [step for step in plan if step.startswith("SCAN") and step != "SCAN book" and "ORDER BY number DESC LIMIT 1" not in statement] == [], statement
    ledger.close()


def test_a_damaged_account_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    for change in ("spent = 'x'", "spent = '[\"1/0\"]'", "budget = '{}'", "budget = 'x'"):
        path.unlink(missing_ok=True)
        ledger = open_book(path)
        ledger.close()
        sql(path, f"UPDATE account SET {change}")
        with refusal("ledger.corrupt"):
            ledger.charge(sf.Pure(1))
        with refusal("ledger.corrupt"):
            assert ledger.spent
        ledger.close()
    for change in ("DELETE FROM book", "INSERT INTO book VALUES ('another')"):
        path.unlink(missing_ok=True)
        ledger = open_book(path)
        ledger.close()
        sql(path, change)
        with refusal("ledger.corrupt"):
            ledger.charge(sf.Pure(1))
        ledger.close()


@pytest.mark.parametrize(
    ("spent", "parts"),
    [(["0", "0"], 0), (["1/2", "0"], 1 << 59), (["1/2", "1/1000000"], 1 << 60), (["1", "0"], 1 << 60), (["2", "0"], (1 << 60) + 1)],
)
def test_the_tables_own_check(spent: list[str], parts: int) -> None:
    account = Account.of(sf.Approx(1, "1e-6"), tuple(map(Fraction, spent)))
    assert pages.account_row("a", "", account)[-1] == parts
    assert pages.account_row("a", "", Account.of(sf.Approx(1, 0), (Fraction(0), Fraction(1, 10))))[-1] == (1 << 60) + 1
