"""What is said of a dataset, and what is compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.ledger.open_account import collect_declared, find_place

from ..refusing import refusing


def test_what_is_left_out_is_not_said() -> None:
    assert collect_declared(None, None, None, None) == {}
    assert collect_declared(sf.Pure(1, unit="patient"), None, "replace", None) == {
        "unit": "patient",
        "relation": "replace",
        "budget": sf.Pure(1, unit="patient"),
        "currency": "Pure",
    }


def test_a_budget_may_not_say_something_else() -> None:
    with refusing("ledger.unit"):
        collect_declared(sf.Pure(1, unit="patient"), "visit", None, None)
    with refusing("ledger.relation"):
        collect_declared(sf.Pure(1, relation="replace"), None, "add-remove", None)


def test_memory_has_no_place() -> None:
    assert find_place(None, sf.Pure(1), None) is None
    assert find_place("a.ledger", sf.Pure(1), None) == Path.cwd() / "a.ledger"


@pytest.mark.parametrize(
    "arguments",
    [
        (None, "\ud800", None, None),
        (sf.Pure(1, unit="\ud800"), None, None, None),
        (None, None, None, {"a\udfff": "text"}),
        (None, None, None, {"a": "\ud800"}),
    ],
)
def test_what_cannot_be_written_down_is_refused(arguments: Any) -> None:
    with refusing("ledger.name") as caught:
        collect_declared(*arguments)
    str(caught.value).encode()
