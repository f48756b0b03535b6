"""What a book says of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.ledger import reading, statement

from .books import open_book

pytestmark = pytest.mark.usefixtures("anywhere")

SAID: dict[str, Any] = {"relation": "add-remove", "unit": "patient"}


def test_reading_in_another_notion() -> None:
    ledger = open_book(None, budget=sf.ZCDP("0.5"))
    ledger.charge(sf.GDP("0.5"))
    assert ledger.spent == sf.ZCDP("0.125", **SAID)
    assert ledger.spent_as(sf.Approx, delta="1e-6") == ledger.spent.to(sf.Approx, delta="1e-6")


ABOUT = "patient, add-remove · spent Pure({}) of Pure(10)>"


def test_a_ledger_describes_itself(tmp_path: Path) -> None:
    """Its file, dataset, unit, relation, spent and budget, after every kind of charge."""
    ledger = open_book(tmp_path / "visits.ledger")
    place = "<sfumato ledger of visits in visits.ledger: "
    assert repr(ledger) == place + ABOUT.format(0)
    for spent in (1, 2, 3):  # the second and third take the fast path
        ledger.charge(sf.Pure(1))
        assert repr(ledger) == place + ABOUT.format(spent)
    ledger.charge(sf.Pure(1), key="again")
    ledger.charge(sf.Pure(1), key="again")
    assert repr(ledger) == place + ABOUT.format(4)
    ledger.release(ledger.reserve(sf.Pure(2)))
    ledger.allow("ada", sf.Pure(5))
    with pytest.raises(sf.BudgetExceeded):
        ledger.charge(sf.Pure(7))
    assert repr(ledger) == place + ABOUT.format(4)
    ledger.amend(sf.Pure(20), reason="a second wave")
    assert "of Pure(20)>" in repr(ledger)


def test_a_notebook_shows_the_balance(tmp_path: Path) -> None:
    ledger = open_book(tmp_path / "visits.ledger")
    ledger.charge(sf.Pure(3))
    page = ledger._repr_html_()
    for words in ("ledger of visits in visits.ledger", "ε = 10", "ε = 3", "ε = 7"):
        assert f"<bdi>{words}" in page
    ledger.close()
    assert ledger._repr_html_() == page  # which reads nothing


def test_a_description_reads_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ledger that is closed or deleted, or whose book another process has charged, describes
    what this process last saw.
    """
    path = tmp_path / "visits.ledger"
    ledger, writer = open_book(path), open_book(path)
    writer.charge(sf.Pure(3))
    assert ABOUT.format(0) in repr(ledger)
    assert ledger.spent == writer.spent
    assert ABOUT.format(3) in repr(ledger)
    ledger.close()
    writer.close()
    path.unlink()
    monkeypatch.setattr(type(ledger._store), "reading", lambda _: pytest.fail("it was read"))
    assert ABOUT.format(3) in repr(ledger)
    assert not path.exists()


def test_descriptions_of_what_a_ledger_gives(tmp_path: Path) -> None:
    path = tmp_path / "visits.ledger"
    with pytest.raises(sf.Refused):
        sf.Ledger.open(path)
    ledger = open_book(path)
    receipt = ledger.charge(sf.Pure(1), memo="a memo")
    ledger.remember(receipt, "how many", b"x" * 1000)
    recalled = ledger.recall("how many")
    assert recalled is not None
    assert "xxx" not in repr(recalled)
    assert "a memo" not in repr(statement(ledger, history=True))
    ledger.close()
    with reading(path) as book:
        assert repr(book) == "<sfumato book visits.ledger: visits>"
        assert repr(book["visits"]) == "<sfumato ledger of visits in visits.ledger>"
        assert book["visits"].spent.epsilon() == 1
        assert ABOUT.format(1) in repr(book["visits"])
    assert any(f" in {where}: " in repr(open_book(None)) for where in ("memory", "postgresql"))
