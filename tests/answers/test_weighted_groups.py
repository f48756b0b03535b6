"""Weighted sums of cells: widths against the law of the same sum, counted by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sfumato import mechanisms as mech
from sfumato.answers.answer_records import Column, Noisy
from sfumato.answers.group_frames import Frames
from sfumato.answers.weighted_groups import WeightedGroups, _coarse, quotient_of_groups
from sfumato.noise.weighted_sums import Spread, sum_bound

GROUPS = 5
NOISE = mech.Laplace(sensitivity=1, epsilon=Fraction(1, 2))
PIECE = Noisy("count", [[100 * (i + 1)] for i in range(GROUPS)], 1, NOISE)
CELLS = WeightedGroups.of(
    Column("n", "count", (0,)), PIECE, np.array([100.0 * (i + 1) for i in range(GROUPS)])
)
MISSING = Fraction(1, 20)
ROWS = np.arange(GROUPS)
ALL = Frames(ROWS, np.zeros(GROUPS, dtype=np.int64), np.full(GROUPS, GROUPS))
RUNNING = Frames(ROWS, np.zeros(GROUPS, dtype=np.int64), ROWS + 1)
BEFORE = Frames(ROWS, np.maximum(ROWS - 1, 0), ROWS)


def law() -> Spread:
    result = PIECE.law
    assert result is not None
    return result


def widths(weighted: WeightedGroups | None) -> list[float]:
    assert weighted is not None
    low, high = weighted.ends(MISSING, 1)
    np.testing.assert_allclose((low + high) / 2, weighted.value, rtol=1e-12)
    return ((high - low) / 2).tolist()


def bound(*terms: tuple[str, int]) -> float:
    return float(
        sum_bound(tuple((law(), Fraction(weight), count) for weight, count in terms), MISSING)
    )


def test_running_sums_have_the_law_of_so_many_draws() -> None:
    running = CELLS.over(RUNNING, is_mean=False)
    assert running is not None
    assert running.value.tolist() == [100, 300, 600, 1000, 1500]
    assert widths(running) == pytest.approx([bound(("1", k)) for k in range(1, GROUPS + 1)])


def test_a_mean_of_all_groups() -> None:
    mean = CELLS.over(ALL, is_mean=True)
    assert widths(mean) == pytest.approx([bound(("1/5", GROUPS))] * GROUPS)


def test_a_difference_of_neighbours_and_of_itself() -> None:
    before = CELLS.picked(BEFORE, Fraction(0))
    change = CELLS.plus(before.times(-1.0))
    assert change is not None
    assert change.value.tolist() == [100] * GROUPS
    assert widths(change) == pytest.approx([bound(("1", 1)), *[bound(("1", 2))] * (GROUPS - 1)])
    assert widths(CELLS.plus(CELLS.times(-1.0))) == pytest.approx([0.0] * GROUPS, abs=1e-9)


def test_a_cell_less_the_mean_counts_its_own_noise_once() -> None:
    mean = CELLS.over(ALL, is_mean=True)
    assert mean is not None
    apart = CELLS.plus(mean.times(-1.0))
    assert widths(apart) == pytest.approx([bound(("4/5", 1), ("1/5", 4))] * GROUPS, rel=1e-6)


def test_sums_of_sums_side_by_side() -> None:
    pairs = Frames(ROWS, np.array([0, 0, 2, 2, 4]), np.array([2, 2, 4, 4, 5]))
    inner = CELLS.over(pairs, is_mean=False)
    assert inner is not None
    firsts = inner.picked(Frames(ROWS, np.array([0, 2, 4]), np.array([1, 3, 5])), None)
    three = np.arange(3)
    total = firsts.over(Frames(three, np.zeros(3, dtype=np.int64), np.full(3, 3)), is_mean=False)
    assert widths(total) == pytest.approx([bound(("1", GROUPS))] * 3)
    again = inner.over(ALL, is_mean=False)  # each cell would count twice
    assert again is None


def test_shares_add_the_noise_of_the_total() -> None:
    total = CELLS.over(ALL, is_mean=False)
    assert total is not None
    low, high = quotient_of_groups(CELLS, total, MISSING)
    share = CELLS.value / total.value
    assert (low < share).all()
    assert (share < high).all()
    for theta, end in zip(share, high - share, strict=True):
        text = str(Fraction(theta).limit_denominator(1500))
        rest = str(1 - Fraction(text))
        near = bound((rest, 1), (text, GROUPS - 1)) / 1500
        assert near * 0.95 < end < near * 1.1


def test_cells_of_different_spaces_never_join() -> None:
    moved = WeightedGroups.of(
        Column("n", "count", (0,), numbers={"space": Fraction(1)}), PIECE, CELLS.value
    )
    assert CELLS.plus(moved) is None


def test_many_draws_count_as_a_few_more() -> None:
    assert [_coarse(count) for count in range(129)] == list(range(129))
    assert all(count <= _coarse(count) <= count * 65 / 64 for count in range(1, 5000))
