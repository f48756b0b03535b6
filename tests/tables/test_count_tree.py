"""Trees of counts: their shape, and what they hold."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from sfumato.tables.aggregates.count_tree import TREE_BITS, CountTree


@pytest.mark.parametrize("points", [2, 3, 10, 121, 1000, 4096, 4097, 65537, 2**26])
def test_the_shape_holds_all_points(points: int) -> None:
    tree = CountTree.over(points)
    assert tree.branching**tree.levels >= tree.leaves
    assert tree.leaves <= 1 << TREE_BITS
    assert (tree.leaves - 1) * tree.points < points <= tree.leaves * tree.points
    assert tree.cells == sum(tree.branching**level for level in range(1, tree.levels + 1))
    noise = tree.levels**3 * (tree.branching - 1)
    for levels in range(1, 5):
        branching = next(b for b in range(2, tree.leaves + 3) if b**levels >= tree.leaves)
        assert noise <= levels**3 * (branching - 1)


@pytest.mark.parametrize("points", [2, 7, 121, 5000])
def test_every_level_holds_every_row_once(points: int) -> None:
    tree, random = CountTree.over(points), Random(points)
    rows = [
        (random.randrange(3), random.randrange(points), random.randrange(1, 9)) for _ in range(200)
    ]
    out = np.zeros((3, tree.cells), dtype=np.int64)
    tree.count(out, *(np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)))
    for group in range(3):
        for first, last in zip(tree.starts, tree.starts[1:], strict=False):
            assert out[group, first:last].sum() == sum(w for g, _, w in rows if g == group)
        leaves = out[group, tree.starts[-2] :]
        for leaf in range(tree.leaves):
            assert leaves[leaf] == sum(
                w for g, p, w in rows if g == group and p // tree.points == leaf
            )


def test_one_row_is_counted_once_on_each_level() -> None:
    """What the noise is fitted to: with weight K a unit moves h·K in L1 and h·K² in the square of
    L2; all in one point reaches it.
    """
    tree = CountTree.over(4096)
    out = np.zeros((1, tree.cells), dtype=np.int64)
    tree.count(out, np.array([0]), np.array([77]), np.array([5]))
    assert np.abs(out).sum() == 5 * tree.levels
    assert (out**2).sum() == 25 * tree.levels
