"""The mode against exhaustive search: three categories, and records that belong to none."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from sfumato.sensitivity import mode

Data = tuple[int, ...]
CATEGORIES, OUTSIDE = (0, 1, 2), 3


def counts(x: Data) -> np.ndarray:
    counter = Counter(x)
    return np.array([counter[c] for c in CATEGORIES], dtype=np.int64)


def hamming(a: Data, b: Data) -> int:
    return sum(x != y for x, y in zip(a, b, strict=True))


def neighbours(x: Data) -> list[Data]:
    return [(*x[:i], v, *x[i + 1 :]) for i in range(len(x)) for v in (*CATEGORIES, OUTSIDE)]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_changes_needed_against_exhaustive_search(n: int) -> None:
    world = list(itertools.product((*CATEGORIES, OUTSIDE), repeat=n))
    modes = {y: [z for z in CATEGORIES if counts(y)[z] == counts(y).max()] for y in world}
    for x in itertools.combinations_with_replacement((*CATEGORIES, OUTSIDE), n):
        nearest = {z: min(hamming(x, y) for y in world if z in modes[y]) for z in CATEGORIES}
        assert mode.changes_needed(counts(x)).tolist() == list(nearest.values())


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_distances_move_by_at_most_one(n: int) -> None:
    for x in itertools.combinations_with_replacement((*CATEGORIES, OUTSIDE), n):
        d, e = mode.changes_needed(counts(x)), mode.distance_to_instability(counts(x))
        for y in neighbours(x):
            assert np.abs(d - mode.changes_needed(counts(y))).max() <= 1
            assert abs(e - mode.distance_to_instability(counts(y))) <= 1


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_where_it_is_positive_no_neighbour_has_another_mode(n: int) -> None:
    """The mode is the first of the most frequent."""
    positive = 0
    for x in itertools.combinations_with_replacement((*CATEGORIES, OUTSIDE), n):
        stable = {int(counts(y).argmax()) for y in neighbours(x)} == {int(counts(x).argmax())}
        positive += mode.distance_to_instability(counts(x)) > 0
        assert stable or mode.distance_to_instability(counts(x)) == 0
    assert positive > 0 or n < 3


@pytest.mark.parametrize(
    ("numbers", "distance"),
    [
        ([5, 5], 0),
        ([6, 5], 0),
        ([8, 5], 1),
        ([9, 5], 1),
        ([10, 5], 2),
        ([0, 0], 0),
        ([99, 0, 3], 47),
    ],
)
def test_the_distance_by_the_lead(numbers: list[int], distance: int) -> None:
    assert mode.distance_to_instability(np.array(numbers)) == distance


def test_a_single_category_is_always_the_mode() -> None:
    assert mode.changes_needed(np.array([4])).tolist() == [0]
    assert mode.distance_to_instability(np.array([4])) == 3
