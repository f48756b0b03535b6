"""What a book says of itself."""

from __future__ import annotations

from typing import Any

import pytest

import sfumato as sf

from .books import open_book

pytestmark = pytest.mark.usefixtures("anywhere")

SAID: dict[str, Any] = {"relation": "add-remove", "unit": "patient"}


def test_reading_in_another_notion() -> None:
    ledger = open_book(None, budget=sf.ZCDP("0.5"))
    ledger.charge(sf.GDP("0.5"))
    assert ledger.spent == sf.ZCDP("0.125", **SAID)
    assert ledger.spent_as(sf.Approx, delta="1e-6") == ledger.spent.to(sf.Approx, delta="1e-6")
