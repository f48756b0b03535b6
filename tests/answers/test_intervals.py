"""Intervals: per cell and all at once, after private selection, of quantiles, and rounded
outward.
"""

from __future__ import annotations

import itertools
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.answers import Answer, Column, Noisy
from sfumato.answers.intervals import has_interval, interval, values

from ..refusing import refusal
from .examples import BOUNDS, counted, laplace, visits


def test_a_count_is_its_integer_plus_and_minus_the_half_width() -> None:
    low, high = counted([42, -7]).interval("n", 0.95)
    half = laplace(20).law.half_width(F(19, 20))
    assert (low.tolist(), high.tolist()) == ([42 - half, -7 - half], [42 + half, -7 + half])
    assert low.dtype == high.dtype == np.float64


def test_an_interval_below_zero_reaches_what_is_possible() -> None:
    """Of 1,506 intervals of public tables two were wholly below 0, about groups of a few people."""
    half = laplace(20).law.half_width(F(19, 20))
    low, high = counted([-half - 5, -half, half + 5]).interval("n", 0.95)
    assert low.tolist() == [-2 * half - 5, -2 * half, 5]
    assert high.tolist() == [0, 0, 2 * half + 5]


@pytest.mark.parametrize(
    ("ends", "expected"),
    [((0, 9), [(-2, 0), (1, 2)]), ((-9, 0), [(-2, -1), (0, 2)]), ((-1, 1), [(-2, -1), (1, 2)])],
)
def test_a_sum_of_values_with_one_sign_reaches_zero(
    ends: tuple[int, int], expected: list[tuple[int, int]]
) -> None:
    half = laplace(20).law.half_width(F(19, 20))
    numbers = {"low": F(ends[0]), "high": F(ends[1])}
    answer = Answer(
        keys=("g",),
        rows=((0,), (1,)),
        pieces=(Noisy("s", [[-3 * half], [3 * half]], F(1, 2 * half), laplace(20)),),
        columns=(Column("s", "sum", (0,), "", numbers),),
        cost=sf.Pure(1),
    )
    low, high = answer.interval("s")
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == expected


@given(
    z=st.integers(-(2**80), 2**80),
    step=st.sampled_from([F(1), F(1, 2**20), F(1, 100), F(3, 7)]),
    confidence=st.sampled_from(["0.5", "0.95", "0.999"]),
)
def test_ends_are_rounded_outward_and_the_value_to_the_nearest(
    z: int, step: F, confidence: str
) -> None:
    answer = Answer(
        pieces=(Noisy("s", [[z]], step, laplace(1000)),),
        columns=(Column("s", "sum", (0,)),),
        cost=sf.Pure(1),
    )
    half = laplace(1000).law.half_width(F(confidence))
    (low,), (high,) = answer.interval("s", confidence)
    assert F(low) <= (z - half) * step
    assert F(high) >= (z + half) * step
    assert abs(F(low) - (z - half) * step) <= abs(F(low)) / 2**52
    assert float(answer) == (z * step).numerator / (z * step).denominator


@given(s=st.integers(-(2**60), 2**60), n=st.integers(2**30, 2**50))
def test_ends_of_a_mean_are_rounded_outward(s: int, n: int) -> None:
    pieces = (
        Noisy("s", [[s]], F(1, 2**31), laplace(2**20)),
        Noisy("n", [[n]], F(1, 2**20), laplace(2**10)),
    )
    numbers = {"low": F(-(2**60)), "high": F(2**60), "centre": F(1, 10)}
    answer = Answer(
        pieces=pieces, columns=(Column("m", "mean", (0, 1), "", numbers),), cost=sf.Pure(1)
    )
    a, b = (laplace(scale).law.half_width(F(19, 20), values=2) for scale in (2**20, 2**10))
    corners = [F(1, 10) + F(x, y) / 2**11 for x in (s - a, s + a) for y in (n - b, n + b)]
    (low,), (high,) = answer.interval("m")
    assert F(low) <= min(corners)
    assert F(high) >= max(corners)


