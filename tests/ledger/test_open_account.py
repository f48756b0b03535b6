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


def test_the_budget_that_a_refusal_suggests_opens_the_account(tmp_path: Path) -> None:
    """A third has no double: the rewrite writes it as a text."""
    path, labels = tmp_path / "a.ledger", {"unit": "user_id", "relation": "add-remove"}
    sf.Ledger.open(path, budget=sf.Pure("1/3"), dataset="visits", **labels).close()
    with pytest.raises(sf.Refused) as caught:
        sf.Ledger.open(path, budget=sf.Pure(1), dataset="visits", **labels)
    assert caught.value.code == "ledger.budget"
    budget = eval(caught.value.rewrite.removeprefix("budget="), {"sf": sf})  # ours
    ledger = sf.Ledger.open(path, budget=budget, dataset="visits", **labels)
    ledger.charge(sf.Pure("1/3"))
    with pytest.raises(sf.Refused) as caught:
        ledger.amend(sf.Pure("0.1"), "less")
    eval(caught.value.rewrite, {"sf": sf, "ledger": ledger})  # ours
    assert ledger.remaining == sf.Pure(0, **labels)


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    for path, reason in ((tmp_path, "this is a folder"), (tmp_path / "no" / "a", "does not exist")):
        with pytest.raises(sf.Refused) as caught:
            sf.Ledger.open(path, budget=sf.Pure(1), dataset="d", unit="u", relation="add-remove")
        assert (caught.value.code, reason in caught.value.reason) == ("ledger.path", True)
