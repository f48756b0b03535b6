"""A book of the first version becomes one of today: the same entries, the same head, the same accounts; or it stays as it was."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

import sfumato as sf
from sfumato.ledger import reading, upgrade
from sfumato.ledger.schema import FIRST, SCHEMA

from ..refusing import refusing
from .books import sql

STORED = Path(__file__).parent.parent / "vectors" / "stored" / "ledger-v1.sqlite"
ENTRIES = "SELECT number, dataset, kind, key, body, digest FROM entry ORDER BY number"


@pytest.fixture
def first(tmp_path: Path) -> Path:
    path = tmp_path / "a.ledger"
    path.write_bytes(STORED.read_bytes())
    return path


def version(path: Path) -> int:
    ((found,),) = sql(path, "PRAGMA user_version")
    return int(found)


def test_everything_is_kept(first: Path) -> None:
    kept = STORED.with_suffix(".head").read_text(encoding="utf-8")
    tables = ("book", "account", "reservation", "answer", "shown")
    before = {table: sorted(sql(first, f"SELECT * FROM {table}")) for table in tables}
    entries = sql(first, ENTRIES)
    ledger = sf.Ledger.open(first, dataset="visits", head=kept)
    assert str(ledger.head) == kept.strip()
    assert ledger.verify(kept).ok
    ledger.close()
    assert version(first) == SCHEMA
    assert {table: sorted(sql(first, f"SELECT * FROM {table}")) for table in tables} == before
    assert sql(first, ENTRIES) == entries
    assert [
        spent for (spent,) in sql(first, "SELECT spent FROM entry WHERE kind IN ('charge', 'reserve') AND body LIKE '%\"share\":null%'") if spent is None
    ] == []


def test_whoever_only_looks_is_told_how(first: Path) -> None:
    before = first.read_bytes()
    with refusing("ledger.version") as caught, reading(first):
        raise AssertionError
    assert caught.value.rewrite.startswith("sf.Ledger.open(path)")
    assert first.read_bytes() == before


def test_a_fault_on_the_way_leaves_the_first_version(first: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: object) -> object:
        yield (1, "visits", "open", None, "", "", None, None)
        raise apsw.FullError("disk")

    before = sql(first, ENTRIES)
    with monkeypatch.context() as patched:
        patched.setattr(upgrade, "_entries", faulty)
        with refusing("ledger.full"):
            sf.Ledger.open(first, dataset="visits")
    assert version(first) == FIRST
    assert sql(first, ENTRIES) == before
    sf.Ledger.open(first, dataset="visits").close()
    assert version(first) == SCHEMA


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM entry WHERE number = 1",
        "UPDATE entry SET digest = replace(digest, substr(digest, 1, 4), 'zzzz') WHERE number = 3",
        "UPDATE account SET spent = '[\"0\"]' WHERE share = ''",
        "INSERT INTO book VALUES ('another')",
    ],
    ids=["first", "digest", "account", "book"],
)
def test_a_book_that_does_not_add_up_is_not_touched(change: str, first: Path) -> None:
    for trigger in ("entry_kept", "entry_stays"):
        sql(first, f"DROP TRIGGER {trigger}")
    sql(first, change)
    before = sql(first, ENTRIES)
    with refusing("ledger.corrupt"):
        sf.Ledger.open(first, dataset="visits")
    assert version(first) == FIRST
    assert sql(first, ENTRIES) == before
