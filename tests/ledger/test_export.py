"""What a program reads of a ledger: every entry, exact numbers in JSON, and no cell that a
spreadsheet would run.
"""

from __future__ import annotations

import csv
import io
import json

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.guarantees.stored_guarantee import restore
from sfumato.ledger import export

ABOUT = {"relation": "add-remove", "unit": "user_id"}


@pytest.fixture
def ledger() -> sf.Ledger:
    led = sf.Ledger.open(
        budget=sf.Pure(1),
        dataset="visits",
        unit="user_id",
        relation="add-remove",
        schema={"city": "text"},
    )
    led.allow("alice", sf.Pure("1/2"))
    led.charge(
        mech.Laplace(sensitivity=1, epsilon="1/3"),
        memo='by city, "quoted"\nand broken',
        share="alice",
    )
    led.charge([sf.Pure(0.1), mech.Laplace(sensitivity=1, epsilon=0.1)], memo="two")
    led.release(led.reserve(sf.Pure(0.2), memo="not needed"))
    led.amend(sf.Pure(2), "the board agreed")
    return led


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_csv_has_a_line_for_each_entry(ledger: sf.Ledger) -> None:
    read = rows(ledger.to_csv())
    assert tuple(read[0]) == export.COLUMNS
    assert [row["kind"] for row in read] == [
        "open",
        "share",
        "charge",
        "charge",
        "reserve",
        "release",
        "amend",
    ]
    assert [row["number"] for row in read] == [str(n) for n in range(1, 8)]
    assert [row["cost"] for row in read] == [
        "",
        "",
        "Pure(1/3)",
        "Pure(0.2)",
        "Pure(0.2)",
        "Pure(0.2)",
        "",
    ]
    assert [row["share"] for row in read[:3]] == ["", "alice", "alice"]
    assert [row["mechanisms"] for row in read[2:4]] == ["Laplace", "Pure + Laplace"]
    assert read[2]["memo"] == 'by city, "quoted"\nand broken'
    assert read[-1]["memo"] == "the board agreed"
    assert read[-1]["digest"] == ledger.head.digest


def cells(text: str) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_no_cell_is_a_formula(first: str) -> None:
    name = first if first.isprintable() else ""  # names are printable; a memo is any text
    led = sf.Ledger.open(
        budget=sf.Pure(1), dataset=f"{name}1", unit="user_id", relation="add-remove"
    )
    led.allow(f"{name}share", sf.Pure(1))
    led.charge(sf.Pure(0.1), memo=f"{first}HYPERLINK(1)", share=f"{name}share")
    written = cells(led.to_csv())
    assert not [cell for cell in written if cell.startswith(first)]
    assert f"'{first}HYPERLINK(1)" in written
    if name:
        assert {f"'{name}share", f"'{name}1"} <= set(written)


@pytest.mark.parametrize("memo", ["a\r=1", "a\n=1", 'a",=1,"', "a,=1"])
def test_no_memo_breaks_out_of_its_cell(memo: str) -> None:
    led = sf.Ledger.open(budget=sf.Pure(1), dataset="visits", unit="user_id", relation="add-remove")
    led.charge(sf.Pure(0.1), memo=memo)
    _, _, last = csv.reader(io.StringIO(led.to_csv(), newline=""))
    assert last[5] == memo
    assert len(last) == len(export.COLUMNS)


def test_a_cell_that_is_no_formula_stays_as_it_is() -> None:
    assert [export.safe(v) for v in ("a=b", "", None, 7, "'x", "1-2")] == [
        "a=b",
        "",
        "",
        "7",
        "'x",
        "1-2",
    ]


def test_json_is_exact(ledger: sf.Ledger) -> None:
    read = json.loads(ledger.to_json())
    assert restore(read["budget"]) == ledger.budget == sf.Pure(2, **ABOUT)
    assert restore(read["spent"]) == ledger.spent == sf.Pure("8/15", **ABOUT)
    assert restore(read["remaining"]) == ledger.remaining
    assert restore(read["shares"]["alice"]["remaining"]) == sf.Pure("1/6", **ABOUT)
    assert read["head"] == str(ledger.head)
    assert (read["dataset"], read["unit"], read["relation"], read["schema"]) == (
        "visits",
        "user_id",
        "add-remove",
        {"city": "text"},
    )
    assert "Rogers" in read["theorem"]


def test_json_keeps_what_was_typed_and_what_was_charged(ledger: sf.Ledger) -> None:
    history = json.loads(ledger.to_json())["history"]
    assert [entry["number"] for entry in history] == [line.number for line in ledger.history()]
    assert history[2]["memo"] == 'by city, "quoted"\nand broken'
    assert restore(history[2]["cost"]).parameters == sf.Pure("1/3").parameters
    assert history[2]["mechanisms"][0]["kind"] == "Laplace"
    assert history[0]["cost"] is None
