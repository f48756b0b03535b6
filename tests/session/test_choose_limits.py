"""The choice of limits: by arithmetic on histograms that are known, and by the exact law of the
noise for those that are not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import sfumato as sf
from sfumato.mechanisms import Gaussian, Laplace
from sfumato.session.choose_limits import (
    DEFAULT_BOUNDS,
    FINEST,
    PIECES,
    ROW_GROUPS,
    SUM_GROUPS,
    WIDEST,
    Aim,
    RowLimit,
    count_noise,
    group_limit,
    histogram_share,
    row_edges,
    row_limit,
    value_bounds,
    value_edges,
)
from sfumato.session.noisy_cells import SURE, HistogramNoise, NoisyHistogram, Outward
from sfumato.tables.declare.declaration import MOST_ROWS
from sfumato.tables.expr.grids import grid_of
from sfumato.tables.expr.types import Type

TYPES = [
    "int8",
    "int16",
    "int32",
    "int64",
    "float32",
    "float64",
    "decimal(1,1)",
    "decimal(5,2)",
    "decimal(20,0)",
    "decimal(38,10)",
    "decimal(38,38)",
]
CELLS = len(row_edges()) - 1


# noise of one half: a cell of 12 surely shows people, one of 2 shows none
FINE = Laplace(sensitivity=1, epsilon=2).law


def histogram(counts: Sequence[float]) -> NoisyHistogram:
    return NoisyHistogram(tuple(counts), HistogramNoise(FINE, 1.0, len(counts)))


def rows(**counts: float) -> NoisyHistogram:
    """Units with about so many rows: n4=100 is a hundred units with three or four."""
    cells = [0.0] * CELLS
    for name, count in counts.items():
        cells[(int(name[1:]) - 1).bit_length()] = count
    return histogram(cells)


def aim(noise: float, groups: int = 1) -> Aim:
    return Aim(noise, groups, groups, lean=False)


def test_a_unit_is_in_the_cell_of_its_power_of_two() -> None:
    edges = row_edges()
    for j in range(MOST_ROWS.bit_length()):
        assert edges[j] <= 2**j < edges[j + 1]
        assert edges[j] == (1 if not j else 2 ** (j - 1) + 1)
    assert len(edges) == MOST_ROWS.bit_length() + 2
    assert all(a < b for a, b in pairwise(edges))


@pytest.mark.parametrize("noise", [0.1, 1, 10, 1000, 10_000])
@pytest.mark.parametrize("groups", [1, 10, 100])
def test_the_row_limit_has_the_least_error_of_all_powers_of_two(noise: float, groups: int) -> None:
    """By the rows of units, written out: those of a cell are spread evenly over it."""
    counts = [500, 1100, 2000, 1100, 200, 30]
    units = np.concatenate(
        [
            np.repeat(np.arange(1 if not j else 2 ** (j - 1) + 1, 2**j + 1), 1600)
            for j in range(len(counts))
        ]
    )
    cells = np.ceil(np.log2(units)).astype(int)
    each = np.array(counts)[cells] / np.bincount(cells)[cells]
    errors = {
        2**j: (2**j * noise) ** 2
        + (float((each * np.maximum(units - 2**j, 0)).sum()) / groups) ** 2
        for j in range(6)
    }
    chosen = row_limit(rows(**{f"n{2**j}": c for j, c in enumerate(counts)}), aim(noise, groups))
    assert errors[chosen.rows] == pytest.approx(min(errors.values()))
    assert chosen.rest is not None
    share, _, _, lost, most, least = chosen.rest
    assert share == Fraction(round(1000 * sum(counts[chosen.rows.bit_length() :]) / 4930), 1000)
    truth = float((each * np.maximum(units - chosen.rows, 0)).sum() / (each * units).sum())
    assert abs(lost - truth) <= 0.001
    assert least <= lost <= most
    assert least <= truth <= most
    within = float((each * np.minimum(units, chosen.rows)).sum())
    assert chosen.fill == pytest.approx(within / (chosen.rows * 4930))


def test_the_stated_range_of_rows_beyond_covers_every_place_within_the_cells() -> None:
    """The middle of 9 to 16 rows was assumed, and stated as the least: 3.5 times the truth."""
    chosen = row_limit(rows(n1=3000, n16=3000), aim(100.0, 30))
    assert chosen.rows == 8
    assert chosen.rest is not None
    *_, lost, most, least = chosen.rest
    shares = [Fraction(n - 8, n + 1) for n in range(9, 17)]
    assert all(least <= share <= most for share in shares)
    assert least == Fraction(99, 1000), "one tenth, less the noise, rounded down"
    assert shares[0] < lost, "the twin: the estimate is no lower bound"


def test_weak_evidence_is_better_than_none() -> None:
    """Five people in noise of one half are not sure, and they are likelier than a default."""
    people = rows(n8=5)
    cells = Outward(people.counts, people.noise)
    assert cells.seen_last(SURE) == -1
    assert row_limit(people, aim(1e-3)).rows == 8
    edges = value_edges(Type.of("float64"))
    counts = [0.0] * (len(edges) - 1)
    counts[edges.index(Fraction(32))] = 5.0
    assert value_bounds(edges, histogram(counts), aim(1e-3))[0] == (0, 64)


def test_the_noise_of_a_mean_is_divided_by_what_counts() -> None:
    """All units have five to eight rows. A limit of 4 has the same noise in a mean as one of 1,
    and leaves out less.
    """
    people = rows(n8=1000)
    total, means = aim(5.0), Aim(5.0, 30, 1, lean=False, mean=True)
    assert row_limit(people, total).rows == 8
    assert row_limit(people, means).rows == 8
    noisy = Aim(400.0, 30, 1, lean=False, mean=True)
    assert row_limit(people, noisy).rows == 4
    assert row_limit(people, Aim(400.0, 30, 1, lean=False)).rows == 1


VOTES = Aim(5.0, people=False)


def test_the_limit_of_groups_lets_a_group_show_with_the_fewest_people() -> None:
    """Weighted votes: one group, whatever units have, up to four each. Where most units are in
    many groups, a threshold with Gaussian noise needs fewer people. Counts of people lose them.
    """
    for people in (rows(n1=1000, n2=300, n4=20), rows(n1=100, n4=1000), rows(n4=1000)):
        assert group_limit(people, VOTES).rows == 1
    assert group_limit(rows(n1=10, n16=1000), VOTES).rows == 16
    assert group_limit(rows(n1=100, n4=1000), Aim(5.0, lean=False)).rows == 4
    assert group_limit(rows(n1=1), VOTES) == RowLimit(1, None)


def test_more_noise_never_gives_a_higher_limit() -> None:
    people = rows(n1=500, n2=1100, n4=2000, n8=1100, n16=200, n256=90)
    limits = [row_limit(people, aim(2.0**j)).rows for j in range(-2, 22)]
    assert limits == sorted(limits, reverse=True)
    assert limits[0] == 256
    assert limits[-1] == 1


def test_more_groups_never_give_a_higher_limit() -> None:
    people = rows(n1=500, n2=1100, n4=2000, n8=1100, n16=200, n256=90)
    limits = [row_limit(people, aim(5.0, 2**j)).rows for j in range(12)]
    assert limits == sorted(limits, reverse=True)
    assert limits[0] > limits[-1]


def test_what_is_not_seen_is_not_there() -> None:
    """A high cell below what noise reaches is left alone, unless it follows one that is seen."""
    assert row_limit(rows(n2=1000, n1024=5), aim(0.001)).rows == 2
    assert row_limit(rows(n2=1000, n4=5, n8=5, n16=1), aim(0.001)).rows == 8
    assert row_limit(rows(n2=1000, n1024=12), aim(0.001)).rows == 1024
    assert row_limit(histogram([0.0] * (CELLS - 1) + [1e6]), aim(1e-9)).rows == MOST_ROWS


def test_of_an_empty_histogram_the_default_is_said_to_be_one() -> None:
    assert row_limit(rows(n1=2), aim(1)) == RowLimit(1, None)
    edges = value_edges(Type.of("float64"))
    assert value_bounds(edges, histogram([0.5] * (len(edges) - 1)), aim(1)) == (
        DEFAULT_BOUNDS,
        None,
    )


@pytest.mark.parametrize("name", TYPES)
def test_edges_cover_a_type_and_every_learned_pair_has_a_grid(name: str) -> None:
    column_type = Type.of(name)
    edges = value_edges(column_type)
    assert all(a < b for a, b in pairwise(edges))
    assert [-edge for edge in reversed(edges)] == list(edges)
    assert Fraction(0) in edges
    if column_type.limits is not None:
        assert edges[0] <= column_type.limits[0]
        assert edges[-1] >= column_type.limits[1]
    for cell in range(len(edges) - 1):
        counts = [0.0] * (len(edges) - 1)
        counts[cell] = 1000.0
        (low, high), tails = value_bounds(edges, histogram(counts), aim(1e-6))
        assert low <= 0 <= high
        assert tails is not None
        assert grid_of("x", column_type, low, high).low < grid_of("x", column_type, low, high).high
        assert max(-low, high) <= 2**WIDEST
        if edges[cell] >= -(2**WIDEST) and edges[cell + 1] <= 2**WIDEST:
            assert low <= edges[cell]
            assert high >= edges[cell + 1]
    assert grid_of("x", column_type, *DEFAULT_BOUNDS)


@pytest.mark.parametrize("noise", [0.01, 1, 10, 100, 10_000])
@pytest.mark.parametrize("fill", [1.0, 0.1])
def test_bounds_have_the_least_error_of_all_pairs(noise: float, fill: float) -> None:
    edges = value_edges(Type.of("float64"))
    counts = [0.0] * (len(edges) - 1)
    inside = {
        -8: 120.0,
        -4: 300.0,
        0: 700.0,
        1: 900.0,
        2: 2000.0,
        4: 1500.0,
        8: 400.0,
        16: 200.0,
        32: 80.0,
    }
    for low, count in inside.items():
        counts[edges.index(Fraction(low))] = count
    first = edges.index(Fraction(-8))
    counts[first + 2 : edges.index(Fraction(1))] = [20.0] * (edges.index(Fraction(1)) - first - 2)
    middles = [float(a + b) / 2 for a, b in pairwise(edges)]

    def error(low: float, high: float) -> float:
        lost = sum(c * max(low - m, m - high, 0.0) for c, m in zip(counts, middles, strict=True))
        return noise**2 * (low**2 + high**2) + (fill * lost / 4) ** 2

    (low, high), _ = value_bounds(edges, histogram(counts), aim(noise, 4), fill)
    ends = [float(edge) for edge in edges if -8 <= edge <= 64]
    least = min(error(a, b) for a in ends if a <= 0 for b in ends if b >= 0 and a < b)
    assert error(float(low), float(high)) == pytest.approx(least, rel=1e-12)


def test_cells_next_to_zero_do_not_hide_the_other_side() -> None:
    """Delays in minutes are whole numbers in a column of floats: 32 empty cells lie between -1 and
    1, and most flights leave early. The search once ended at 0.
    """
    edges = value_edges(Type.of("float64"))
    counts = [0.0] * (len(edges) - 1)
    for low, count in {-8: 840.0, -4: 580.0, -2: 270.0, -1: 240.0}.items():
        counts[edges.index(Fraction(low))] = count
    for low, count in {0: 225.0, 1: 120.0, 2: 170.0, 4: 220.0, 8: 270.0, 16: 300.0}.items():
        counts[edges.index(Fraction(low))] = count
    for low, count in {32: 250.0, 64: 190.0, 128: 97.0, 256: 20.0}.items():
        counts[edges.index(Fraction(low))] = count
    law = Laplace(sensitivity=1, epsilon="0.025")
    highs = []
    for _ in range(20):
        drawn = law.perturb(np.round(counts).astype(np.int64))
        noisy = NoisyHistogram(tuple(map(float, drawn)), HistogramNoise(law.law, 1.0, len(counts)))
        (low, high), _ = value_bounds(edges, noisy, Aim(14.0), 0.2)
        assert low < 0
        highs.append(high)
    assert sorted(highs)[5] >= 64


def test_shares_beyond_are_those_of_all_cells_up_to_the_last_seen_one() -> None:
    edges = value_edges(Type.of("float64"))
    counts = [0.0] * (len(edges) - 1)
    counts[edges.index(Fraction(1))] = 900.0
    counts[edges.index(Fraction(2))] = 40.0
    counts[edges.index(Fraction(1024))] = 60.0  # further than any window of cells
    (low, high), tails = value_bounds(edges, histogram(counts), aim(1e3, 4))
    assert (low, high) == (0, 2)
    assert tails == (0, Fraction(1, 10), tails[2], 0, 2048)  # type: ignore[index]  # not None
    # no longer seen: told is of two cells beyond the bounds, and said where they end
    counts[edges.index(Fraction(1024))] = 5.0
    (low, high), tails = value_bounds(edges, histogram(counts), aim(10, 4))
    assert (low, high) == (0, 2)
    assert tails == (0, Fraction(43, 1000), tails[2], 0, 8)  # type: ignore[index]  # not None


def test_who_has_many_times_the_limit_has_more_than_it() -> None:
    """Only four cells beyond the limit were added up: who had more than sixteen times the limit was
    in none of them.
    """
    chosen = row_limit(rows(n1=100_000, n256=1300), aim(1000.0, 100))
    assert chosen.rows == 1
    assert chosen.rest is not None
    assert chosen.rest[0] == Fraction(13, 1000)
    assert abs(Fraction(1300, 101_300) - chosen.rest[0]) <= chosen.rest[1] <= Fraction(2, 1000)
    assert chosen.rest[2] == 256
    # with 129 to 256 rows each, and all but one of them beyond the limit
    assert Fraction(1300 * 128, 101_300 + 1300 * 128) < chosen.rest[4]
    assert chosen.rest[4] < Fraction(8, 10)
    rest = row_limit(histogram([0.0] * (CELLS - 1) + [1e6]), aim(1e9)).rest
    assert rest is not None
    assert (rest[0], rest[2], rest[4]) == (1, 2**62 - 1, 1)


def test_what_a_limit_is_for() -> None:
    """A question of the whole table, of public groups, of means; and small groups for all."""
    promise = sf.Pure("0.3")
    alone = Aim.for_question(promise, parts=1)
    assert alone == Aim(count_noise(promise, 1), 1, 1)
    assert alone.noise == pytest.approx(2**0.5 / 0.3)
    some = Aim.for_question(promise, row_groups=60, sum_groups=6)
    assert some == Aim(count_noise(promise), 60, 6)
    many = Aim.for_question(promise, row_groups=10**6, sum_groups=10**6)
    assert many == Aim(count_noise(promise), 100, 100)
    assert Aim.for_groups(promise) == Aim(count_noise(promise), ROW_GROUPS, SUM_GROUPS, lean=False)


@pytest.mark.parametrize(
    "promise", [sf.Pure(3), sf.Approx(3, "1e-6"), sf.ZCDP("0.3"), sf.GDP("0.6")], ids=str
)
def test_parts_of_a_promise_add_up_to_it_and_need_no_delta(promise: sf.Guarantee) -> None:
    third = histogram_share(promise, Fraction(1, 3))
    assert 3 * third <= promise
    assert not third.parameters.get("delta")
    assert not 3 * histogram_share(promise, Fraction(101, 300)) <= promise


@pytest.mark.parametrize(
    ("promise", "noise"),
    [
        (
            sf.Pure("0.3"),
            lambda: Laplace(sensitivity=1 << 20, epsilon="0.1").variance ** 0.5 / 2**20,
        ),
        (sf.ZCDP("0.3"), lambda: Gaussian(sensitivity=1 << 20, rho="0.1").variance ** 0.5 / 2**20),
        (
            sf.GDP.from_square(Fraction("0.3")),
            lambda: Gaussian(sensitivity=1 << 20, rho="0.05").variance ** 0.5 / 2**20,
        ),
    ],
    ids=["pure", "zcdp", "gdp"],
)
def test_the_noise_of_the_reference_is_that_of_a_third_of_it(
    promise: sf.Guarantee, noise: Callable[[], float]
) -> None:
    assert PIECES == 3
    assert count_noise(promise) == pytest.approx(noise(), rel=1e-6)


def test_a_part_needs_no_delta() -> None:
    assert histogram_share(sf.Approx(1, "1e-6"), Fraction(1, 6)) == sf.Pure("1/6")
    assert histogram_share(sf.ZCDP(1, "1e-6"), Fraction(1, 6)) == sf.ZCDP("1/6")


def test_the_finest_cell_is_stated() -> None:
    assert Fraction(2) ** FINEST in value_edges(Type.of("float64"))
    assert Fraction(2) ** (FINEST - 1) not in value_edges(Type.of("float64"))
