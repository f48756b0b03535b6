"""What was clipped and withheld: estimates from released counts, with intervals that hold against
the whole law of the noise.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest

from sfumato.answers import Answer, Column, Share, Weighing
from sfumato.answers.proportions import clipped_shares, withheld_share

from .examples import counted, laplace, noisy, visits


def with_clipped(counts: list[int], scale: int | F = 3) -> Answer:
    return counted([1], extra=(noisy("clipped:spend [0, 64]", [counts], F(1), laplace(scale)),))


def test_shares_of_rows() -> None:
    below, above = visits().clipped()["spend [0, 64]"]
    assert below.value == pytest.approx(3 / 15423)
    assert above.value == pytest.approx(420 / 15423)
    for share in (below, above):
        assert 0 <= share.low <= share.value <= share.high <= 1
        assert share.confidence == 0.95
    wide = visits().clipped(0.999)["spend [0, 64]"][1]
    assert wide.low <= above.low
    assert wide.high > above.high


@pytest.mark.parametrize("truth", [(0, 40, 0), (3, 50, 9), (0, 0, 12), (20, 1, 0)], ids=str)
def test_clipped_shares_hold_as_often_as_they_say(truth: tuple[int, int, int]) -> None:
    """The chance that the interval holds the exact share, summed over the law of three noises (what
    is left out of the sum counts as a miss).
    """
    m = laplace(F(2, 3))
    noise = range(-6, 7)
    chance = {z: float(m.probability(z)) for z in noise}
    exact = truth[2] / sum(truth)
    held = 0.0
    for zs in itertools.product(noise, repeat=3):
        answer = with_clipped([t + z for t, z in zip(truth, zs, strict=True)], F(2, 3))
        above = clipped_shares(answer, F(9, 10))["spend [0, 64]"][1]
        held += (above.low <= exact <= above.high) * chance[zs[0]] * chance[zs[1]] * chance[zs[2]]
    assert held >= 0.9


def test_nothing_is_left_open_by_noise_alone() -> None:
    (below, above) = clipped_shares(with_clipped([-4, -2, -9]))["spend [0, 64]"]
    assert 0 <= below.low <= below.high <= 1
    assert 0 <= above.low <= above.high <= 1


@pytest.mark.parametrize("counts", [[-20, -5, -20], [0, 0, 0], [-20, 3, 40]], ids=str)
def test_the_estimate_lies_in_its_interval_whatever_was_drawn(counts: list[int]) -> None:
    for share in with_clipped(counts).clipped()["spend [0, 64]"]:
        assert share.low <= share.value <= share.high


def test_answers_without_such_pieces_have_no_such_shares() -> None:
    assert clipped_shares(counted([4])) == {}
    assert withheld_share(counted([4])) is None


def total(shown: list[int], everything: int, scale: int | F = 2) -> Answer:
    m = laplace(scale)
    return counted(shown, mechanism=m, extra=(noisy("total", [[everything]], F(1), m),))


def test_the_withheld_share() -> None:
    share = total([700, 200], 1000).withheld()
    assert share is not None
    assert share.value == pytest.approx(0.1)
    assert 0.08 < share.low < 0.1 < share.high < 0.12


@pytest.mark.parametrize(("shown", "hidden"), [((30, 20), 10), ((40, 5), 0), ((0, 0), 12)], ids=str)
def test_withheld_shares_hold_as_often_as_they_say(shown: tuple[int, int], hidden: int) -> None:
    m = laplace(F(2, 3))
    noise = range(-6, 7)
    chance = {z: float(m.probability(z)) for z in noise}
    everything = sum(shown) + hidden
    held = 0.0
    for zs in itertools.product(noise, repeat=3):
        share = withheld_share(
            total([shown[0] + zs[0], shown[1] + zs[1]], everything + zs[2], F(2, 3)), F(9, 10)
        )
        assert isinstance(share, Share)
        held += (
            (share.low <= hidden / everything <= share.high)
            * chance[zs[0]]
            * chance[zs[1]]
            * chance[zs[2]]
        )
    assert held >= 0.9


def test_a_narrower_interval_would_be_seen() -> None:
    m = laplace(1)
    noise = np.arange(-9, 10)
    chance = np.asarray(m.probability(noise))
    share = total([30, 20], 60, 1).withheld(F(9, 10))
    assert share is not None
    narrow = (share.high - share.low) / 12
    errors = np.array([abs(1 - 50 / (60 + z) - 1 / 6) for z in noise])
    assert chance[errors <= narrow].sum() < 0.9


@pytest.mark.parametrize("everything", [0, -5])
def test_of_nothing_any_share_may_be_withheld(everything: int) -> None:
    share = total([3], everything).withheld()
    assert share is not None
    assert (share.low, share.high) == (0, 1)


def test_no_group_is_shown() -> None:
    answer = counted(
        [], rows=(), mechanism=laplace(2), extra=(noisy("total", [[100]], F(1), laplace(2)),)
    )
    share = answer.withheld()
    assert share is not None
    assert share.value == share.high == 1


def test_many_groups_are_quick_to_sum() -> None:
    share = total([10] * 20_000, 210_000).withheld()
    assert share is not None
    assert share.value == pytest.approx(1 / 21)
    assert share.high - share.low < 0.012


def test_the_rows_behind_a_mean_will_do() -> None:
    everything = visits()
    rest = tuple(column for column in everything.columns if column.name in ("mean", "p50"))
    answer = replace(everything, columns=rest)
    assert answer.withheld() == everything.withheld()


def test_a_filtered_count_that_stands_first_is_not_compared_with_all_rows() -> None:
    """It said that 90 % of the rows were withheld where none was."""
    m = laplace(2)
    pieces = (
        noisy("count where x > 0.9", [[70], [20]], F(1), m),
        noisy("count", [[700], [200]], F(1), m),
        noisy("total", [[900]], F(1), m),
    )
    columns = (
        Column("rare", "count", (0,), "count_if(x > 0.9)"),
        Column("n", "count", (1,), "count()"),
    )
    answer = replace(counted([700, 200]), pieces=pieces, columns=columns)
    share = answer.withheld()
    assert share is not None
    assert share.value == 0
    assert share.high < 0.03
    assert replace(answer, columns=columns[:1]).withheld() is None, (
        "nothing of the kind that total is compared with"
    )


@pytest.mark.parametrize("weighing", [None, Weighing("root", 2, 2, 20)], ids=str)
def test_nothing_is_said_where_the_total_has_other_weights_than_the_groups(
    weighing: Weighing | None,
) -> None:
    """Groups with L2 weights were compared with a total with L1 weights."""
    assert replace(total([700, 200], 1000), weighing=weighing).withheld() is None
    assert total([700, 200], 1000).withheld() is not None
