"""What the ledger hands out."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

import sfumato as sf
from sfumato.ledger import Head, Verification

from ..refusing import refusing
from .books import open_book

LINE = f"0011223344556677:12:{'ab' * 32}"


def test_a_head_is_a_line() -> None:
    head = Head.read(f"  {LINE}\n")
    assert (head.book, head.number, head.digest) == ("0011223344556677", 12, "ab" * 32)
    assert str(head) == LINE
    assert Head.read(str(open_book(None).head)).number == 1


@pytest.mark.parametrize(
    "line",
    [
        "",
        "a:b",
        "x:1:y",
        LINE.upper(),
        LINE + ":1",
        LINE[:-1],
        LINE.replace(":12:", ":-1:"),
        LINE.replace("12", "²"),
        "a" * 500,
    ],
)
def test_what_is_no_head(line: str) -> None:
    with refusing("ledger.head"):
        Head.read(line)


def test_receipts_are_values() -> None:
    receipt = open_book(None).charge(sf.Pure(1), "why")
    assert (receipt.dataset, receipt.number, receipt.memo, receipt.share, receipt.reserved) == (
        "visits",
        2,
        "why",
        None,
        False,
    )
    assert receipt.cost == sf.Pure(1, relation="add-remove", unit="patient")
    assert len(receipt.digest) == 64
    with pytest.raises(FrozenInstanceError):
        receipt.number = 3  # type: ignore[misc]  # it is frozen
    assert replace(receipt, repeated=True) == receipt  # the same receipt


def test_over_budget_is_a_refusal() -> None:
    assert issubclass(sf.BudgetExceeded, sf.Refused)


def test_a_verification_says_both() -> None:
    head = Head.read(LINE)
    assert str(Verification((), (), head)) == "whole: 12 entries, chain and totals agree"
    assert str(Verification(("a",), ("b",), head)) == "problem: a\ncannot see: b"
    assert not Verification(("a",), (), head).ok
