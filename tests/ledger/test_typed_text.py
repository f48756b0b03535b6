"""Names that are found again, and texts that are only kept."""

from __future__ import annotations

import unicodedata

import pytest

import sfumato as sf
from sfumato.ledger.typed_text import check_name, check_text, is_encodable

from ..refusing import refusing
from .books import open_book


@pytest.mark.parametrize("name", ["", "a\nb", "\x00", "\ud800", None, 5, b"a"])
def test_names_are_printable(name: object) -> None:
    with refusing("ledger.name"):
        check_name("dataset", name)


def test_names_that_look_the_same_are_the_same() -> None:
    """Letter and accent as two characters would be a second budget for the same people."""
    composed = "visites médicales"
    check_name("dataset", composed)
    with refusing("ledger.name") as caught:
        check_name("dataset", unicodedata.normalize("NFD", composed))
    assert composed in caught.value.rewrite
    with refusing("ledger.name"):
        open_book(None, dataset="e\u0301te")


def test_memos_are_any_text() -> None:
    check_text("memo", "")
    check_text("memo", "two\nlines, and a \x00")
    with refusing("ledger.text"):
        check_text("reason", "")
    assert is_encodable("ü")
    assert not is_encodable("ü\ud800")


def test_an_empty_name_is_no_way_to_mean_the_whole() -> None:
    """A form that was left empty must not raise the budget of everybody, nor show for free what a
    share has to pay for.
    """
    ledger = open_book(None, 1)
    ledger.allow("bob", sf.Pure(1))
    ledger.remember(ledger.charge(sf.Pure("0.1")), "q", b"1")
    head = ledger.head
    with refusing("ledger.name"):
        ledger.amend(sf.Pure(5), "bob asked for more", share="")
    with refusing("ledger.name"):
        ledger.recall("q", share="")
    with refusing("ledger.name"):
        ledger.account("")
    with refusing("ledger.name"):
        ledger.charge(sf.Pure("0.1"), share="")
    assert ledger.head == head
