"""Quantiles out of a noisy tree: exact without noise, monotone, and intervals that hold as often as
they say.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from sfumato.answers.answer import Answer
from sfumato.answers.answer_records import Column, Noisy
from sfumato.answers.percentiles import interval, tree_of, values
from sfumato.errors import Refused
from sfumato.guarantees import Pure
from sfumato.mechanisms import Gaussian, Laplace
from sfumato.tables.aggregates.count_tree import CountTree

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
