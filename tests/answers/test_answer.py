"""The answer as one uses it."""

from __future__ import annotations

import dataclasses
from fractions import Fraction as F

import numpy as np
import pytest

import sfumato as sf
from sfumato.answers import Answer, Column, Noisy, Paid

from ..refusing import refusal
from .examples import counted, laplace, visits


def test_columns_are_arrays_and_keys_too() -> None:
    answer = visits()
    assert answer["n"].tolist() == [3000, 6000, 9000]
    assert answer["mean"] == pytest.approx([15, 22.5, 30])
    assert answer["sd"] == pytest.approx([10, 10, 10])
    assert answer["var"] == pytest.approx([100, 100, 100])
    assert answer["total_spend"] == pytest.approx([45_000, 135_000, 270_000])
    assert answer["people"] == pytest.approx([1000, 2000, 3000])
    assert answer["ages"][0] == pytest.approx([300, 1200, 900, 600])
    assert answer["city"].tolist() == ["Bari", "Roma", "Sassari"]
    assert answer.names == ("n", "people", "total_spend", "mean", "var", "sd", "p50", "ages")
    assert answer.keys == ("city",)
    assert len(answer) == len(answer.rows) == 3


def test_names_that_are_none() -> None:
    error = refusal(lambda: visits()["mena"], "answer.column")
    assert error.rewrite == "answer['mean']"
    refusal(lambda: visits().interval("nothing like it"), "answer.column")


def test_one_cell_is_a_number() -> None:
    answer = Answer(
        pieces=(Noisy("n", [[42]], F(1, 2), laplace(3)),),
        columns=(Column("n", "count", (0,)),),
        cost=sf.Pure(1),
    )
    assert float(answer) == answer.value() == answer.value("n") == 21
    assert len(answer) == 1
    assert list(answer) == [{"n": 21.0}]


def test_a_cell_by_its_keys() -> None:
    answer = visits()
    assert answer.value("n", city="Roma") == 6000
    assert answer.value("mean", city="Bari") == pytest.approx(15)
    assert counted([4, 5], keys=("name",)).value("n", name="c1") == 5
    for call in (
        lambda: answer.value(),
        lambda: answer.value("n"),
        lambda: answer.value("n", city="Atlantis"),
        lambda: answer.value("n", country="Roma"),
        lambda: answer.value("ages", city="Roma"),
        lambda: float(answer),
    ):
        refusal(call, "answer.cell")


def test_rows_as_dictionaries() -> None:
    first, *_ = visits()
    assert first["city"] == "Bari"
    assert first["n"] == 3000
    assert first["ages"] == pytest.approx([300, 1200, 900, 600])
    assert type(first["n"]) is float


def test_bins() -> None:
    assert visits().bins("ages").tolist() == [0, 18, 40, 65, 121]
    refusal(lambda: visits().bins("n"), "answer.column")


def test_frozen() -> None:
    answer = visits()
    with pytest.raises(dataclasses.FrozenInstanceError):
        answer.rows = ()  # type: ignore[misc]  # must fail: it is frozen
    again = dataclasses.replace(answer, recalled="2026-01-02")
    assert again.recalled
    assert again == answer, "when it is shown again it is the same answer"


def test_equal_answers() -> None:
    assert visits() == visits()
    assert hash(visits()) == hash(visits())
    assert visits() != visits(rules=())
    assert visits() != counted([1])
    assert visits() != 1


def test_receipts() -> None:
    assert visits().receipt == Paid(7, "ab" * 32, "2026-09-01T12:00:00.000+00:00")
    assert visits(receipts=()).receipt is None
    assert visits(receipts=(Paid(1, "a", "x"), Paid(2, "b", "y"))).receipt is None


def test_it_reads_as_it_prints() -> None:
    assert repr(visits()) == str(visits()) == visits().text()
    assert "(99 %, each cell; p50 at 90 %)" in visits().text(confidence=0.99)


def test_numbers_beyond_64_bits() -> None:
    answer = counted([2**70, -(2**70)])
    low, high = answer.interval("n")
    assert answer["n"].tolist() == [2.0**70, -(2.0**70)]
    assert (low <= answer["n"]).all()
    assert (high >= answer["n"]).all()
    assert np.isfinite(low).all()


def test_no_group_is_shown() -> None:
    answer = counted([], rows=())
    assert list(answer) == []
    assert "no group is shown" in str(answer)
    assert answer.to_pandas(intervals=True).empty
    assert "no group is shown" in answer._repr_html_()