def test_all_cells_at_once_hold_as_often_as_they_say() -> None:
    """Three groups: the chance that all three hold, summed over the exact law, against one at a
    time.
    """
    m = laplace(4)
    noise = np.arange(-120, 121)
    chance = np.asarray(m.probability(noise))
    answer = counted([0, 0, 0], mechanism=m)
    for simultaneous, least, most in ((True, 0.95, 0.97), (False, 0.80, 0.949)):
        low, high = answer.interval("n", 0.95, simultaneous=simultaneous)
        item = chance[(noise >= low[0]) & (noise <= high[0])].sum()
        assert least <= item**3 <= most


def test_all_means_at_once() -> None:
    """Two groups of two pieces: four draws, all within their half-widths."""
    numbers, level = BOUNDS, 0.9
    truths = ((40, 30), (-90, 20))
    scales = (2, 1)
    mechanisms = [laplace(scale) for scale in scales]
    reach = [m.law.half_width(F(9999, 10000)) for m in mechanisms]
    grid = np.array(list(itertools.product(*(range(-r, r + 1) for r in reach))))
    chance = np.prod([m.probability(grid[:, i]) for i, m in enumerate(mechanisms)], axis=0)
    held = []
    for truth in truths:
        pieces = tuple(
            Noisy(str(i), (grid[:, i : i + 1] + truth[i]).astype(np.int64), F(1), m)
            for i, m in enumerate(mechanisms)
        )
        halves = [m.law.half_width(F(9, 10), values=4) for m in mechanisms]
        answer = Answer(
            keys=("g",),
            rows=tuple((i,) for i in range(len(grid))),
            pieces=pieces,
            columns=(Column("m", "mean", (0, 1), "", numbers),),
            cost=sf.Pure(1),
        )
        # the box of a column of two cells, asked of an answer that lists every outcome
        low, high = _with_halves(answer, halves)
        exact = 32 + truth[0] / truth[1]
        held.append(float(chance[(low <= exact) & (exact <= high)].sum()))
    assert held[0] * held[1] >= level - 1e-3
    two = Answer(
        keys=("g",),
        rows=(("a",), ("b",)),
        pieces=tuple(
            Noisy(str(i), [[t[i]] for t in truths], F(1), m) for i, m in enumerate(mechanisms)
        ),
        columns=(Column("m", "mean", (0, 1), "", numbers),),
        cost=sf.Pure(1),
    )
    wide, narrow = two.interval("m", level, simultaneous=True), two.interval("m", level)
    assert (wide[0] < narrow[0]).all()
    assert (wide[1] > narrow[1]).all()


def _with_halves(answer: Answer, halves: list[int]) -> tuple[np.ndarray, np.ndarray]:
    from sfumato.answers.intervals import _interval_end
    from sfumato.tables.aggregates.column_kind import Box

    column = answer.columns[0]
    boxes = [
        Box(p.values[:, 0] - h, p.values[:, 0] + h, p.step)
        for p, h in zip(answer.pieces, halves, strict=True)
    ]
    return _interval_end(column, boxes, "low"), _interval_end(column, boxes, "high")


@pytest.mark.parametrize(("truth", "shown"), [(30, 0.0), (40, 0.83), (50, 0.97), (60, 0.95)])
def test_selection_by_other_noise_changes_nothing_and_by_the_same_noise_it_does(
    truth: int, shown: float
) -> None:
    """A group is shown if its noisy count reaches 43.7. Given that, an interval around the same
    noisy count holds with the chance given (0, 83, 97 and 95 % for the continuous law), so it is
    wrong near the cut; one around a count with noise of its own holds with 95 %, whatever the
    truth.
    """
    m = laplace(3)
    half = m.law.half_width(F(19, 20))
    noise = np.arange(-400, 401)
    chance = np.asarray(m.probability(noise))
    covered = np.abs(noise) <= half
    passes = truth + noise >= 44
    same = chance[covered & passes].sum() / chance[passes].sum()
    assert same == pytest.approx(
        shown, abs=0.04
    )  # on integers; the printed ones are of the continuous law
    fresh = sum(chance[passes].sum() * c for c in chance[covered]) / chance[passes].sum()
    assert fresh >= 0.95


