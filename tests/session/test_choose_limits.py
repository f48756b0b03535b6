"""The choice of limits: by arithmetic on histograms that are known, and by the exact law of the
noise for those that are not.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import sfumato as sf
from sfumato.mechanisms import Gaussian, Laplace
from sfumato.noise.weighted_sums import sum_bound
from sfumato.session.choose_limits import (
    DEFAULT_BOUNDS,
    FINEST,
    MISSED,
    NEXT,
    PIECES,
    ROW_GROUPS,
    SUM_GROUPS,
    SURE,
    WIDEST,
    NoisyHistogram,
    count_noise,
    histogram_share,
    noise_bound,
    row_edges,
    row_limit,
    value_bounds,
    value_edges,
)
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


def rows(**counts: float) -> NoisyHistogram:
    """Units with about so many rows: n4=100 is a hundred units with three or four."""
    cells = [0.0] * CELLS
    for name, count in counts.items():
        cells[(int(name[1:]) - 1).bit_length()] = count
    return NoisyHistogram(tuple(cells), 50.0, 10.0, lambda cells: 5.0 * cells)


def test_a_unit_is_in_the_cell_of_its_power_of_two() -> None:
    edges = row_edges()
    for j in range(MOST_ROWS.bit_length()):
        assert edges[j] <= 2**j < edges[j + 1]
        assert edges[j] == (1 if not j else 2 ** (j - 1) + 1)
    assert len(edges) == MOST_ROWS.bit_length() + 2
    assert all(a < b for a, b in pairwise(edges))


@pytest.mark.parametrize("noise", [0.1, 1, 10, 1000])
def test_the_row_limit_has_the_least_error_of_all_powers_of_two(noise: float) -> None:
    histogram = rows(n1=500, n2=1100, n4=2000, n8=1100, n16=200, n32=30)
    counts, means = [500, 1100, 2000, 1100, 200, 30], [1, 2, 3.5, 6.5, 12.5, 24.5]
    errors = {
        2**j: (2**j * noise) ** 2
        + (sum(c * max(m - 2**j, 0) for c, m in zip(counts, means, strict=True)) / ROW_GROUPS) ** 2
        for j in range(6)
    }
    limit, rest = row_limit(histogram, noise)
    assert limit == min(errors, key=lambda k: errors[k])
    assert rest is not None
    more = sum(counts[limit.bit_length() :])
    assert rest[0] == Fraction(round(1000 * more / sum(counts)), 1000)


def test_more_noise_never_gives_a_higher_limit() -> None:
    histogram = rows(n1=500, n2=1100, n4=2000, n8=1100, n16=200, n256=90)
    limits = [row_limit(histogram, 2.0**j)[0] for j in range(-8, 16)]
    assert limits == sorted(limits, reverse=True)
    assert limits[0] == 256
    assert limits[-1] == 1


def test_what_is_not_seen_is_not_there() -> None:
    """A high cell below what noise reaches is left alone, unless it follows one that is seen."""
    assert row_limit(rows(n2=1000, n1024=49), 0.001)[0] == 2
    assert row_limit(rows(n2=1000, n4=11, n8=9, n16=49), 0.001)[0] == 4
    assert row_limit(rows(n2=1000, n1024=51), 0.001)[0] == 1024
    assert (
        row_limit(
            NoisyHistogram((0.0,) * (CELLS - 1) + (1e6,), 50, 10, lambda cells: 5.0 * cells), 1e-9
        )[0]
        == MOST_ROWS
    )


def test_of_an_empty_histogram_the_default_is_said_to_be_one() -> None:
    assert row_limit(rows(n1=49), 1) == (1, None)
    edges = value_edges(Type.of("float64"))
    assert value_bounds(
        edges, NoisyHistogram((9.0,) * (len(edges) - 1), 50, 10, lambda cells: 5.0 * cells), 1
    ) == (DEFAULT_BOUNDS, None)


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
        (low, high), tails = value_bounds(
            edges, NoisyHistogram(tuple(counts), 50, 10, lambda cells: 5.0 * cells), 1e-6
        )
        assert low <= 0 <= high
        assert tails is not None
        assert grid_of("x", column_type, low, high).low < grid_of("x", column_type, low, high).high
        assert max(-low, high) <= 2**WIDEST
        if edges[cell] >= -(2**WIDEST) and edges[cell + 1] <= 2**WIDEST:
            assert low <= edges[cell]
            assert high >= edges[cell + 1]
    assert grid_of("x", column_type, *DEFAULT_BOUNDS)


@pytest.mark.parametrize("noise", [0.01, 1, 10, 100, 10_000])
def test_bounds_have_the_least_error_of_all_pairs(noise: float) -> None:
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
    histogram = NoisyHistogram(tuple(counts), 50, 10, lambda cells: 5.0 * cells)
    middles = [float(a + b) / 2 for a, b in pairwise(edges)]

    def error(low: float, high: float) -> float:
        lost = sum(c * max(low - m, m - high, 0.0) for c, m in zip(counts, middles, strict=True))
        return (noise * max(-low, high)) ** 2 + (lost / SUM_GROUPS) ** 2

    (low, high), _ = value_bounds(edges, histogram, noise)
    ends = [float(edge) for edge in edges if -8 <= edge <= 64]
    least = min(error(a, b) for a in ends if a <= 0 for b in ends if b >= 0 and a < b)
    assert error(float(low), float(high)) == pytest.approx(least, rel=1e-12)


def test_shares_beyond_are_those_of_all_cells_up_to_the_last_seen_one() -> None:
    edges = value_edges(Type.of("float64"))
    counts = [0.0] * (len(edges) - 1)
    counts[edges.index(Fraction(1))] = 900.0
    counts[edges.index(Fraction(2))] = 40.0
    counts[edges.index(Fraction(1024))] = 60.0  # further than any window of cells
    (low, high), tails = value_bounds(
        edges, NoisyHistogram(tuple(counts), 50, 10, lambda cells: 0.5 * cells), 1e3
    )
    assert (low, high) == (0, 2)
    assert tails == (0, Fraction(1, 10), tails[2], 0, 2048)  # type: ignore[index]  # not None
    counts[edges.index(Fraction(1024))] = (
        49.0  # no longer seen: told is of two cells beyond the bounds, and said where they end
    )
    (low, high), tails = value_bounds(
        edges, NoisyHistogram(tuple(counts), 50, 10, lambda cells: 0.5 * cells), 10
    )
    assert (low, high) == (0, 2)
    assert tails == (0, Fraction(43, 1000), tails[2], 0, 8)  # type: ignore[index]  # not None


def test_who_has_many_times_the_limit_has_more_than_it() -> None:
    """Only four cells beyond the limit were added up: who had more than sixteen times the limit was
    in none of them.
    """
    limit, rest = row_limit(rows(n1=100_000, n256=1300), 1000.0)
    assert limit == 1
    assert rest is not None
    assert rest[0] == Fraction(13, 1000)
    assert abs(Fraction(1300, 101_300) - rest[0]) <= rest[1] <= Fraction(2, 1000)
    assert rest[2] == 256
    assert row_limit(
        NoisyHistogram((0.0,) * (CELLS - 1) + (1e6,), 50, 10, lambda cells: 5.0 * cells), 1e9
    )[1] == (1, Fraction(1, 1000), 2**62 - 1)


@pytest.mark.parametrize(
    ("counts", "share", "within"),
    [
        ((100.0, 10.0), Fraction("0.091"), (0.0, 21 / 110)),
        ((100.0, -5.0), Fraction(0), (0.0, 6 / 95)),
        ((3.0, 2.0), Fraction("0.4"), (0.0, 1.0)),
        ((-3.0, -2.0), Fraction("0.5"), (0.0, 1.0)),
        ((-30.0, -20.0), Fraction("0.5"), (0.0, 1.0)),
        ((0.0, 100.0), Fraction(1), (89 / 100, 1.0)),
    ],
)
def test_the_error_covers_all_shares_that_the_noise_allows(
    counts: tuple[float, ...], share: Fraction, within: tuple[float, float]
) -> None:
    """Either cell may be off by eleven."""
    estimate, error = NoisyHistogram(counts, 50, 10, lambda cells: 11.0 * cells).share_beyond(
        range(1, 2), range(1)
    )
    assert estimate == share
    assert estimate - error <= within[0] + 1e-12
    assert estimate + error >= within[1] - 1e-12
    assert error <= max(within[1] - estimate, estimate - within[0]) + Fraction(1, 1000)


@pytest.mark.parametrize(
    "law",
    [Laplace(sensitivity=1, epsilon="0.05"), Gaussian(sensitivity=1, rho="0.01")],
    ids=["laplace", "gaussian"],
)
@pytest.mark.parametrize("cells", [CELLS, 148])
def test_the_noise_of_no_run_of_cells_is_further_off(law: Laplace | Gaussian, cells: int) -> None:
    """All runs of up to 24 cells at once, chosen by the noise itself, as limits are: 2,000
    histograms, false alarms below 10⁻⁶ (P(Binomial(2000, 0.05) > 151) < 10⁻⁶). A bound for one run
    by itself does not pass.
    """
    noise = law.perturb(np.zeros((2000, cells), dtype=np.int64))
    before = np.concatenate([np.zeros((2000, 1)), np.cumsum(noise, axis=1)], axis=1)
    beyond, alone = np.zeros(2000, dtype=bool), np.zeros(2000, dtype=bool)
    for length in range(1, min(cells, 24) + 1):
        furthest = np.abs(before[:, length:] - before[:, :-length]).max(axis=1)
        beyond |= furthest > noise_bound(law.law, length, cells)
        alone |= furthest > float(sum_bound(((law.law, Fraction(1), length),), MISSED))
    assert beyond.sum() <= 151
    assert alone.sum() > 151


@pytest.mark.parametrize(
    "law",
    [Laplace(sensitivity=1 << 20, epsilon="0.025"), Gaussian(sensitivity=1 << 20, rho="0.01")],
    ids=["laplace", "gaussian"],
)
@pytest.mark.parametrize("cells", [CELLS, 148])
def test_noise_alone_is_seen_in_any_cell_with_the_stated_probability(
    law: Laplace | Gaussian, cells: int
) -> None:
    """By the law itself: at most 1 in 10,000 for all empty cells together, at most 5 % for one
    beside a seen one. A cut one per cent lower would not do.
    """
    sure, near = (law.law.quantile(1 - rate) for rate in (SURE / cells, NEXT))
    assert cells * float(law.law.tail(sure + 1, "up")) <= SURE
    assert float(law.law.tail(near + 1, "up")) <= NEXT
    assert cells * float(law.law.tail(round(sure * 0.99), "down")) > SURE
    assert float(law.law.tail(round(near * 0.99), "down")) > NEXT


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
