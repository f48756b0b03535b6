"""Quantiles out of a noisy tree: exact without noise, monotone, and intervals that hold as often as
they say.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from sfumato.answers.answer import Answer
from sfumato.answers.answer_records import Column, Noisy
from sfumato.answers.percentiles import _weight_below, interval, tree_of, values
from sfumato.errors import Refused
from sfumato.guarantees import Pure
from sfumato.mechanisms import Gaussian, Laplace
from sfumato.tables.aggregates.count_tree import CountTree
from sfumato.tables.aggregates.tree_noise import half_widths

ALL = slice(None)
Q = [Fraction(k, 20) for k in range(21)]


def column(q: Any, points: int, name: str = "p") -> Column:
    tree = CountTree.over(points)
    numbers = {
        "low": Fraction(0),
        "high": Fraction(points - 1),
        "q": Fraction(q),
        "step": Fraction(1),
    }
    numbers |= {
        name: Fraction(getattr(tree, name)) for name in ("leaves", "branching", "levels", "shift")
    }
    return Column(name, "percentile", (0,), numbers=numbers)


def tree(points: int, data: list[int], noise: Laplace | Gaussian, *, silent: bool = False) -> Noisy:
    shape = CountTree.over(points)
    out = np.zeros((1, shape.cells), dtype=np.int64)
    shape.count(
        out,
        np.zeros(len(data), dtype=np.int64),
        np.array(data, dtype=np.int64),
        np.ones(len(data), dtype=np.int64),
    )
    return Noisy("tree", out if silent else noise.perturb(out), 1, noise)


@pytest.mark.parametrize("points", [2, 11, 121, 4096, 9000])
def test_without_noise_they_are_the_quantiles(points: int) -> None:
    random, fine = Random(points), CountTree.over(points).points
    for size in (1, 2, 7, 100):
        data = sorted(random.randrange(points) for _ in range(size))
        for q in Q:
            shown = values(
                column(q, points),
                tree(points, data, Laplace(sensitivity=1, scale=1), silent=True),
                ALL,
            )[0]
            low = next(
                z for i, z in enumerate(data) if i + 1 >= q * size
            )  # from here on a part q lies at or below
            high = (
                next(z for i, z in reversed(list(enumerate(data))) if i <= q * size)
                if q < 1
                else points - 1
            )
            if q in (0, 1):
                assert shown <= data[0] + fine if q == 0 else shown >= data[-1] - fine
            else:
                assert low - fine <= shown <= high + fine


def test_a_larger_probability_never_has_a_smaller_value() -> None:
    noise = Laplace(sensitivity=1, scale=20)
    for seed in range(20):
        random = Random(seed)
        released = tree(500, [random.randrange(500) for _ in range(60)], noise)
        shown = [values(column(q, 500), released, ALL)[0] for q in Q]
        assert shown == sorted(shown)


def test_nothing_seen_is_the_middle() -> None:
    empty = Noisy(
        "tree", np.full((1, CountTree.over(11).cells), -3), 1, Laplace(sensitivity=1, scale=1)
    )
    assert values(column("0.9", 11), empty, ALL).tolist() == [5.0]


@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("q", ["1/2", "1/4", "9/10"])
def test_an_interval_holds_as_often_as_it_says(q: str, level: Fraction) -> None:
    """By arithmetic: two leaves, every noise of the exact law that matters."""
    noise, data = Laplace(sensitivity=1, scale=2), {0: 6, 1: 4}
    span, held, covered = range(-24, 25), 0.0, 0.0
    cells = np.array([[data[0] + a, data[1] + b] for a, b in product(span, span)], dtype=np.int64)
    chances = [noise.probability(a) * noise.probability(b) for a, b in product(span, span)]
    low, high = interval(column(q, 2), Noisy("tree", cells, 1, noise), level, ALL)
    true = 0 if Fraction(q) <= Fraction(6, 10) else 1
    for chance, a, b in zip(chances, low, high, strict=True):
        covered += chance
        held += chance * (a <= true <= b)
    assert covered > 1 - 1e-4
    assert held >= float(level)


def test_a_narrower_interval_would_not() -> None:
    """The twin: with a tenth of the width the quantile at the brink is missed too often."""
    noise = Laplace(sensitivity=1, scale=20)
    span = range(-200, 201)
    cells = np.array([[5 + a, 5 + b] for a, b in product(span, span)], dtype=np.int64)
    chances = np.array([noise.probability(a) for a in span])
    both = np.outer(chances, chances).ravel()
    wide = interval(column("1/2", 2), Noisy("tree", cells, 1, noise), Fraction(9, 10), ALL)
    narrow = interval(
        column("1/2", 2),
        Noisy("tree", cells, 1, Laplace(sensitivity=1, scale=2)),
        Fraction(9, 10),
        ALL,
    )
    assert both[(wide[0] <= 0) & (wide[1] >= 0)].sum() >= 0.9 * both.sum()
    assert both[(narrow[0] <= 0) & (narrow[1] >= 0)].sum() < 0.9 * both.sum()


def test_the_release_keeps_its_promise() -> None:
    """By arithmetic: a unit of weight K moves one node of each level by K; the worst ratio of
    probabilities is e^ε, and is reached.
    """
    shape = CountTree.over(121)
    noise = Laplace(sensitivity=3 * shape.levels, epsilon=1)
    ratio = (noise.probability(0) / noise.probability(3)) ** shape.levels
    assert math.log(ratio) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "noise",
    [Laplace(sensitivity=1, scale=6), Gaussian(sensitivity=1, sigma=6)],
    ids=["laplace", "gaussian"],
)
def test_intervals_hold_on_larger_trees(noise: Laplace | Gaussian) -> None:
    """A thousand releases at 80 %: fewer than 700 hits have a chance below 1e-12."""
    data = sorted(Random(1).randrange(200) for _ in range(400))
    hits = 0
    for _ in range(1000):
        low, high = interval(column("1/2", 200), tree(200, data, noise), Fraction(4, 5), ALL)
        hits += bool(low[0] <= data[199] <= high[0])
    assert hits >= 700


@pytest.mark.parametrize("q", ["1/2", "9/10"])
@pytest.mark.parametrize(
    "noise",
    [Laplace(sensitivity=1, scale=2), Gaussian(sensitivity=1, sigma=3)],
    ids=["laplace", "gaussian"],
)
def test_half_widths_and_intervals_hold_in_releases(noise: Laplace | Gaussian, q: str) -> None:
    """50,000 releases at 95 %. At the end of the quantile's leaf the noise stays within the
    half-width in 94.5 to 97 % of them: a chance of 95 % or more has fewer hits with probability
    1e-7, one of 96.4 % or less more hits with 1e-12. Intervals hold more often, because other
    leaves may decide, too. The twin is a tenth narrower.
    """
    part, points, groups = Fraction(q), 121, 10_000
    data = sorted(Random(4).randrange(points) for _ in range(300))
    true = data[math.ceil(part * len(data)) - 1]
    shape, exact = CountTree.over(points), sum(z <= true for z in data) - float(part) * len(data)
    width = half_widths(noise.law, shape, part, Fraction(1, 20)).at(np.array([true + 1]))[0]
    counts = np.repeat(tree(points, data, noise, silent=True).values, groups, axis=0)
    rates = []
    for _ in range(5):
        released = Noisy("tree", noise.perturb(counts), 1, noise)
        below, total = _weight_below(released.values, shape)
        errors = np.abs(below[:, true + 1] - float(part) * total - exact)
        low, high = interval(column(part, points), released, Fraction(19, 20), ALL)
        hits = (errors <= width, (low <= true) & (true <= high), errors <= 0.9 * width)
        rates.append([hit.mean() for hit in hits])
    at_leaf, of_intervals, of_twin = np.mean(rates, axis=0)
    assert 0.945 <= at_leaf <= 0.97
    assert of_intervals >= 0.945
    assert of_twin < 0.945


@pytest.mark.parametrize("points", [2, 60, 101])
def test_levels_are_combined_by_least_squares(points: int) -> None:
    shape = CountTree.over(points)
    b, leaves = shape.branching, shape.branching**shape.levels
    incidence = np.concatenate(
        [np.kron(np.eye(leaves // b**up), np.ones(b**up)) for up in reversed(range(shape.levels))]
    )
    noisy = np.random.default_rng(points).integers(-50, 50, (4, shape.cells))
    exact = np.linalg.lstsq(incidence, noisy.T.astype(float), rcond=None)[0].T
    below, total = _weight_below(noisy, shape)
    assert np.allclose(below[:, 1:], np.cumsum(exact, axis=1)[:, :points])
    assert np.allclose(total, exact.sum(axis=1))


def test_weight_inside_a_run_is_spread_evenly() -> None:
    """9,000 points in runs: the value crosses its run where a straight line would."""
    points, noise = 9000, Laplace(sensitivity=1, scale=1)
    data = list(range(points))
    released = tree(points, data, noise, silent=True)
    for q in (Fraction(1, 3), Fraction(1, 2), Fraction(7, 9)):
        assert values(column(q, points), released, ALL)[0] == pytest.approx(q * points - 0.5, abs=1)
    # and values that were rounded to a grid, from half a step below to half a step above
    near = column("0.3", 11)
    near = replace(near, numbers={**near.numbers, "slack": Fraction(1, 2)})
    released = tree(11, [0, 4, 4, 4, 4, 4, 4, 4, 4, 10], noise, silent=True)
    assert values(near, released, ALL)[0] == pytest.approx(3.5 + 2 / 8)


def test_interpolated_values_never_cross_and_lie_in_their_intervals() -> None:
    noise = Laplace(sensitivity=1, scale=20)
    for seed in range(20):
        random = Random(seed)
        released = tree(5000, [random.randrange(5000) for _ in range(600)], noise)
        shown = [values(column(q, 5000), released, ALL)[0] for q in Q]
        assert shown == sorted(shown)
        for q, value in zip(Q[::5], shown[::5], strict=True):
            low, high = interval(column(q, 5000), released, Fraction(1, 2), ALL)
            assert low[0] <= value <= high[0]


def test_as_a_column_of_an_answer() -> None:
    noise = Laplace(sensitivity=1, scale=1)
    released = tree(11, [1, 2, 3, 4, 5], noise, silent=True)
    answer = Answer(pieces=(released,), columns=(column("1/2", 11),), cost=Pure(1))
    assert answer["p"].tolist() == [3.0]
    low, high = answer.interval("p", 0.5)
    assert low[0] <= 3 <= high[0]
    wide = answer.interval("p", 0.99)
    assert wide[0][0] <= low[0] <= high[0] <= wide[1][0]
    assert Answer.from_json(answer.to_json()) == answer
    assert "p" in str(answer)
    assert "depends on the released values" in str(answer.card().to_json()) or answer.card()
    assert tree_of(answer.columns[0]) == CountTree.over(11)
    with pytest.raises(Refused):
        Answer(pieces=(released,), columns=(column("1/2", 4096),), cost=Pure(1))
