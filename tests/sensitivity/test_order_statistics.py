"""Order statistics against exhaustive search: every dataset over a small range, every dataset at
every distance from it.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.sensitivity import order_statistics as stats

Data = tuple[int, ...]

WORLDS = [(4, 3), (3, 4), (2, 5)]
"""The largest value, and how many there are."""


def world(high: int, n: int) -> list[Data]:
    return list(itertools.product(range(high + 1), repeat=n))


def hamming(a: Data, b: Data) -> int:
    return sum(x != y for x, y in zip(a, b, strict=True))


def at(x: Data, r: int) -> int:
    return sorted(x)[r - 1]


def local(x: Data, r: int, high: int) -> int:
    """The largest move of the r-th smallest when any one value becomes any other."""
    return max(
        abs(at(x, r) - at((*x[:i], v, *x[i + 1 :]), r))
        for i in range(len(x))
        for v in range(high + 1)
    )


def sorted_array(x: Data) -> np.ndarray:
    return np.array(sorted(x), dtype=np.int64)


@pytest.mark.parametrize(("high", "n"), WORLDS)
def test_everything_against_exhaustive_search(high: int, n: int) -> None:
    datasets = world(high, n)
    beta = 0.3
    for r in range(1, n + 1):
        locals_ = {x: local(x, r, high) for x in datasets}
        for x in itertools.combinations_with_replacement(range(high + 1), n):
            reached = [0] * (n + 1)  # the largest local sensitivity at each distance
            to = dict.fromkeys(
                range(high + 1), n + 1
            )  # the distance to a dataset whose statistic is z
            for y in datasets:
                d = hamming(x, y)
                reached[d] = max(reached[d], locals_[y])
                to[at(y, r)] = min(to[at(y, r)], d)
            within = list(itertools.accumulate(reached, max))
            data = sorted_array(x)
            assert stats.local(data, r, 0, high) == within[0] == locals_[x]
            assert [stats.at_distance(data, r, k, 0, high) for k in range(n + 1)] == within
            for bound in range(high):
                first = next((k for k, a in enumerate(within) if a > bound), n)
                assert stats.distance_of_sum(data, (r,), bound, 0, high) == first
            assert stats.distance_of_sum(data, (r,), high, 0, high) == n
            k, reach = stats.smooth(data, r, beta, 0, high)
            assert math.exp(-beta * k) * reach == pytest.approx(
                max(math.exp(-beta * j) * a for j, a in enumerate(within)), rel=1e-14
            )
            assert stats.changes_needed(data, r, np.arange(high + 1)).tolist() == list(to.values())


@pytest.mark.parametrize(("high", "n"), WORLDS)
def test_distances_and_smoothness_between_neighbours(high: int, n: int) -> None:
    """Distances move by at most 1 and the smooth sensitivity by at most a factor e^β, for every
    pair of neighbours and every rank.
    """
    beta = 0.4

    def measures(x: Data, r: int) -> tuple[np.ndarray, float]:
        data, others = sorted_array(x), tuple({r, n})
        k, reach = stats.smooth(data, r, beta, 0, high)
        distances = [
            stats.distance_of_sum(data, ranks, bound, 0, high)
            for ranks in ((r,), others)
            for bound in range(2 * high)
        ]
        return np.append(distances, stats.changes_needed(data, r, np.arange(high + 1))), math.exp(
            -beta * k
        ) * reach

    for r in range(1, n + 1):
        measured = {
            x: measures(x, r) for x in itertools.combinations_with_replacement(range(high + 1), n)
        }
        for x, (d, s) in measured.items():
            for i, v in itertools.product(range(n), range(high + 1)):
                e, t = measured[tuple(sorted((*x[:i], v, *x[i + 1 :])))]
                assert np.abs(d - e).max() <= 1
                assert s <= t * math.exp(beta) * (1 + 1e-12)


@pytest.mark.parametrize(("high", "n"), WORLDS)
def test_the_distance_of_a_difference_is_safe(high: int, n: int) -> None:
    """For the range between two ranks: where it is positive, no neighbour's range differs by more
    than the bound.
    """
    low_rank, high_rank = 1, n
    for x in itertools.combinations_with_replacement(range(high + 1), n):
        spread = at(x, high_rank) - at(x, low_rank)
        moved = max(
            abs(spread - (at(y, high_rank) - at(y, low_rank)))
            for i in range(n)
            for v in range(high + 1)
            for y in [(*x[:i], v, *x[i + 1 :])]
        )
        for bound in range(2 * high):
            assert (
                stats.distance_of_sum(sorted_array(x), (low_rank, high_rank), bound, 0, high) == 0
                or moved <= bound
            )


@given(
    x=st.lists(st.integers(0, 60), min_size=1, max_size=40),
    rank=st.fractions(0, 1),
    beta=st.sampled_from([0.001, 0.03, 0.3, 2.0]),
    least=st.sampled_from([0.0, 1e-6, 0.5, 7.0]),
)
def test_smooth_by_halving_is_the_largest(
    x: list[int], rank: Fraction, beta: float, least: float
) -> None:
    """Against the definition; with a `least`, the same wherever it is above that."""
    data, r = np.array(sorted(x), dtype=np.int64), stats.rank_of(rank, len(x))
    truth = max(
        math.exp(-beta * k) * stats.at_distance(data, r, k, 0, 60) for k in range(len(x) + 1)
    )
    k, reach = stats.smooth(data, r, beta, 0, 60, least)
    if truth > least * (1 + 1e-12):
        assert math.exp(-beta * k) * reach == pytest.approx(truth, rel=1e-13)
        assert stats.at_distance(data, r, k, 0, 60) >= reach
    else:
        assert (k, reach) == (0, 0) or math.exp(-beta * k) * reach <= least * (1 + 1e-12)


@pytest.mark.parametrize("n", [1480, 1491, 1500, 100_000, 1_000_000])
def test_equal_values_of_any_number(n: int) -> None:
    """Nothing changes until half of them have, at a distance where e^(−βk) is long zero in doubles:
    `smooth` raises nothing and returns no NaN, but (0, 0), for below the least value.
    """
    data, r = np.full(n, 5), (n + 1) // 2
    assert stats.local(data, r, 0, 10) == 0
    assert stats.distance_of_sum(data, (r,), 1, 0, 10) == min(r, n - r + 1) - 1
    assert stats.smooth(data, r, 0.05, 0, 10, 1e-6) == (0, 0)
    assert stats.changes_needed(data, r, np.array([0, 5, 10])).tolist() == [r, 0, n - r + 1]


@pytest.mark.parametrize(
    ("q", "n", "rank"),
    [
        ("1/2", 5, 3),
        ("1/2", 4, 2),
        ("0", 7, 1),
        ("1", 7, 7),
        ("1/4", 8, 2),
        ("3/4", 9, 7),
        ("1/3", 3, 1),
    ],
)
def test_ranks(q: str, n: int, rank: int) -> None:
    assert stats.rank_of(Fraction(q), n) == rank
