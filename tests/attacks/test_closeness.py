"""l-diversity and t-closeness against counting by hand, and the published example."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from sfumato.attacks.lib.closeness import Diversity, diversity
from sfumato.attacks.lib.look_alikes import CodedColumns
from sfumato.attacks.lib.owner_table import read_columns


def diversity_of(groups: list[list[Any]]) -> Diversity:
    table = {
        "group": [at for at, values in enumerate(groups) for _ in values],
        "value": [value for values in groups for value in values],
    }
    read = read_columns(table)
    return diversity(read, CodedColumns(read, ["group"]).cells(["group"]), "value")


def test_names() -> None:
    result = diversity_of([["a", "a", "b"], ["b", "c", "c", "c"], ["a"]])
    assert (result.values, result.distinct, result.ordered) == (3, 1, False)
    assert result.entropy == 1
    assert result.certain == 1 / 8
    assert result.distance == pytest.approx(5 / 8)  # of the last group: a has 3 of 8 among all
    assert "takes 1 of 3 values; 12.5 % of the people" in result.sentences[0]


def test_profiles() -> None:
    """Groups of 3, 4 and 1 with 2, 2 and 1 values; a is 3 of 8 among all, b 2 and c 3: distances
    0.375, 0.375 and 0.625.
    """
    result = diversity_of([["a", "a", "b"], ["b", "c", "c", "c"], ["a"]])
    assert result.fewer == {2: 1 / 8, 3: 1.0}
    assert result.further == {0.05: 1.0, 0.1: 1.0, 0.2: 1.0, 0.3: 1.0, 0.5: 1 / 8, 0.7: 0.0}


def test_entropy() -> None:
    result = diversity_of([["a", "b"], ["a", "a", "b"]])
    assert result.distinct == 2
    assert result.entropy == pytest.approx(
        math.exp(-(2 / 3) * math.log(2 / 3) - (1 / 3) * math.log(1 / 3))
    )
    assert result.certain == 0
    assert result.sentences[0].endswith("takes 2 of 2 values.")


def test_the_published_example_of_ordered_values() -> None:
    """Li, Li & Venkatasubramanian 2007, section 4: incomes 3k to 11k; {3k, 4k, 5k} is 0.375 from
    all, {6k, 8k, 11k} is 0.167.
    """
    incomes = [[3, 4, 5], [6, 11, 8], [7, 9, 10]]
    assert diversity_of(incomes).distance == pytest.approx(0.375)
    assert diversity_of([*incomes[1:], incomes[0]]).ordered
    read = read_columns(
        {"group": [0, 0, 0, 1, 1, 1, 2, 2, 2], "value": [6, 11, 8, 6, 11, 8, 6, 11, 8]}
    )
    assert diversity(read, CodedColumns(read, ["group"]).cells(["group"]), "value").distance == 0


@pytest.mark.parametrize("most", [2, 10, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_ordered_distances_are_those_of_scipy(seed: int, most: int) -> None:
    generator = np.random.default_rng(seed)
    groups = [generator.integers(0, most, size).tolist() for size in (3, 8, 20, 40, 1)]
    everybody = [value for group in groups for value in group]
    ranks = {value: rank for rank, value in enumerate(sorted(set(everybody)))}
    away = [
        wasserstein_distance([ranks[v] for v in group], [ranks[v] for v in everybody])
        / (len(ranks) - 1)
        for group in groups
    ]
    assert diversity_of(groups).distance == pytest.approx(max(away))


def test_one_value_only() -> None:
    result = diversity_of([[1, 1], [1]])
    assert (result.values, result.distinct, result.distance, result.certain) == (1, 1, 0.0, 1.0)
    assert "ordered" in result.sentences[1]
    assert result.numbers == {"l": 1, "entropy l": 1.0, "t": 0.0, "certain": 1.0}


def test_many_cells_times_many_values() -> None:
    """200 000 cells and a million values: a table of both would have 2·10¹¹ entries. Far more than
    a test can wait for, were it made.
    """
    n = 10**6
    generator = np.random.default_rng(1)
    read = read_columns({"group": generator.permutation(n) // 5, "value": generator.random(n)})
    result = diversity(read, CodedColumns(read, ["group"]).cells(["group"]), "value")
    assert (result.values, result.distinct) == (n, 5)
    assert 0.45 < result.distance <= 0.5  # five values that lie together, at an end
