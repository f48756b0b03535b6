"""Groups chosen by released values: which pieces remember the choice, and that their intervals hold
for what is shown.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F

import numpy as np

import sfumato as sf
from sfumato.answers import Answer, Column, Noisy
from sfumato.answers.answer_records import Draw, LinearNoise
from sfumato.answers.chosen_groups import (
    choose_groups,
    mark_shown_groups,
    sorting_pieces,
    take_first_groups,
)
from sfumato.mechanisms import WeightedQuantile
from sfumato.noise.weighted_sums import sum_bound
from sfumato.testing.seeded_bits import SeededBits

from ..refusing import refusal
from .examples import BOUNDS, counted, laplace, noisy, visits


def several(counts: list[int], sums: list[int]) -> Answer:
    """A count, a sum, and a mean of both."""
    pieces = (noisy("count", [[n] for n in counts]), noisy("sum", [[s] for s in sums]))
    columns = (
        Column("n", "count", (0,)),
        Column("s", "sum", (1,), "", {"low": F(0), "high": F(9)}),
        Column("m", "mean", (1, 0), "", BOUNDS),
    )
    return Answer(
        keys=("g",),
        rows=tuple((i,) for i in range(len(counts))),
        pieces=pieces,
        columns=columns,
        cost=sf.Pure(1),
    )


def shared(cells: list[list[int]]) -> Answer:
    """A count and a sum that are read from the same two cells, a mean of both, and a count that has
    noise of its own.
    """

    def piece(name: str, weights: tuple[int, int]) -> Noisy:
        draws = [Draw(laplace(20), F(w), f"0.{i}") for i, w in enumerate(weights) if w]
        values = [[low * weights[0] + high * weights[1]] for low, high in cells]
        return Noisy(name, values, 1, LinearNoise(tuple(draws)))

    columns = (
        Column("n", "count", (0,)),
        Column("s", "sum", (1,), "", {"low": F(0), "high": F(9)}),
        Column("m", "mean", (1, 0), "", BOUNDS),
        Column("units", "count_units", (2,)),
    )
    return Answer(
        keys=("g",),
        rows=tuple((i,) for i in range(len(cells))),
        pieces=(
            piece("count", (1, 1)),
            piece("sum", (0, 9)),
            noisy("units", [[low] for low, _ in cells]),
        ),
        columns=columns,
        cost=sf.Pure(1),
    )


def halves(answer: Answer, name: str, *, simultaneous: bool = False) -> float:
    low, high = answer.interval(name, simultaneous=simultaneous)
    return float(high[0] - low[0]) / 2


def test_what_chose_holds_for_all_groups_before_the_choice() -> None:
    answer = counted(list(range(100)))
    shown = answer.top(3)
    assert shown.pieces[0].among == 100
    assert (
        halves(shown, "n")
        == halves(shown, "n", simultaneous=True)
        == halves(answer, "n", simultaneous=True)
        == laplace(20).law.half_width(F(19, 20), values=100)
    )
    assert (
        "± covers the noise, not what the limits left out; it holds for all shown groups at once "
        "(95 %), because the same noisy values chose them"
    ) in shown.text(width=1000)
    assert "each cell" not in str(shown)


def test_what_had_no_part_in_the_choice_keeps_its_level() -> None:
    """The noise of the sum is independent of that of the count, which chose."""
    answer = several(list(range(50)), [1000] * 50)
    shown = answer.top(5, "n")
    assert [piece.among for piece in shown.pieces] == [50, 0]
    assert halves(shown, "s") == halves(answer, "s")
    assert halves(shown, "s", simultaneous=True) == laplace(20).law.half_width(F(19, 20), values=5)
    assert halves(shown, "n") == halves(answer, "n", simultaneous=True)
    text = shown.text(width=1000)
    assert "(95 %, each cell); for n, m it holds for all shown groups at once (95 %)" in text


def test_a_mean_of_a_count_that_chose_holds_for_all_that_are_shown() -> None:
    """Its noise is that of S − θ·N, of which N chose: it holds for all 50 groups at once. The
    bound at an end is that of its θ, and no more than that of the end of its cell.
    """
    answer = several([10_000 + i for i in range(50)], [5000] * 50)
    shown = answer.top(5, "n")
    law, missing = laplace(20).law, F(1, 20) / 50
    for end, every in zip(
        shown.interval("m"), answer.interval("m", simultaneous=True), strict=True
    ):
        assert end.tolist() == every[:-6:-1].tolist(), "the five largest of all"
        theta = F(end[0]) - 32
        noise = abs(5000 - theta * 10_049)
        least, most = (
            sum_bound(((law, F(1), 1), (law, weight, 1)), missing) for weight in (theta, F(1))
        )
        assert least <= noise <= most * F(101, 100)


def test_what_shares_draws_with_what_chose_took_part() -> None:
    """A count and a sum that are read from the same cells: a choice by one is one by both, and by
    pieces that share draws with either. Pieces with draws of their own keep their level.
    """
    answer = shared([[i, 1000] for i in range(50)])
    for name in ("n", "s", "m"):
        shown = answer.top(5, name)
        assert [piece.among for piece in shown.pieces] == [50, 50, 0]
        for each in ("n", "s", "m"):
            assert halves(shown, each) == halves(shown, each, simultaneous=True)
        assert halves(shown, "units") == halves(answer, "units")
    apart = answer.top(5, "units")
    assert [piece.among for piece in apart.pieces] == [0, 0, 50]
    ordered = answer.top(50, "n")
    assert sorting_pieces(ordered) == {0, 1}


def test_a_sum_holds_where_a_count_that_shares_its_draws_chose() -> None:
    """Forty groups that are all alike: the group of the largest count has large draws, and its sum,
    too. Without the mark its interval would fail more often than it says.
    """
    noise = laplace(20).law.sample((400, 40, 2), bits=SeededBits(1))
    marked, forgotten = [], []
    for cells in noise.tolist():
        shown = shared([[100 + low, 1000 + high] for low, high in cells]).top(1, "n")
        without = replace(shown, pieces=tuple(replace(each, among=0) for each in shown.pieces))
        for answer, results in ((shown, marked), (without, forgotten)):
            low, high = answer.interval("s")
            results.append(low[0] <= 9 * 1000 <= high[0])
    assert np.mean(marked) >= 0.95
    assert np.mean(forgotten) < 0.9


def test_one_choice_after_another() -> None:
    """First by the count from 50 groups, then by the sum from the ten that were left; a second
    choice by the count chose from 50 still.
    """
    answer = several(list(range(50)), list(range(50)))
    twice = answer.top(10, "n").top(3, "s")
    assert [piece.among for piece in twice.pieces] == [50, 10]
    assert [piece.among for piece in twice.top(1, "n").pieces] == [50, 10]


def test_order_alone_leaves_out_nothing() -> None:
    answer = counted([3, 1, 2])
    ordered = answer.top(3)
    assert [row[0] for row in ordered.rows] == ["c0", "c2", "c1"]
    assert ordered.pieces[0].among == 0
    assert halves(ordered, "n") == halves(answer, "n")
    assert "each cell" in str(ordered)
    assert sorting_pieces(ordered) == {0}


def test_who_takes_the_first_of_an_order_chooses_by_it() -> None:
    """Ties of a second column keep the order, so the values that made the order take part in the
    choice.
    """
    ordered = several(list(range(20)), [0] * 20).top(20, "n")
    shown = ordered.top(2, "s")
    assert [piece.among for piece in shown.pieces] == [20, 20]
    by_key = choose_groups(ordered, [4, 2, 9], {})
    assert [piece.among for piece in by_key.pieces] == [0, 0], (
        "groups that were named chose nothing"
    )


def test_the_lines_that_are_printed_are_a_choice_too() -> None:
    """Of an answer in the order of its noisy values the first forty are printed."""
    ordered = counted(list(range(100))).top(100)
    assert "it holds for all shown groups at once" in ordered.text(width=1000)
    assert "each cell" in ordered.text(rows=100)
    assert "each cell" in str(counted(list(range(100)))), "in the order of keys nothing is chosen"
    assert "at once" not in ordered._repr_html_()
    assert "at once" in counted(list(range(300))).top(300)._repr_html_()
    assert mark_shown_groups(ordered, 100) is ordered
    assert mark_shown_groups(ordered, 99).pieces[0].among == 100


def test_a_picture_of_the_largest_groups_is_a_choice_too() -> None:
    figure = counted(list(range(30))).plot("n", top=5)
    assert (
        "the 5 largest of 30 groups; 95 % intervals, all of them at once"
        in figure.axes[0].get_xlabel()
    )


def test_other_forms_have_the_same_level() -> None:
    shown = Answer.from_json(counted(list(range(100))).top(2).to_json())
    half = laplace(20).law.half_width(F(19, 20), values=100)
    assert shown.to_pandas(intervals=True)["n_high"].tolist() == [99 + half, 98 + half]
    assert shown.to_arrow(intervals=True)["n_low"].to_pylist() == [99 - half, 98 - half]
    assert f"{99 + half}" in shown.to_csv(intervals=True).splitlines()[1]
    assert (
        "all shown groups at once"
        in shown.card().to_dict()["deployment"]["implementation"]["utility"]
    )
    assert f"± {half} at 95 %" in shown.card().to_dict()["deployment"]["implementation"]["utility"]


def quantiles(shift: int) -> Answer:
    mechanism = WeightedQuantile(
        epsilon=1,
        q=F(1, 2),
        low=0,
        high=1000,
        weight=4,
        groups=True,
        shift=shift,
        relation="add-remove",
        unit="user_id",
    )
    numbers = {"low": F(0), "high": F(1000), "confidence": F(19, 20)}
    piece = Noisy("q", [[10, 8, 13], [500, 400, 600], [20, 15, 22]], 1, mechanism)
    return Answer(
        keys=("g",),
        rows=(("a",), ("b",), ("c",)),
        pieces=(piece,),
        columns=(Column("q", "quantile", (0,), "", numbers),),
        cost=sf.Pure(1),
    )


def test_the_ends_of_a_quantile_are_draws_of_their_own_and_chose_nothing() -> None:
    shown = quantiles(0).top(1)
    assert [end.tolist() for end in shown.interval("q")] == [[400], [600]]
    assert "q at 95 %" in str(shown)


def test_a_largest_value_that_chose_has_no_interval() -> None:
    """Its value is an end of its interval: the largest of many is too large."""
    shown = quantiles(12).top(1)
    error = refusal(lambda: shown.interval("q"), "answer.interval")
    assert "value itself" in error.reason
    assert "q has no interval, because it chose the groups" in str(shown)
    assert "q: no interval" in shown.card().to_dict()["deployment"]["implementation"]["utility"]
    assert "q_low" not in shown.to_csv(intervals=True)
    assert quantiles(12).interval("q")[0].tolist() == [8, 400, 15]


def test_helpers_keep_the_record() -> None:
    shown = counted([-5, 400, 30, 2]).non_negative().top(2).rounded()
    assert shown.pieces[0].among == 4
    assert shown["n"].tolist() == [400, 30]
    assert take_first_groups(shown, (0,), [1]).pieces[0].among == 4


def test_a_total_is_not_that_of_the_groups_that_are_left() -> None:
    names = {piece.name for piece in visits().top(1, "n").pieces}
    assert "total" not in names
    assert "total" in {piece.name for piece in visits().top(3, "n").pieces}
    assert not visits().top(1, "n").complete


def test_a_number_below_that_of_the_shown_groups_is_refused() -> None:
    answer = counted([1, 2, 3])
    refusal(lambda: replace(answer, pieces=(replace(answer.pieces[0], among=2),)), "answer.shape")


def test_the_largest_of_many_equal_groups_by_the_exact_law() -> None:
    """100 groups with the same count, one shown: its noise is the largest of 100 draws. At 95 % for
    one draw the interval would hold in less than a tenth.
    """
    law = laplace(20)
    noise = np.arange(-3000, 3001)
    below = np.cumsum(np.asarray(law.probability(noise)))  # P(Z ≤ z)
    largest = np.diff(below**100, prepend=0.0)
    (low,), (high,) = counted([0] * 100).top(1).interval("n")
    held = largest[(noise >= low) & (noise <= high)].sum()
    item = law.law.half_width(F(19, 20))
    assert held >= 0.95
    assert largest[np.abs(noise) <= item].sum() < 0.1
