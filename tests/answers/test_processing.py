"""Helpers: labelled, free, and no less true than what was released."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.answers import Answer, Column, Noisy, Weighing
from sfumato.answers.render.footnote_texts import AGREEING, NON_NEGATIVE, ROUNDED, TOTAL_PUBLIC

from ..refusing import refusal
from .examples import counted, laplace, noisy, visits


def test_counts_are_not_negative() -> None:
    answer = counted([5, -3])
    result = answer.non_negative()
    assert result["n"].tolist() == [5, 0]
    low, high = result.interval("n")
    before = answer.interval("n")
    assert low.tolist() == [0, 0]
    assert high.tolist() == before[1].tolist(), "what was above zero stays"
    assert result.processing == (NON_NEGATIVE,)
    assert result.pieces == answer.pieces
    assert NON_NEGATIVE in str(result)


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
    result = answer.rounded()
    assert result["n"].dtype == result["ages"].dtype == result["people"].dtype == np.int64
    assert result["mean"].dtype == np.float64
    assert result["ages"].shape == (4, 4)
    assert np.abs(result["ages"] - answer["ages"]).max() <= 0.5
    assert result.processing == (ROUNDED,)
    assert [a.tolist() for a in result.interval("n")] == [a.tolist() for a in answer.interval("n")]
    assert result.to_pandas()["n"].dtype == np.int64


def test_halves_go_up() -> None:
    answer = Answer(
        keys=("g",),
        rows=((1,), (2,)),
        pieces=(Noisy("n", [[5], [-5]], F(1, 2), laplace(3)),),
        columns=(Column("n", "count", (0,)),),
        cost=sf.Pure(1),
    )
    assert answer.rounded()["n"].tolist() == [3, -2]


def test_one_after_the_other() -> None:
    result = counted([5, -3]).non_negative().rounded()
    assert result["n"].tolist() == [5, 0]
    assert result.interval("n")[0].tolist() == [0, 0]
    assert result.processing == (NON_NEGATIVE, ROUNDED)
    assert result.non_negative().processing == (ROUNDED, NON_NEGATIVE)
    assert counted([5, -3]).rounded().non_negative()["n"].dtype == np.int64


def test_nothing_to_do_is_no_processing() -> None:
    column = visits().columns[3]
    answer = replace(visits(), columns=(column,))
    assert answer.rounded() is answer


def test_groups_that_add_up_to_a_public_total() -> None:
    result = counted([10, 20, 30]).agreeing(total=66)
    assert result["n"].tolist() == [12, 22, 32]
    assert result.processing == (AGREEING.format(name="n", origin=TOTAL_PUBLIC),)
    assert counted([10, 20]).agreeing(total=31)["n"].tolist() == [11, 20]
    assert counted([10, 20]).agreeing(total=31).rounded()["n"].sum() == 31
    assert counted([10, 20]).agreeing(total="31.5")["n"].tolist() == [10.75, 20.75]


def sums(values: list[int], scale: int, keys: tuple[str, ...], rows: Any) -> Answer:
    """Sums, which are not rounded."""
    column = Column("n", "sum", (0,), "sum(x)", {"low": F(0), "high": F(9)})
    answer = counted(values, keys=keys, rows=rows, mechanism=laplace(scale))
    return replace(answer, columns=(column,))


@given(
    groups=st.lists(st.integers(-100, 100), min_size=1, max_size=6),
    total=st.integers(-200, 400),
    scales=st.tuples(st.integers(1, 50), st.integers(1, 50)),
)
def test_the_gap_is_shared_by_the_variances(
    groups: list[int], total: int, scales: tuple[int, int]
) -> None:
    """Least squares: minimise Σ(x − g)²/v + (Σx − t)²/w; its derivative vanishes."""
    answer = sums(groups, scales[0], ("city",), tuple((i,) for i in range(len(groups))))
    total_answer = sums([total], scales[1], (), ((),))
    result = answer.agreeing(total=total_answer)
    exact = result.columns[0].processed
    assert exact is not None
    v, w = answer.pieces[0].variance, total_answer.pieces[0].variance
    summed = sum(exact.values)
    for x, g in zip(exact.values, groups, strict=True):
        assert (x - g) / v + (summed - total) / w == 0


PLACES = tuple((a, b) for a in ("it", "fr") for b in ("x", "y", "z"))


@given(
    cells=st.lists(st.integers(-50, 50), min_size=6, max_size=6),
    by_country=st.lists(st.integers(-100, 150), min_size=2, max_size=2),
    by_city=st.lists(st.integers(-100, 150), min_size=3, max_size=3),
    total=st.integers(-200, 300),
    scales=st.lists(st.integers(1, 30), min_size=4, max_size=4),
    is_public=st.booleans(),
)
def test_all_totals_at_once(
    cells: list[int],
    by_country: list[int],
    by_city: list[int],
    total: int,
    scales: list[int],
    is_public: bool,
) -> None:
    """The minimum over all released numbers: no small step of any cell makes it smaller; with a
    public total, no step that keeps it.
    """
    answer = sums(cells, scales[0], ("country", "city"), PLACES)
    countries = sums(by_country, scales[1], ("country",), (("it",), ("fr",)))
    cities = sums(by_city, scales[2], ("city",), (("x",), ("y",), ("z",)))
    whole_total: Any = total if is_public else sums([total], scales[3], (), ((),))
    result = answer.agreeing(total=[countries, cities, whole_total])
    processed = result.columns[0].processed
    assert processed is not None
    x = list(processed.values)
    v = [each.pieces[0].variance for each in (answer, countries, cities)]

    def slope(i: int) -> F:
        country, city = PLACES[i]
        rows = [k for k, (a, _) in enumerate(PLACES) if a == country]
        columns = [k for k, (_, b) in enumerate(PLACES) if b == city]
        steep = (x[i] - cells[i]) / v[0]
        steep += (sum(x[k] for k in rows) - by_country[("it", "fr").index(country)]) / v[1]
        steep += (sum(x[k] for k in columns) - by_city["xyz".index(city)]) / v[2]
        return steep if is_public else steep + (sum(x) - total) / whole_total.pieces[0].variance

    slopes = [float(slope(i)) for i in range(6)]
    reference = slopes[0] if is_public else 0.0
    assert slopes == pytest.approx([reference] * 6, abs=1e-6)
    if is_public:
        assert sum(x) == total
    counts = replace(answer, columns=(replace(answer.columns[0], kind="count", numbers={}),))
    rounded = counts.agreeing(total=total)["n"]
    assert rounded.dtype == np.int64
    assert rounded.sum() == total


def test_totals_by_some_of_the_keys() -> None:
    rows = (("it", "Bari"), ("it", "Roma"), ("fr", "Lyon"))
    answer = counted([10, 20, 30], keys=("country", "city"), rows=rows)
    total = counted([36, 32], keys=("country",), rows=(("it",), ("fr",)))
    result = answer.agreeing(total=total)
    assert result["n"].tolist() == [12, 22, 31]
    assert "all groups together are now 65" in result.processing[0]


def test_what_moves_groups_later_takes_the_label_away() -> None:
    result = counted([-20, 50]).agreeing(total=30)
    assert len(result.processing) == 1
    assert result.rounded().processing[0] == result.processing[0], "they were whole"
    assert result.non_negative().processing == (NON_NEGATIVE,)


def test_bins_add_up_too() -> None:
    answer = replace(visits(), pieces=visits().pieces[:-1], complete=True)
    result = answer.agreeing(total=20_000, name="ages")
    assert result["ages"].sum() == pytest.approx(20_000)


def test_what_does_not_add_up() -> None:
    public = replace(visits(), pieces=visits().pieces[:-1], complete=True)
    assert "a public total" in public.agreeing(total=18_500, name="n").processing[0]
    error = refusal(lambda: visits().agreeing(total=18_500, name="n"), "answer.agreeing")
    assert "withheld" in error.reason
    refusal(lambda: public.agreeing(total=18_500), "answer.agreeing")
    error = refusal(lambda: public.agreeing(total=18_500, name="people"), "answer.agreeing")
    assert "several" in error.reason
    refusal(lambda: public.agreeing(total=18_500, name="mean"), "answer.agreeing")
    refusal(
        lambda: counted([1, 2]).agreeing(total=counted([3], keys=("country",), rows=(("it",),))),
        "answer.agreeing",
    )
    refusal(lambda: counted([1, 2]).agreeing(total=counted([3, 4])), "answer.agreeing")
    nested = counted([10, 20], keys=("country", "city"), rows=(("it", "Bari"), ("it", "Roma")))
    refusal(
        lambda: nested.agreeing(total=counted([36, 5], keys=("country",), rows=(("it",), ("fr",)))),
        "answer.agreeing",
    )


def total_of(value: int, **changes: Any) -> Answer:
    """A total without keys."""
    return replace(counted([value], keys=(), rows=((),)), **changes)


def test_a_total_of_several_columns_is_none() -> None:
    columns = (Column("a", "count", (0,), "count()"), Column("b", "count", (0,), "count()"))
    error = refusal(
        lambda: counted([1, 2]).agreeing(total=total_of(1, columns=columns)), "answer.agreeing"
    )
    assert "one column has to be the total" in error.reason


def test_a_count_is_no_total_of_a_sum_and_a_sum_of_something_else_is_none_either() -> None:
    """A count was taken for the total of a sum, and a sum of one column for that of another."""
    sums = replace(
        counted([10, 20]),
        columns=(Column("s", "sum", (0,), "sum(x)", {"low": F(0), "high": F(9)}),),
    )
    second = Column("s", "sum", (0,), "sum(y)", {"low": F(0), "high": F(9)})
    refusal(lambda: sums.agreeing(total=total_of(40)), "answer.agreeing")
    refusal(lambda: sums.agreeing(total=total_of(40, columns=(second,))), "answer.agreeing")
    assert sums.agreeing(total=total_of(36, columns=sums.columns))["s"] == pytest.approx([12, 22])


@pytest.mark.parametrize(
    "weighing", [None, Weighing("root", 4, 4, 20), Weighing("drawn", 4, 4, 0)], ids=str
)
def test_groups_of_a_release_that_weighed_rows_by_their_groups_do_not_add_up(
    weighing: Weighing | None,
) -> None:
    """Groups with L2 weights were moved to a total with L1 weights, far out of their own
    intervals.
    """
    grouped = replace(counted([565] * 50), weighing=weighing)
    refusal(lambda: grouped.agreeing(total=total_of(4000)), "answer.agreeing")
    refusal(lambda: grouped.agreeing(total=4000), "answer.agreeing")
    refusal(
        lambda: counted([80] * 50).agreeing(total=total_of(4000, weighing=weighing)),
        "answer.agreeing",
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"weighing": Weighing("part", 3, 4, 20)},
        {"weighing": Weighing("part", 4, 4, 14)},
        {"weighing": Weighing("row")},
        {"facts": {"dataset": "others"}},
        {"facts": {"dataset": "visits", "rows": "from visits\nwhere age > 60"}},
    ],
    ids=str,
)
def test_a_total_of_other_rows_or_weights_is_refused(changes: dict[str, Any]) -> None:
    refusal(lambda: counted([80] * 50).agreeing(total=total_of(4000, **changes)), "answer.agreeing")


def test_groups_that_were_left_out_do_not_add_up() -> None:
    """After `top`, LIMIT or HAVING the groups that are left were moved to the total of all of
    them.
    """
    refusal(lambda: counted([10, 20, 30]).top(2).agreeing(total=66), "answer.agreeing")
    refusal(
        lambda: Answer.from_json(counted([10, 20, 30]).top(2).to_json()).agreeing(total=66),
        "answer.agreeing",
    )