def test_the_interval_of_a_quantile_is_the_one_that_was_released() -> None:
    answer = visits()
    low, high = answer.interval("p50", 0.9)
    assert (low.tolist(), high.tolist()) == ([18] * 3, [23] * 3)
    assert answer["p50"].tolist() == [20] * 3


def test_another_level_of_a_quantile_is_refused_with_a_rewrite() -> None:
    answer = visits()
    error = refusal(lambda: answer.interval("p50"), "answer.level")
    assert "0.9" in error.reason
    assert "interval('p50', 0.9)" in error.rewrite
    assert "confidence=0.95" in error.rewrite
    error = refusal(lambda: answer.interval("p50", 0.9, simultaneous=True), "answer.level")
    assert "all groups at once" in error.reason


def quantile(cells: list[int], **more: F) -> Answer:
    piece = Noisy(
        "q",
        [cells],
        F(1, 4),
        mech.Quantile(low=0, high=10, epsilon=1, relation="add-remove", grid=1),
    )
    numbers = {"low": F(0), "high": F(10), "confidence": F(9, 10), **more}
    return Answer(
        pieces=(piece,), columns=(Column("q", "quantile", (0,), "", numbers),), cost=sf.Pure(1)
    )


def test_a_quantile_released_alone_has_no_interval() -> None:
    error = refusal(lambda: quantile([8]).interval("q", 0.9), "answer.interval")
    assert "interval=True" in error.rewrite
    assert float(quantile([8])) == 2


def test_one_group_at_once_is_that_group() -> None:
    assert quantile([8, 4, 12]).interval("q", 0.9, simultaneous=True)[0].tolist() == [1]


def test_crossed_ends_of_a_quantile_are_put_in_order_and_cut() -> None:
    low, high = quantile([8, 12, 4]).interval("q", 0.9)
    assert (low.tolist(), high.tolist()) == ([1], [3])
    low, high = quantile([8, -5, 100]).interval("q", 0.9)
    assert (low.tolist(), high.tolist()) == ([0], [10])


def test_a_histogram_has_a_row_of_bins_for_each_group() -> None:
    answer = visits()
    low, high = answer.interval("ages")
    assert answer["ages"].shape == low.shape == high.shape == (3, 4)
    assert ((low < answer["ages"]) & (answer["ages"] < high)).all()
    wide = answer.interval("ages", simultaneous=True)
    half = answer.pieces[6].half_width(F(19, 20), 12) * answer.pieces[6].step
    assert wide[1] == pytest.approx(answer["ages"] + float(half))


@pytest.mark.parametrize("confidence", [0, 1, "1.5", float("nan"), True, "sure"])
def test_levels_that_are_none(confidence: object) -> None:
    with pytest.raises(sf.Refused):
        counted([1]).interval("n", confidence)  # type: ignore[arg-type]  # refused


def test_part_of_the_rows() -> None:
    answer = visits()
    for column in answer.columns:
        some = slice(1, 3)
        assert values(answer, column, some).tolist() == values(answer, column)[some].tolist()
        level = F(9, 10)
        for part, total in zip(
            interval(answer, column, level, rows=some), interval(answer, column, level), strict=True
        ):
            assert part.tolist() == total[some].tolist()
        assert has_interval(answer, column)


def test_gaussian_noise_is_as_good() -> None:
    m = mech.Gaussian(sensitivity=1, sigma=30)
    low, high = counted([100], mechanism=m).interval("n")
    assert high[0] - 100 == 100 - low[0] == m.error(0.95)


def test_no_group_no_interval() -> None:
    answer = counted([], rows=())
    assert answer.interval("n", simultaneous=True)[0].size == 0
    assert answer["n"].size == 0
