"""Helpers: labelled, free, and no less true than what was released."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.answers import Answer, Column, Noisy
from sfumato.answers.processing import AGREEING, NON_NEGATIVE, ROUNDED

from ..refusing import refusal
from .examples import counted, laplace, noisy, visits


def test_counts_are_not_negative() -> None:
    answer = counted([5, -3])
    found = answer.non_negative()
    assert found["n"].tolist() == [5, 0]
    low, high = found.interval("n")
    before = answer.interval("n")
    assert low.tolist() == [0, 0]
    assert high.tolist() == before[1].tolist(), "what was above zero stays"
    assert found.processing == (NON_NEGATIVE,)
    assert found.pieces == answer.pieces
    assert NON_NEGATIVE in str(found)


def test_an_interval_below_zero_becomes_zero() -> None:
    low, high = counted([-1000]).non_negative().interval("n")
    assert (low[0], high[0]) == (0, 0)


def test_sums_only_if_they_cannot_be_negative() -> None:
    def total(low: int) -> Answer:
        column = Column("s", "sum", (0,), "", {"low": F(low), "high": F(5)})
        return Answer(pieces=(noisy("s", [[-4]]),), columns=(column,), cost=sf.Pure(1))

    assert float(total(0).non_negative()) == 0
    assert float(total(-1).non_negative()) == -4


def test_whole_numbers() -> None:
    answer = visits(("a", "b", "c", "d"))
    found = answer.rounded()
    assert found["n"].dtype == found["ages"].dtype == found["people"].dtype == np.int64
    assert found["mean"].dtype == np.float64
    assert found["ages"].shape == (4, 4)
    assert np.abs(found["ages"] - answer["ages"]).max() <= 0.5
    assert found.processing == (ROUNDED,)
    assert [a.tolist() for a in found.interval("n")] == [a.tolist() for a in answer.interval("n")]
    assert found.to_pandas()["n"].dtype == np.int64


def test_halves_go_up() -> None:
    answer = Answer(
        keys=("g",), rows=((1,), (2,)), pieces=(Noisy("n", [[5], [-5]], F(1, 2), laplace(3)),), columns=(Column("n", "count", (0,)),), cost=sf.Pure(1)
    )
    assert answer.rounded()["n"].tolist() == [3, -2]


def test_one_after_the_other() -> None:
    found = counted([5, -3]).non_negative().rounded()
    assert found["n"].tolist() == [5, 0]
    assert found.interval("n")[0].tolist() == [0, 0]
    assert found.processing == (NON_NEGATIVE, ROUNDED)
    assert found.non_negative().processing == (ROUNDED, NON_NEGATIVE)
    assert counted([5, -3]).rounded().non_negative()["n"].dtype == np.int64


def test_nothing_to_do_is_no_processing() -> None:
    column = visits().columns[3]
    answer = replace(visits(), columns=(column,))
    assert answer.rounded() is answer


def test_groups_that_add_up_to_a_public_total() -> None:
    found = counted([10, 20, 30]).agreeing(total=66)
    assert found["n"].tolist() == [12, 22, 32]
    assert found.processing == (AGREEING.format(name="n"),)


@given(
    groups=st.lists(st.integers(-100, 100), min_size=1, max_size=6),
    total=st.integers(-200, 400),
    scales=st.tuples(st.integers(1, 50), st.integers(1, 50)),
)
def test_the_gap_is_shared_by_the_variances(groups: list[int], total: int, scales: tuple[int, int]) -> None:
    """Least squares: minimise Σ(x − g)²/v + (Σx − t)²/w; its derivative vanishes."""
    answer = counted(groups, mechanism=laplace(scales[0]))
    whole = counted([total], keys=(), rows=((),), mechanism=laplace(scales[1]))
    found = answer.agreeing(total=whole)
    exact = found.columns[0].processed
    assert exact is not None
    v, w = answer.pieces[0].variance, whole.pieces[0].variance
    summed = sum(exact.values)
    for x, g in zip(exact.values, groups, strict=True):
        assert (x - g) / v + (summed - total) / w == 0


def test_totals_by_some_of_the_keys() -> None:
    rows = (("it", "Bari"), ("it", "Roma"), ("fr", "Lyon"))
    answer = counted([10, 20, 30], keys=("country", "city"), rows=rows)
    whole = counted([36, 31], keys=("country",), rows=(("it",), ("fr",)))
    assert answer.agreeing(total=whole)["n"] == pytest.approx([12, 22, 30.5])


def test_bins_add_up_too() -> None:
    answer = replace(visits(), pieces=visits().pieces[:-1])
    found = answer.agreeing(total=20_000, name="ages")
    assert found["ages"].sum() == pytest.approx(20_000)


def test_what_does_not_add_up() -> None:
    public = replace(visits(), pieces=visits().pieces[:-1])
    assert "released apart" in public.agreeing(total=18_500, name="n").processing[0]
    found = refusal(lambda: visits().agreeing(total=18_500, name="n"), "answer.agreeing")
    assert "withheld" in found.reason
    refusal(lambda: public.agreeing(total=18_500), "answer.agreeing")
    found = refusal(lambda: public.agreeing(total=18_500, name="people"), "answer.agreeing")
    assert "several" in found.reason
    refusal(lambda: public.agreeing(total=18_500, name="mean"), "answer.agreeing")
    refusal(lambda: counted([1, 2]).agreeing(total=counted([3], keys=("country",), rows=(("it",),))), "answer.agreeing")
    refusal(lambda: counted([1, 2]).agreeing(total=counted([3, 4])), "answer.agreeing")
    nested = counted([10, 20], keys=("country", "city"), rows=(("it", "Bari"), ("it", "Roma")))
    refusal(lambda: nested.agreeing(total=counted([36, 5], keys=("country",), rows=(("it",), ("fr",)))), "answer.agreeing")


def test_a_total_of_several_columns_is_none() -> None:
    both = Answer(pieces=(noisy("a", [[1]]),), columns=(Column("a", "count", (0,)), Column("b", "count", (0,))), cost=sf.Pure(1))
    refusal(lambda: counted([1, 2]).agreeing(total=both), "answer.agreeing")
