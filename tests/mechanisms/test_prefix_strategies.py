"""Errors of the strategies for prefix sums and ranges, against counting every query of small
trees.
"""

from __future__ import annotations

import math

import pytest

from sfumato import mechanisms as mech
from sfumato.mechanisms.shared.prefix_strategies import tree

from ..refusing import refusal


def blocks(start: int, stop: int, size: int, branching: int) -> int:
    """How many blocks a range takes, greedily from the largest: a block of `size` values, or its
    parts.
    """
    if start == 0 and stop == size:
        return 1
    part, total = size // branching, 0
    for i in range(branching):
        low, high = max(start, i * part), min(stop, (i + 1) * part)
        if low < high:
            total += blocks(low - i * part, high - i * part, part, branching)
    return total


@pytest.mark.parametrize(
    ("branching", "below"), [(2, 1), (2, 2), (2, 5), (3, 1), (3, 3), (4, 2), (5, 2), (16, 1)]
)
def test_nodes_by_counting(branching: int, below: int) -> None:
    size = branching**below
    prefix = max(blocks(0, stop, size, branching) for stop in range(1, size + 1))
    ranges = max(blocks(a, b, size, branching) for a in range(size) for b in range(a + 1, size + 1))
    assert tree(size, branching).nodes == prefix
    assert tree(size, branching, query="range").nodes == ranges
    assert tree(size, branching).levels == below + 1


@pytest.mark.parametrize("length", [3, 5, 11, 27, 30])
@pytest.mark.parametrize("branching", [2, 3, 5])
def test_a_tree_that_is_not_full(length: int, branching: int) -> None:
    size = branching ** math.ceil(round(math.log(length, branching), 9))
    assert tree(length, branching).nodes == max(
        blocks(0, stop, size, branching) for stop in range(1, length + 1)
    )


def test_prefix_sums_of_1024() -> None:
    """B-15: the factor of the square root, and the binary tree's eleven levels and ten blocks."""
    assert mech.square_root_factor(1024) == pytest.approx(3.272554150273125, abs=1e-12)
    first, *_ = mech.strategies(1024)
    assert first.name == "square root"
    assert first.variance == pytest.approx(3.272554150273125**2, rel=1e-12)
    binary = tree(1024, 2)
    assert (binary.levels, binary.nodes, binary.variance) == (11, 10, 110)


def test_branching_matters() -> None:
    """B-15b: under Laplace noise a binary tree loses to no tree at all on half the range; wider
    branching loses less.
    """
    strategies = {
        s.name: s for s in mech.strategies(1024, noise="laplace", query="range", width=512)
    }
    assert strategies["flat"].variance == 1024
    assert strategies["tree of 2"].variance == 4356
    assert (strategies["tree of 2"].levels, strategies["tree of 2"].nodes) == (11, 18)
    best = min((s for s in strategies.values() if s.branching), key=lambda s: s.variance)
    assert (best.branching, best.variance) == (11, 1504)
    assert tree(1024, 16, noise="laplace", query="range").variance == 2 * 16 * 62


@pytest.mark.parametrize(
    ("length", "noise", "winner"),
    [
        (1, "gaussian", "flat"),
        (4, "gaussian", "square root"),
        (2**16, "gaussian", "square root"),
        (8, "laplace", "flat"),
        (4096, "laplace", "tree of 8"),
    ],
)
def test_who_wins(length: int, noise: str, winner: str) -> None:
    assert mech.strategies(length, noise=noise)[0].name == winner


def test_the_best_comes_first() -> None:
    for query in ("prefix", "range"):
        strategies = mech.strategies(500, noise="laplace", query=query)
        assert [s.variance for s in strategies] == sorted(s.variance for s in strategies)
        assert all(isinstance(s, mech.Strategy) for s in strategies)


def test_refused() -> None:
    refusal(lambda: mech.strategies(0), "stream.length")
    refusal(lambda: mech.strategies(5, noise="none"), "stream.strategy")


@pytest.mark.parametrize("branching", [2, 16])
def test_a_tree_over_one_value_is_its_root(branching: int) -> None:
    for query in ("prefix", "range"):
        strategy = tree(1, branching, query=query)  # type: ignore[arg-type]  # two known names
        assert (strategy.levels, strategy.nodes) == (1, 1)
