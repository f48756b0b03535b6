"""A dataset as the service has it open: shares for everybody, two connections to its book."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from sfumato.errors import Refused
from sfumato.guarantees import Approx
from sfumato.ledger import BudgetExceeded
from sfumato.server.config import DatasetConfig
from sfumato.server.datasets import Served, open_dataset, protect_dataset, stored_for

from .service import service

SQL = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def config(tmp_path: Path) -> DatasetConfig:
    return service(tmp_path, budget="2").config.datasets["visits"]


@pytest.fixture
def served(config: DatasetConfig) -> Iterator[Served]:
    dataset = open_dataset(config)
    yield dataset
    dataset.close()


def epsilon(served: Served, who: str) -> Fraction:
    amount = served.ledger.account(who).budget.parameters["epsilon"]
    assert isinstance(amount, Fraction)
    return amount


def test_shares_are_those_of_the_configuration(config: DatasetConfig) -> None:
    part = Approx(Fraction(1, 4), Fraction(1, 10**6))
    served = open_dataset(replace(config, analysts={"ada": part}))
    assert epsilon(served, served.share("ada")) == Fraction(1, 4)
    assert epsilon(served, served.share("bob")) == 2  # who is not named has as much as there is
    served.close()
    again = open_dataset(replace(config, analysts={"ada": 2 * part, "bob": part}))
    assert (epsilon(again, "ada"), epsilon(again, "bob")) == (Fraction(1, 2), Fraction(1, 4))
    again.close()


def test_a_share_lowered_below_what_it_spent_does_not_stop_the_service(
    config: DatasetConfig, served: Served
) -> None:
    """It kept the service from starting. Now it has nothing left; and starting again changes
    nothing.
    """
    served.table.sql(SQL, epsilon=1, share=served.share("ada"))
    lower = replace(config, analysts={"ada": Approx(Fraction(1, 4), Fraction(1, 10**6))})
    for _ in range(2):
        again = open_dataset(lower)
        assert epsilon(again, "ada") == again.ledger.account("ada").spent[0] == 1
        with pytest.raises(BudgetExceeded):
            again.table.sql("SELECT COUNT(*) AS m FROM visits", epsilon="0.001", share="ada")
        again.close()
    amended = [entry for entry in served.ledger.history() if entry.kind == "amend"]
    assert len(amended) == 1
    higher = open_dataset(
        replace(config, analysts={"ada": Approx(Fraction(3, 2), Fraction(1, 10**6))})
    )
    assert epsilon(higher, "ada") == Fraction(3, 2)
    higher.close()


def test_another_budget_is_refused(config: DatasetConfig, served: Served) -> None:
    with pytest.raises(Refused) as caught:
        open_dataset(replace(config, budget=Approx(3, Fraction(1, 10**6))))
    assert caught.value.code == "ledger.budget"


def test_what_is_stored_is_due_to_others(served: Served) -> None:
    from sfumato.release import question_key

    name = question_key(served.table.plan(SQL, epsilon=0.5))
    assert stored_for(served.ledger, name, "ada") is None
    served.table.sql(SQL, epsilon=0.5, share=served.share("ada"))
    answers = [stored_for(served.ledger, name, who) for who in ("ada", "bob")]
    assert [answer is not None and answer.due for answer in answers] == [False, True]


def test_nothing_is_owed_where_nothing_was_learned(served: Served) -> None:
    assert (served.lessons, served.unpaid_lessons("ada")) == ((), [])


def test_several_tables(tmp_path: Path) -> None:
    config = service(tmp_path).config.datasets["visits"]
    folder = tmp_path / "several"
    folder.mkdir()
    both = {"visits": str(tmp_path / "visits.parquet"), "clinic": str(tmp_path / "clinic.parquet")}
    declaration = {
        "name": "both",
        "unit": "clinic.patient",
        "links": {"visits.user_id": "clinic.patient"},
        "max_rows": {"visits": 2, "clinic": 2},
    }
    served = open_dataset(
        replace(
            config,
            name="both",
            source=both,
            declared=declaration,
            ledger=str(folder / "both.ledger"),
            analysts={},
        )
    )
    assert [declared.name for declared in served.declarations] == ["visits", "clinic"]
    served.close()


def test_a_blank_one_has_a_book_of_its_own(config: DatasetConfig, served: Served) -> None:
    with protect_dataset(config, ledger=None) as blank:
        blank.sql(SQL, epsilon=0.5)
    assert served.ledger.spent.parameters["epsilon"] == 0
