"""Merging: the weights are the best ones, the interval holds against the whole law of both noises,
and no release counts twice.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.answers import Answer, Column, Noisy, Paid, Weighing, merge
from sfumato.answers.answer_records import Draw, LinearNoise
from sfumato.answers.merge import PARTS, _weights

from ..refusing import refusal
from .examples import BOUNDS, WEIGHED, counted, laplace, noisy, visits


def released(values: list[int], scale: Any, number: int, **more: Any) -> Answer:
    return counted(
        values,
        mechanism=laplace(scale),
        receipts=(Paid(number, f"{number:064x}", "2026-01-01"),),
        **more,
    )


def test_equal_ones_are_averaged() -> None:
    result = merge([released([10, 20], 30, 1), released([14, 26], 30, 2)])
    assert result["n"].tolist() == [12, 23]
    assert result.receipts == (
        Paid(1, f"{1:064x}", "2026-01-01"),
        Paid(2, f"{2:064x}", "2026-01-01"),
    )
    assert result.cost == sf.Pure("0.6", relation="add-remove", unit="user_id")
    assert result.processing == ("the weighted average of 2 releases of the same question",)
    assert "average of 2" in str(result)


def test_the_better_one_weighs_more() -> None:
    result = merge([released([10], 10, 1), released([20], 30, 2)])
    assert float(result) == pytest.approx((10 * 9 + 20) / 10, abs=1e-3)


@pytest.mark.parametrize("variances", [[1, 1], [1, 9], [F(1, 3), 2, 50], [1, 10**9]])
def test_weights(variances: list[Any]) -> None:
    shares = _weights([F(v) for v in variances])
    assert sum(shares) == PARTS
    assert min(shares) >= 1
    inverse = [1 / F(v) for v in variances]
    for share, w in zip(shares, inverse, strict=True):
        assert abs(F(share, PARTS) - w / sum(inverse)) <= F(len(variances), PARTS)


def test_the_interval_is_narrower_and_holds_as_often_as_it_says() -> None:
    """All pairs of noises, with their exact chance; each pair is a group of the two answers."""
    mechanisms = [laplace(4), mech.Gaussian(sensitivity=1, sigma=7)]
    reach = [m.law.half_width(1 - F(1, 10**6)) for m in mechanisms]
    noise = np.array(list(itertools.product(*(range(-r, r + 1) for r in reach))))
    chance = np.prod([m.probability(noise[:, i]) for i, m in enumerate(mechanisms)], axis=0)
    rows = tuple((i,) for i in range(len(noise)))
    about = {"rows": rows, "cost": sf.Approx(1, "1e-6")}
    parts = [
        counted((50 + noise[:, i]).tolist(), mechanism=m, receipts=(Paid(i, str(i), ""),), **about)
        for i, m in enumerate(mechanisms)
    ]
    result = merge(parts)
    low, high = result.interval("n", 0.95)
    held = float(chance[(low <= 50) & (high >= 50)].sum())
    assert 0.95 - 1e-5 <= held <= 0.97
    alone = [part.interval("n")[1][0] - part.interval("n")[0][0] for part in parts]
    assert high[0] - low[0] < min(alone)


def test_two_equal_ones_gain_what_they_should() -> None:
    """The sum of two Laplace draws of scale b exceeds 4.11·b with a chance of 5 %, so their mean
    2.06·b; one alone 3·b.
    """
    result = merge([released([0], 10**6, 1), released([0], 10**6, 2)])
    (low,), (high,) = result.interval("n")
    assert high == -low == pytest.approx(2.06e6, rel=0.01)


def test_a_mean_is_finished_from_averaged_pieces() -> None:
    def mean_release(s: int, n: int, number: int) -> Answer:
        pieces = (Noisy("s", [[s]], F(1, 4), laplace(40)), Noisy("n", [[n]], F(1), laplace(10)))
        column = Column("m", "mean", (0, 1), "mean(x)", BOUNDS)
        return Answer(
            pieces=pieces,
            columns=(column,),
            cost=sf.Pure(1),
            receipts=(Paid(number, str(number), ""),),
            weighing=WEIGHED,
        )

    result = merge([mean_release(-400, 100, 1), mean_release(-480, 140, 2)])
    assert float(result) == pytest.approx(32 - 110 / 120)
    widths = [
        float(a.interval("m")[1][0] - a.interval("m")[0][0])
        for a in (result, mean_release(-400, 100, 1), mean_release(-480, 140, 2))
    ]
    assert widths[0] < min(widths[1:])


def test_different_steps_have_a_common_one() -> None:
    a, b = released([10], 30, 1), released([0], 30, 2)
    finer = replace(b, pieces=(Noisy("count", [[42]], F(1, 3), laplace(90)),))
    result = merge([a, finer])
    assert float(result) == pytest.approx(
        12, abs=1e-3
    )  # on a finer grid the same scale has a hair less variance


def test_merged_ones_are_merged_again_and_stored() -> None:
    first, second, third = (released([v], 30, i) for i, v in enumerate((10, 20, 60)))
    twice, once = merge([merge([first, second]), third]), merge([first, second, third])
    assert float(twice) == pytest.approx(float(once), abs=1e-2)
    assert twice.interval("n")[1][0] == pytest.approx(once.interval("n")[1][0], rel=0.01)
    mechanism = twice.pieces[0].mechanism
    assert isinstance(mechanism, LinearNoise)
    assert len(mechanism.draws) == 3
    assert len({draw.name for draw in mechanism.draws}) == 3, "no two releases share a draw"
    assert mechanism.relation == "add-remove"
    assert mechanism.unit == "user_id"
    assert mechanism.promise.epsilon() > first.pieces[0].mechanism.promise.epsilon()
    again = Answer.from_json(twice.to_json())
    assert again == twice
    assert again.interval("n")[1].tolist() == twice.interval("n")[1].tolist()
    assert once.processing[0].startswith("the weighted average of 3")
    assert twice.processing[0].startswith("the weighted average of 3")


def test_answers_that_were_merged_before_draws_had_names_are_merged_again() -> None:
    """Older answers store the parts of an average without names: each is a draw of its own, in the
    interval and in what the noise promises.
    """
    name = "mean where x > 0.5"

    def average(number: int) -> Answer:
        draws = tuple(Draw(laplace(scale), F(1)) for scale in (30, 40))
        piece = Noisy(name, [[100]], F(1), LinearNoise(draws))
        return replace(counted([100], receipts=(Paid(number, str(number), ""),)), pieces=(piece,))

    result = merge([average(1), average(2)])
    assert len({draw.name for draw in result.pieces[0].draws}) == 4
    epsilons = [F(1, scale) for scale in (30, 40) for _ in range(2)]
    assert result.pieces[0].mechanism.promise.epsilon() == pytest.approx(float(sum(epsilons)))
    assert Answer.from_json(result.to_json()) == result


def test_groups_that_not_all_of_them_show_are_left_out() -> None:
    a = released([1, 2, 3], 30, 1, rows=(("x",), ("y",), (float("nan"),)))
    b = released([10, 20, 30], 30, 2, rows=((float("nan"),), ("x",), ("z",)))
    result = merge([a, b])
    assert result.rows[0] == ("x",)
    assert result["n"].tolist() == [(1 + 20) / 2, (3 + 10) / 2]


def test_simultaneous() -> None:
    result = merge([released([1] * 20, 30, 1), released([2] * 20, 30, 2)])
    assert result.interval("n", simultaneous=True)[1][0] > result.interval("n")[1][0]


def test_what_was_clipped_and_withheld_is_merged_too() -> None:
    kinds = tuple(c for c in visits().columns if c.kind != "quantile")
    a = visits(columns=kinds, receipts=(Paid(1, "a", "x"),))
    b = visits(
        columns=kinds,
        receipts=(Paid(2, "b", "x"),),
        pieces=tuple(p for p in visits().pieces if p.name != "total"),
    )
    result = merge([a, b])
    assert set(result.clipped()) == {"spend [0, 64]"}
    assert result.withheld() is None
    assert result["mean"] == pytest.approx(a["mean"])
    assert result["ages"] == pytest.approx(a["ages"])
    assert merge([a, replace(a, receipts=b.receipts)]).withheld() is not None


def test_no_release_counts_twice() -> None:
    a, b = released([1], 30, 1), released([2], 30, 2)
    error = refusal(lambda: merge([a, b, a]), "answer.merge")
    assert "twice" in error.reason
    refusal(lambda: merge([merge([a, b]), b]), "answer.merge")
    refusal(lambda: merge([a, Answer.from_json(a.to_json())]), "answer.merge")
    refusal(lambda: merge([replace(a, receipts=()), replace(a, receipts=())]), "answer.merge")


def test_only_the_same_question_about_the_same_data() -> None:
    a = released([1], 30, 1)
    for release in (
        replace(released([2], 30, 2), columns=(Column("m", "count", (0,), "count()"),)),
        released([2], 30, 2, keys=("town",)),
        replace(released([2], 30, 2), facts={"dataset": "others"}),
        replace(released([2], 30, 2), facts={"dataset": "visits", "declaration": {"version": "2"}}),
        released([2], 30, 2).rounded(),
    ):
        refusal(lambda release=release: merge([a, release]), "answer.merge")
    refusal(lambda: merge([a]), "answer.merge")
    refusal(lambda: merge([]), "answer.merge")


def test_quantiles_are_not_averaged() -> None:
    error = refusal(
        lambda: merge([visits(), visits(receipts=(Paid(9, "z", "x"),))]), "answer.merge"
    )
    assert "quantiles" in error.rewrite


@pytest.mark.parametrize(
    "weighing",
    [
        Weighing("root", 4, 4, 20),
        Weighing("part", 5, 4, 20),
        Weighing("part", 4, 5, 20),
        Weighing("part", 4, 4, 19),
        Weighing("row"),
    ],
    ids=str,
)
def test_releases_that_bounded_units_differently_are_not_averaged(weighing: Weighing) -> None:
    """L1 and L2 weights were averaged: the interval held neither bounded value."""
    a, b = released([80] * 3, 30, 1), replace(released([565] * 3, 30, 2), weighing=weighing)
    error = refusal(lambda: merge([a, b]), "answer.merge")
    assert "bounded units differently" in error.reason
    assert merge([replace(a, weighing=weighing), b])["n"].tolist() == [322.5] * 3


def test_what_every_release_draws_anew_is_not_averaged() -> None:
    """Truncation, and the count of different values of units, draw a secret for each release."""
    drawn = Weighing("drawn", 4, 4, 0)
    a, b = (replace(released([80], 30, i), weighing=drawn) for i in (1, 2))
    refusal(lambda: merge([a, b]), "answer.merge")
    different = (Column("n", "count_distinct", (0,), "count_distinct(x)"),)
    c, d = (replace(released([80], 30, i), columns=different) for i in (1, 2))
    refusal(lambda: merge([c, d]), "answer.merge")
    rows = [replace(item, weighing=Weighing("row")) for item in (c, d)]
    assert merge(rows)["n"].tolist() == [80], "without a unit nothing is drawn"


def test_answers_of_unknown_weighing_are_not_averaged() -> None:
    a, b = released([80], 30, 1), replace(released([80], 30, 2), weighing=None)
    for pair in ([a, b], [b, a], [b, replace(a, weighing=None)]):
        error = refusal(lambda pair=pair: merge(pair), "answer.merge")
        assert "not recorded" in error.reason


def test_another_question_about_the_same_columns_is_not_averaged() -> None:
    """Two conditions on rows: the columns have the same names and texts."""
    a, b = (
        replace(
            released([80], 30, i),
            facts={"dataset": "visits", "question": f"from visits where age > {i}"},
        )
        for i in (1, 2)
    )
    refusal(lambda: merge([a, b]), "answer.merge")


def test_a_choice_by_one_release_is_one_by_the_average() -> None:
    """The groups that are left were chosen by a part of the noise of the average; by no more groups
    than every release had.
    """
    a, b = released([100, 3, 2, 1], 30, 1), released([100, 3, 2, 1], 30, 2)
    result = merge([a.top(1), b])
    assert result.pieces[0].among == 4
    assert result.interval("n")[1][0] == merge([a, b]).interval("n", simultaneous=True)[1][0]
    assert result.processing[0] == "shown is the group with the largest n"
    assert not result.complete
    assert merge([a, b]).pieces[0].among == 0
    assert (
        merge([a.top(2), replace(b, rows=b.rows[:3], pieces=(noisy("count", [[100], [3], [2]]),))])
        .pieces[0]
        .among
        == 3
    )
    assert merge([a, b]).complete
